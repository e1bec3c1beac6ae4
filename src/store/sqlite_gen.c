/*
 * Generations: each is a folder gen-NNNNNN, and DIR/current names the one that
 * answers. A folder that current does not name is what a killed run left; one
 * that turned out damaged is kept once, as corrupt-NNNNNN.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "store/sqlite_store.h"

#define PREFIX "gen-"
#define ASIDE "corrupt-"

/* Owned "dir/name", NULL without memory. */
static char *join(const char *dir, const char *name)
{
	size_t n = strlen(dir) + strlen(name) + 2;
	char *p = mem_alloc(n);

	if (p)
		snprintf(p, n, "%s/%s", dir, name);
	return p;
}

char *gen_path(const char *dir, int64_t gen)
{
	char name[40];

	snprintf(name, sizeof(name), PREFIX "%06lld", (long long)gen);
	return join(dir, name);
}

/* The number of a folder's name with this prefix, 0 if it is not one. */
static int64_t number_of(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);
	char *end;
	long long v;

	if (strncmp(name, prefix, n) || name[n] < '0' || name[n] > '9')
		return 0;
	v = strtoll(name + n, &end, 10);
	return (*end == '\0' || *end == '\n') && v > 0 ? v : 0;
}

int gen_current(const char *dir, int64_t *out, struct remem_err *err)
{
	struct buf text = BUF_INIT(256);
	char *path = join(dir, CURRENT_NAME);
	int rc = path ? file_read(&text, path, err) : fail_nomem(err);

	*out = 0;
	if (rc == REMEM_ENOTFOUND) {
		fail(err, rc, "there is no index in '%s'", dir);
		fail_action(err, "run: remem index");
	}
	/* Too long for a pointer: no pointer. */
	if (rc == REMEM_ELIMIT ||
	    (!rc && !(*out = number_of(buf_str(&text), PREFIX)))) {
		rc = fail(err, REMEM_ECORRUPT,
			  "the index in '%s' is damaged: bad pointer", dir);
		fail_action(err, "run: remem index --force");
	}
	buf_release(&text);
	mem_free(path);
	return rc;
}

int gen_set_current(const char *dir, int64_t gen, struct remem_err *err)
{
	char text[40], *path = join(dir, CURRENT_NAME);
	int n = snprintf(text, sizeof(text), PREFIX "%06lld\n",
			 (long long)gen);
	int rc = path ? file_write_atomic(path, text, (size_t)n, 0600, err) :
		 fail_nomem(err);

	mem_free(path);
	return rc;
}

/* Calls fn with every folder named prefix + number, until it is not 0. */
static void each(const char *dir, const char *prefix,
		 void (*fn)(void *ctx, const char *path, int64_t number),
		 void *ctx)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d))) {
		int64_t number = number_of(e->d_name, prefix);
		char *path = number ? join(dir, e->d_name) : NULL;

		if (path)
			fn(ctx, path, number);
		mem_free(path);
	}
	closedir(d);
}

struct pick {
	int64_t keep, keep2, highest;
};

static void highest(void *ctx, const char *path, int64_t number)
{
	struct pick *p = ctx;

	(void)path;
	if (number != p->keep && number > p->highest)
		p->highest = number;
}

int gen_remove(const char *path, struct remem_err *err)
{
	/* A link or a file in its place goes, what it leads to stays. */
	return unlink(path) ? dir_remove(path, err) : 0;
}

static void remove_other(void *ctx, const char *path, int64_t number)
{
	struct pick *p = ctx;

	if (number != p->keep && number != p->keep2)
		gen_remove(path, NULL);
}

int64_t gen_highest(const char *dir)
{
	struct pick p = { 0, 0, 0 }, aside = { 0, 0, 0 };

	each(dir, PREFIX, highest, &p);
	/* A number is not used twice: readers tell generations apart by it. */
	each(dir, ASIDE, highest, &aside);
	return p.highest > aside.highest ? p.highest : aside.highest;
}

int64_t gen_leftover(const char *dir, int64_t current)
{
	struct pick p = { current, 0, 0 };

	each(dir, PREFIX, highest, &p);
	return p.highest;
}

