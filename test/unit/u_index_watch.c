/* The loop that keeps an index in step, step by step. */
#include "index_help.h"

#include "index/watch.h"
#include "source/sessions.h"

struct loop {
	struct ix x;
	struct index_watch *w;
	struct index_watch_opts o;
	struct index_watch_step s;
	int syncs;
};

static void begin(struct loop *l)
{
	memset(l, 0, sizeof(*l));
	ix_begin(&l->x);
	ws_put(&l->x.ws, "MEMORY.md", "# M\n");
	ws_put(&l->x.ws, "memory/x.md", "- first\n");
	l->o.index = &l->x.o;
	l->o.watch = true;
}

static void start(struct loop *l)
{
	assert_int_equal(index_watch_new(&l->w, &l->o, &l->x.err), 0);
}

static void end(struct loop *l)
{
	index_watch_free(l->w);
	ix_end(&l->x);
}

/* Steps until nothing is due. */
static void settle(struct loop *l)
{
	l->syncs = 0;
	do {
		if (index_watch_step(l->w, &l->s, &l->x.err))
			fail_msg("%s", l->x.err.message);
		l->syncs += l->s.synced;
		assert_true(l->syncs < 50);
	} while (index_watch_wait_ms(l->w) == 0);
}

static void test_index_watch__the_first_step_syncs(void **state)
{
	struct loop l;

	(void)state;
	begin(&l);
	start(&l);
	assert_int_equal(index_watch_wait_ms(l.w), 0);
	assert_false(index_watch_is_clean(l.w));
	settle(&l);
	assert_int_equal(l.syncs, 1);
	assert_string_equal(l.s.reason, "start");
	assert_int_equal(l.s.report->added, 2);
	assert_int_equal(index_watch_wait_ms(l.w), -1);
	assert_true(index_watch_is_clean(l.w));
	assert_int_equal(index_watch_folders(l.w), 2);
	settle(&l);
	assert_int_equal(l.syncs, 0);
	end(&l);
}

static void test_index_watch__a_change_waits_until_it_has_settled(void **state)
{
	struct loop l;

	(void)state;
	begin(&l);
	l.o.debounce_ms = 60000;
	start(&l);
	settle(&l);
	ws_put(&l.x.ws, "memory/x.md", "- second\n");
	assert_false(index_watch_is_clean(l.w));
	settle(&l);
	assert_int_equal(l.syncs, 0);
	assert_false(index_watch_is_clean(l.w));
	assert_true(index_watch_wait_ms(l.w) > 0);
	assert_true(index_watch_wait_ms(l.w) <= 60000);
	end(&l);
}

static void test_index_watch__a_change_is_indexed_once(void **state)
{
	struct loop l;

	(void)state;
	begin(&l);
	start(&l);
	settle(&l);
	ws_put(&l.x.ws, "memory/x.md", "- Samarkand 撒马尔罕\n");
	ws_put(&l.x.ws, "memory/4913", "- temporary\n");
	ws_remove(&l.x.ws, "memory/4913");
	settle(&l);
	assert_int_equal(l.syncs, 1);
	assert_string_equal(l.s.reason, "watch");
	assert_true(index_watch_is_clean(l.w));
	assert_int_equal(ix_hits(&l.x, "samarkand"), 1);
	assert_int_equal(ix_hits(&l.x, "first"), 0);
	ws_remove(&l.x.ws, "memory/x.md");
	settle(&l);
	assert_int_equal(ix_hits(&l.x, "samarkand"), 0);
	end(&l);
}

static void test_index_watch__who_waits_gets_it_at_once(void **state)
{
	struct loop l;

	(void)state;
	begin(&l);
	l.o.debounce_ms = 60000;
	start(&l);
	settle(&l);
	index_watch_hurry(l.w); /* nothing has changed */
	settle(&l);
	assert_int_equal(l.syncs, 0);
	ws_put(&l.x.ws, "memory/x.md", "- second\n");
	settle(&l);
	assert_int_equal(l.syncs, 0);
	index_watch_hurry(l.w);
	settle(&l);
	assert_int_equal(l.syncs, 1);
	assert_int_equal(ix_hits(&l.x, "second"), 1);
	/* And the next one waits as always. */
	ws_put(&l.x.ws, "memory/x.md", "- third\n");
	settle(&l);
	assert_int_equal(l.syncs, 0);
	end(&l);
}

