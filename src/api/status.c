/* remem_status(): what is indexed, what is not and why; reads only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/batch.h"
#include "api/public.h"
#include "api/survey.h"
#include "memory/due.h"
#include "text/window.h"

#define SKIPS_MAX 1000

static void put_settings(struct json *j, const struct remem *r)
{
	json_key(j, "settings");
	json_obj(j);
	json_kstr(j, "file", r->config_file);
	json_kbool(j, "workspaceFile", r->has_workspace_file);
	json_kbool(j, "trusted", r->trusted);
	json_key(j, "warnings");
	json_arr(j);
	for (size_t i = 0; i < r->settings.warning_count; i++)
		json_put_str(j, r->settings.warnings[i]);
	json_arr_end(j);
	json_end(j);
}

static void put_table_bytes(struct json *j, const char *key, int64_t bytes,
			    bool known)
{
	json_key(j, key);
	if (known)
		json_put_int(j, bytes);
	else
		json_put_null(j);
}

/* Where the bytes of the index are; without an index all are 0. */
static void put_parts(struct json *j, const struct survey *s)
{
	struct store_sizes z = { .by_table = true };

	if (s->have_index && s->r->ops->sizes(s->r->store, &z, NULL))
		z = (struct store_sizes){ .by_table = false };
	json_key(j, "parts");
	json_obj(j);
	put_table_bytes(j, "chunks", z.chunks, z.by_table);
	put_table_bytes(j, "postings", z.postings, z.by_table);
	put_table_bytes(j, "passages", z.passages, z.by_table);
	put_table_bytes(j, "keys", z.keys, z.by_table);
	put_table_bytes(j, "other", z.other, z.by_table);
	json_kint(j, "free", z.free);
	json_kint(j, "log", z.wal);
	json_kint(j, "vectors", z.vectors);
	json_kint(j, "cache", z.cache);
	json_end(j);
}

static void put_index(struct json *j, const struct survey *s)
{
	const struct store_info *i = &s->info;

	json_key(j, "index");
	json_obj(j);
	json_kint(j, "files", i->files);
	json_kint(j, "indexed", i->indexed);
	json_kint(j, "pending", s->pending);
	json_kint(j, "skipped", i->skipped);
	json_kint(j, "chunks", i->chunks);
	json_kint(j, "passages", i->passages);
	json_kint(j, "embedded", i->embedded);
	json_kint(j, "refused", i->refused);
	json_kint(j, "generation", i->generation);
	json_ktime(j, "indexedAt", i->indexed_at_ms);
	json_end(j);
	json_key(j, "sizes");
	json_obj(j);
	json_kint(j, "textBytes", i->text_bytes);
	json_kint(j, "databaseBytes", i->bytes_database);
	json_kint(j, "vectorBytes", i->bytes_vectors);
	put_parts(j, s);
	json_end(j);
}

static void put_disk(struct json *j, const struct survey *s)
{
	json_key(j, "disk");
	json_obj(j);
	json_kint(j, "notes", s->notes);
	json_kint(j, "skipped", (int64_t)s->list.count - s->notes);
	json_kint(j, "folders", s->list.folders);
	json_kint(j, "changed", s->dirty);
	json_end(j);
}

static void put_provider(struct json *j, const struct survey *s)
{
	const struct embed_info *i = s->embedder ?
				     embedder_info(s->embedder) : NULL;

	json_kstr(j, "provider", i && !s->off ? i->provider : NULL);
	json_kstr(j, "model", i && !s->off ? i->model : NULL);
	json_key(j, "vectors");
	json_obj(j);
	json_kstr(j, "requested", s->requested);
	json_kbool(j, "available", i && !s->off);
	json_kbool(j, "remote", i && i->remote);
	json_kint(j, "dims", i ? i->dims : 0);
	json_kint(j, "maxInputTokens", i ? i->max_input_tokens : 0);
	json_kstr(j, "off", s->off);
	json_end(j);
}

static void put_degraded(struct json *j, const struct survey *s)
{
	json_key(j, "degraded");
	if (s->unwanted || (!s->off && !s->pending)) {
		json_put_null(j);
		return;
	}
	json_obj(j);
	json_kstr(j, "reason", s->off ? "no_provider" : "vectors_pending");
	if (s->off)
		json_kstr(j, "detail", s->off);
	else
		json_kstr(j, "detail", "some passages have no vector yet");
	json_kstr(j, "action", s->off ? s->r->embedder_err.action :
					"run: remem index");
	json_end(j);
}

