/* Locks between processes and threads. */
#include "base_tmp.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/lock.h"

static void test_lock__one_holder_at_a_time(void **state)
{
	struct lock a = LOCK_INIT, b = LOCK_INIT;
	struct remem_err err;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	assert_int_equal(lock_take(&a, tmp_path(&t, "锁"), 0, &err), 0);
	assert_true(a.fd >= 0);
	assert_int_equal(lock_take(&b, t.path, 0, &err), REMEM_EBUSY);
	assert_int_equal(b.fd, -1);
	assert_non_null(strstr(err.message, "锁"));
	lock_release(&a);
	assert_int_equal(lock_take(&b, t.path, 0, &err), 0);
	lock_release(&b);
	lock_release(&b);
	lock_release(NULL);
	tmp_end(&t);
}

static void test_lock__file_is_private(void **state)
{
	mode_t mask = umask(0);
	struct lock l = LOCK_INIT;
	struct stat st;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	assert_int_equal(lock_take(&l, tmp_path(&t, "l"), 0, NULL), 0);
	assert_int_equal(stat(t.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	lock_release(&l);
	umask(mask);
	tmp_end(&t);
}

static void test_lock__waits_as_long_as_told(void **state)
{
	struct lock a = LOCK_INIT, b = LOCK_INIT;
	int64_t start;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	assert_int_equal(lock_take(&a, tmp_path(&t, "l"), 0, NULL), 0);
	start = clock_mono_ns();
	assert_int_equal(lock_take(&b, t.path, 40, NULL), REMEM_EBUSY);
	assert_true(clock_mono_ns() - start >= 40000000);
	lock_release(&a);
	tmp_end(&t);
}

/* A child takes the lock, says so, and holds it until it is killed. */
static pid_t hold_in_child(const char *path)
{
	int fd[2];
	char c = 0;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct lock l = LOCK_INIT;

		if (lock_take(&l, path, -1, NULL) ||
		    write(fd[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(fd[1]);
	assert_int_equal(read(fd[0], &c, 1), 1);
	close(fd[0]);
	return pid;
}

static void test_lock__ends_with_its_process(void **state)
{
	struct lock l = LOCK_INIT;
	struct tmp t;
	pid_t pid;

	(void)state;
	tmp_begin(&t);
	pid = hold_in_child(tmp_path(&t, "l"));
	assert_int_equal(lock_take(&l, t.path, 0, NULL), REMEM_EBUSY);
	assert_int_equal(lock_take(&l, t.path, 5, NULL), REMEM_EBUSY);
	kill(pid, SIGKILL);
	assert_int_equal(lock_take(&l, t.path, -1, NULL), 0);
	waitpid(pid, NULL, 0);
	lock_release(&l);
	tmp_end(&t);
}

static void test_lock__release_holds_for_forked_children_too(void **state)
{
	struct lock a = LOCK_INIT, b = LOCK_INIT;
	struct tmp t;
	pid_t pid;

	(void)state;
	tmp_begin(&t);
	assert_int_equal(lock_take(&a, tmp_path(&t, "l"), 0, NULL), 0);
	pid = fork();
	if (!pid) {
		for (;;)
			pause();
	}
	lock_release(&a);
	assert_int_equal(lock_take(&b, t.path, 0, NULL), 0);
	lock_release(&b);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tmp_end(&t);
}

/* Each child adds one many times, reading and writing under the lock. */
static void test_lock__nothing_is_lost_between_processes(void **state)
{
	enum { CHILDREN = 4, ROUNDS = 100 };
	struct buf b = BUF_INIT(0);
	struct tmp t;
	char lock[1100];

	(void)state;
	tmp_begin(&t);
	snprintf(lock, sizeof(lock), "%s", tmp_path(&t, "lock"));
	tmp_put(&t, "n", "");
	for (int i = 0; i < CHILDREN; i++) {
		if (fork())
			continue;
		for (int k = 0; k < ROUNDS; k++) {
			struct lock l = LOCK_INIT;
			struct stat st;
			int fd;

			if (lock_take(&l, lock, -1, NULL))
				_exit(1);
			fd = open(t.path, O_WRONLY);
			if (fd < 0 || fstat(fd, &st) ||
			    pwrite(fd, "x", 1, st.st_size) != 1)
				_exit(1);
			close(fd);
			lock_release(&l);
		}
		_exit(0);
	}
	for (int i = 0; i < CHILDREN; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(file_read(&b, t.path, NULL), 0);
	assert_int_equal(b.len, CHILDREN * ROUNDS);
	buf_release(&b);
	tmp_end(&t);
}

/* Who waits for a file that is deleted must not end up alone with it. */
static void test_lock__deleted_file_does_not_split_the_holders(void **state)
{
	struct lock a = LOCK_INIT, b = LOCK_INIT, c = LOCK_INIT;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	assert_int_equal(lock_take(&a, tmp_path(&t, "l"), 0, NULL), 0);
	unlink(t.path);
	assert_int_equal(lock_take(&b, t.path, 0, NULL), 0);
	lock_release(&a);
	assert_int_equal(lock_take(&c, t.path, 0, NULL), REMEM_EBUSY);
	lock_release(&b);
	tmp_end(&t);
}

static void test_lock__odd_places_are_errors(void **state)
{
	struct lock l = LOCK_INIT;
	struct remem_err err;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	assert_int_equal(lock_take(&l, tmp_path(&t, "no/l"), 0, &err),
			 REMEM_ENOTFOUND);
	assert_int_equal(lock_take(&l, t.dir, 0, &err), REMEM_EIO);
	assert_int_equal(symlink("target", tmp_path(&t, "link")), 0);
	assert_int_equal(lock_take(&l, t.path, 0, &err), REMEM_EIO);
	assert_false(file_exists(tmp_path(&t, "target")));
	assert_int_equal(l.fd, -1);
	tmp_end(&t);
}
