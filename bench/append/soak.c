/*
 * Appends from many processes with random kills, twice:
 *
 *   soak FOLDER LINES
 *
 * Eight processes add LINES lines each to the note of the day and say each
 * number on a pipe when it was acknowledged. About every thousand lines one of
 * them is killed; another goes on where it was. In the end every acknowledged
 * line has to be in the note once, and the chain of the journal whole.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "memory/append.h"
#include "memory/journal.h"

#define UUID "00000000-0000-4000-8000-000000000001"
#define WRITERS 8
#define ROUNDS 2
#define KILL_EVERY 1000

struct place {
	char root[512], state[512], lock[600], note[700];
	struct memory m;
	struct remem_err err;
	int lines;
};

static void check(struct place *p, int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "%s\n", p->err.message);
	exit(1);
}

static void begin(struct place *p)
{
	check(p, state_open(&p->m.state, p->state, UUID, false, &p->err));
	p->m.root = p->root;
	p->m.lock_path = p->lock;
	p->m.now_ms = 1774000000000ll;
	p->m.zone = "UTC";
	p->m.lock_ms = 120000;
	check(p, memory_open(&p->m, &p->err));
}

static void end(struct place *p)
{
	memory_close(&p->m);
	state_close(p->m.state);
	p->m.state = NULL;
}

static void write_lines(struct place *p, int who, int from, int fd)
{
	char text[64];

	begin(p);
	for (int i = from; i < p->lines; i++) {
		struct append w = { .text = text,
				    .origin = REMEM_ORIGIN_AGENT };
		struct arena a = ARENA_INIT;
		int said = who * p->lines + i;
		struct append_done d;

		w.len = (size_t)snprintf(text, sizeof(text),
					 "- writer %d says %d\n", who, i);
		check(p, append_lines(&d, &a, &p->m, &w, &p->err));
		arena_release(&a);
		if (write(fd, &said, sizeof(said)) != sizeof(said))
			_exit(2);
	}
	end(p);
	_exit(0);
}

struct run {
	pid_t pids[WRITERS];
	int next[WRITERS], fds[2], kills, acknowledged;
	unsigned char *said;
};

static void start(struct place *p, struct run *r, int who)
{
	fflush(stdout);
	r->pids[who] = fork();
	if (!r->pids[who]) {
		close(r->fds[0]);
		write_lines(p, who, r->next[who], r->fds[1]);
	}
}

static void take(struct place *p, struct run *r, int said)
{
	int who = said / p->lines;

	r->said[said]++;
	r->next[who] = said % p->lines + 1;
	if (++r->acknowledged % KILL_EVERY)
		return;
	who = rand() % WRITERS;
	if (r->next[who] >= p->lines || kill(r->pids[who], SIGKILL))
		return;
	waitpid(r->pids[who], NULL, 0);
	r->kills++;
	/* What it said last may still be in the pipe: saying it again is fine,
	 * it is added once. */
	start(p, r, who);
}

static int count(struct place *p, struct run *r)
{
	struct buf b = BUF_INIT(0);
	unsigned char *there = calloc((size_t)p->lines, WRITERS);
	int bad = 0, who, n;

	check(p, file_read(&b, p->note, &p->err));
	for (const char *s = buf_str(&b), *nl; there && *s; s = nl + 1) {
		nl = strchr(s, '\n');
		if (!nl || sscanf(s, "- writer %d says %d\n", &who, &n) != 2 ||
		    who >= WRITERS || n >= p->lines) {
			fprintf(stderr, "half a line: %.60s\n", s);
			bad++;
			if (!nl)
				break;
			continue;
		}
		there[who * p->lines + n]++;
	}
	for (int i = 0; there && i < WRITERS * p->lines; i++)
		bad += r->said[i] ? there[i] != 1 : there[i] > 1;
	free(there);
	buf_release(&b);
	return bad;
}

static int round_of(struct place *p)
{
	struct run r = { .kills = 0 };
	struct journal_state js;
	int64_t begun = clock_mono_ns();
	int said, bad;

	r.said = calloc((size_t)p->lines, WRITERS);
	begin(p);
	end(p);
	if (!r.said || pipe(r.fds))
		return 1;
	for (int i = 0; i < WRITERS; i++)
		start(p, &r, i);
	while (r.acknowledged < WRITERS * p->lines &&
	       read(r.fds[0], &said, sizeof(said)) == sizeof(said))
		take(p, &r, said);
	for (int i = 0; i < WRITERS; i++)
		waitpid(r.pids[i], NULL, 0);
	begin(p);
	check(p, memory_begin(&p->m, &p->err));
	memory_end(&p->m);
	bad = count(p, &r);
	check(p, state_journal_verify(p->m.state, &js, &p->err));
	printf("{\"what\":\"soak\",\"lines\":%d,\"kills\":%d,\"wrong\":%d,"
	       "\"records\":%lld,\"broken\":%lld,\"s\":%.1f}\n",
	       WRITERS * p->lines, r.kills, bad, (long long)js.records,
	       (long long)js.broken, (double)(clock_mono_ns() - begun) / 1e9);
	end(p);
	free(r.said);
	return bad || js.broken;
}

int main(int argc, char **argv)
{
	struct place p = { .lines = argc > 2 ? atoi(argv[2]) : 10000 };
	int bad = 0;

	if (argc < 2) {
		fprintf(stderr, "soak FOLDER [LINES]\n");
		return 2;
	}
	snprintf(p.root, sizeof(p.root), "%s/notes", argv[1]);
	snprintf(p.state, sizeof(p.state), "%s/state", argv[1]);
	snprintf(p.lock, sizeof(p.lock), "%s/%s/write.lock", p.state, UUID);
	snprintf(p.note, sizeof(p.note), "%s/memory/2026-03-20.md", p.root);
	for (int i = 0; i < ROUNDS && !bad; i++) {
		check(&p, dir_make(p.root, 0700, &p.err));
		bad = round_of(&p);
		dir_remove(argv[1], NULL);
	}
	return bad != 0;
}
