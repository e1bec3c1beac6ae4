/* The server without a transport: threads, cancellation, memory that is out. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base_tmp.h"
#include "mcp/server.h"

struct box { /* a sink that keeps what it gets */
	struct sink sink; /* first */
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct buf all; /* one message a line */
	int count, over;
};

static void keep(struct sink *s, const char *json, size_t len)
{
	struct box *b = (struct box *)s;

	pthread_mutex_lock(&b->lock);
	buf_add(&b->all, json, len);
	buf_addc(&b->all, '\n');
	b->count++;
	pthread_cond_broadcast(&b->change);
	pthread_mutex_unlock(&b->lock);
}

static void is_over(struct sink *s)
{
	struct box *b = (struct box *)s;

	pthread_mutex_lock(&b->lock);
	b->over++;
	pthread_cond_broadcast(&b->change);
	pthread_mutex_unlock(&b->lock);
}

static void box_begin(struct box *b)
{
	memset(b, 0, sizeof(*b));
	b->sink.send = keep;
	b->sink.done = is_over;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->change, NULL);
}

static void box_end(struct box *b)
{
	pthread_mutex_destroy(&b->lock);
	pthread_cond_destroy(&b->change);
	buf_release(&b->all);
}

static void wait_over(struct box *b, int n)
{
	pthread_mutex_lock(&b->lock);
	while (b->over < n)
		pthread_cond_wait(&b->change, &b->lock);
	pthread_mutex_unlock(&b->lock);
}

struct place {
	struct tmp t;
	char home[400], dir[512];
	const char *env[2];
	struct mcp_opts o;
};

static const char *const no_vectors[] = { "provider=none", NULL };

static void place_begin(struct place *p)
{
	memset(p, 0, sizeof(*p));
	tmp_begin(&p->t);
	snprintf(p->home, sizeof(p->home), "HOME=%s", p->t.dir);
	snprintf(p->dir, sizeof(p->dir), "%s/notes", p->t.dir);
	assert_int_equal(mkdir(p->dir, 0755), 0);
	tmp_put(&p->t, "notes/MEMORY.md", "- Samarkand 撒马尔罕\n");
	p->env[0] = p->home;
	p->o.open = (struct remem_open_opts)REMEM_OPTS_INIT(p->o.open);
	p->o.open.env = p->env;
	p->o.open.workspace = p->dir;
	p->o.open.set = no_vectors;
}

static int say(struct server *s, struct session *session, struct box *b,
	       const char *text)
{
	return server_message(s, session, &b->sink, text, strlen(text), false);
}

#define HELLO \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"," \
	"\"params\":{\"protocolVersion\":\"2025-11-25\"}}"
#define SEARCH \
	"{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"tools/call\"," \
	"\"params\":{\"name\":\"memory_search\"," \
	"\"arguments\":{\"query\":\"撒马尔罕\"}}}"
#define CANCEL \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"," \
	"\"params\":{\"requestId\":\"s\"}}"

struct client {
	pthread_t id;
	struct server *s;
	int asked;
};

#define ROUNDS 40

static void *talk(void *arg)
{
	struct client *c = arg;
	struct session session = { 0 };
	struct box b;

	box_begin(&b);
	say(c->s, &session, &b, HELLO);
	for (int i = 0; i < ROUNDS; i++) {
		c->asked += say(c->s, &session, &b, SEARCH);
		say(c->s, &session, &b, "{\"jsonrpc\":\"2.0\",\"id\":1,"
		    "\"method\":\"tools/list\"}");
		if (i % 4 == 0)
			say(c->s, &session, &b, CANCEL);
		if (i % 8 == 1)
			server_hang_up(c->s, &b.sink);
	}
	wait_over(&b, c->asked);
	assert_true(b.count >= ROUNDS + 1 && b.count <= 2 * ROUNDS + 1);
	box_end(&b);
	return NULL;
}

static void test_thr_mcp__clients_at_once(void **state)
{
	struct client clients[3];
	struct remem_err err;
	struct server *s;
	struct place p;

	(void)state;
	place_begin(&p);
	assert_int_equal(server_new(&s, &p.o, &err), 0);
	for (int i = 0; i < 3; i++) {
		clients[i] = (struct client){ .s = s };
		pthread_create(&clients[i].id, NULL, talk, &clients[i]);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(clients[i].id, NULL);
		assert_int_equal(clients[i].asked, ROUNDS);
	}
	assert_int_equal(server_pending(s), 0);
	assert_true(server_stop(s, 20000));
	server_free(s);
	tmp_end(&p.t);
}

static void test_thr_mcp__stops_with_work_waiting(void **state)
{
	struct session session = { 0 };
	struct remem_err err;
	struct server *s;
	struct place p;
	struct box b;

	(void)state;
	place_begin(&p);
	box_begin(&b);
	assert_int_equal(server_new(&s, &p.o, &err), 0);
	say(s, &session, &b, HELLO);
	for (int i = 0; i < 100; i++)
		assert_int_equal(say(s, &session, &b, SEARCH), 1);
	assert_true(server_stop(s, 20000));
	assert_int_equal(b.over, 100);
	assert_int_equal(say(s, &session, &b, SEARCH), 0);
	assert_non_null(strstr(buf_str(&b.all), "stopping"));
	server_free(s);
	box_end(&b);
	tmp_end(&p.t);
}

/* Every answer is whole or absent, and the next one is there again. */
static void test_thr_mcp__memory_that_is_out(void **state)
{
	static const char *const texts[] = {
		HELLO,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
		"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\"}",
		"nonsense",
	};
	struct session session = { 0 };
	struct remem_err err;
	struct server *s;
	struct place p;
	struct box b;

	(void)state;
	place_begin(&p);
	box_begin(&b);
	assert_int_equal(server_new(&s, &p.o, &err), 0);
	say(s, &session, &b, HELLO);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		for (long n = 1; n < 400; n++) {
			yyjson_doc *doc;
			long used;

			buf_reset(&b.all);
			buf_reserve(&b.all, 65536);
			alloc_fail_at(n);
			say(s, &session, &b, texts[i]);
			used = alloc_count();
			alloc_fail_at(0);
			if (b.all.len) {
				assert_int_equal(json_read(&doc,
					buf_str(&b.all), b.all.len, false,
					"answer", &err), 0);
				yyjson_doc_free(doc);
			}
			if (used < n)
				break;
		}
	}
	assert_true(server_stop(s, 20000));
	server_free(s);
	box_end(&b);
	tmp_end(&p.t);
}
