/* Reading an answer: by fields, or as one line of JSON. */
#include "api/results.h"

#include <math.h>
#include <string.h>

#include "api/public.h"
#include "base/alloc.h"
#include "base/json.h"
#include "source/names.h"

PUBLIC size_t remem_results_count(const struct remem_results *res)
{
	return (size_t)res->answer.count;
}

PUBLIC const struct remem_hit *remem_results_hit(const struct remem_results *res,
						 size_t i)
{
	return i < (size_t)res->answer.count ? &res->hits[i] : NULL;
}

PUBLIC const char *remem_results_degraded(const struct remem_results *res)
{
	return res->degraded;
}

PUBLIC const char *remem_results_message(const struct remem_results *res)
{
	return res->message;
}

PUBLIC void remem_results_free(struct remem_results *res)
{
	if (!res)
		return;
	arena_release(&res->a);
	mem_free(res);
}

static const char *or_null(const char *s)
{
	return s && s[0] ? s : NULL;
}

/* "a,b" as ["a","b"]. */
static void put_flags(struct json *j, const char *flags)
{
	json_key(j, "flags");
	json_arr(j);
	while (flags && *flags) {
		size_t n = strcspn(flags, ",");

		if (n)
			json_put_strn(j, flags, n);
		flags += n + (flags[n] == ',');
	}
	json_arr_end(j);
}

static void put_explain(struct json *j, const struct search_hit *h)
{
	json_key(j, "explain");
	json_obj(j);
	json_kstr(j, "heading", or_null(h->heading));
	json_kfixed(j, "vector", h->vector, 4);
	json_kfixed(j, "cosine", h->cosine, 4);
	json_kfixed(j, "text", h->text, 4);
	json_kfixed(j, "coveragePassage", h->coverage_passage, 4);
	json_kfixed(j, "coverageChunk", h->coverage_chunk, 4);
	json_kfixed(j, "name", h->name, 4);
	json_kfixed(j, "relevance", h->relevance, 4);
	json_kfixed(j, "decay", h->decay, 4);
	json_kfixed(j, "importance", h->importance, 4);
	json_kfixed(j, "project", h->project, 4);
	json_kfixed(j, "score", h->score, 4);
	json_end(j);
}

/* "image" or "audio" for a file that has no lines, else NULL. */
static const char *media_name(const struct remem_hit *h)
{
	static const char *const names[] = { NULL, "image", "audio" };

	return h->start_line ? NULL : names[name_media_kind(h->path)];
}

static void put_hit(struct json *j, const struct remem_results *res, int i)
{
	const struct remem_hit *h = &res->hits[i];

	json_obj(j);
	json_kstr(j, "path", h->path);
	json_kint(j, "startLine", h->start_line);
	json_kint(j, "endLine", h->end_line);
	json_kfixed(j, "score", h->score, 4);
	json_kfixed(j, "relevance", h->relevance, 4);
	json_kstr(j, "snippet", h->snippet);
	json_kstr(j, "source", h->source);
	json_kstr(j, "citation", h->citation);
	if (media_name(h))
		json_kstr(j, "media", media_name(h));
	json_kstr(j, "date", or_null(h->date));
	json_kstr(j, "origin", or_null(h->origin));
	put_flags(j, h->flags);
	json_kstr(j, "supersededBy", or_null(h->superseded_by));
	if (res->explain)
		put_explain(j, &res->answer.hits[i]);
	json_end(j);
}

static const char *mode_name(enum remem_mode mode)
{
	static const char *const names[] = { "hybrid", "text", "vector" };

	return names[mode];
}

static void put_degraded(struct json *j, const struct search_answer *s)
{
	json_key(j, "degraded");
	if (!s->degraded_reason) {
		json_put_null(j);
		return;
	}
	json_obj(j);
	json_kstr(j, "reason", s->degraded_reason);
	json_kstr(j, "detail", s->degraded_detail);
	json_kstr(j, "action", s->degraded_action ? s->degraded_action : "");
	json_key(j, "steps");
	json_arr(j);
	for (int i = 0; i < s->step_count; i++) {
		json_obj(j);
		json_kstr(j, "provider", s->steps[i].provider);
		json_kstr(j, "model", s->steps[i].model);
		json_kstr(j, "reason", s->steps[i].reason);
		json_end(j);
	}
	json_arr_end(j);
	json_end(j);
}

static void put_index(struct json *j, const struct remem_results *res)
{
	json_key(j, "index");
	json_obj(j);
	json_kint(j, "files", res->info.files);
	json_kint(j, "indexed", res->info.indexed);
	json_kint(j, "pending", res->pending);
	json_kint(j, "skipped", res->info.skipped);
	json_end(j);
}

PUBLIC int remem_results_json(const struct remem_results *res, char **out,
			      struct remem_err *err)
{
	const struct search_answer *s = &res->answer;
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_key(&j, "results");
	json_arr(&j);
	for (int i = 0; i < s->count; i++)
		put_hit(&j, res, i);
	json_arr_end(&j);
	json_kstr(&j, "mode", mode_name(s->mode));
	json_kstr(&j, "provider", s->provider);
	json_kstr(&j, "model", s->model);
	put_degraded(&j, s);
	json_kbool(&j, "stale", res->stale);
	json_key(&j, "missing");
	json_arr(&j);
	for (int i = 0; i < s->missing_count; i++)
		json_put_str(&j, s->missing[i]);
	json_arr_end(&j);
	json_kstr(&j, "message", res->message);
	put_index(&j, res);
	json_kint(&j, "tookMs", res->took_ms);
	json_end(&j);
	rc = json_give(out, &b, err);
	buf_release(&b);
	return rc;
}
