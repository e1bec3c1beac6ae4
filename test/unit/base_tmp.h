/* What the tests of base share: a fresh folder each, and small files in it. */
#ifndef TEST_BASE_TMP_H
#define TEST_BASE_TMP_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

struct tmp {
	char dir[256];
	char path[1024]; /* of the last tmp_path() */
};

static inline void tmp_begin(struct tmp *t)
{
	const char *root = getenv("TMPDIR");

	snprintf(t->dir, sizeof(t->dir), "%s/remem-test-XXXXXX",
		 root && root[0] ? root : "/tmp");
	assert_non_null(mkdtemp(t->dir));
}

static inline void tmp_end(struct tmp *t)
{
	struct remem_err err = { 0 };

	if (dir_remove(t->dir, &err))
		fail_msg("%s", err.message);
}

static inline const char *tmp_path(struct tmp *t, const char *name)
{
	snprintf(t->path, sizeof(t->path), "%s/%s", t->dir, name);
	return t->path;
}

static inline void tmp_put(struct tmp *t, const char *name, const char *text)
{
	FILE *f = fopen(tmp_path(t, name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

/* Entries of the folder, without "." and "..". */
static inline int tmp_count(struct tmp *t)
{
	DIR *d = opendir(t->dir);
	int n = -2;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

#endif
