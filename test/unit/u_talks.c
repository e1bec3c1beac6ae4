/* Transcripts in the index: appended to, written anew, moved, gone. */
#define _GNU_SOURCE
#include "index/index.h"
#include "index_help.h"

#include <sys/wait.h>

#include "source/sessions.h"

static struct ix x;
static struct session_opts so;

static const char *no_env(void *ctx, const char *name)
{
	(void)ctx, (void)name;
	return NULL;
}

static void setup(void)
{
	static char home[700];

	ix_begin(&x);
	ws_put(&x.ws, "MEMORY.md", "# Memory\n\n- likes green tea\n");
	snprintf(home, sizeof(home), "%s/home", x.ws.tmp.dir);
	memset(&so, 0, sizeof(so));
	so.home = home;
	so.env = no_env;
	so.want = TRANSCRIPT_WANT_TEXT;
	x.ws.o.sessions = &so;
	setenv("TZ", "UTC", 1);
}

static void teardown(void)
{
	ix_end(&x);
}

/* A file below the home folder; mode "w" or "a". */
static void put(const char *rel, const char *mode, const char *text)
{
	char path[1200], *slash;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", so.home, rel);
	slash = strrchr(path, '/');
	*slash = 0;
	if (dir_make(path, 0700, &x.err))
		fail_msg("%s", x.err.message);
	*slash = '/';
	f = fopen(path, mode);
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void move(const char *from, const char *to)
{
	char a[1200], b[1200];

	snprintf(a, sizeof(a), "%s/%s", so.home, from);
	snprintf(b, sizeof(b), "%s/%s", so.home, to);
	assert_int_equal(rename(a, b), 0);
}

#define TALK ".claude/projects/-home-ada/s1.jsonl"
#define SAY(role, text, day) \
	"{\"type\":\"" role "\",\"uuid\":\"u\",\"parentUuid\":null," \
	"\"sessionId\":\"s1\",\"cwd\":\"/home/ada\",\"timestamp\":\"" day \
	"T10:00:00Z\",\"message\":{\"role\":\"" role "\",\"content\":\"" text \
	"\"}}\n"
#define USER(text) SAY("user", text, "2026-11-28")
#define HELPER(text) SAY("assistant", text, "2026-11-28")
#define TOOL(text) \
	"{\"type\":\"user\",\"uuid\":\"t\",\"parentUuid\":null," \
	"\"sessionId\":\"s1\",\"message\":{\"role\":\"user\",\"content\":[{" \
	"\"type\":\"tool_result\",\"tool_use_id\":\"1\",\"content\":\"" text \
	"\"}]}}\n"

struct dump {
	struct store *s;
	struct buf b;
};

static int dump_file(void *ctx, const struct store_file *f)
{
	struct dump *d = ctx;
	struct store_chunk c;
	int64_t *ids;
	int n;

	if (f->source != STORE_SESSIONS)
		return 0;
	buf_addf(&d->b, "%s %d %d\n", f->path, f->date, f->lines);
	assert_int_equal(d->s->ops->file_chunks(d->s, &x.a, f->id, &ids, &n,
						NULL), 0);
	for (int i = 0; i < n; i++) {
		assert_int_equal(d->s->ops->chunks_get(d->s, &x.a, 0, &ids[i],
						       1, &c, NULL), 0);
		for (int k = 0; k < c.passage_count; k++)
			buf_addf(&d->b, "%d-%d %s %.*s\n",
				 c.passages[k].line_first,
				 c.passages[k].line_last,
				 c.passages[k].origin,
				 (int)c.passages[k].len,
				 c.text + c.passages[k].start);
	}
	return 0;
}

static char *dump(void)
{
	struct dump d = { .s = ix_open(&x), .b = BUF_INIT(0) };

	assert_int_equal(d.s->ops->files_each(d.s, dump_file, &d, NULL), 0);
	d.s->ops->close(d.s);
	buf_addc(&d.b, ' ');
	return buf_detach(&d.b);
}

/* What is there equals what a new index would hold. */
static void is_as_fresh(void)
{
	char *now = dump(), *fresh;

	x.o.force = true;
	ix_run(&x);
	x.o.force = false;
	fresh = dump();
	assert_string_equal(now, fresh);
	mem_free(now);
	mem_free(fresh);
}

/* ---- what is taken in -------------------------------------------------- */

static void test_talks__messages_are_passages_with_line_and_day(void **state)
{
	struct store_file f;
	char *all, day[16];

	(void)state;
	setup();
	put(TALK, "w", USER("where is the wombat") TOOL("a zebra in a file")
	    HELPER("the wombat sleeps")
	    SAY("user", "下周二去看考拉", "2026-11-29"));
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	assert_int_equal(ix_hits(&x, "考拉"), 1);
	assert_int_equal(ix_hits(&x, "zebra"), 0);
	assert_true(ix_file(&x, "claude/-home-ada/s1", &f));
	assert_int_equal(f.source, STORE_SESSIONS);
	date_format(day, f.date);
	assert_string_equal(day, "2026-11-28");
	assert_true(ix_file(&x, "claude/-home-ada/s1~2", &f));
	date_format(day, f.date);
	assert_string_equal(day, "2026-11-29");
	all = dump();
	assert_non_null(strstr(all, "1-1 owner where is the wombat\n"));
	assert_non_null(strstr(all, "3-3 untrusted the wombat sleeps\n"));
	assert_non_null(strstr(all, "4-4 owner 下周二去看考拉\n"));
	mem_free(all);
	teardown();
}

static void test_talks__secrets_are_masked_before_they_are_stored(void **state)
{
	(void)state;
	setup();
	put(TALK, "w", USER("the key is sk-abcdefghij0123456789klmn ok"));
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "masked"), 1);
	assert_int_equal(x.r.masked, 1);
	assert_int_equal(ix_hits(&x, "abcdefghij0123456789klmn"), 0);
	teardown();
}