/* One provider of the chain; h of a remote one. */
static void put_one(struct json *j, const char *name, struct embedder *e,
		    const char *why)
{
	struct embed_health h = { 0 };
	bool down = e && !why && (embedder_cooling(e, &h) || h.times);

	json_obj(j);
	json_kstr(j, "provider", name);
	json_kstr(j, "model", e ? embedder_info(e)->model : NULL);
	json_kbool(j, "remote", e && embedder_info(e)->remote);
	json_kstr(j, "state", why || !e ? "off" : down ? "down" : "ready");
	json_kstr(j, "reason", why ? why : down ? h.message : NULL);
	json_ktime(j, "downSince", down ? h.since_ms : 0);
	json_ktime(j, "askedAgainAt", down ? h.until_ms : 0);
	json_kint(j, "failures", down ? h.times : 0);
	json_end(j);
}

/* Whose vectors answer; NULL: none do. */
static const char *answering(struct survey *s)
{
	const char *text = NULL;
	int fp = 0, dims;

	if (!s->have_index ||
	    s->r->ops->fingerprint_active(s->r->store, &fp, &dims, &text, NULL) ||
	    !fp)
		return NULL;
	return arena_strndup(&s->a, text, strcspn(text, "|"));
}

static void put_chain(struct json *j, struct survey *s)
{
	const char *why = NULL;
	struct embedder *e;

	json_key(j, "chain");
	json_arr(j);
	if (!s->unwanted) {
		e = s->embedder;
		put_one(j, e ? embedder_info(e)->provider : s->requested, e,
			s->off);
		e = handle_fallback(s->r, &why);
		if (s->r->fallback.name)
			put_one(j, s->r->fallback.name, e, why);
	}
	json_arr_end(j);
	json_kstr(j, "answering", answering(s));
}

static void put_named(struct json *j, const char *name, const char *value,
		      const char *why_name, const char *why)
{
	json_obj(j);
	json_kstr(j, name, value);
	json_kstr(j, why_name, why);
	json_end(j);
}

static void put_files(struct json *j, const struct survey *s)
{
	size_t shown = 0;

	json_key(j, "skipped");
	json_arr(j);
	for (size_t i = 0; i < s->list.count && shown < SKIPS_MAX; i++) {
		const struct source_file *f = &s->list.files[i];

		if (!f->skip)
			continue;
		put_named(j, "path", f->path, "reason", f->skip);
		shown++;
	}
	json_arr_end(j);
	json_key(j, "roots");
	json_arr(j);
	for (int i = 0; i < s->list.root_count; i++)
		put_named(j, "path", s->list.roots[i].path, "problem",
			  s->list.roots[i].problem);
	json_arr_end(j);
}

struct warned {
	struct json *j;
	const struct source_list *list;
	size_t shown;
};

/* What reading a note had to put up with; marks and CR LF are usual. */
static void word_warnings(char out[200], unsigned warnings)
{
	static const struct {
		unsigned bit;
		const char *text;
	} words[] = {
		{ NOTE_INVALID_UTF8, "bytes that are not UTF-8" },
		{ NOTE_NUL, "NUL bytes" },
		{ NOTE_BAD_FRONT_MATTER, "front matter that cannot be read" },
		{ NOTE_LONG_LINE, "a very long line" },
	};
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(words) && n < 200; i++)
		if (warnings & words[i].bit)
			n += (size_t)snprintf(out + n, 200 - n, "%s%s",
					      n ? ", " : "", words[i].text);
}

static int by_path(const void *path, const void *file)
{
	return strcmp(path, ((const struct source_file *)file)->path);
}

static bool listed(const struct source_list *l, const char *path)
{
	const struct source_file *f = !l->count ? NULL :
		bsearch(path, l->files, l->count, sizeof(*l->files), by_path);

	return f && f->skip;
}

/* Files of the index with something to say: bad bytes, skipped when read.
 * Those that the walk skips are listed by put_files(). */
static int put_warning(void *ctx, const struct store_file *f)
{
	struct warned *w = ctx;
	char text[200];

	word_warnings(text, f->warnings);
	if (f->reason && listed(w->list, f->path))
		return 0;
	if ((f->reason || text[0]) && w->shown++ < SKIPS_MAX)
		put_named(w->j, "path", f->path, "reason",
			  f->reason ? f->reason : text);
	return 0;
}

static void put_warnings(struct json *j, struct survey *s)
{
	struct warned w = { j, &s->list, 0 };

	json_key(j, "warnings");
	json_arr(j);
	for (size_t i = 0; i < s->list.count; i++)
		if (s->list.files[i].warning)
			put_named(j, "path", s->list.files[i].path, "reason",
				  s->list.files[i].warning);
	if (s->have_index)
		s->r->ops->files_each(s->r->store, put_warning, &w, NULL);
	json_arr_end(j);
}

struct refusals {
	struct json *j;
	struct arena *a;
	size_t shown;
};

