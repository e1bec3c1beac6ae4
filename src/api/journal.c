/* remem_journal(): what was written and recalled, traced and verified. */
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/file.h"
#include "base/path.h"
#include "memory/origin.h"
#include "store/state_journal.h"
#include "store/state_note.h"
#include "text/line.h"

#define LIMIT 50

struct out {
	struct json j;
	struct arena a;
	struct state *s;
	int64_t id; /* of the record that wrote a traced line */
	int first, last; /* lines of a citation, 0: the whole file */
	int count;
};

static void put_hash(struct json *j, const char *key, const unsigned char *h)
{
	char hex[2 * SHA256_BYTES + 1];

	if (h)
		hex_encode(hex, h, SHA256_BYTES);
	json_kstr(j, key, h ? hex : NULL);
}

static int put_row(void *ctx, const struct journal_row *r)
{
	struct out *o = ctx;
	struct json *j = &o->j;
	yyjson_doc *doc;

	json_obj(j);
	json_kint(j, "id", r->id);
	json_ktime(j, "time", r->at_ms);
	json_kstr(j, "actor", r->actor);
	json_kstr(j, "session", r->session);
	json_kstr(j, "op", r->op);
	json_kstr(j, "path", r->path);
	json_kint(j, "bytes", r->bytes);
	json_kstr(j, "origin", r->origin);
	put_hash(j, "before", r->before);
	put_hash(j, "after", r->after);
	json_key(j, "detail");
	/* A record that was tampered with may hold anything. */
	if (r->detail && !json_read(&doc, r->detail, strlen(r->detail), false,
				    "the record", NULL)) {
		yyjson_doc_free(doc);
		json_put_raw(j, r->detail, strlen(r->detail));
	} else {
		json_put_null(j);
	}
	json_end(j);
	o->count++;
	return 0;
}

/* ---- one citation ---- */

/* "path#L3-L9" or "path#L3" or "path". */
static const char *split_citation(struct out *o, const char *text)
{
	const char *mark = strstr(text, "#L");
	char *end;

	if (!mark)
		return arena_strdup(&o->a, text);
	o->first = o->last = (int)strtol(mark + 2, &end, 10);
	if (end[0] == '-')
		o->last = (int)strtol(end + (end[1] == 'L' ? 2 : 1), NULL, 10);
	return arena_strndup(&o->a, text, (size_t)(mark - text));
}

/* The lines first to last of a file; "" when they are not there. */
static const char *read_lines(struct out *o, struct remem *r,
			      const char *path)
{
	struct buf b = BUF_INIT((size_t)64 << 20);
	const char *full = path_join(&o->a, r->workspace, path), *s;
	const char *out = "";
	size_t from, end;

	if (full && !file_read(&b, full, NULL)) {
		s = buf_str(&b);
		from = 0;
		for (int i = 1; i < o->first && from < b.len; i++)
			from = line_end(s, from, b.len) + 1;
		end = from;
		for (int i = o->first; i <= o->last && end < b.len; i++)
			end = line_end(s, end, b.len) + 1;
		if (from < b.len)
			out = arena_strndup(&o->a, s + from,
					    (end > b.len ? b.len : end) - from);
	}
	buf_release(&b);
	return out;
}

struct writer {
	const unsigned char *line;
	struct line_row row;
	bool found;
};

static int find_writer(void *ctx, const struct line_row *row)
{
	struct writer *w = ctx;

	if (!memcmp(row->line, w->line, LINE_HASH_BYTES)) {
		w->row = *row;
		w->found = true;
	}
	return 0;
}

/* Who wrote each of the lines. */
static int put_writers(struct out *o, struct remem *r, const char *path,
		       const char *text, struct remem_err *err)
{
	size_t len = strlen(text);
	int at = o->first, rc = 0;

	json_key(&o->j, "lines");
	json_arr(&o->j);
	for (size_t i = 0, end; i < len && !rc; i = end + 1, at++) {
		unsigned char hash[LINE_HASH_BYTES];
		struct writer w = { .line = hash };
		enum remem_origin origin;

		end = line_end(text, i, len);
		if (skip_blank(text, i, end) == end)
			continue;
		origin_line_hash(hash, text + i, end - i);
		if ((rc = state_line_each(o->s, path, find_writer, &w, err)) ||
		    (rc = origin_of_lines(&origin, o->s, path, text + i,
					  end - i, handle_edits(r, o->s),
					  err)))
			break;
		json_obj(&o->j);
		json_kint(&o->j, "line", at);
		json_kstr(&o->j, "origin", origin_name(origin));
		json_key(&o->j, "journal");
		if (w.found && w.row.journal)
			json_put_int(&o->j, w.row.journal);
		else
			json_put_null(&o->j);
		json_end(&o->j);
	}
	json_arr_end(&o->j);
	return rc;
}

