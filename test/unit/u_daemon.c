/* The background process's socket: what is said, and to whom. */
#include "base_tmp.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "base/alloc.h"
#include "daemon/ask.h"
#include "daemon/place.h"
#include "daemon/request.h"
#include "daemon/wire.h"

/* ---- lines ------------------------------------------------------------ */

struct pair {
	struct wire a, b;
};

static void begin_pair(struct pair *p, size_t limit)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (int i = 0; i < 2; i++)
		fcntl(fds[i], F_SETFL, O_NONBLOCK);
	wire_init(&p->a, fds[0], limit);
	wire_init(&p->b, fds[1], limit);
}

static void end_pair(struct pair *p)
{
	wire_release(&p->a);
	wire_release(&p->b);
}

static void test_daemon__lines_come_as_they_were_sent(void **state)
{
	struct pair p;
	const char *line;
	size_t len;

	(void)state;
	begin_pair(&p, 1000);
	assert_int_equal(wire_send(&p.a, "one\n二", 7, 100, NULL), 0);
	assert_int_equal(wire_send(&p.a, "", 0, 100, NULL), 0);
	assert_int_equal(wire_line(&p.b, &line, &len, 100, NULL), 0);
	assert_string_equal(line, "one");
	assert_int_equal(wire_line(&p.b, &line, &len, 100, NULL), 0);
	assert_string_equal(line, "二");
	assert_int_equal(len, 3);
	assert_int_equal(wire_line(&p.b, &line, &len, 100, NULL), 0);
	assert_int_equal(len, 0);
	assert_int_equal(wire_line(&p.b, &line, &len, 1, NULL),
			 REMEM_ETIMEOUT);
	/* Half a line is none. */
	assert_int_equal(send(p.a.fd, "half", 4, 0), 4);
	assert_int_equal(wire_line(&p.b, &line, &len, 1, NULL),
			 REMEM_ETIMEOUT);
	shutdown(p.a.fd, SHUT_WR);
	assert_int_equal(wire_line(&p.b, &line, &len, 100, NULL),
			 REMEM_ENOTFOUND);
	end_pair(&p);
}

static void test_daemon__a_line_has_a_limit(void **state)
{
	char block[1000];
	struct pair p;
	const char *line;
	size_t len;
	int rc;

	(void)state;
	memset(block, 'x', sizeof(block));
	begin_pair(&p, 100);
	do {
		assert_int_equal(send(p.a.fd, block, sizeof(block), 0),
				 sizeof(block));
		rc = wire_line(&p.b, &line, &len, 1, NULL);
	} while (rc == REMEM_ETIMEOUT);
	assert_int_equal(rc, REMEM_ELIMIT);
	end_pair(&p);
}

static void test_daemon__who_does_not_read_is_not_waited_for(void **state)
{
	static char block[1 << 16];
	struct pair p;
	int rc = 0;

	(void)state;
	begin_pair(&p, 100);
	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 1000 && !rc; i++)
		rc = wire_send(&p.a, block, sizeof(block), 1, NULL);
	assert_int_equal(rc, REMEM_ETIMEOUT);
	end_pair(&p);
}

static void test_daemon__versions_are_compared_by_number(void **state)
{
	(void)state;
	assert_int_equal(wire_compare("0.1.0", "0.1.0"), 0);
	assert_int_equal(wire_compare("0.9.0", "0.10.0"), -1);
	assert_int_equal(wire_compare("1.0.0", "0.99.99"), 1);
	assert_int_equal(wire_compare("junk", "junk"), 0);
}

/* ---- questions -------------------------------------------------------- */

