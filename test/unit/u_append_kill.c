/* Writers that are killed, and many at once. */
#include "memory_box.h"

#include <signal.h>
#include <sys/wait.h>

#define WRITERS 8
#define LINES 60

/* The child's steps are counted from its first write on. */
static bool killed_at(struct box *b, long step, int (*write)(struct box *b))
{
	int status;
	pid_t pid;

	box_close(b);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		box_open(b);
		file_fault_at(step);
		_exit(write(b) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	box_open(b);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return true;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	return false;
}

static int add_one(struct box *b)
{
	struct append_done d;

	return box_append(b, &d, "memory/deep/x.md", "- the line\n- 第二");
}

static int64_t broken(struct box *b)
{
	struct journal_state js;

	assert_int_equal(state_journal_verify(b->m.state, &js, &b->err), 0);
	return js.broken;
}

static int count_pending(void *ctx, const struct pending_row *row)
{
	(void)row;
	++*(int *)ctx;
	return 0;
}

static void test_append_kill__leaves_all_or_nothing(void **state)
{
	bool killed = true;
	long step;

	(void)state;
	for (step = 1; killed; step++) {
		const char *text;
		struct append_done d;
		struct box b;
		int pending = 0;

		box_begin(&b);
		killed = killed_at(&b, step, add_one);
		/* Before anything is settled: never half of it. */
		text = box_read(&b, "memory/deep/x.md");
		if (text && text[0])
			assert_string_equal(text, "- the line\n- 第二\n");
		/* Saying it again gives it once. */
		assert_int_equal(add_one(&b), 0);
		assert_string_equal(box_read(&b, "memory/deep/x.md"),
				    "- the line\n- 第二\n");
		assert_int_equal(box_append(&b, &d, "memory/deep/x.md",
					    "- next"), 0);
		assert_string_equal(d.citation, "memory/deep/x.md#L3");
		assert_int_equal(broken(&b), 0);
		assert_int_equal(state_pending_each(b.m.state, count_pending,
						    &pending, &b.err), 0);
		assert_int_equal(pending, 0);
		box_end(&b);
	}
	assert_true(step > 6);
}

static int rewrite_one(struct box *b)
{
	unsigned char hash[SHA256_BYTES];
	struct rewrite w = { .path = "MEMORY.md", .op = "rewrite",
			     .expect = hash, .bytes = "- new\n", .len = 6,
			     .origin = REMEM_ORIGIN_AGENT };
	struct buf old;
	bool found;
	int rc = rewrite_read(&old, hash, &found, &b->m, w.path, &b->err);

	buf_release(&old);
	return rc ? rc : rewrite_file(NULL, &b->m, &w, &b->err);
}

static void test_append_kill__a_rewrite_is_old_or_new(void **state)
{
	bool killed = true;
	long step;

	(void)state;
	for (step = 1; killed; step++) {
		const char *text;
		struct append_done d;
		struct box b;

		box_begin(&b);
		ws_put(&b.ws, "MEMORY.md", "- old\n- 旧");
		killed = killed_at(&b, step, rewrite_one);
		text = box_read(&b, "MEMORY.md");
		assert_non_null(text);
		if (strcmp(text, "- new\n"))
			assert_string_equal(text, "- old\n- 旧");
		assert_int_equal(box_append(&b, &d, NULL, "- other"), 0);
		assert_int_equal(broken(&b), 0);
		box_end(&b);
	}
	assert_true(step > 5);
}

/* A text of which only a part arrived goes again at the next write. */
static void test_append_kill__half_a_text_is_taken_away(void **state)
{
	struct pending_row p = { .path = "MEMORY.md", .size = 6,
				 .bytes = "- half of it\n", .len = 13 };
	struct append_done d;
	struct box b;

	(void)state;
	box_begin(&b);
	ws_put(&b.ws, "MEMORY.md", "- old\n- half");
	assert_int_equal(journal_add(&p.journal, &b.m, NULL, "append",
				     p.path, NULL, NULL, 13,
				     REMEM_ORIGIN_AGENT, NULL, &b.err), 0);
	assert_int_equal(state_pending_add(b.m.state, &p, &b.err), 0);
	assert_int_equal(box_append(&b, &d, "MEMORY", "- next"), 0);
	assert_string_equal(box_read(&b, "MEMORY.md"), "- old\n- next\n");
	/* What only looks like it is somebody else's. */
	p.size = 0;
	assert_int_equal(state_pending_add(b.m.state, &p, &b.err), 0);
	assert_int_equal(box_append(&b, &d, "MEMORY", "- more"), 0);
	assert_string_equal(box_read(&b, "MEMORY.md"),
			    "- old\n- next\n- more\n");
	box_end(&b);
}

/* Says each number on a pipe once it is acknowledged. */
static void write_many(struct box *b, int who, int fd)
{
	struct append_done d;
	char text[64];

	box_open(b);
	for (int i = 0; i < LINES; i++) {
		int said = who * LINES + i;

		snprintf(text, sizeof(text), "- writer %d says %d\n", who, i);
		if (box_append(b, &d, NULL, text))
			_exit(1);
		if (write(fd, &said, sizeof(said)) != sizeof(said))
			_exit(2);
	}
	_exit(0);
}

static int count_line(const char *text, const char *line)
{
	int n = 0;

	for (const char *p = text; (p = strstr(p, line)); p++)
		n += p == text || p[-1] == '\n';
	return n;
}

static void test_append_kill__many_writers_lose_nothing(void **state)
{
	static unsigned char said[WRITERS * LINES];
	struct box b;
	pid_t pids[WRITERS];
	int fds[2], n, status, acknowledged = 0;
	const char *text;
	char line[64];

	(void)state;
	box_begin(&b);
	box_close(&b);
	memset(said, 0, sizeof(said));
	assert_int_equal(pipe(fds), 0);
	for (int i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i]) {
			close(fds[0]);
			write_many(&b, i, fds[1]);
		}
	}
	close(fds[1]);
	while (read(fds[0], &n, sizeof(n)) == sizeof(n)) {
		said[n] = 1;
		/* Every now and then one of them dies. */
		if (++acknowledged % 100 == 0)
			kill(pids[acknowledged / 100 % WRITERS], SIGKILL);
	}
	close(fds[0]);
	for (int i = 0; i < WRITERS; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		if (WIFEXITED(status))
			assert_int_equal(WEXITSTATUS(status), 0);
	}
	box_open(&b);
	assert_int_equal(memory_begin(&b.m, &b.err), 0);
	memory_end(&b.m);
	text = box_read(&b, "memory/2026-03-20.md");
	assert_non_null(text);
	for (n = 0; n < WRITERS * LINES; n++) {
		int there;

		snprintf(line, sizeof(line), "- writer %d says %d\n",
			 n / LINES, n % LINES);
		there = count_line(text, line);
		assert_true(said[n] ? there == 1 : there <= 1);
	}
	assert_true(acknowledged >= LINES);
	assert_int_equal(broken(&b), 0);
	box_end(&b);
}
