/*
 * Each file has a hash of 128 bits over its path and stamps, or its path and
 * the reason why it is only listed; they are added up. A sum needs no order,
 * so a run that deals with a few files takes their old hashes off and puts
 * the new ones on. A sum that is wrong for some reason costs a comparison file
 * by file and is then right again.
 *
 * It guards against chance, not against somebody who can set change times.
 * Another version's sum differs, which costs one comparison too.
 */
#include "index/kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define HEX_BYTES 33

struct stamps {
	const char *path, *said;
	bool skipped, curated;
	uint64_t dev, inode;
	int64_t size, mtime_ns, ctime_ns;
};

static void add(uint64_t sum[2], const struct stamps *f, int sign)
{
	int64_t v[6] = { (int64_t)f->dev, (int64_t)f->inode, f->size,
			 f->mtime_ns, f->ctime_ns, f->curated };
	uint64_t h[2] = { 1, 2 };

	hash128(h, f->path, strlen(f->path) + 1);
	/* What is only listed may change as it likes. */
	if (!f->skipped)
		hash128(h, v, sizeof(v));
	if (f->said)
		hash128(h, f->said, strlen(f->said) + 1);
	for (int i = 0; i < 2; i++)
		sum[i] += sign > 0 ? h[i] : -h[i];
}

static void add_file(uint64_t sum[2], const struct source_file *f, int sign)
{
	struct stamps s = { f->path, f->skip ? f->skip : f->warning,
			    f->skip != NULL, f->curated, f->dev, f->inode,
			    f->size, f->mtime_ns, f->ctime_ns };

	add(sum, &s, sign);
}

static void add_row(uint64_t sum[2], const struct plan_row *r, int sign)
{
	struct stamps s = { r->path, r->reason, r->skipped, r->curated, r->dev,
			    r->inode, r->size, r->mtime_ns, r->ctime_ns };

	add(sum, &s, sign);
}

void kept_sum(uint64_t sum[2], const struct source_list *l)
{
	sum[0] = sum[1] = 0;
	for (size_t i = 0; i < l->count; i++)
		if (!l->files[i].gone && !l->files[i].unread)
			add_file(sum, &l->files[i], 1);
}

static bool is_again(const struct kept *k, int64_t id)
{
	for (int i = 0; i < k->again_count; i++)
		if (k->again[i] == id)
			return true;
	return false;
}

/* Rows that are dealt with in this run are tried in it, or go. */
static void forget_again(struct kept *k, const struct plan *p)
{
	for (size_t i = 0; i < p->row_count; i++)
		for (int j = 0; j < k->again_count; j++)
			if (k->again[j] == p->rows[i].id)
				k->again[j--] = k->again[--k->again_count];
}

void kept_apply(struct kept *k, const struct plan *p)
{
	for (size_t i = 0; i < p->item_count; i++) {
		const struct plan_item *it = &p->items[i];

		/* The row of a file that is gone by now is in gone, too. */
		if (it->file->gone)
			continue;
		if (it->row && !is_again(k, it->row->id))
			add_row(k->sum, it->row, -1);
		if (!it->file->unread)
			add_file(k->sum, it->file, 1);
	}
	for (size_t i = 0; i < p->gone_count; i++)
		if (!is_again(k, p->gone[i]->id))
			add_row(k->sum, p->gone[i], -1);
	forget_again(k, p);
}

void kept_again(struct kept *k, int64_t id)
{
	if (k->again_count < KEPT_MAX_AGAIN)
		k->again[k->again_count] = id;
	if (k->again_count <= KEPT_MAX_AGAIN)
		k->again_count++;
}

/* ---- in the store ----------------------------------------------------- */

void kept_load(struct kept *k, struct store *s, struct arena *a)
{
	const char *digest = s->ops->meta_get(s, a, "digest");
	const char *again = s->ops->meta_get(s, a, "again");
	char *end;

	memset(k, 0, sizeof(*k));
	k->known = digest && strlen(digest) == HEX_BYTES - 1 &&
		   !hex_decode((unsigned char *)k->sum, digest, sizeof(k->sum));
	for (; again && *again; again = end) {
		int64_t id = strtoll(again, &end, 10);

		if (end == again)
			break;
		kept_again(k, id);
	}
}

int kept_save(const struct kept *k, struct store *s, struct remem_err *err)
{
	bool known = k->known && k->again_count <= KEPT_MAX_AGAIN;
	char digest[HEX_BYTES], again[KEPT_MAX_AGAIN * 21 + 1] = "";
	size_t n = 0;
	int rc;

	hex_encode(digest, (const unsigned char *)k->sum, sizeof(k->sum));
	for (int i = 0; known && i < k->again_count; i++)
		n += (size_t)snprintf(again + n, sizeof(again) - n, "%" PRId64
				      " ", k->again[i]);
	rc = s->ops->meta_set(s, "again", n ? again : NULL, err);
	return rc ? rc : s->ops->meta_set(s, "digest", known ? digest : NULL,
					  err);
}

bool kept_settled(const struct kept *k, const uint64_t sum[2],
		  struct store *s, struct arena *a, struct source_list *l,
		  bool follow_links, int64_t *unread,
		  void (*said)(void *ctx, const char *path, const char *reason),
		  void *ctx)
{
	uint64_t now[2] = { sum[0], sum[1] };

	*unread = 0;
	if (!k->known)
		return false;
	for (int i = 0; i < k->again_count; i++) {
		const struct source_file *f;
		struct store_file row;
		bool found;

		if (s->ops->file_get(s, a, k->again[i], &row, &found, NULL) ||
		    !found || !(f = source_list_find(l, row.path)) || f->skip ||
		    source_can_read(l, f, follow_links))
			return false;
		add_file(now, f, -1);
		if (said)
			said(ctx, row.path, row.reason);
	}
	*unread = k->again_count;
	return !memcmp(k->sum, now, sizeof(now));
}