static void test_daemon__a_question_survives_the_way(void **state)
{
	static const char *const env[] = { "HOME=/home/小王", "TZ=", NULL };
	static const char *const set[] = { "a=b\"\\", NULL };
	struct remem_open_opts o = REMEM_OPTS_INIT(o), o2;
	struct remem_search_opts s = REMEM_OPTS_INIT(s), s2;
	struct arena a = ARENA_INIT;
	struct buf b = BUF_INIT(0);
	yyjson_doc *doc;
	struct json j;

	(void)state;
	o.agent = "work";
	o.env = env;
	o.set = set;
	s.mode = REMEM_MODE_VECTOR;
	s.max_results = 7;
	s.min_score = 0.1;
	s.deadline_ms = 50;
	s.explain = s.no_sync = 1;
	s.last_days = 3;
	s.path = "memory/*.md";
	s.tag = "标签";
	json_begin(&j, &b);
	json_obj(&j);
	json_key(&j, "open");
	ask_put_open(&j, &o, "/ws");
	json_key(&j, "options");
	ask_put_search(&j, &s);
	json_end(&j);
	assert_int_equal(json_read(&doc, buf_str(&b), b.len, false, "x", NULL),
			 0);
	assert_true(ask_take_open(&o2, &a, yyjson_obj_get(
			yyjson_doc_get_root(doc), "open")));
	assert_true(ask_take_search(&s2, yyjson_obj_get(
			yyjson_doc_get_root(doc), "options")));
	assert_string_equal(o2.workspace, "/ws");
	assert_string_equal(o2.agent, "work");
	assert_null(o2.config_file);
	assert_string_equal(o2.env[0], env[0]);
	assert_null(o2.env[2]);
	assert_string_equal(o2.set[0], set[0]);
	assert_int_equal(s2.mode, s.mode);
	assert_int_equal(s2.max_results, 7);
	assert_true(s2.min_score == 0.1);
	assert_int_equal(s2.deadline_ms, 50);
	assert_int_equal(s2.explain, 1);
	assert_int_equal(s2.no_sync, 1);
	assert_int_equal(s2.last_days, 3);
	assert_string_equal(s2.path, s.path);
	assert_string_equal(s2.tag, s.tag);
	assert_null(s2.after);
	yyjson_doc_free(doc);
	buf_release(&b);
	arena_release(&a);
}

static void test_daemon__what_json_cannot_carry_stays_here(void **state)
{
	static const char *const bad[] = { "X=\xff", NULL };
	struct remem_open_opts o = REMEM_OPTS_INIT(o);
	struct remem_search_opts s = REMEM_OPTS_INIT(s);

	(void)state;
	assert_true(ask_is_plain(&o, &s, "问", 3));
	assert_false(ask_is_plain(&o, &s, "\xff", 1));
	s.path = "\xfe";
	assert_false(ask_is_plain(&o, &s, "x", 1));
	s.path = NULL;
	o.env = bad;
	assert_false(ask_is_plain(&o, &s, "x", 1));
}

/* ---- requests --------------------------------------------------------- */

/* What a server of version 0.1.0 says to a line; "" when nothing. */
static const char *reply(struct server *s, const char *line)
{
	static char out[1000];
	struct pair p;
	const char *text;
	size_t len;

	begin_pair(&p, WIRE_REQUEST_BYTES);
	request_answer(s, &p.b, line, strlen(line));
	out[0] = '\0';
	if (!wire_line(&p.a, &text, &len, 1, NULL))
		snprintf(out, sizeof(out), "%s", text);
	end_pair(&p);
	return out;
}

static void begin_server(struct server *s)
{
	memset(s, 0, sizeof(*s));
	strcpy(s->version, "0.1.0");
	strcpy(s->stamp, "1-2-3-4");
	s->program = "/bin/remem";
	s->zone = "";
	assert_int_equal(pipe(s->wake), 0);
}

static void end_server(struct server *s)
{
	close(s->wake[0]);
	close(s->wake[1]);
	houses_close();
}

#define SEARCH(protocol, version, program, stamp) \
	"{\"protocol\":" protocol ",\"version\":\"" version \
	"\",\"program\":\"" program "\",\"stamp\":\"" stamp \
	"\",\"op\":\"search\",\"zone\":\"\",\"identity\":\"x\",\"open\":{}}"

static void test_daemon__nonsense_is_refused(void **state)
{
	static const char *const lines[] = {
		"", "{", "[]", "null", "7", "\"search\"", "{\"op\":7}",
		"{\"op\":\"none\"}", "{\"op\":\"search\"}",
		SEARCH("1", "0.1.0", "/bin/remem", "1-2-3-4"),
	};
	struct server s;

	(void)state;
	begin_server(&s);
	for (size_t i = 0; i < ARRAY_LEN(lines) - 1; i++)
		assert_non_null(strstr(reply(&s, lines[i]), "\"ok\":false"));
	/* The last one is one of us that says nothing. */
	assert_non_null(strstr(reply(&s, lines[ARRAY_LEN(lines) - 1]),
			       "\"ok\":true"));
	assert_false(atomic_load(&s.ending));
	end_server(&s);
}

static void test_daemon__an_older_client_does_without(void **state)
{
	struct server s;

	(void)state;
	begin_server(&s);
	assert_non_null(strstr(reply(&s, SEARCH("1", "0.0.9", "/bin/remem",
						"1-2-3-4")),
			       "another program"));
	assert_non_null(strstr(reply(&s, SEARCH("1", "0.1.0", "/other/remem",
						"1-2-3-4")),
			       "another program"));
	assert_non_null(strstr(reply(&s, SEARCH("0", "0.1.0", "/bin/remem",
						"1-2-3-4")),
			       "another program"));
	assert_false(atomic_load(&s.ending));
	end_server(&s);
}

