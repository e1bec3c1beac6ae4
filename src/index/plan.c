/*
 * Rows of the store that say what the walk found are settled at once and not
 * kept, which is nearly all of them. The rest is a merge of two lists in order
 * of paths.
 */
#include "index/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct loader {
	struct arena *a;
	const struct source_list *l;
	bool *settled; /* files of l */
	size_t next; /* of l, where the path of the next row is likely */
	struct plan_row *rows;
	size_t count, cap;
};

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* The file of this path, by its number; the count if there is none. */
static size_t find_path(const struct loader *ld, const char *path)
{
	const struct source_list *l = ld->l;
	size_t lo = 0, hi = l->count;

	if (ld->next < hi && !strcmp(l->files[ld->next].path, path))
		return ld->next;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(l->files[mid].path, path);

		if (!c)
			return mid;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return l->count;
}

static bool settle(struct loader *ld, const struct store_file *r)
{
	size_t i = find_path(ld, r->path);
	const struct source_file *f;

	if (i == ld->l->count)
		return false;
	ld->next = i + 1;
	f = &ld->l->files[i];
	if (f->skip || f->again || r->skipped || r->curated != f->curated ||
	    r->size != f->size || r->mtime_ns != f->mtime_ns ||
	    r->ctime_ns != f->ctime_ns || r->inode != f->inode ||
	    r->dev != f->dev || !same(r->reason, f->warning))
		return false;
	ld->settled[i] = true;
	return true;
}

static int load_row(void *ctx, const struct store_file *f)
{
	struct loader *ld = ctx;
	struct plan_row *r;

	if (f->source != STORE_MEMORY || settle(ld, f))
		return 0;
	ld->rows = arena_grow(ld->a, ld->rows, &ld->cap, ld->count + 1,
			      sizeof(*r));
	if (!ld->rows)
		return REMEM_ENOMEM;
	r = &ld->rows[ld->count++];
	r->id = f->id;
	r->path = arena_strdup(ld->a, f->path);
	r->reason = f->reason ? arena_strdup(ld->a, f->reason) : NULL;
	r->skipped = f->skipped;
	r->curated = f->curated;
	r->dev = f->dev;
	r->inode = f->inode;
	r->size = f->size;
	r->mtime_ns = f->mtime_ns;
	r->ctime_ns = f->ctime_ns;
	memcpy(r->hash, f->hash, sizeof(r->hash));
	return ld->a->failed ? REMEM_ENOMEM : 0;
}

static int by_path(const void *x, const void *y)
{
	const struct plan_row *a = x, *b = y;

	return strcmp(a->path, b->path);
}

static int load_rows(struct plan *p, struct arena *a,
		     const struct source_list *l, bool *settled,
		     struct store *s, struct remem_err *err)
{
	struct loader ld = { .a = a, .l = l, .settled = settled };
	int rc = 0;

	if (s && !l->scopes)
		rc = s->ops->file_stamps(s, NULL, load_row, &ld, err);
	for (int i = 0; s && !rc && i < l->scope_count; i++)
		rc = s->ops->file_stamps(s, l->scopes[i], load_row, &ld, err);
	if (a->failed)
		return fail_nomem(err);
	if (rc)
		return rc;
	if (ld.count)
		qsort(ld.rows, ld.count, sizeof(*ld.rows), by_path);
	p->rows = ld.rows;
	p->row_count = ld.count;
	return 0;
}

static bool same_stamps(const struct plan_row *r, const struct source_file *f)
{
	return r->size == f->size && r->mtime_ns == f->mtime_ns &&
	       r->ctime_ns == f->ctime_ns && r->inode == f->inode &&
	       r->dev == f->dev;
}

/* Below a folder, or of a file, that could not be looked at this time. */
static bool is_unread(const struct source_list *l, const char *path)
{
	for (int i = 0; i < l->unread_count; i++)
		if (!strncmp(path, l->unread[i], strlen(l->unread[i])))
			return true;
	return false;
}

static void add_item(struct plan *p, enum plan_act act, struct source_file *f,
		     struct plan_row *r)
{
	p->items[p->item_count++] = (struct plan_item){ act, f, r };
}

static void plan_file(struct plan *p, const struct source_list *l,
		      struct source_file *f, struct plan_row *r)
{
	if (f->skip) {
		if (r && !r->skipped && f->failed && is_unread(l, f->path))
			p->kept++;
		else if (!r || !r->skipped || !same(r->reason, f->skip))
			add_item(p, PLAN_LIST, f, r);
		return;
	}
	if (!r || r->skipped || r->curated != f->curated || f->again ||
	    !same_stamps(r, f)) {
		add_item(p, PLAN_READ, f, r);
		return;
	}
	p->unchanged++;
	if (!same(r->reason, f->warning))
		add_item(p, PLAN_WARN, f, r);
}

static int by_hash(const void *x, const void *y)
{
	const struct plan_row *const *a = x, *const *b = y;

	return memcmp((*a)->hash, (*b)->hash, SHA256_BYTES);
}

int plan_make(struct plan *p, struct arena *a, struct source_list *l,
	      struct store *s, struct remem_err *err)
{
	bool *settled = ARENA_ARRAY(a, bool, l->count + 1);
	size_t i = 0, k = 0;
	int rc;

	memset(p, 0, sizeof(*p));
	source_list_sort(l);
	if (!settled)
		return fail_nomem(err);
	if ((rc = load_rows(p, a, l, settled, s, err)))
		return rc;
	for (i = 0; i < l->count; i++)
		p->unchanged += settled[i];
	p->items = ARENA_ARRAY(a, struct plan_item,
			       l->count - (size_t)p->unchanged + 1);
	p->gone = ARENA_ARRAY(a, struct plan_row *, p->row_count + 1);
	if (a->failed)
		return fail_nomem(err);
	for (i = 0; i < l->count || k < p->row_count;) {
		struct source_file *f = i < l->count ? &l->files[i] : NULL;
		struct plan_row *r = k < p->row_count ? &p->rows[k] : NULL;
		int c;

		if (f && settled[i]) {
			i++;
			continue;
		}
		c = !r ? -1 : !f ? 1 : strcmp(f->path, r->path);
		if (c <= 0) {
			plan_file(p, l, f, c ? NULL : r);
			i++;
		} else if (is_unread(l, r->path)) {
			p->kept++;
		} else {
			p->gone[p->gone_count++] = r;
		}
		k += c >= 0;
	}
	p->gone_sorted = p->gone_count;
	if (p->gone_count)
		qsort(p->gone, p->gone_count, sizeof(*p->gone), by_hash);
	return 0;
}

struct plan_row *plan_find_gone(const struct plan *p,
				const unsigned char hash[SHA256_BYTES],
				bool curated)
{
	size_t lo = 0, hi = p->gone_sorted;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (memcmp(p->gone[mid]->hash, hash, SHA256_BYTES) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < p->gone_sorted; lo++) {
		struct plan_row *r = p->gone[lo];

		if (memcmp(r->hash, hash, SHA256_BYTES))
			break;
		if (!r->taken && !r->skipped && r->curated == curated)
			return r;
	}
	return NULL;
}