static void test_index_watch__by_the_clock_alone(void **state)
{
	struct loop l;

	(void)state;
	begin(&l);
	l.o.watch = false;
	l.o.interval_ms = 60000;
	start(&l);
	settle(&l);
	assert_int_equal(index_watch_fd(l.w), -1);
	assert_true(index_watch_wait_ms(l.w) > 50000);
	assert_true(index_watch_wait_ms(l.w) <= 60000);
	assert_false(index_watch_is_clean(l.w));
	end(&l);
}

static void test_index_watch__a_workspace_that_vanishes_comes_back(void **state)
{
	char away[600];
	struct loop l;

	(void)state;
	begin(&l);
	start(&l);
	settle(&l);
	snprintf(away, sizeof(away), "%s-away", l.x.ws.dir);
	assert_int_equal(rename(l.x.ws.dir, away), 0);
	settle(&l);
	assert_int_equal(l.s.rc, REMEM_ENOTFOUND);
	assert_true(index_watch_wait_ms(l.w) > 0);
	assert_false(index_watch_is_clean(l.w));
	/* What the index has of it stays. */
	assert_int_equal(ix_hits(&l.x, "first"), 1);
	assert_int_equal(rename(away, l.x.ws.dir), 0);
	ws_put(&l.x.ws, "memory/x.md", "- second\n");
	while (!index_watch_is_clean(l.w))
		settle(&l);
	assert_int_equal(l.s.rc, 0);
	assert_int_equal(ix_hits(&l.x, "second"), 1);
	ws_put(&l.x.ws, "memory/x.md", "- third\n");
	settle(&l);
	assert_int_equal(ix_hits(&l.x, "third"), 1);
	end(&l);
}

static void test_index_watch__a_clock_set_back_loses_nothing(void **state)
{
	struct loop l;

	(void)state;
	begin(&l);
	start(&l);
	settle(&l);
	clock_set(86400000);
	ws_put(&l.x.ws, "memory/x.md", "- yesterday\n");
	settle(&l);
	clock_set(-1);
	assert_int_equal(ix_hits(&l.x, "yesterday"), 1);
	assert_true(index_watch_is_clean(l.w));
	end(&l);
}

static void test_index_watch__a_held_lock_is_tried_again(void **state)
{
	struct store_opts so = { 0 };
	struct store *s;
	struct loop l;

	(void)state;
	begin(&l);
	l.x.o.wait_ms = 1;
	start(&l);
	settle(&l);
	so.dir = l.x.dir;
	so.mode = STORE_WRITE;
	so.term_version = TERM_VERSION;
	so.note_version = NOTE_VERSION;
	assert_int_equal(store_backend("sqlite")->open(&s, &so, NULL), 0);
	ws_put(&l.x.ws, "memory/x.md", "- second\n");
	settle(&l);
	assert_int_equal(l.s.rc, REMEM_EBUSY);
	assert_false(index_watch_is_clean(l.w));
	s->ops->close(s);
	while (!index_watch_is_clean(l.w))
		settle(&l);
	assert_int_equal(ix_hits(&l.x, "second"), 1);
	end(&l);
}

static void write_meanwhile(void *ctx)
{
	struct loop *l = ctx;
	int64_t until = clock_mono_ns() + 110000000; /* progress is told */

	ws_put(&l->x.ws, "memory/meanwhile.md", "- meanwhile\n");
	while (clock_mono_ns() < until)
		;
	l->x.e.hook = NULL;
}