static int put_refusal(void *ctx, const char *path, int line_first,
		       int line_last, const char *reason)
{
	struct refusals *r = ctx;

	put_named(r->j, "citation", citation_format(r->a, path, line_first,
						    line_last),
		  "reason", reason ? reason : "not known");
	return ++r->shown == SKIPS_MAX;
}

/* What the provider would not take: found by its words alone. */
static void put_refused(struct json *j, struct survey *s)
{
	struct refusals r = { j, &s->a, 0 };

	json_key(j, "refused");
	json_arr(j);
	if (s->have_index && s->info.refused)
		s->r->ops->refused_each(s->r->store, put_refusal, &r, NULL);
	json_arr_end(j);
}

static void put_probe(struct json *j, struct survey *s)
{
	struct remem_err why = { 0 };
	int64_t took = 0;
	int rc;

	json_key(j, "probe");
	if (!s->embedder || s->off) {
		json_put_null(j);
		return;
	}
	rc = embedder_probe(s->embedder, &took, &why);
	json_obj(j);
	json_kbool(j, "ok", !rc);
	json_kint(j, "tookMs", took);
	json_kstr(j, "error", rc ? why.message : NULL);
	json_end(j);
}

static void put_check(struct json *j, struct survey *s)
{
	const char **problems = NULL;
	struct remem_err why = { 0 };
	int count = 0, rc;

	json_key(j, "check");
	if (!s->have_index) {
		json_put_null(j);
		return;
	}
	rc = s->r->ops->check(s->r->store, &s->a, &problems, &count, &why);
	json_obj(j);
	json_kbool(j, "ok", !rc && !count);
	json_key(j, "problems");
	json_arr(j);
	if (rc)
		json_put_str(j, why.message);
	for (int i = 0; i < count; i++)
		json_put_str(j, problems[i]);
	json_arr_end(j);
	json_end(j);
}

/* ---- conversations ---- */

static void add_record(void *ctx, const char *value)
{
	struct due_record one, *sum = ctx;

	due_record_parse(&one, value);
	sum->written += one.written;
	sum->nothing += one.nothing;
	sum->failed += one.failed;
	sum->missed += one.missed;
	if (one.at_ms > sum->at_ms)
		sum->at_ms = one.at_ms;
}

/* What was done before compactions, in all conversations together. */
static void put_flush(struct json *j, struct remem *r)
{
	struct due_record sum = { 0 };
	struct state *s = NULL;

	if (r->id[0] && r->state_base &&
	    !state_open(&s, r->state_base, r->id, true, NULL))
		state_meta_each(s, "flush ", add_record, &sum, NULL);
	state_close(s);
	json_key(j, "flush");
	json_obj(j);
	json_kbool(j, "enabled", settings_bool(&r->settings,
					       "compaction.memoryFlush.enabled"));
	json_ktime(j, "lastAt", sum.at_ms);
	json_kint(j, "written", sum.written);
	json_kint(j, "empty", sum.nothing);
	json_kint(j, "failed", sum.failed);
	json_kint(j, "missed", sum.missed);
	json_end(j);
}

static void put_all(struct json *j, struct survey *s, int deep)
{
	struct remem *r = s->r;

	json_obj(j);
	json_kint(j, "version", 1);
	json_kstr(j, "workspace", r->workspace);
	json_kstr(j, "id", r->id[0] ? r->id : NULL);
	json_kstr(j, "agent", r->agent[0] ? r->agent : NULL);
	json_kstr(j, "indexDir", r->index_dir);
	json_kbool(j, "readOnly", r->read_only);
	put_index(j, s);
	put_disk(j, s);
	put_provider(j, s);
	put_chain(j, s);
	put_degraded(j, s);
	json_kbool(j, "stale", !s->have_index || s->dirty > 0);
	json_kbool(j, "complete", s->have_index && !s->dirty && !s->pending &&
				  !s->walk_err.code);
	json_kstr(j, "problem", survey_problem(s));
	put_files(j, s);
	put_warnings(j, s);
	put_refused(j, s);
	batch_put_status(j, r);
	put_flush(j, r);
	put_settings(j, r);
	if (deep) {
		put_probe(j, s);
		put_check(j, s);
	}
	json_end(j);
}

PUBLIC int remem_status(struct remem *r, int deep, char **json,
			struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct survey s;
	struct json j;
	int rc = survey_take(&s, r, err);

	*json = NULL;
	if (!rc) {
		json_begin(&j, &b);
		put_all(&j, &s, deep);
		rc = s.a.failed ? fail_nomem(err) : json_give(json, &b, err);
	}
	buf_release(&b);
	survey_release(&s);
	return rc;
}