static int put_trace(struct out *o, struct remem *r, const char *citation,
		     const char **path, struct remem_err *err)
{
	const char *text;

	*path = split_citation(o, citation);
	if (!*path)
		return fail_nomem(err);
	json_kstr(&o->j, "trace", *path);
	if (o->first < 1 || o->last < o->first)
		return 0;
	text = read_lines(o, r, *path);
	json_kstr(&o->j, "text", text);
	return text ? put_writers(o, r, *path, text, err) : fail_nomem(err);
}

/* ---- the whole ---- */

static int put_verify(struct out *o, struct remem_err *err)
{
	struct journal_state js;
	int rc = state_journal_verify(o->s, &js, err);

	if (rc)
		return rc;
	json_kbool(&o->j, "ok", !js.broken);
	json_kint(&o->j, "records", js.records);
	json_kint(&o->j, "compacted", js.compacted);
	json_key(&o->j, "broken");
	if (js.broken) {
		json_obj(&o->j);
		json_kint(&o->j, "id", js.broken);
		json_kstr(&o->j, "reason", js.why);
		json_end(&o->j);
	} else {
		json_put_null(&o->j);
	}
	return 0;
}

static int put_records(struct out *o, struct remem *r,
		       const struct remem_journal_opts *opts,
		       struct remem_err *err)
{
	struct journal_query q = { .op = opts->op,
				   .limit = opts->limit > 0 ? opts->limit :
							      LIMIT };
	int rc = 0;

	if (opts->trace)
		rc = put_trace(o, r, opts->trace, &q.like, err);
	json_key(&o->j, "records");
	json_arr(&o->j);
	if (!rc && o->s)
		rc = state_journal_each(o->s, &q, put_row, o, err);
	json_arr_end(&o->j);
	return rc;
}

static int journal(struct out *o, struct remem *r,
		   const struct remem_journal_opts *opts, char **json,
		   struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	int rc;

	json_begin(&o->j, &b);
	json_obj(&o->j);
	json_kint(&o->j, "version", 1);
	rc = opts->verify ? put_verify(o, err) :
			    put_records(o, r, opts, err);
	json_end(&o->j);
	if (!rc)
		rc = json_give(json, &b, err);
	buf_release(&b);
	return rc;
}

static int compact(struct remem *r, int64_t keep, char **json,
		   struct remem_err *err)
{
	struct journal_state js = { .records = 0 };
	struct buf b = BUF_INIT(0);
	struct memory m;
	struct json j;
	int64_t removed = 0;
	int rc = handle_memory(&m, r, err);

	if (!rc && !(rc = memory_begin(&m, err))) {
		rc = state_journal_verify(m.state, &js, err);
		if (!rc)
			rc = state_journal_compact(m.state, js.last - keep,
						   memory_now(&m), &removed,
						   err);
		memory_end(&m);
	}
	memory_close(&m);
	if (rc)
		return rc;
	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kint(&j, "removed", removed);
	json_kint(&j, "records", js.records - removed + (removed > 0));
	json_end(&j);
	rc = json_give(json, &b, err);
	buf_release(&b);
	return rc;
}

PUBLIC int remem_journal(struct remem *r,
			 const struct remem_journal_opts *opts, char **json,
			 struct remem_err *err)
{
	struct remem_journal_opts o;
	struct out out = { .a = ARENA_INIT };
	struct remem_err why = { 0 };
	int rc;

	*json = NULL;
	if ((rc = opts_take(&o, sizeof(o), opts, err)) ||
	    (rc = handle_id(r, false, err)))
		return rc;
	if (o.keep < 0)
		return fail(err, REMEM_EINVAL, "keep is how many records "
			    "stay");
	if (o.keep)
		return compact(r, o.keep, json, err);
	/* Read without a lock and without a change. */
	rc = r->id[0] && r->state_base ?
	     state_open(&out.s, r->state_base, r->id, true, &why) : 0;
	if (rc == REMEM_ENOTFOUND)
		out.s = NULL;
	else if (rc)
		return fail(err, rc, "%s", why.message);
	rc = journal(&out, r, &o, json, err);
	state_close(out.s);
	arena_release(&out.a);
	return rc;
}
