/* See undo.h. */
#include "memory/undo.h"

#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "memory/journal.h"
#include "memory/origin.h"
#include "memory/rewrite.h"
#include "text/line.h"

#define SCAN_BYTES 65536 /* an append that has moved is looked for up to that */

struct work {
	struct undo *u;
	struct arena *a;
	struct memory *m;
	/* the record */
	bool found, is_append, created, voided;
	int64_t bytes;
	unsigned char after[SHA256_BYTES];
	bool has_after;
	int64_t at;
	unsigned char sum[SHA256_BYTES];
	/* the file now, and as it will be */
	struct buf now, then;
	unsigned char hash[SHA256_BYTES];
	bool there;
};

static int read_detail(struct work *k, const char *text)
{
	yyjson_doc *doc;
	yyjson_val *root;
	const char *hex;

	if (!text || json_read(&doc, text, strlen(text), false, "the record",
			       NULL))
		return 0;
	root = yyjson_doc_get_root(doc);
	hex = json_str(root, "sha256", "");
	k->at = json_int(root, "at", -1);
	k->is_append = k->at >= 0 && strlen(hex) == 2 * SHA256_BYTES &&
		       !hex_decode(k->sum, hex, SHA256_BYTES);
	yyjson_doc_free(doc);
	return 0;
}

static int take(void *ctx, const struct journal_row *row)
{
	struct work *k = ctx;

	k->found = true;
	k->u->path = row->path ? arena_strdup(k->a, row->path) : NULL;
	k->u->op = arena_strdup(k->a, row->op ? row->op : "");
	k->bytes = row->bytes;
	k->created = !row->before;
	k->has_after = row->after != NULL;
	if (row->after)
		memcpy(k->after, row->after, SHA256_BYTES);
	return read_detail(k, row->detail);
}

/* Records that say that this one is gone: "of" in their detail. */
static int look_for_void(void *ctx, const struct journal_row *row)
{
	struct work *k = ctx;
	yyjson_doc *doc;

	if (row->id <= k->u->id || !row->detail ||
	    json_read(&doc, row->detail, strlen(row->detail), false,
		      "the record", NULL))
		return 0;
	if (json_int(yyjson_doc_get_root(doc), "of", 0) == k->u->id)
		k->voided = !strcmp(row->op, "void") ||
			    !strcmp(row->op, "undo");
	yyjson_doc_free(doc);
	return 0;
}

static int find_record(struct work *k, struct remem_err *err)
{
	struct journal_query one = { .id = k->u->id }, of = { .like = "\"of\"" };
	int rc = state_journal_each(k->m->state, &one, take, k, err);

	if (rc)
		return rc;
	if (!k->found) {
		fail(err, REMEM_ENOTFOUND, "there is no record %lld in the "
		     "journal", (long long)k->u->id);
		fail_action(err, "remem log shows them");
		return REMEM_ENOTFOUND;
	}
	if (k->a->failed)
		return fail_nomem(err);
	if (!k->u->path || (!k->is_append && !k->has_after && k->created) ||
	    !strcmp(k->u->op, "void") || !strcmp(k->u->op, "recall") ||
	    !strcmp(k->u->op, "propose") || !strcmp(k->u->op, "reject"))
		return fail(err, REMEM_EINVAL, "record %lld (%s) wrote no "
			    "note: there is nothing to take back",
			    (long long)k->u->id, k->u->op);
	of.path = k->u->path;
	rc = state_journal_each(k->m->state, &of, look_for_void, k, err);
	if (!rc && k->voided)
		rc = fail(err, REMEM_EINVAL, "record %lld was taken back "
			  "already", (long long)k->u->id);
	return rc;
}

static int changed(struct work *k, const char *why, struct remem_err *err)
{
	fail(err, REMEM_EBUSY, "'%s' %s, so record %lld cannot be taken back",
	     k->u->path, why, (long long)k->u->id);
	fail_action(err, "edit the file yourself: remem log --trace '%s' "
		    "shows what was written", k->u->path);
	return REMEM_EBUSY;
}

/* ---- appends ---- */

static bool stands_at(struct work *k, size_t at)
{
	unsigned char sum[SHA256_BYTES];

	if (k->now.len < (size_t)k->bytes ||
	    at > k->now.len - (size_t)k->bytes)
		return false;
	sha256_of(sum, buf_str(&k->now) + at, (size_t)k->bytes);
	return !memcmp(sum, k->sum, SHA256_BYTES);
}

/* Where it stands now: at its place, or behind some other line end. */
static bool find_bytes(struct work *k, size_t *at)
{
	const char *s = buf_str(&k->now);

	*at = (size_t)k->at;
	if (stands_at(k, *at))
		return true;
	if (k->bytes > SCAN_BYTES)
		return false;
	for (size_t i = 0; i < k->now.len; i = line_end(s, i, k->now.len) + 1) {
		*at = i;
		/* Its first byte may be the line end it had to mend. */
		if (stands_at(k, i) || (i && stands_at(k, --*at)))
			return true;
	}
	return false;
}