static void test_daemon__a_newer_client_takes_over(void **state)
{
	static const char *const lines[] = {
		SEARCH("1", "0.2.0", "/bin/remem", "9-9-9-9"),
		SEARCH("2", "0.1.0", "/bin/remem", "1-2-3-4"),
		SEARCH("1", "0.1.0", "/bin/remem", "9-9-9-9"),
		SEARCH("1", "1.0.0", "/other/remem", "9-9-9-9"),
	};
	struct server s;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		begin_server(&s);
		assert_non_null(strstr(reply(&s, lines[i]), "older"));
		assert_true(atomic_load(&s.ending));
		/* From then on nobody is served. */
		assert_non_null(strstr(reply(&s, "{\"op\":\"ping\"}"),
				       "ending"));
		end_server(&s);
	}
}

/* ---- the place -------------------------------------------------------- */

struct placed {
	struct tmp tmp;
	char home[300];
	const char *env[2];
	struct place p;
	struct lock held;
	int fd;
};

static void begin_place(struct placed *x)
{
	struct remem_err err;

	memset(x, 0, sizeof(*x));
	tmp_begin(&x->tmp);
	snprintf(x->home, sizeof(x->home), "HOME=%s", x->tmp.dir);
	x->env[0] = x->home;
	x->held.fd = x->fd = -1;
	if (place_open(&x->p, x->env, true, &err))
		fail_msg("%s", err.message);
}

static void end_place(struct placed *x)
{
	place_leave(&x->p, x->fd, &x->held);
	place_close(&x->p);
	tmp_end(&x->tmp);
}

static void test_daemon__one_listens_at_a_time(void **state)
{
	struct lock other = LOCK_INIT;
	struct placed x;
	struct place again;
	int fd = -1;

	(void)state;
	begin_place(&x);
	assert_int_equal(place_connect(&x.p), -1);
	assert_int_equal(place_listen(&x.p, &x.fd, &x.held, NULL), 0);
	assert_true(place_is_ours(&x.p));
	assert_int_equal(place_open(&again, x.env, false, NULL), 0);
	assert_int_equal(place_listen(&again, &fd, &other, NULL), REMEM_EBUSY);
	fd = place_connect(&again);
	assert_true(fd >= 0);
	assert_true(place_peer_is_user(fd));
	close(fd);
	place_leave(&x.p, x.fd, &x.held);
	x.fd = -1;
	/* Free again, and the name leads nowhere in between. */
	assert_int_equal(place_connect(&again), -1);
	assert_int_equal(place_listen(&again, &x.fd, &x.held, NULL), 0);
	place_leave(&again, x.fd, &x.held);
	x.fd = -1;
	place_close(&again);
	end_place(&x);
}

static void test_daemon__the_socket_of_a_dead_one_is_replaced(void **state)
{
	struct placed x;
	int fd;

	(void)state;
	begin_place(&x);
	assert_int_equal(place_listen(&x.p, &x.fd, &x.held, NULL), 0);
	/* As after kill -9: the name stays, nobody listens, the lock is free. */
	close(x.fd);
	lock_release(&x.held);
	assert_int_equal(place_connect(&x.p), -1);
	assert_int_equal(place_listen(&x.p, &x.fd, &x.held, NULL), 0);
	fd = place_connect(&x.p);
	assert_true(fd >= 0);
	close(fd);
	end_place(&x);
}

static void test_daemon__a_folder_of_others_is_not_used(void **state)
{
	struct remem_err err;
	struct placed x;
	struct place p;

	(void)state;
	begin_place(&x);
	assert_int_equal(chmod(x.p.path, 0770), 0);
	assert_int_equal(place_open(&p, x.env, false, &err), REMEM_EPERM);
	assert_non_null(strstr(err.action, "chmod 700"));
	assert_int_equal(chmod(x.p.path, 0700), 0);
	end_place(&x);
}

static void test_daemon__a_long_path_is_no_hindrance(void **state)
{
	struct placed x;
	struct place p;
	char run[700], name[300];
	const char *env[3];
	int fd = -1;

	(void)state;
	begin_place(&x);
	memset(name, 'n', 200);
	name[200] = '\0';
	snprintf(run, sizeof(run), "XDG_RUNTIME_DIR=%s/%s", x.tmp.dir, name);
	assert_int_equal(mkdir(run + strlen("XDG_RUNTIME_DIR="), 0700), 0);
	env[0] = x.home;
	env[1] = run;
	env[2] = NULL;
	assert_int_equal(place_open(&p, env, true, NULL), 0);
	assert_int_equal(place_listen(&p, &x.fd, &x.held, NULL), 0);
	fd = place_connect(&p);
	assert_true(fd >= 0);
	close(fd);
	place_leave(&p, x.fd, &x.held);
	x.fd = -1;
	place_close(&p);
	end_place(&x);
}