static void test_talks__tool_output_by_wish(void **state)
{
	(void)state;
	setup();
	put(TALK, "w", USER("look") TOOL("a zebra in a file"));
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "zebra"), 0);
	so.want |= TRANSCRIPT_WANT_RESULTS;
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "zebra"), 1);
	so.want = TRANSCRIPT_WANT_TEXT;
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "zebra"), 0);
	teardown();
}

static void test_talks__only_those_of_the_project(void **state)
{
	(void)state;
	setup();
	put(TALK, "w", USER("where is the wombat"));
	so.project = "/home/ada/src";
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 0);
	so.project = "/home/ada";
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	so.project = "/home/ad";
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 0);
	teardown();
}

static void test_talks__no_source_leaves_no_rows(void **state)
{
	(void)state;
	setup();
	put(TALK, "w", USER("where is the wombat"));
	ix_run(&x);
	x.ws.o.sessions = NULL;
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 0);
	x.ws.o.sessions = &so;
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	teardown();
}

/* The programs' own places, each with a fixture. */
static void test_talks__each_host_is_found_at_its_place(void **state)
{
	static const char *const places[][3] = {
		{ "codex.jsonl", ".codex/sessions/2026/11/25/rollout-2026-11-25"
		  "T14-00-00-0199aa10.jsonl", "codex/2026-11-25/0199aa10" },
		{ "gemini.jsonl", ".gemini/tmp/dc57/chats/session-2026-11-26T07"
		  "-00-7b3c.jsonl", "gemini/dc57/session-2026-11-26T07-00-7b3c" },
		{ "cursor.jsonl", ".cursor/projects/home-ada/agent-transcripts/"
		  "x1/x1.jsonl", "cursor/home-ada/x1" },
		{ "copilot.jsonl", ".copilot/session-state/c0/events.jsonl",
		  "copilot/c0" },
		{ "claude.jsonl", TALK, "claude/-home-ada/s1" },
		{ "openclaw.jsonl", ".openclaw/agents/main/sessions/9d.jsonl",
		  "openclaw/main/9d" },
	};
	struct store_file f;

	(void)state;
	setup();
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct buf b = BUF_INIT(0);
		char path[128];

		snprintf(path, sizeof(path), "test/fixtures/transcripts/%s",
			 places[i][0]);
		assert_int_equal(file_read(&b, path, &x.err), 0);
		put(places[i][1], "w", buf_str(&b));
		buf_release(&b);
	}
	ix_run(&x);
	assert_int_equal(x.r.skip_count, 0);
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (!ix_file(&x, places[i][2], &f) || f.skipped)
			fail_msg("%s is not there", places[i][2]);
	is_as_fresh();
	teardown();
}

/* ---- in step ---------------------------------------------------------- */

static void test_talks__appending_gives_what_a_new_index_has(void **state)
{
	char line[600];

	(void)state;
	setup();
	for (int i = 0; i < 40; i++) {
		snprintf(line, sizeof(line), i % 9 == 4 ?
			 SAY("user", "number %d speaks of things", "2026-11-29") :
			 HELPER("number %d speaks of things, and of more"), i);
		put(TALK, i ? "a" : "w", line);
		ix_run(&x);
		assert_int_equal(i ? x.r.changed : 1, 1);
	}
	is_as_fresh();
	ix_run(&x);
	assert_int_equal(x.r.changed + x.r.added + x.r.removed, 0);
	teardown();
}

static void test_talks__a_half_written_line_waits(void **state)
{
	(void)state;
	setup();
	put(TALK, "w", USER("where is the wombat")
	    "{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s1\",");
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "koala"), 0);
	assert_int_equal(x.r.skip_count, 0);
	put(TALK, "a", "\"message\":{\"content\":\"the koala\"}}\n");
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "koala"), 1);
	is_as_fresh();
	teardown();
}

static void test_talks__written_anew_is_read_anew(void **state)
{
	(void)state;
	setup();
	put(TALK, "w", USER("aaaa wombat") USER("bbbb koala")
	    SAY("user", "third day", "2026-11-30"));
	ix_run(&x);
	put(TALK, "w", USER("aaaa wombat")); /* shrunk */
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "koala"), 0);
	is_as_fresh();
	put(TALK, "w", USER("aaaa zebra!")); /* the same size */
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 0);
	assert_int_equal(ix_hits(&x, "zebra"), 1);
	put(TALK, "w", USER("aaaa okapi!") USER("more")); /* and longer */
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "zebra"), 0);
	is_as_fresh();
	teardown();
}