static void test_index_watch__vectors_give_way_to_text(void **state)
{
	char name[64], text[64];
	struct loop l;

	(void)state;
	begin(&l);
	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "memory/n%d.md", i);
		snprintf(text, sizeof(text), "- fact number %d\n", i);
		ws_put(&l.x.ws, name, text);
	}
	l.x.o.embedder = &l.x.e;
	l.x.e.hook = write_meanwhile;
	l.x.e.hook_ctx = &l;
	start(&l);
	assert_int_equal(index_watch_step(l.w, &l.s, &l.x.err), 0);
	assert_int_equal(l.s.rc, 0);
	assert_int_equal(index_watch_wait_ms(l.w), 0);
	assert_int_equal(index_watch_step(l.w, &l.s, &l.x.err), 0);
	assert_string_equal(l.s.reason, "watch");
	assert_int_equal(l.s.report->added, 1);
	settle(&l);
	assert_int_equal(ix_hits(&l.x, "meanwhile"), 1);
	/* Nothing was asked twice. */
	for (int i = 0; i < l.x.e.count; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(l.x.e.asked[i],
						l.x.e.asked[k]);
	end(&l);
}

/* ---- transcripts ------------------------------------------------------ */

#define TALK "home/.claude/projects/-ws/s1.jsonl"

static const char *no_env(void *ctx, const char *name)
{
	(void)ctx, (void)name;
	return NULL;
}

/* One message more, of so many bytes at least. */
static void say(struct loop *l, const char *text, int bytes)
{
	static int number;
	FILE *f = fopen(tmp_path(&l->x.ws.tmp, TALK), "a");

	assert_non_null(f);
	fprintf(f, "{\"type\":\"user\",\"sessionId\":\"s1\",\"uuid\":\"u%d\","
		"\"timestamp\":\"2026-03-01T10:00:00Z\",\"cwd\":\"/ws\","
		"\"message\":{\"role\":\"user\",\"content\":\"%s\"},"
		"\"padding\":\"%0*d\"}\n", ++number, text, bytes, 0);
	assert_int_equal(fclose(f), 0);
}

static void begin_talk(struct loop *l, struct session_opts *so, char home[600])
{
	begin(l);
	assert_int_equal(dir_make(tmp_path(&l->x.ws.tmp,
			 "home/.claude/projects/-ws"), 0700, NULL), 0);
	snprintf(home, 600, "%s/home", l->x.ws.tmp.dir);
	memset(so, 0, sizeof(*so));
	so->home = home;
	so->env = no_env;
	so->want = TRANSCRIPT_WANT_TEXT;
	l->x.ws.o.sessions = so;
	l->o.delta_bytes = 4096;
	l->o.delta_messages = 10;
	l->o.shrunk_counts = true;
	say(l, "the first message", 5000);
	start(l);
	settle(l);
	assert_int_equal(ix_hits(&l->x, "messag"), 1);
	/* What was there before the watch is not known to it. */
	say(l, "the second message", 5000);
	settle(l);
	assert_int_equal(l->syncs, 1);
	assert_true(index_watch_is_clean(l->w));
}

static void test_index_watch__a_talk_that_grows_waits_until_it_is_quiet(
	void **state)
{
	struct session_opts so;
	char home[600];
	struct loop l;

	(void)state;
	begin_talk(&l, &so, home);
	say(&l, "Samarkand", 10);
	settle(&l);
	assert_int_equal(l.syncs, 0);
	assert_true(index_watch_wait_ms(l.w) > 3000);
	assert_true(index_watch_wait_ms(l.w) <= 5000);
	/* A search does not rely on the index meanwhile. */
	assert_false(index_watch_is_clean(l.w));
	end(&l);
}

static void test_index_watch__a_quiet_talk_is_indexed(void **state)
{
	struct session_opts so;
	char home[600];
	struct loop l;

	(void)state;
	memset(&l, 0, sizeof(l));
	begin_talk(&l, &so, home);
	index_watch_free(l.w);
	l.o.quiet_ms = 1;
	start(&l);
	settle(&l);
	say(&l, "Samarkand 撒马尔罕", 10);
	while (!index_watch_is_clean(l.w))
		settle(&l);
	assert_int_equal(ix_hits(&l.x, "samarkand"), 1);
	end(&l);
}

