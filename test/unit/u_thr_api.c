/* A search beside a look at the disk: for the thread sanitizer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/check.h" /* so that the folder api is linked */
#include "base_tmp.h"
#include "remem.h"

#define FILES 520 /* from 500 on the disk is looked at in a thread */

static size_t count(struct remem *r, const char *query)
{
	struct remem_results *res;
	struct remem_err err;
	size_t n;

	if (remem_search(r, query, strlen(query), NULL, &res, &err))
		fail_msg("%s", err.message);
	n = remem_results_count(res);
	remem_results_free(res);
	return n;
}

static void test_thr_api__changes_are_seen_beside_a_search(void **state)
{
	static const char *const set[] = { "provider=none", NULL };
	struct remem_open_opts o = REMEM_OPTS_INIT(o);
	const char *env[2] = { NULL, NULL };
	struct remem_err err;
	struct remem *r;
	struct tmp t;
	char home[400], name[64], dir[512];

	(void)state;
	tmp_begin(&t);
	snprintf(home, sizeof(home), "HOME=%s", t.dir);
	snprintf(dir, sizeof(dir), "%s/notes", t.dir);
	assert_int_equal(mkdir(dir, 0755), 0);
	tmp_put(&t, "notes/MEMORY.md", "- Samarkand\n");
	assert_int_equal(mkdir(tmp_path(&t, "notes/memory"), 0755), 0);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "notes/memory/n%03d.md", i);
		tmp_put(&t, name, "- 一条笔记\n");
	}
	env[0] = home;
	o.env = env;
	o.workspace = dir;
	o.set = set;
	assert_int_equal(remem_open(&r, &o, &err), 0);
	assert_int_equal(count(r, "Samarkand"), 1);
	assert_int_equal(count(r, "Bukhara"), 0);
	tmp_put(&t, "notes/memory/new.md", "- Bukhara\n");
	assert_int_equal(count(r, "Bukhara"), 1);
	assert_int_equal(count(r, "Bukhara"), 1);
	remem_close(r);
	tmp_end(&t);
}
