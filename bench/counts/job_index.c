/* Terms, notes and the index of 60 notes made here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "index/index.h"
#include "jobs.h"
#include "text/note.h"
#include "text/term.h"

#define NOTES 60

static char note[16384];
static size_t note_len;
static char workspace[4096], dir[4096], one[4200];
static struct source_opts source;
static struct index_opts opts;

static void put(const char *s)
{
	size_t n = strlen(s);

	if (note_len + n < sizeof(note)) {
		memcpy(note + note_len, s, n);
		note_len += n;
	}
}

static void put_line(void)
{
	static const char *const words[] = { "gateway ", "timeout ", "caching ",
		"the ", "of ", "was ", "moved to ", "数据库", "缓存失效",
		"今天", "已经修复 ", "ERR_PAY_4021 ", "v1.2.3 ", "running ",
		"deployed ", "orderly " };

	put("- ");
	for (unsigned i = 0; i < 12; i++)
		put(words[job_random() % 16]);
	put("\n");
}

static void make_note(void)
{
	note_len = 0;
	put("# Notes\n\n## Deploy\n\n");
	for (unsigned i = 0; i < 40; i++)
		put_line();
}

static int term(void *ctx, const struct term *t)
{
	*(size_t *)ctx += t->len;
	return 0;
}

void job_terms_begin(const char *d)
{
	(void)d;
	make_note();
}

void job_terms(void)
{
	size_t sum = 0;

	for (int i = 0; i < 20; i++)
		term_cut(note, note_len, term, &sum);
	if (!sum)
		job_die("terms", "none");
}

void job_notes_begin(const char *d)
{
	(void)d;
	make_note();
}

void job_notes(void)
{
	struct note_opts o = NOTE_OPTS_DEFAULT;
	struct arena a = ARENA_INIT;
	struct remem_err err;
	struct note n;

	for (int i = 0; i < 20; i++) {
		arena_reset(&a);
		if (note_parse(&n, &a, note, note_len, &o, &err))
			job_die("notes", err.message);
	}
	arena_release(&a);
}

static void write_note(const char *path)
{
	FILE *f = fopen(path, "w");

	make_note();
	if (!f || fwrite(note, 1, note_len, f) != note_len || fclose(f))
		job_die("cannot write", path);
}

void job_index_first_begin(const char *d)
{
	struct note_opts no = NOTE_OPTS_DEFAULT;

	snprintf(workspace, sizeof(workspace), "%s/memory", d);
	mkdir(workspace, 0755);
	for (int i = 0; i < NOTES; i++) {
		snprintf(one, sizeof(one), "%s/n%03d.md", workspace, i);
		write_note(one);
	}
	snprintf(dir, sizeof(dir), "%s/index", d);
	source.workspace = realpath(d, NULL);
	opts = (struct index_opts){ .dir = dir, .backend = "sqlite",
				    .source = &source, .note = no };
}

void job_index_first(void)
{
	struct arena a = ARENA_INIT;
	struct index_report r;
	struct remem_err err;

	if (index_run(&r, &a, &opts, &err))
		job_die("index", err.message);
	arena_release(&a);
}

void job_index_noop_begin(const char *d)
{
	job_index_first_begin(d);
	job_index_first();
}

void job_index_noop(void)
{
	job_index_first();
}

void job_index_path_begin(const char *d)
{
	job_index_noop_begin(d);
	write_note(one);
}

void job_index_path(void)
{
	const char *path = one;
	struct arena a = ARENA_INIT;
	struct index_report r;
	struct remem_err err;

	if (index_paths(&r, &a, &opts, &path, 1, &err) || r.changed != 1)
		job_die("index", "one changed file");
	arena_release(&a);
}