static void test_index_watch__bytes_and_messages_of_a_talk_count(void **state)
{
	struct session_opts so;
	char home[600];
	struct loop l;

	(void)state;
	begin_talk(&l, &so, home);
	say(&l, "Bukhara", 4096);
	settle(&l);
	assert_int_equal(l.syncs, 1);
	assert_int_equal(ix_hits(&l.x, "bukhara"), 1);
	for (int i = 0; i < 9; i++) {
		say(&l, "Tashkent", 1);
		settle(&l);
		assert_int_equal(l.syncs, 0);
	}
	say(&l, "Tashkent", 1);
	settle(&l);
	assert_int_equal(l.syncs, 1);
	assert_true(ix_hits(&l.x, "tashkent") > 0);
	end(&l);
}

static void test_index_watch__a_talk_that_is_cut_or_removed_is_due(void **state)
{
	struct session_opts so;
	char home[600];
	struct loop l;

	(void)state;
	begin_talk(&l, &so, home);
	assert_int_equal(truncate(tmp_path(&l.x.ws.tmp, TALK), 0), 0);
	say(&l, "Khiva", 1);
	settle(&l);
	assert_int_equal(l.syncs, 1);
	assert_int_equal(ix_hits(&l.x, "khiva"), 1);
	assert_int_equal(ix_hits(&l.x, "messag"), 0);
	assert_int_equal(unlink(tmp_path(&l.x.ws.tmp, TALK)), 0);
	settle(&l);
	assert_int_equal(ix_hits(&l.x, "khiva"), 0);
	end(&l);
}

/* ---- a model ---------------------------------------------------------- */

#define OPS 10000
#define NAMES 40
#define FOLDERS 5

struct model {
	struct loop l;
	unsigned seed;
	int text[FOLDERS][NAMES]; /* what a note says; 0: it is not there */
	int next;
};

static unsigned roll(struct model *m, unsigned n)
{
	m->seed = m->seed * 1664525u + 1013904223u;
	return (m->seed >> 8) % n;
}

/* Folders 0 and 1 are always there, the others come, go and are moved. */
static const char *place(int folder, int name)
{
	static char out[4][64];
	static int turn;

	turn = (turn + 1) % 4;
	if (name < 0)
		snprintf(out[turn], 64, "memory/d%d", folder);
	else if (!folder)
		snprintf(out[turn], 64, "memory/n%d.md", name);
	else
		snprintf(out[turn], 64, "memory/d%d/n%d.md", folder, name);
	return out[turn];
}

static void write_one(struct model *m, int folder, int name)
{
	struct ws *ws = &m->l.x.ws;
	char text[80];

	m->text[folder][name] = ++m->next;
	snprintf(text, sizeof(text), "- fact %d 事实 %d\n", m->next, m->next);
	switch (roll(m, 3)) {
	case 0:
		ws_put(ws, place(folder, name), text);
		break;
	case 1:
		ws_put(ws, "memory/save.tmp", text);
		ws_put(ws, place(folder, name), "");
		assert_int_equal(rename(ws_path(ws, "memory/save.tmp"),
					ws_path(ws, place(folder, name))), 0);
		break;
	default:
		unlink(ws_path(ws, place(folder, name)));
		ws_put(ws, place(folder, name), text);
	}
}

static void move_one(struct model *m, int folder, int name)
{
	struct ws *ws = &m->l.x.ws;
	int to = (int)roll(m, FOLDERS), as = (int)roll(m, NAMES);

	if (!m->text[folder][name] || (to == folder && as == name))
		return;
	/* Its folder may be gone. */
	assert_int_equal(dir_make(ws_path(ws, to ? place(to, -1) : "memory"),
				  0755, NULL), 0);
	assert_int_equal(rename(ws_path(ws, place(folder, name)),
				ws_path(ws, place(to, as))), 0);
	m->text[to][as] = m->text[folder][name];
	m->text[folder][name] = 0;
}

