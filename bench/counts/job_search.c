/* A question by keywords to the 60 notes, and the nearest of 20,000 vectors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"
#include "remem.h"
#include "store/vecscan.h"

#define ROWS 20000
#define VEC_DIMS 384
#define POOL 200

static struct remem *r;
static struct vecfile *vectors;
static struct scan_question asked;

static size_t ask(const char *question)
{
	struct remem_search_opts o = REMEM_OPTS_INIT(o);
	struct remem_results *res;
	struct remem_err err;
	size_t hits;

	o.mode = REMEM_MODE_TEXT;
	o.no_sync = 1;
	o.now = "2026-03-01";
	if (remem_search(r, question, strlen(question), &o, &res, &err))
		job_die("search", err.message);
	hits = remem_results_count(res);
	remem_results_free(res);
	return hits;
}

void job_search_text_begin(const char *d)
{
	static char home[4200];
	static const char *env[] = { home, NULL };
	struct remem_open_opts o = REMEM_OPTS_INIT(o);
	struct remem_index_opts io = REMEM_OPTS_INIT(io);
	struct remem_err err;
	char *json = NULL;

	job_index_first_begin(d);
	snprintf(home, sizeof(home), "HOME=%s/home", d);
	o.workspace = d;
	o.env = env;
	o.now_ms = 1772323200000; /* 2026-03-01 */
	io.text_only = 1;
	if (remem_open(&r, &o, &err) || remem_index(r, &io, &json, &err))
		job_die("open", err.message);
	remem_free(json);
	if (!ask("deployed gateway"))
		job_die("search", "no hit");
}

void job_search_text(void)
{
	ask("when was the gateway timeout ERR_PAY_4021 deployed, 数据库缓存");
}

/* A page as question: all that a paste of 200 words costs. */
void job_search_paste_begin(const char *d)
{
	job_search_text_begin(d);
}

void job_search_paste(void)
{
	char page[4096] = "";
	size_t n = 0;

	for (unsigned i = 0; i < 200; i++)
		n += (size_t)snprintf(page + n, sizeof(page) - n, "%s%u ",
				      i % 2 ? "note" : "gateway timeout v",
				      i % 2 ? 0 : i);
	ask(page);
}

void job_scan_begin(const char *d)
{
	struct vec_meta m = { 1.0f / 127, 1, 1, 1, VEC_ALIVE, 0 };
	int8_t row[VEC_DIMS];
	float q[VEC_DIMS];
	struct remem_err err;
	char path[4200];

	snprintf(path, sizeof(path), "%s/vectors", d);
	if (vecfile_open(&vectors, path, VEC_DIMS, true, &err))
		job_die("vectors", err.message);
	for (size_t i = 0; i < ROWS; i++) {
		for (int k = 0; k < VEC_DIMS; k++)
			row[k] = (int8_t)((int)(job_random() % 255) - 127);
		if (vecfile_put(vectors, i, row, &m, &err))
			job_die("vectors", err.message);
	}
	for (int k = 0; k < VEC_DIMS; k++)
		q[k] = (float)(job_random() % 255) / 127 - 1;
	if (vecfile_refresh(vectors, &err) ||
	    scan_question_init(&asked, VEC_DIMS, q, NULL, NULL, &err))
		job_die("vectors", err.message);
}

void job_scan(void)
{
	static struct store_scored best[POOL];
	struct topk top;

	topk_init(&top, best, POOL);
	scan_vectors(&asked, vectors, ROWS, NULL, &top);
	if (top.count != POOL)
		job_die("scan", "too few");
}
