/* Child processes: input, output, limit, time, kill. */
#include "base_tmp.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/proc.h"

static int sh(struct buf *out, const char *script, const char *in, int ms,
	      int *status, struct remem_err *err)
{
	const char *argv[] = { "sh", "-c", NULL, NULL };

	argv[2] = script;
	return proc_run(out, argv, in, in ? strlen(in) : 0, ms, status, err);
}

static void test_proc__gives_output_and_exit_code(void **state)
{
	struct buf out = BUF_INIT(0);
	struct remem_err err = { 0 };
	int status = -1;

	(void)state;
	assert_int_equal(sh(&out, "echo 记忆; echo no >&2; exit 3", NULL, 5000,
			    &status, &err), 0);
	assert_string_equal(buf_str(&out), "记忆\n");
	assert_int_equal(status, 3);
	assert_int_equal(sh(&out, "kill -TERM $$", NULL, 0, &status, &err), 0);
	assert_int_equal(status, 128 + SIGTERM);
	buf_release(&out);
}

static void test_proc__large_input_comes_back(void **state)
{
	enum { N = 3000000 };
	static const char *const cat[] = { "cat", NULL };
	struct buf out = BUF_INIT(0);
	char *in = malloc(N);
	int status;

	(void)state;
	assert_non_null(in);
	for (int i = 0; i < N; i++)
		in[i] = (char)(i * 7 + i / 251);
	assert_int_equal(proc_run(&out, cat, in, N, 20000, &status, NULL), 0);
	assert_int_equal(status, 0);
	assert_int_equal(out.len, N);
	assert_memory_equal(out.ptr, in, N);
	free(in);
	buf_release(&out);
}

static void test_proc__input_that_is_not_read_is_no_error(void **state)
{
	struct buf out = BUF_INIT(0);
	char *in = calloc(1, 1000000);
	static const char *const argv[] = { "true", NULL };
	int status;

	(void)state;
	assert_non_null(in);
	assert_int_equal(proc_run(&out, argv, in, 1000000, 5000, &status,
				  NULL), 0);
	assert_int_equal(status, 0);
	free(in);
	buf_release(&out);
}

static void test_proc__no_input_is_an_empty_one(void **state)
{
	struct buf out = BUF_INIT(0);
	int status;

	(void)state;
	assert_int_equal(sh(&out, "cat; echo end", NULL, 5000, &status, NULL),
			 0);
	assert_string_equal(buf_str(&out), "end\n");
	buf_release(&out);
}

static void test_proc__may_read_on_after_closing_its_outputs(void **state)
{
	struct buf out = BUF_INIT(0);
	int status = -1;

	(void)state;
	assert_int_equal(sh(&out, "exec >&- 2>&-; read x; read y; exit $y",
			    "1\n7\n", 5000, &status, NULL), 0);
	assert_int_equal(status, 7);
	buf_release(&out);
}

static void test_proc__missing_program_is_not_found(void **state)
{
	static const char *const bare[] = { "remem-no-such-program", NULL };
	static const char *const path[] = { "/无/此", NULL };
	struct buf out = BUF_INIT(0);
	struct remem_err err;
	int status;

	(void)state;
	assert_int_equal(proc_run(&out, bare, NULL, 0, 0, &status, &err),
			 REMEM_ENOTFOUND);
	assert_int_equal(proc_run(&out, path, NULL, 0, 0, &status, &err),
			 REMEM_ENOTFOUND);
	assert_non_null(strstr(err.message, "/无/此"));
	buf_release(&out);
}

static void test_proc__time_ends_it_and_its_children(void **state)
{
	struct buf out = BUF_INIT(0);
	struct remem_err err;
	int64_t start = clock_mono_ns();
	int status;
	pid_t pid = 0;

	(void)state;
	assert_int_equal(sh(&out, "sleep 60 & echo $!; wait", NULL, 150,
			    &status, &err), REMEM_ETIMEOUT);
	assert_true(clock_mono_ns() - start < 10000000000);
	assert_non_null(strstr(err.message, "'sh'"));
	assert_int_equal(sscanf(buf_str(&out), "%d", &pid), 1);
	/* Killed with its group; it may take a moment to be taken away. */
	while (kill(pid, 0) == 0) {
		char stat[64], word[1024] = "";
		FILE *f;

		snprintf(stat, sizeof(stat), "/proc/%d/stat", (int)pid);
		f = fopen(stat, "r");
		if (f && fgets(word, sizeof(word), f) && strstr(word, ") Z")) {
			fclose(f);
			break;
		}
		if (f)
			fclose(f);
		assert_true(clock_mono_ns() - start < 20000000000);
	}
	buf_release(&out);
}

static void test_proc__time_counts_after_the_outputs_are_closed(void **state)
{
	struct buf out = BUF_INIT(0);
	int status;

	(void)state;
	assert_int_equal(sh(&out, "exec <&- >&- 2>&-; exec sleep 60", NULL,
			    100, &status, NULL), REMEM_ETIMEOUT);
	buf_release(&out);
}

static void test_proc__too_much_output_ends_it(void **state)
{
	static const char *const yes[] = { "yes", NULL };
	struct buf out = BUF_INIT(100000);
	struct remem_err err;
	int status;

	(void)state;
	assert_int_equal(proc_run(&out, yes, NULL, 0, 20000, &status, &err),
			 REMEM_ELIMIT);
	buf_release(&out);
}