static void remove_folder(struct model *m, int folder)
{
	assert_int_equal(dir_remove(ws_path(&m->l.x.ws, place(folder, -1)),
				    NULL), 0);
	memset(m->text[folder], 0, sizeof(m->text[folder]));
}

static void move_folder(struct model *m, int folder)
{
	int to = 2 + (int)roll(m, FOLDERS - 2);
	struct ws *ws = &m->l.x.ws;

	if (to == folder || access(ws_path(ws, place(folder, -1)), F_OK))
		return;
	remove_folder(m, to);
	assert_int_equal(rename(ws_path(ws, place(folder, -1)),
				ws_path(ws, place(to, -1))), 0);
	memcpy(m->text[to], m->text[folder], sizeof(m->text[to]));
	memset(m->text[folder], 0, sizeof(m->text[folder]));
}

static void one_op(struct model *m)
{
	int folder = (int)roll(m, FOLDERS), name = (int)roll(m, NAMES);
	unsigned what = roll(m, 100);

	if (what < 55) {
		write_one(m, folder, name);
	} else if (what < 75 && m->text[folder][name]) {
		ws_remove(&m->l.x.ws, place(folder, name));
		m->text[folder][name] = 0;
	} else if (what < 92) {
		move_one(m, folder, name);
	} else if (what < 95 && folder >= 2) {
		remove_folder(m, folder);
	} else if (folder >= 2) {
		move_folder(m, folder);
	} else {
		ws_put(&m->l.x.ws, "memory/.n.md.swp", "- no\n");
		ws_put(&m->l.x.ws, "memory/n.md~", "- no\n");
	}
}

static int check_row(void *ctx, const struct store_file *f)
{
	struct model *m = ctx;
	unsigned char want[SHA256_BYTES];
	char text[80];
	int folder = 0, name;

	if (!strcmp(f->path, "MEMORY.md") || !strcmp(f->path, "memory/x.md"))
		return 0;
	if (sscanf(f->path, "memory/d%d/n%d.md", &folder, &name) != 2 &&
	    sscanf(f->path, "memory/n%d.md", &name) != 1)
		fail_msg("'%s' is indexed", f->path);
	if (!m->text[folder][name])
		fail_msg("'%s' is gone, and is indexed", f->path);
	snprintf(text, sizeof(text), "- fact %d 事实 %d\n",
		 m->text[folder][name], m->text[folder][name]);
	sha256_of(want, text, strlen(text));
	if (memcmp(want, f->hash, sizeof(want)))
		fail_msg("'%s' is indexed as it was", f->path);
	m->next++;
	return 0;
}

static void compare(struct model *m)
{
	struct store *s = ix_open(&m->l.x);
	int there = 0, kept = m->next;

	for (int i = 0; i < FOLDERS; i++)
		for (int k = 0; k < NAMES; k++)
			there += m->text[i][k] != 0;
	m->next = 0;
	assert_int_equal(s->ops->files_each(s, check_row, m, NULL), 0);
	assert_int_equal(m->next, there);
	m->next = kept;
	s->ops->close(s);
}

static void test_index_watch__ten_thousand_operations(void **state)
{
	struct model m = { .seed = 20260930 };
	struct index_opts anew;
	char *mine, *fresh;

	(void)state;
	begin(&m.l);
	start(&m.l);
	settle(&m.l);
	for (int i = 0; i < OPS; i++) {
		one_op(&m);
		if (roll(&m, 25))
			continue;
		settle(&m.l);
		assert_true(index_watch_is_clean(m.l.w));
		compare(&m);
		arena_reset(&m.l.x.a);
	}
	settle(&m.l);
	compare(&m);
	/* And what it says is what an index made anew says. */
	mine = ix_dump(&m.l.x);
	anew = m.l.x.o;
	anew.force = true;
	assert_int_equal(index_run(&m.l.x.r, &m.l.x.a, &anew, NULL), 0);
	fresh = ix_dump(&m.l.x);
	assert_string_equal(mine, fresh);
	mem_free(mine);
	mem_free(fresh);
	end(&m.l);
}
