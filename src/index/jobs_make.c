/*
 * New jobs: from what waits and no job holds yet, as much as the provider takes
 * at once and the day's budget allows. Too little for a job is left to be sent
 * at once.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "index/jobs.h"

struct plan_job {
	struct jobs *j;
	struct batch_job job;
	struct arena a;
	struct batch_line *lines;
	size_t count, cap;
	struct buf body;
	char name[64];
	bool poor; /* the day's budget ended it */
};

static void make_name(struct plan_job *p)
{
	unsigned char sum[SHA256_BYTES];
	char text[256] = "";
	int n = snprintf(text, sizeof(text), "%lld %lld %ld",
			 (long long)clock_mono_ns(), (long long)clock_now_ms(),
			 (long)getpid());

	if (p->j->v->p.group_count)
		memcpy(text + n, p->j->v->p.groups[0].key, SHA256_BYTES);
	sha256_of(sum, text, (size_t)n + SHA256_BYTES);
	n = snprintf(p->name, sizeof(p->name), "remem-");
	for (size_t i = 0; i < 12; i++)
		n += snprintf(p->name + n, sizeof(p->name) - (size_t)n,
			      "%02x", sum[i]);
}

static int add_line(struct plan_job *p, const struct group *g,
		    struct remem_err *err)
{
	struct embed_item item = { 0 };
	char key[JOB_KEY_HEX + 1];
	struct batch_line *line;
	int rc = vectors_text(&item, p->j->v, g, err);

	if (rc)
		return rc;
	p->lines = arena_grow(&p->a, p->lines, &p->cap, p->count + 1,
			      sizeof(*p->lines));
	if (!p->lines)
		return fail_nomem(err);
	line = &p->lines[p->count++];
	memcpy(line->key, g->key, SHA256_BYTES);
	line->script = g->script;
	line->tokens = embed_batch_tokens(p->j->b, &item);
	p->job.tokens += line->tokens;
	hex_encode(key, g->key, SHA256_BYTES);
	return embed_batch_line(p->j->b, &p->body, key, &item, err);
}

static int max_lines(const struct jobs *j)
{
	int most = j->terms->lines;

	return j->o->max_lines > 0 && j->o->max_lines < most ?
		       j->o->max_lines : most;
}

/* As many as a job may have, and the day's budget allows. */
static int add_lines(struct plan_job *p, struct remem_err *err)
{
	struct vector_run *v = p->j->v;
	int64_t left = embed_batch_left(p->j->b);
	int rc = 0;

	embed_batch_begin(p->j->b, &p->body, p->name);
	for (int i = 0; i < v->p.group_count && !rc; i++) {
		const struct group *g = &v->p.groups[i];

		if (g->have || g->busy || g->media)
			continue;
		if (p->count >= (size_t)max_lines(p->j) ||
		    p->body.len >= p->j->terms->bytes)
			break;
		p->poor = p->job.tokens + (int64_t)g->len > left;
		if (p->poor)
			break;
		rc = add_line(p, g, err);
	}
	p->job.lines = (int64_t)p->count;
	return rc;
}

/* How many texts wait that no job holds; what has a vector is linked. */
static int find_free(struct jobs *j, int *count, struct remem_err *err)
{
	struct vector_run *v = j->v;
	size_t max = j->busy_count + (size_t)max_lines(j) + 1024;
	int rc;

	*count = 0;
	do {
		if ((rc = vectors_portion(v, (int)max, err)) || !v->p.count)
			return rc;
		v->moved = 0;
		if ((rc = vectors_link(v, err)))
			return rc;
		*count = 0;
		for (int i = 0; i < v->p.group_count; i++)
			*count += !v->p.groups[i].have &&
				  !v->p.groups[i].busy &&
				  !v->p.groups[i].media;
		/* What was linked makes way for others. */
	} while (*count < j->o->least && v->moved && v->p.count >= (int)max);
	return 0;
}

/* A file that is too large is tried again with half of it. */
static int refuse_size(struct plan_job *p, const struct remem_err *why,
		       struct remem_err *err)
{
	int rc = state_batch_drop(p->j->o->state, p->job.id, err);

	if (rc)
		return rc;
	if (p->j->b->status == 413 && p->count / 2 >= (size_t)p->j->o->least)
		p->j->o->max_lines = (int)(p->count / 2);
	else
		jobs_failure(p->j, why->message);
	return 0;
}

static int send_plan(struct plan_job *p, struct remem_err *err)
{
	struct jobs *j = p->j;
	char file[BATCH_ID];
	struct remem_err why = { 0 };
	int rc;

	if ((rc = state_batch_add(j->o->state, &p->job, p->lines, p->count,
				  err)))
		return rc;
	rc = embed_batch_upload(j->b, &p->body, file, vectors_stop, j->v,
				&why);
	if (jobs_fatal(rc)) {
		*err = why;
		return rc;
	}
	if (rc)
		return refuse_size(p, &why, err);
	/* From here on it may be there, whatever happens. */
	p->job.step = JOB_SENDING;
	p->job.input = file;
	p->job.sent_ms = clock_now_ms();
	if ((rc = jobs_put(j, &p->job, true, 0, err))) {
		embed_batch_discard(j->b, file);
		return rc;
	}
	return jobs_hand_over(j, &p->job, err);
}

static int make_job(struct jobs *j, bool *poor, struct remem_err *err)
{
	const struct embed_info *info = j->v->info;
	struct plan_job p = {
		.j = j,
		.job = { .scope = j->o->scope, .provider = info->provider,
			 .model = info->model, .base = embed_batch_base(j->b),
			 .fingerprint = info->fingerprint,
			 .step = JOB_PLANNED, .remote = "", .input = "",
			 .output = "", .errors = "", .reason = "",
			 .made_ms = clock_now_ms() },
	};
	int rc;

	arena_init(&p.a, 0);
	buf_init(&p.body, 0);
	make_name(&p);
	p.job.name = p.name;
	rc = add_lines(&p, err);
	*poor = p.poor;
	if (!rc && p.count && !(p.poor && p.count < (size_t)j->o->least))
		rc = send_plan(&p, err);
	buf_release(&p.body);
	arena_release(&p.a);
	return rc ? rc : jobs_reload(j, err);
}

static size_t ours(const struct jobs *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->count; i++)
		n += jobs_ours(j, &j->list[i]);
	return n;
}

/* *rest is false when what is left goes by jobs, only not yet. */
int jobs_make(struct jobs *j, bool *rest, struct remem_err *err)
{
	int count, rc = 0;
	bool poor = false;

	*rest = true;
	if (j->o->least == INT32_MAX)
		return 0;
	while (!rc && !vectors_stop(j->v)) {
		if ((rc = find_free(j, &count, err)) ||
		    j->o->off[0] || count < j->o->least)
			return rc;
		*rest = false;
		if (poor || ours(j) >= (size_t)j->o->concurrency)
			break;
		rc = make_job(j, &poor, err);
		*rest = true;
	}
	if (poor) {
		struct remem_err why = { 0 };

		*rest = false;
		fail(&why, REMEM_ELIMIT, "today's budget is used up");
		fail_action(&why, "raise budget.dailyTokens or "
			    "budget.dailyUsd, or go on tomorrow");
		vectors_degrade(j->v, &why);
	}
	return rc;
}