static void test_talks__what_is_gone_goes_and_archives_stay(void **state)
{
	const char *one = ".openclaw/agents/main/sessions/one.jsonl";
	const char *text =
		"{\"type\":\"session\",\"id\":\"one\",\"timestamp\":"
		"\"2026-11-28T09:00:00Z\"}\n{\"type\":\"message\",\"id\":\"a\","
		"\"message\":{\"role\":\"user\",\"content\":\"the wombat\"}}\n";
	struct store_file f;

	(void)state;
	setup();
	put(one, "w", text);
	put(TALK, "w", USER("the koala"));
	put(".openclaw/agents/other/sessions/two.jsonl", "w", text);
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 1); /* not the other agent's */
	move(one, ".openclaw/agents/main/sessions/one.jsonl.reset.2026");
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	assert_true(ix_file(&x, "openclaw/main/one.reset.2026", &f));
	assert_false(ix_file(&x, "openclaw/main/one", &f));
	move(".openclaw/agents/main/sessions/one.jsonl.reset.2026",
	     ".openclaw/agents/main/sessions/one.jsonl.deleted.2026");
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 0);
	assert_int_equal(ix_hits(&x, "koala"), 1);
	teardown();
}

static void test_talks__a_place_that_vanishes_keeps_its_rows(void **state)
{
	(void)state;
	setup();
	put(TALK, "w", USER("the wombat"));
	ix_run(&x);
	move(".claude/projects", ".claude/unplugged");
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	move(".claude/unplugged", ".claude/projects");
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	teardown();
}

static void test_talks__bad_lines_are_listed_and_the_rest_is_in(void **state)
{
	struct store_file f;

	(void)state;
	setup();
	put(TALK, "w", USER("the wombat") "{broken\n\r\n[]\n"
	    USER("a jump") SAY("user", "the koala", "1970-01-01")
	    SAY("user", "back", "2026-11-28"));
	put(".claude/projects/-home-ada/s2.jsonl", "w", "no transcript\n");
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	assert_int_equal(ix_hits(&x, "koala"), 1);
	assert_true(x.r.skip_count >= 1);
	assert_string_equal(x.r.skips[0].path, "claude/-home-ada/s1");
	assert_string_equal(x.r.skips[0].reason, "2 lines are left out, the "
			    "first is line 2: it is no JSON");
	assert_true(ix_file(&x, "claude/-home-ada/s1", &f));
	assert_non_null(f.reason);
	is_as_fresh();
	teardown();
}

static void test_talks__nothing_of_another_user_is_read(void **state)
{
	char path[1200];

	(void)state;
	if (getuid())
		skip();
	setup();
	put(TALK, "w", USER("the wombat"));
	snprintf(path, sizeof(path), "%s/" TALK, so.home);
	assert_int_equal(chown(path, 65534, 65534), 0);
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 0);
	assert_int_equal(x.r.skip_count, 1);
	assert_string_equal(x.r.skips[0].reason, "it belongs to another user");
	assert_int_equal(transcript_open(&(struct transcript *){ NULL }, path,
					 NULL, NULL), REMEM_EPERM);
	teardown();
}

static void test_talks__links_are_not_followed(void **state)
{
	char path[1200], target[1200];

	(void)state;
	setup();
	put("elsewhere.jsonl", "w", USER("the wombat"));
	put(TALK, "w", USER("the koala"));
	snprintf(target, sizeof(target), "%s/elsewhere.jsonl", so.home);
	snprintf(path, sizeof(path), "%s/.claude/projects/-home-ada/l.jsonl",
		 so.home);
	assert_int_equal(symlink(target, path), 0);
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 0);
	assert_int_equal(ix_hits(&x, "koala"), 1);
	teardown();
}

/* ---- killed ------------------------------------------------------------ */

#define MAX_STEPS 300

/* True when the run was killed at write n, false when it ended before. */
static bool killed_at(long n)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		file_fault_at(n);
		_exit(index_run(&x.r, &x.a, &x.o, &x.err) ? 3 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		return true;
	assert_int_equal(WEXITSTATUS(status), 0);
	return false;
}

static void talk_grows(int i)
{
	if (i % 3 == 2)
		put(TALK, "w", USER("written anew")
		    SAY("assistant", "on another day", "2026-11-29"));
	else
		put(TALK, "a", USER("one more wombat")
		    SAY("assistant", "the day after", "2026-11-30")
		    USER("and back"));
}

static void test_talks__killed_at_any_write_ends_as_undisturbed(void **state)
{
	bool killed = true;
	int n = 0;

	(void)state;
	setup();
	put(TALK, "w", USER("the first wombat"));
	for (n = 1; killed && n < MAX_STEPS; n++) {
		killed = killed_at(n);
		ix_run(&x);
		is_as_fresh();
		talk_grows(n);
	}
	assert_true(n > 5);
	assert_true(n < MAX_STEPS);
	teardown();
}