void gen_remove_others(const char *dir, int64_t keep, int64_t keep2)
{
	struct pick p = { keep, keep2, 0 };

	each(dir, PREFIX, remove_other, &p);
}

int gen_set_aside(const char *dir, int64_t gen, struct remem_err *err)
{
	char name[40], *from = gen_path(dir, gen), *to;
	struct pick none = { 0, 0, 0 };
	int rc = 0;

	each(dir, ASIDE, remove_other, &none);
	snprintf(name, sizeof(name), ASIDE "%06lld", (long long)gen);
	to = join(dir, name);
	if (!from || !to) {
		rc = fail_nomem(err);
	} else {
		file_fault_step();
		if (rename(from, to) && errno != ENOENT)
			rc = file_fail(err, errno, "set aside", from);
	}
	mem_free(from);
	mem_free(to);
	return rc;
}

/* ---- the first look ---- */

#define HEADER_BYTES 100 /* of an SQLite database; offsets are its format's */

static uint32_t big_end(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static int damaged(struct remem_err *err, const char *path, const char *why)
{
	fail(err, REMEM_ECORRUPT, "the index '%s' is damaged: %s", path, why);
	fail_action(err, "run: remem index --force");
	return REMEM_ECORRUPT;
}

static bool wal_is_empty(const char *path)
{
	struct stat st;
	struct buf wal = BUF_INIT(0);
	bool empty;

	buf_addf(&wal, "%s-wal", path);
	empty = !wal.failed && (stat(buf_str(&wal), &st) || st.st_size == 0);
	buf_release(&wal);
	return empty;
}

static int made_before(struct remem_err *err, const char *path)
{
	fail(err, REMEM_ECORRUPT, "the index '%s' was made by an older remem",
	     path);
	fail_action(err, "run: remem index");
	return REMEM_ECORRUPT;
}

static int judge(const unsigned char h[HEADER_BYTES], const struct stat *st,
		 const char *path, bool *older, struct remem_err *err)
{
	uint32_t page = (uint32_t)h[16] << 8 | h[17];
	uint32_t version = big_end(h + 60);

	if (memcmp(h, "SQLite format 3", 16))
		return damaged(err, path, "it is no SQLite database");
	if (big_end(h + 68) != APPLICATION_ID)
		return damaged(err, path, "it is another program's database");
	if (version > STORE_VERSION) {
		fail(err, REMEM_EVERSION,
		     "the index '%s' was made by a newer remem (version %u, "
		     "this program knows %d)", path, version, STORE_VERSION);
		fail_action(err, "use the newer program, or run: "
			    "remem index --force");
		return REMEM_EVERSION;
	}
	if (page == 1)
		page = 65536;
	if (wal_is_empty(path) &&
	    (uint64_t)st->st_size < (uint64_t)page * big_end(h + 28))
		return damaged(err, path, "it is cut short");
	*older = version && version < STORE_VERSION;
	return version < STORE_VERSION ? made_before(err, path) : 0;
}

int gen_preflight(const char *gen_dir, bool *older, struct remem_err *err)
{
	char *path = join(gen_dir, DATABASE_NAME);
	unsigned char h[HEADER_BYTES];
	struct stat st;
	int fd, rc = 0;

	*older = false;
	if (!path)
		return fail_nomem(err);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		rc = errno == ENOENT || errno == ENOTDIR ?
		     damaged(err, path, "it is gone") :
		     file_fail(err, errno, "open the index", path);
	} else if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		rc = damaged(err, path, "it is no file");
	} else if (pread(fd, h, sizeof(h), 0) != (ssize_t)sizeof(h)) {
		rc = damaged(err, path, "it is cut short");
	} else {
		rc = judge(h, &st, path, older, err);
	}
	if (fd >= 0)
		close(fd);
	mem_free(path);
	return rc;
}

bool gen_damaged(const char *gen_dir)
{
	char *path = join(gen_dir, DAMAGED_NAME);
	bool yes = path && file_exists(path);

	mem_free(path);
	return yes;
}

void gen_mark_damaged(const char *gen_dir)
{
	char *path = join(gen_dir, DAMAGED_NAME);

	if (path)
		file_write_atomic(path, "", 0, 0600, NULL);
	mem_free(path);
}
