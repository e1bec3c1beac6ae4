/* Files and folders: whole reads, atomic writes, confinement, faults. */
#include "base_tmp.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/clock.h"

static void fill(struct tmp *t, const char *name, size_t len)
{
	char *p = malloc(len);
	struct remem_err err = { 0 };

	assert_non_null(p);
	for (size_t i = 0; i < len; i++)
		p[i] = (char)(i * 31 + i / 256);
	if (file_write_atomic(tmp_path(t, name), p, len, 0644, &err))
		fail_msg("%s", err.message);
	free(p);
}

/* ---- reading ---------------------------------------------------------- */

static void test_file__reads_every_size(void **state)
{
	static const size_t sizes[] = { 0,    1,    7,	  8,	4095,
					4096, 4097, 8191, 8192, 1000000 };
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct buf b = BUF_INIT(0);

		fill(&t, "文件.bin", sizes[i]);
		assert_int_equal(file_read(&b, tmp_path(&t, "文件.bin"), NULL),
				 0);
		assert_int_equal(b.len, sizes[i]);
		for (size_t k = 0; k < b.len; k++) {
			if (b.ptr[k] != (char)(k * 31 + k / 256))
				fail_msg("byte %zu of %zu", k, b.len);
		}
		assert_int_equal(buf_str(&b)[b.len], 0);
		buf_release(&b);
	}
	tmp_end(&t);
}

static void test_file__read_appends(void **state)
{
	struct buf b = BUF_INIT(9);
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	tmp_put(&t, "a", "记忆");
	buf_adds(&b, "ab:");
	assert_int_equal(file_read(&b, tmp_path(&t, "a"), NULL), 0);
	assert_string_equal(buf_str(&b), "ab:记忆");
	assert_int_equal(file_read(&b, tmp_path(&t, "a"), NULL), REMEM_ELIMIT);
	assert_int_equal(file_read(&b, tmp_path(&t, "a"), NULL), REMEM_ELIMIT);
	buf_release(&b);
	tmp_end(&t);
}

static void test_file__limit_is_exact(void **state)
{
	struct remem_err err;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	fill(&t, "f", 5000);
	for (size_t limit = 4999; limit <= 5001; limit++) {
		struct buf b = BUF_INIT(limit);
		int rc = file_read(&b, tmp_path(&t, "f"), &err);

		assert_int_equal(rc, limit < 5000 ? REMEM_ELIMIT : 0);
		if (rc)
			assert_non_null(strstr(err.message, "4999 bytes"));
		buf_release(&b);
	}
	tmp_end(&t);
}

static void test_file__size_zero_may_have_contents(void **state)
{
	struct buf b = BUF_INIT(0), small = BUF_INIT(3);

	(void)state;
	if (access("/proc/self/status", R_OK))
		skip();
	assert_int_equal(file_read(&b, "/proc/self/status", NULL), 0);
	assert_non_null(strstr(buf_str(&b), "Pid:"));
	buf_release(&b);
	assert_int_equal(file_read(&small, "/proc/self/status", NULL),
			 REMEM_ELIMIT);
	assert_int_equal(small.len, 0);
	buf_release(&small);
}

static void test_file__strange_kinds_are_refused_at_once(void **state)
{
	struct buf b = BUF_INIT(0);
	struct remem_err err;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	assert_int_equal(mkfifo(tmp_path(&t, "pipe"), 0600), 0);
	assert_int_equal(file_read(&b, t.path, &err), REMEM_EINVAL);
	assert_non_null(strstr(err.message, "not a regular file"));
	assert_int_equal(file_read(&b, t.dir, &err), REMEM_EINVAL);
	assert_non_null(strstr(err.message, "is a folder"));
	assert_int_equal(file_read(&b, "/dev/null", &err), REMEM_EINVAL);
	assert_int_equal(file_read(&b, tmp_path(&t, "无"), &err),
			 REMEM_ENOTFOUND);
	assert_non_null(strstr(err.message, "无"));
	assert_int_equal(file_read(&b, tmp_path(&t, "pipe/x"), &err),
			 REMEM_ENOTFOUND);
	assert_int_equal(file_read_fd(&b, -1, "x", &err), REMEM_EIO);
	buf_release(&b);
	tmp_end(&t);
}