static int take_out(struct work *k, struct remem_err *err)
{
	size_t at, len = (size_t)k->bytes, rest;

	if (!k->there || !find_bytes(k, &at))
		return changed(k, k->there ? "was changed in that place" :
				   "is not there any more", err);
	rest = k->now.len - at - len;
	/* The line end that it mended is needed by what follows now. */
	if (rest && len && k->now.ptr[at] == '\n') {
		at++;
		len--;
	}
	k->u->removed = arena_strndup(k->a, k->now.ptr + at, len);
	k->u->restored = "";
	buf_add(&k->then, k->now.ptr, at);
	buf_add(&k->then, k->now.ptr + at + len, rest);
	k->u->removes_file = k->created && !k->then.len;
	return 0;
}

/* ---- rewrites ---- */

/* Only what differs is shown. */
static void show_difference(struct work *k)
{
	const char *x = buf_str(&k->now), *y = buf_str(&k->then);
	size_t n = k->now.len, m = k->then.len, head = 0, tail = 0;

	while (head < n && head < m && x[head] == y[head])
		head++;
	while (head && x[head - 1] != '\n')
		head--;
	while (tail < n - head && tail < m - head &&
	       x[n - 1 - tail] == y[m - 1 - tail])
		tail++;
	/* A tail that is the whole begins with a line. */
	while (tail && tail < n && x[n - tail - 1] != '\n')
		tail--;
	k->u->removed = arena_strndup(k->a, x + head, n - head - tail);
	k->u->restored = arena_strndup(k->a, y + head, m - head - tail);
}

static int give_back(struct work *k, struct remem_err *err)
{
	unsigned char sum[SHA256_BYTES];
	struct preimage_row p;
	size_t old = k->has_after ? (size_t)k->bytes : 0;
	bool found;
	int rc = state_preimage_get(k->m->state, k->a, k->u->id, &p, &found,
				    err);

	if (rc)
		return rc;
	if (!found)
		return fail(err, REMEM_ENOTFOUND, "what '%s' was before "
			    "record %lld is no longer kept", k->u->path,
			    (long long)k->u->id);
	if (k->has_after != k->there)
		return changed(k, k->there ? "is there again" :
				  "is not there any more", err);
	if (k->there) {
		sha256_of(sum, buf_str(&k->now), old < k->now.len ? old :
							    k->now.len);
		if (old > k->now.len || memcmp(sum, k->after, SHA256_BYTES))
			return changed(k, "was changed since", err);
	}
	buf_add(&k->then, p.bytes, p.len);
	if (k->now.len > old && p.len && buf_str(&k->then)[p.len - 1] != '\n')
		buf_addc(&k->then, '\n');
	if (k->now.len > old)
		buf_add(&k->then, k->now.ptr + old, k->now.len - old);
	show_difference(k);
	k->u->removes_file = p.absent && k->now.len == old;
	return 0;
}

static int put(struct work *k, struct remem_err *err)
{
	struct undo *u = k->u;
	struct rewrite w = { .path = u->path,
			     .expect = k->there ? k->hash : NULL,
			     .bytes = u->removes_file ? NULL :
							buf_str(&k->then),
			     .len = u->removes_file ? 0 : k->then.len,
			     .op = "undo",
			     .origin = origin_of(&u->actor),
			     .actor = u->actor };

	w.detail = arena_printf(k->a, "\"of\":%lld", (long long)u->id);
	return w.detail ? rewrite_file(&u->journal, k->m, &w, err) :
			  fail_nomem(err);
}

static int undo(struct work *k, struct remem_err *err)
{
	int rc;

	if ((rc = find_record(k, err)) ||
	    (rc = rewrite_read(&k->now, k->hash, &k->there, k->m, k->u->path,
			       err)) ||
	    (rc = k->is_append ? take_out(k, err) : give_back(k, err)) ||
	    (rc = buf_check(&k->then, err)))
		return rc;
	if (k->a->failed)
		return fail_nomem(err);
	return k->u->dry_run ? 0 : put(k, err);
}

int undo_record(struct undo *u, struct arena *a, struct memory *m,
		struct remem_err *err)
{
	struct work k = { .u = u, .a = a, .m = m };
	int rc = memory_begin(m, err);

	if (rc)
		return rc;
	buf_init(&k.now, 0);
	buf_init(&k.then, 0);
	rc = undo(&k, err);
	buf_release(&k.now);
	buf_release(&k.then);
	memory_end(m);
	return rc;
}