static void test_proc__errors_are_kept_up_to_the_limit(void **state)
{
	static const char *const argv[] = {
		"sh", "-c", "echo out; printf 1234567890 >&2", NULL
	};
	struct buf out = BUF_INIT(0), errors = BUF_INIT(4);
	const struct proc_opts o = { .errors = &errors, .timeout_ms = 5000 };
	int status;

	(void)state;
	assert_int_equal(proc_run_opts(&out, argv, &o, &status, NULL), 0);
	assert_string_equal(buf_str(&out), "out\n");
	assert_string_equal(buf_str(&errors), "1234");
	assert_int_equal(errors.failed, 0);
	buf_release(&errors);
	buf_release(&out);
}

static void test_proc__folder_and_environment(void **state)
{
	static const char *const argv[] = { "/bin/sh", "-c",
					    "pwd -P; echo \"$A-$HOME\"", NULL };
	static const char *const env[] = { "A=甲", NULL };
	struct buf out = BUF_INIT(0);
	struct proc_opts o = { .env = env, .timeout_ms = 5000 };
	struct tmp t;
	char real[4096], want[5000];
	int status;

	(void)state;
	tmp_begin(&t);
	o.dir = t.dir;
	assert_non_null(realpath(t.dir, real));
	snprintf(want, sizeof(want), "%s\n甲-\n", real);
	assert_int_equal(proc_run_opts(&out, argv, &o, &status, NULL), 0);
	assert_string_equal(buf_str(&out), want);
	o.dir = "/no/such/folder";
	assert_int_equal(proc_run_opts(&out, argv, &o, &status, NULL),
			 REMEM_ENOTFOUND);
	buf_release(&out);
	tmp_end(&t);
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_proc__leaves_no_descriptors_children_or_signals(void **state)
{
	static const char *const none[] = { "remem-no-such-program", NULL };
	struct buf out = BUF_INIT(1000);
	int before = open_descriptors(), status;
	sigset_t mask;

	(void)state;
	sh(&out, "echo a", "x", 5000, &status, NULL);
	sh(&out, "sleep 60", NULL, 20, &status, NULL);
	sh(&out, "yes", NULL, 5000, &status, NULL);
	proc_run(&out, none, NULL, 0, 0, &status, NULL);
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(sigpending(&mask), 0);
	assert_false(sigismember(&mask, SIGPIPE));
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
	assert_false(sigismember(&mask, SIGPIPE));
	buf_release(&out);
}

/* Only the three standard descriptors reach the child. */
static void test_proc__nothing_else_is_inherited(void **state)
{
	struct buf out = BUF_INIT(0);
	struct tmp t;
	int status, fd;

	(void)state;
	if (access("/proc/self/fd", R_OK))
		skip();
	tmp_begin(&t);
	fd = open(tmp_path(&t, "held"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(sh(&out, "ls -l /proc/self/fd", NULL, 5000, &status,
			    NULL), 0);
	assert_null(strstr(buf_str(&out), "held"));
	close(fd);
	buf_release(&out);
	tmp_end(&t);
}

/* What a process that nobody waits for leaves in a file. */
static void wait_for(const char *path, struct buf *out)
{
	for (int i = 0; i < 500; i++) {
		struct timespec ms10 = { 0, 10000000 };

		buf_reset(out);
		if (!file_read(out, path, NULL) && out->len &&
		    out->ptr[out->len - 1] == '\n')
			return;
		nanosleep(&ms10, NULL);
	}
	fail_msg("nothing was written to %s", path);
}

static void test_proc__a_detached_one_is_on_its_own(void **state)
{
	const char *argv[] = { "sh", "-c", "read x; echo \"$PWD $(ps -o sid= "
		"-p $$ | tr -d ' ') $$ [$x] $(ls /proc/$$/fd | tr '\n' ' ')\"",
		NULL };
	struct proc_detach_opts o = { 0 };
	struct buf out = BUF_INIT(0);
	char log[512], cwd[256];
	int fd = open("/dev/null", O_RDONLY), sid, pid;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	snprintf(log, sizeof(log), "%s/log", t.dir);
	o.dir = t.dir;
	o.log = log;
	assert_true(fd > 2);
	assert_int_equal(proc_detach(argv, &o, NULL), 0);
	wait_for(log, &out);
	assert_int_equal(sscanf(out.ptr, "%255s %d %d []", cwd, &sid, &pid), 3);
	assert_string_equal(cwd, t.dir);
	assert_int_not_equal(sid, getsid(0));
	assert_int_not_equal(sid, pid);
	assert_null(strstr(out.ptr, " 4 "));
	close(fd);
	buf_release(&out);
	tmp_end(&t);
}

static void test_proc__detaching_says_what_cannot_be_run(void **state)
{
	const char *argv[] = { "remem-no-such-program", NULL };
	struct proc_detach_opts o = { "/no/such/folder", NULL, NULL };
	const char *sh[] = { "sh", NULL };

	(void)state;
	assert_int_equal(proc_detach(argv, NULL, NULL), REMEM_ENOTFOUND);
	assert_int_equal(proc_detach(sh, &o, NULL), REMEM_ENOTFOUND);
}