struct writer {
	const char *path;
	int stop;
};

/* Makes the file longer and shorter until told to stop. */
static void *change(void *ctx)
{
	struct writer *w = ctx;
	int fd = open(w->path, O_WRONLY);

	for (int i = 0; !__atomic_load_n(&w->stop, __ATOMIC_RELAXED); i++) {
		if (ftruncate(fd, i % 3 * 40000 + i % 7))
			break;
	}
	close(fd);
	return NULL;
}

static void test_file__survives_files_that_grow_and_shrink(void **state)
{
	struct writer w = { 0 };
	pthread_t thread;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	fill(&t, "f", 100);
	w.path = tmp_path(&t, "f");
	assert_int_equal(pthread_create(&thread, NULL, change, &w), 0);
	for (int i = 0; i < 2000; i++) {
		struct buf b = BUF_INIT(i % 2 ? 50000 : 0);
		int rc = file_read(&b, w.path, NULL);

		assert_true(rc == 0 || rc == REMEM_ELIMIT);
		assert_true(b.len <= 90000);
		if (b.ptr)
			assert_int_equal(b.ptr[b.len], 0);
		buf_release(&b);
	}
	__atomic_store_n(&w.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	tmp_end(&t);
}

static void test_file__read_survives_failed_allocations(void **state)
{
	struct tmp t;
	int rc = REMEM_ENOMEM;

	(void)state;
	tmp_begin(&t);
	fill(&t, "f", 100000);
	for (long n = 1; rc; n++) {
		struct buf b = BUF_INIT(0);

		alloc_fail_at(n);
		rc = file_read(&b, tmp_path(&t, "f"), NULL);
		alloc_fail_at(0);
		assert_true(rc == 0 || rc == REMEM_ENOMEM);
		buf_release(&b);
		assert_true(n < 10);
	}
	tmp_end(&t);
}

/* ---- writing ---------------------------------------------------------- */

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void expect(struct tmp *t, const char *name, const char *text)
{
	struct buf b = BUF_INIT(0);
	struct remem_err err = { 0 };

	if (file_read(&b, tmp_path(t, name), &err))
		fail_msg("%s", err.message);
	assert_string_equal(buf_str(&b), text);
	buf_release(&b);
}

static void test_file__write_creates_and_replaces(void **state)
{
	struct tmp t;
	mode_t mask = umask(022);

	(void)state;
	tmp_begin(&t);
	assert_int_equal(file_write_atomic(tmp_path(&t, "记忆.md"), "一", 3,
					   0644, NULL), 0);
	expect(&t, "记忆.md", "一");
	assert_int_equal(mode_of(t.path), 0644);
	chmod(t.path, 0640);
	assert_int_equal(file_write_atomic(t.path, "", 0, 0600, NULL), 0);
	expect(&t, "记忆.md", "");
	assert_int_equal(mode_of(t.path), 0640);
	chmod(t.path, 0400);
	assert_int_equal(file_write_atomic(t.path, "x", 1, 0600, NULL), 0);
	assert_int_equal(mode_of(t.path), 0400);
	assert_int_equal(tmp_count(&t), 1);
	umask(mask);
	tmp_end(&t);
}

static void test_file__new_files_respect_the_umask(void **state)
{
	struct tmp t;
	mode_t mask = umask(077);

	(void)state;
	tmp_begin(&t);
	assert_int_equal(file_write_atomic(tmp_path(&t, "a"), "x", 1, 0666,
					   NULL), 0);
	assert_int_equal(mode_of(t.path), 0600);
	umask(mask);
	tmp_end(&t);
}

static void test_file__write_refuses_what_is_no_plain_file(void **state)
{
	char target[1100];
	struct remem_err err;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	tmp_put(&t, "real", "old");
	snprintf(target, sizeof(target), "%s", t.path);
	assert_int_equal(symlink(target, tmp_path(&t, "link")), 0);
	assert_int_equal(file_write_atomic(t.path, "x", 1, 0600, &err),
			 REMEM_EPERM);
	expect(&t, "real", "old");
	assert_int_equal(mkdir(tmp_path(&t, "dir"), 0700), 0);
	assert_int_equal(file_write_atomic(t.path, "x", 1, 0600, &err),
			 REMEM_EINVAL);
	assert_int_equal(file_write_atomic(tmp_path(&t, "dir/"), "x", 1, 0600,
					   &err), REMEM_EINVAL);
	assert_int_equal(file_write_atomic(tmp_path(&t, ".."), "x", 1, 0600,
					   &err), REMEM_EINVAL);
	assert_int_equal(file_write_atomic("", "x", 1, 0600, &err),
			 REMEM_EINVAL);
	assert_int_equal(file_write_atomic(tmp_path(&t, "no/x"), "x", 1, 0600,
					   &err), REMEM_ENOTFOUND);
	assert_int_equal(tmp_count(&t), 3);
	tmp_end(&t);
}

static void test_file__failed_write_leaves_no_trace(void **state)
{
	char *name = malloc(300);
	struct tmp t;

	(void)state;
	assert_non_null(name);
	memset(name, 'x', 299);
	name[299] = '\0';
	tmp_begin(&t);
	assert_true(file_write_atomic(tmp_path(&t, name), "x", 1, 0600,
				      NULL) < 0);
	alloc_fail_at(1);
	assert_int_equal(file_write_atomic(tmp_path(&t, "a"), "x", 1, 0600,
					   NULL), REMEM_ENOMEM);
	alloc_fail_at(0);
	assert_int_equal(tmp_count(&t), 0);
	free(name);
	tmp_end(&t);
}

static void test_file__long_names_can_be_replaced(void **state)
{
	char name[256];
	struct tmp t;

	(void)state;
	memset(name, 'n', 255);
	name[255] = '\0';
	tmp_begin(&t);
	assert_int_equal(file_write_atomic(tmp_path(&t, name), "x", 1, 0600,
					   NULL), 0);
	assert_int_equal(file_write_atomic(t.path, "y", 1, 0600, NULL), 0);
	expect(&t, name, "y");
	tmp_end(&t);
}

/*
 * A child is killed at each durable step; what stands there is the old text
 * or the new one, never a piece.
 */
static void test_file__killed_at_each_step_the_file_is_whole(void **state)
{
	struct tmp t;
	int killed = 0;

	(void)state;
	tmp_begin(&t);
	for (long n = 1;; n++) {
		struct buf b = BUF_INIT(0);
		int status;
		pid_t pid;

		tmp_put(&t, "f", "旧的");
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			file_fault_at(n);
			_exit(file_write_atomic(t.path, "新的文本", 12, 0600,
						NULL) != 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(file_read(&b, t.path, NULL), 0);
		assert_true(!strcmp(buf_str(&b), "旧的") ||
			    !strcmp(buf_str(&b), "新的文本"));
		if (WIFEXITED(status)) {
			assert_string_equal(buf_str(&b), "新的文本");
			buf_release(&b);
			break;
		}
		assert_int_equal(WTERMSIG(status), SIGKILL);
		buf_release(&b);
		killed++;
	}
	assert_int_equal(killed, 5); /* create, write, sync, rename, sync */
	tmp_end(&t);
}

/* ---- folders ---------------------------------------------------------- */

static void test_file__dir_make_makes_parents(void **state)
{
	struct remem_err err;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	assert_int_equal(dir_make(tmp_path(&t, "甲//乙/丙/"), 0700, &err), 0);
	assert_true(file_exists(tmp_path(&t, "甲/乙/丙")));
	assert_int_equal(dir_make(t.path, 0700, &err), 0);
	assert_int_equal(dir_make("/", 0700, &err), 0);
	assert_int_equal(dir_make("", 0700, &err), REMEM_EINVAL);
	tmp_put(&t, "f", "");
	assert_int_equal(dir_make(tmp_path(&t, "f"), 0700, &err), REMEM_EIO);
	assert_non_null(strstr(err.message, "not a directory"));
	assert_int_equal(dir_make(tmp_path(&t, "f/x"), 0700, &err), REMEM_EIO);
	alloc_fail_at(1);
	assert_int_equal(dir_make(tmp_path(&t, "n/m"), 0700, &err),
			 REMEM_ENOMEM);
	alloc_fail_at(0);
	tmp_end(&t);
}

static void test_file__dir_remove_spares_what_links_point_to(void **state)
{
	struct remem_err err;
	struct tmp t, other;
	char link[800];

	(void)state;
	tmp_begin(&t);
	tmp_begin(&other);
	tmp_put(&other, "keep", "x");
	assert_int_equal(dir_make(tmp_path(&t, "a/b/.c"), 0700, NULL), 0);
	tmp_put(&t, "a/b/记", "x");
	assert_int_equal(symlink(other.dir, tmp_path(&t, "a/b/.c/dir")), 0);
	assert_int_equal(symlink("nowhere", tmp_path(&t, "a/dangling")), 0);
	assert_int_equal(dir_remove(tmp_path(&t, "a"), &err), 0);
	assert_false(file_exists(t.path));
	assert_int_equal(tmp_count(&other), 1);
	assert_int_equal(dir_remove(t.path, &err), 0);

	snprintf(link, sizeof(link), "%s/link", t.dir);
	assert_int_equal(symlink(other.dir, link), 0);
	assert_int_equal(dir_remove(link, &err), REMEM_EIO);
	assert_int_equal(tmp_count(&other), 1);
	tmp_end(&t);
	tmp_end(&other);
}

static void test_file__dir_remove_bounds_depth(void **state)
{
	char name[500] = "", *p = name;
	struct remem_err err;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	for (int i = 0; i < 230; i++) {
		*p++ = 'd';
		*p++ = '/';
	}
	*p = '\0';
	snprintf(t.path, sizeof(t.path), "%s/%.*s", t.dir, 460, name);
	assert_int_equal(dir_make(t.path, 0700, &err), 0);
	assert_int_equal(dir_remove(t.dir, &err), REMEM_ELIMIT);
	snprintf(t.path, sizeof(t.path), "%s/%.*s", t.dir, 100, name);
	assert_int_equal(dir_remove(t.path, &err), 0);
	tmp_end(&t);
}

static void test_file__dir_fsync_tells_what_is_missing(void **state)
{
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	assert_int_equal(dir_fsync(t.dir, NULL), 0);
	assert_int_equal(dir_fsync(tmp_path(&t, "no"), NULL), REMEM_ENOTFOUND);
	tmp_end(&t);
}

/* ---- beneath ---------------------------------------------------------- */

static const char *const refused[] = {
	"/etc/passwd", "//etc/passwd", "..", "../x", "a/..", "a/../a/f",
	"a/b/../../..", "./..", "a//..//f", "link/f", "link", "a/up/f",
	"a/flink", "loop", "loop/x", "a/abs",
};

static void make_tree(struct tmp *t)
{
	assert_int_equal(dir_make(tmp_path(t, "a/b"), 0700, NULL), 0);
	tmp_put(t, "a/f", "文");
	assert_int_equal(dir_make(tmp_path(t, ".memory"), 0700, NULL), 0);
	tmp_put(t, ".memory/x", "dots");
	tmp_put(t, "..x", "two dots");
	assert_int_equal(symlink("a", tmp_path(t, "link")), 0);
	assert_int_equal(symlink("..", tmp_path(t, "a/up")), 0);
	assert_int_equal(symlink("f", tmp_path(t, "a/flink")), 0);
	assert_int_equal(symlink("/etc", tmp_path(t, "a/abs")), 0);
	assert_int_equal(symlink("loop", tmp_path(t, "loop")), 0);
	assert_int_equal(mkfifo(tmp_path(t, "pipe"), 0600), 0);
}

static void read_beneath(int root, const char *rel, const char *text)
{
	struct remem_err err = { 0 };
	struct buf b = BUF_INIT(0);
	int fd = file_open_beneath(root, rel, &err);

	if (fd < 0)
		fail_msg("%s", err.message);
	assert_int_equal(file_read_fd(&b, fd, rel, &err), 0);
	assert_string_equal(buf_str(&b), text);
	close(fd);
	buf_release(&b);
}

static void check_beneath(struct tmp *t)
{
	int root = open(t->dir, O_RDONLY | O_DIRECTORY), fd;
	char name[400];
	struct remem_err err;

	assert_true(root >= 0);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		int rc = file_open_beneath(root, refused[i], &err);

		if (rc != REMEM_EPERM)
			fail_msg("%s: %d", refused[i], rc);
		assert_int_equal(err.code, REMEM_EPERM);
	}
	read_beneath(root, "a/f", "文");
	read_beneath(root, "./a/.//f", "文");
	read_beneath(root, ".memory/x", "dots");
	read_beneath(root, "..x", "two dots");
	assert_int_equal(file_open_beneath(root, "", &err), REMEM_EINVAL);
	assert_int_equal(file_open_beneath(root, "no", &err), REMEM_ENOTFOUND);
	assert_int_equal(file_open_beneath(root, "a/f/", &err),
			 REMEM_ENOTFOUND);
	assert_int_equal(file_open_beneath(root, "a/f/x", &err),
			 REMEM_ENOTFOUND);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(file_open_beneath(root, name, &err), REMEM_EIO);
	fd = file_open_beneath(root, "a/b/", &err);
	assert_true(fd >= 0);
	close(fd);
	fd = file_open_beneath(root, "pipe", &err); /* does not wait */
	assert_true(fd >= 0);
	close(fd);
	close(root);
}

static void test_file__nothing_opens_outside_the_root(void **state)
{
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	make_tree(&t);
	check_beneath(&t);
	file_no_openat2(true);
	check_beneath(&t);
	file_no_openat2(false);
	tmp_end(&t);
}

static void check_write_beneath(struct tmp *t)
{
	int root = open(t->dir, O_RDONLY | O_DIRECTORY);
	struct remem_err err;

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		if (strcmp(refused[i], "a//..//f") == 0)
			continue;
		assert_int_equal(file_write_beneath(root, refused[i], "!", 1,
						    0600, &err), REMEM_EPERM);
	}
	assert_int_equal(file_write_beneath(root, "a/新.md", "新", 3, 0600,
					    &err), 0);
	expect(t, "a/新.md", "新");
	assert_int_equal(file_write_beneath(root, "top", "x", 1, 0600, &err),
			 0);
	expect(t, "top", "x");
	assert_int_equal(file_write_beneath(root, "no/x", "x", 1, 0600, &err),
			 REMEM_ENOTFOUND);
	assert_int_equal(file_write_beneath(root, "a/", "x", 1, 0600, &err),
			 REMEM_EINVAL);
	assert_int_equal(file_write_beneath(root, ".", "x", 1, 0600, &err),
			 REMEM_EINVAL);
	alloc_fail_at(1);
	assert_int_equal(file_write_beneath(root, "top", "y", 1, 0600, &err),
			 REMEM_ENOMEM);
	alloc_fail_at(0);
	expect(t, "top", "x");
	expect(t, "a/f", "文");
	close(root);
}

static void test_file__nothing_is_written_outside_the_root(void **state)
{
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	make_tree(&t);
	check_write_beneath(&t);
	file_no_openat2(true);
	check_write_beneath(&t);
	file_no_openat2(false);
	tmp_end(&t);
}
