/* Flush and snapshot: killed at every write, over midnight. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "memory/flush.h"
#include "memory_box.h"

static const char talk[] =
	"{\"role\":\"user\",\"content\":\"We decided to use Postgres 16 for "
	"billing.\"}\n"
	"{\"role\":\"assistant\",\"content\":\"The root cause was a missing "
	"index on orders.customer_id.\"}\n"
	"{\"role\":\"user\",\"content\":\"我喜欢先看结论再看细节。\"}\n";

struct place {
	struct ws ws;
	char home[700], file[1200];
	const char *env[2];
};

static void place_begin(struct place *p)
{
	memset(p, 0, sizeof(*p));
	ws_begin(&p->ws);
	ws_put(&p->ws, "MEMORY.md", "# Memory\n");
	ws_put(&p->ws, "memory/x.md", "# x\n");
	ws_put(&p->ws, "../talk.jsonl", talk);
	snprintf(p->file, sizeof(p->file), "%s/talk.jsonl", p->ws.tmp.dir);
	snprintf(p->home, sizeof(p->home), "HOME=%s/home", p->ws.tmp.dir);
	p->env[0] = p->home;
}

static int call(struct place *p, bool snapshot, char **json)
{
	struct remem_open_opts o = REMEM_OPTS_INIT(o);
	struct remem_talk_opts t = REMEM_OPTS_INIT(t);
	static const char *const set[] = { "provider=none", NULL };
	struct remem_err err = { 0 };
	struct remem *r;
	int rc;

	o.workspace = p->ws.dir;
	o.env = p->env;
	o.set = set;
	o.now_ms = BOX_NOW;
	t.transcript = p->file;
	t.reason = "compact";
	*json = NULL;
	rc = remem_open(&r, &o, &err);
	if (rc)
		return rc;
	rc = snapshot ? remem_snapshot(r, &t, json, &err) :
			remem_flush(r, &t, json, &err);
	remem_close(r);
	return rc;
}

/* True when it was killed at step n, false when it ended before. */
static bool killed_at(struct place *p, bool snapshot, long n)
{
	pid_t pid = fork();
	char *json;
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		file_fault_at(n);
		_exit(call(p, snapshot, &json) ? 3 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return true;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	return false;
}

/* How often text stands in all dated notes; their number in *files. */
static int count(struct place *p, const char *text, int *files)
{
	DIR *d = opendir(ws_path(&p->ws, "memory"));
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	*files = 0;
	while ((e = readdir(d))) {
		struct buf b = BUF_INIT(0);
		char name[300];

		if (strncmp(e->d_name, "20", 2) != 0)
			continue;
		++*files;
		snprintf(name, sizeof(name), "memory/%s", e->d_name);
		assert_int_equal(file_read(&b, ws_path(&p->ws, name), NULL), 0);
		for (const char *s = buf_str(&b); (s = strstr(s, text)); s++)
			n++;
		buf_release(&b);
	}
	closedir(d);
	return n;
}

static void kill_everywhere(bool snapshot)
{
	static const char *const texts[] = { "Postgres 16", "orders.customer",
					     "我喜欢先看结论再看细节" };
	long n = 1;
	bool killed;

	do {
		struct place p;
		char *json;
		int files;

		place_begin(&p);
		killed = killed_at(&p, snapshot, n++);
		assert_int_equal(call(&p, snapshot, &json), 0);
		remem_free(json);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(count(&p, texts[i], &files), 1);
		assert_int_equal(files, 1);
		ws_end(&p.ws);
		assert_true(n < 200);
	} while (killed);
	assert_true(n > 3);
}

static void test_flush__killed_at_any_write_nothing_is_lost(void **state)
{
	(void)state;
	kill_everywhere(false);
}

static void test_flush__a_killed_snapshot_is_made_once(void **state)
{
	(void)state;
	kill_everywhere(true);
}

static void test_flush__midnight_passes_before_it_is_written(void **state)
{
	struct talk_line line = {
		.user = true, .origin = REMEM_ORIGIN_OWNER, .line = 1,
		.text = "We decided to use Postgres 16 for billing."
	};
	struct talk t = { .lines = &line, .n = 1, .last_line = 1,
			  .host = "h", .session = "s" };
	struct remem_actor actor = REMEM_OPTS_INIT(actor);
	struct flush_done done;
	struct flush f = { 0 };
	struct box b;
	char want[64], day[16];

	(void)state;
	box_begin(&b);
	line.len = strlen(line.text);
	f.a = &b.a;
	f.talk = &t;
	f.root = b.m.root;
	f.ceiling = REMEM_ORIGIN_AGENT;
	f.today = memory_today(&b.m);
	assert_int_equal(flush_by_rules(&f, &b.err), 0);
	assert_int_equal(f.n, 1);
	b.m.now_ms += 86400000;
	assert_int_equal(flush_write(&done, &f, &b.m, "Talk", &actor, false,
				     &b.err), 0);
	date_format(day, f.today + 1);
	snprintf(want, sizeof(want), "memory/%s.md", day);
	assert_string_equal(done.path, want);
	assert_true(done.journal[0] > 0);
	/* The day after: yesterday's note has it. */
	f.n = 0;
	f.today += 2;
	assert_int_equal(flush_by_rules(&f, &b.err), 0);
	assert_int_equal(f.n, 0);
	assert_int_equal(f.stats.repeated, 1);
	box_end(&b);
}
