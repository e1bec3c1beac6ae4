/*
 * The nearest of many vectors against reading the same bytes once: both over
 * one mapped file, in turns, one thread. A size that disk or memory has no room
 * for is left out.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "cli/bench_machine.h"
#include "store/vecscan.h"

#define POOL 200 /* passages of a search's pool */
#define ROWS_MAX 10000000L
#define DIMS_MAX 4096L
/* No quantised byte has it, and no meta made here: a search for it reads all. */
#define NO_BYTE 0x80

static volatile size_t sink;

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static bool has_room(const struct machine *m, size_t bytes)
{
	struct statvfs fs;
	long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return !statvfs(m->dir, &fs) &&
	       (double)fs.f_bavail * (double)fs.f_frsize > 2.0 * (double)bytes &&
	       (pages < 0 || (double)pages * (double)page > 1.5 * (double)bytes);
}

static void make_row(int8_t *row, size_t padded, uint64_t *seed)
{
	for (size_t i = 0; i < padded; i += 8) {
		uint64_t v = next(seed);

		memcpy(row + i, &v, sizeof(v));
	}
	for (size_t i = 0; i < padded; i++)
		if (row[i] == -128)
			row[i] = 127;
}

static int make(struct vecfile **out, const char *path, size_t rows, int dims,
		struct remem_err *err)
{
	struct vec_meta meta = { 1.0f / 128, 0.5f, 1, 1, VEC_ALIVE, 0 };
	uint64_t seed = 88172645463325252u;
	int8_t *row = mem_alloc(vec_padded(dims));
	int rc = row ? vecfile_open(out, path, dims, true, err) :
		       fail_nomem(err);

	for (size_t i = 0; !rc && i < rows; i++) {
		meta.script = (uint8_t)(i % 3 + 1);
		make_row(row, vec_padded(dims), &seed);
		rc = vecfile_put(*out, i, row, &meta, err);
	}
	mem_free(row);
	return rc ? rc : vecfile_refresh(*out, err);
}

static double read_once(const struct vecfile *v)
{
	int64_t start = clock_mono_ns();

	for (size_t b = 0; b < v->blocks; b++)
		sink += memchr(vecfile_block(v, b), NO_BYTE, v->block_bytes) !=
			NULL;
	return bench_seconds(start) * 1e3;
}

static int scan(struct machine *m, const char *name, const struct vecfile *v,
		size_t rows, int dims)
{
	float *q = mem_zarray((size_t)dims, sizeof(*q));
	struct scan_question u = { 0 };
	struct store_scored best[POOL];
	uint64_t seed = 7;
	int rc = q ? 0 : fail_nomem(&m->err);

	for (int i = 0; q && i < dims; i++)
		q[i] = (float)(int8_t)next(&seed) / 127;
	if (!rc)
		rc = scan_question_init(&u, dims, q, NULL, NULL, &m->err);
	read_once(v);
	for (int turn = 0; !rc && turn < m->turns; turn++) {
		double limit = read_once(v);
		int64_t start = clock_mono_ns();
		struct topk top;

		topk_init(&top, best, POOL);
		scan_vectors(&u, v, rows, NULL, &top);
		bench_add(m, name, bench_seconds(start) * 1e3, "ms", limit);
	}
	scan_question_release(&u);
	mem_free(q);
	return rc;
}

static int measure(struct machine *m, size_t rows, int dims)
{
	const char *path = path_join(&m->c->a, m->dir, "vectors");
	const char *name = arena_printf(&m->c->a, "nearest of %zu x %d", rows,
					dims);
	struct vecfile *v = NULL;
	int rc;

	if (!path || !name)
		return cli_fail(m->c, &m->err);
	if (!has_room(m, rows * (vec_padded(dims) + sizeof(struct vec_meta))))
		return EXIT_DONE;
	rc = make(&v, path, rows, dims, &m->err);
	if (!rc)
		rc = scan(m, name, v, rows, dims);
	vecfile_free(v);
	unlink(path);
	return rc ? cli_fail(m->c, &m->err) : EXIT_DONE;
}

int bench_vectors(struct machine *m, const char *list)
{
	const char *p = list;
	int rc = EXIT_DONE;

	while (!rc && *p) {
		char *end, *last = NULL;
		long rows = strtol(p, &end, 10);
		long dims = *end == 'x' ? strtol(end + 1, &last, 10) : 0;

		if (rows < 1 || rows > ROWS_MAX || dims < 1 ||
		    dims > DIMS_MAX || !last || (*last && *last != ','))
			return cli_usage(m->c, "--vectors should be like "
					 "100000x384,1000000x384, not '%.60s'",
					 list);
		rc = measure(m, (size_t)rows, (int)dims);
		p = *last ? last + 1 : last;
	}
	return rc;
}
