/* Listed files: collected, then sorted and made unique. */
#include "source/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "source/name_sort.h"

static int64_t to_ns(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void list_stat_take(struct list_stat *out, const struct stat *st)
{
	out->dev = (uint64_t)st->st_dev;
	out->inode = (uint64_t)st->st_ino;
	out->size = st->st_size;
	out->mtime_ns = to_ns(st->st_mtim);
	out->ctime_ns = to_ns(st->st_ctim);
}

void list_stat_put(struct source_file *f, const struct list_stat *st)
{
	f->dev = st->dev;
	f->inode = st->inode;
	f->size = st->size;
	f->mtime_ns = st->mtime_ns;
	f->ctime_ns = st->ctime_ns;
}

struct source_file *list_add(struct list *l, const char *path,
			     size_t prefix_len, int root)
{
	const char *copy = arena_strdup(l->a, path);

	if (copy)
		return list_add_owned(l, copy, prefix_len, root);
	l->failed = true;
	return NULL;
}

struct source_file *list_add_owned(struct list *l, const char *path,
				   size_t prefix_len, int root)
{
	struct source_file *f;

	if (!mem_grow(&l->files, &l->cap, l->count + 1, sizeof(*f))) {
		l->failed = true;
		return NULL;
	}
	f = &l->files[l->count++];
	memset(f, 0, sizeof(*f));
	f->path = path;
	f->rel = path + prefix_len;
	f->root = root;
	f->kind = SOURCE_MEMORY;
	return f;
}

void list_unread(struct list *l, const char *prefix)
{
	if (!prefix || !mem_grow(&l->unread, &l->unread_cap, l->unread_count + 1,
		      sizeof(*l->unread))) {
		l->failed = true;
		return;
	}
	l->unread[l->unread_count++] = prefix;
}

/* ---- one entry a path, one an inode ----------------------------------- */

/* Inodes are given out in a row; the multiplier spreads them. */
static size_t id_hash(uint64_t dev, uint64_t inode)
{
	uint64_t h = (inode ^ (dev << 40)) * 0x9E3779B97F4A7C15u;

	return (size_t)(h >> 32);
}

static size_t id_slot(const struct list_ids *t, uint64_t dev, uint64_t inode)
{
	size_t i = id_hash(dev, inode) & (t->cap - 1);

	while (t->slots[i].used &&
	       (t->slots[i].dev != dev || t->slots[i].inode != inode))
		i = (i + 1) & (t->cap - 1);
	return i;
}

static bool ids_grow(struct list_ids *t, size_t cap)
{
	struct list_ids n = { NULL, t->count, cap };

	n.slots = mem_zarray(n.cap, sizeof(*n.slots));
	if (!n.slots)
		return false;
	for (size_t i = 0; i < t->cap; i++)
		if (t->slots[i].used)
			n.slots[id_slot(&n, t->slots[i].dev,
					t->slots[i].inode)] = t->slots[i];
	mem_free(t->slots);
	*t = n;
	return true;
}

uint32_t list_ids_add(struct list_ids *t, uint64_t dev, uint64_t inode,
		      uint32_t value)
{
	struct list_id *s;

	if (t->count * 2 >= t->cap && !ids_grow(t, t->cap ? t->cap * 2 : 64))
		return LIST_NEW;
	s = &t->slots[id_slot(t, dev, inode)];
	if (s->used)
		return s->value;
	*s = (struct list_id){ dev, inode, value, 1 };
	t->count++;
	return LIST_NEW;
}

void list_ids_release(struct list_ids *t)
{
	mem_free(t->slots);
	*t = (struct list_ids){ NULL, 0, 0 };
}

static bool is_curated(const struct source_file *f)
{
	return f->root == 0 && (f->path[0] == 'M' || f->path[0] == 'U') &&
	       !f->linked &&
	       (!strcmp(f->path, "MEMORY.md") || !strcmp(f->path, "USER.md"));
}

/* Which of two names of one file it goes by. */
static bool goes_before(const struct source_file *x,
			const struct source_file *y)
{
	if (x->curated != y->curated)
		return x->curated;
	if (x->linked != y->linked)
		return y->linked;
	if (x->root != y->root)
		return x->root < y->root;
	return strcmp(x->path, y->path) < 0;
}

static int by_path(const void *x, const void *y)
{
	const struct source_file *a = x, *b = y;
	int c = strcmp(a->path, b->path);

	if (c)
		return c;
	if (!a->skip != !b->skip)
		return a->skip ? 1 : -1;
	return a->root - b->root;
}

static bool is_sorted(const struct list *l)
{
	for (size_t i = 1; i < l->count; i++)
		if (strcmp(l->files[i - 1].path, l->files[i].path) >= 0)
			return false;
	return true;
}

static void drop(struct list *l, const bool *gone)
{
	size_t to = 0;

	for (size_t i = 0; i < l->count; i++)
		if (!gone[i])
			l->files[to++] = l->files[i];
	l->count = to;
}

/* After sorting: equal paths stand together, the one to keep first. */
static void unique_paths(struct list *l)
{
	size_t to = 0;

	for (size_t i = 0; i < l->count; i++)
		if (!to || strcmp(l->files[to - 1].path, l->files[i].path))
			l->files[to++] = l->files[i];
	l->count = to;
}

/* Where the file of this inode is, or may be put: its number, from 1. */
static uint32_t *inode_slot(uint32_t *table, size_t cap, const struct list *l,
			    const struct source_file *f)
{
	size_t i = id_hash(f->dev, f->inode) & (cap - 1);

	for (; table[i]; i = (i + 1) & (cap - 1)) {
		const struct source_file *x = &l->files[table[i] - 1];

		if (x->dev == f->dev && x->inode == f->inode)
			break;
	}
	return &table[i];
}

static void unique_inodes(struct list *l)
{
	bool *gone = mem_zarray(l->count + 1, sizeof(*gone));
	uint32_t *table;
	size_t cap = 64;
	bool some = false;

	while (cap < l->count * 2)
		cap *= 2;
	table = mem_zarray(cap, sizeof(*table));
	if (!gone || !table || l->count >= UINT32_MAX) {
		l->failed = true;
		goto out;
	}
	for (size_t i = 0; i < l->count; i++) {
		struct source_file *f = &l->files[i];
		uint32_t *slot, before;

		if (f->skip)
			continue;
		slot = inode_slot(table, cap, l, f);
		before = *slot;
		if (before && !goes_before(f, &l->files[before - 1])) {
			gone[i] = some = true;
			continue;
		}
		if (before)
			gone[before - 1] = some = true;
		*slot = (uint32_t)i + 1;
	}
	if (some)
		drop(l, gone);
out:
	mem_free(table);
	mem_free(gone);
}

static void warn_of_lower(struct list *l)
{
	struct source_file *lower = NULL;
	bool upper = false;

	for (size_t i = 0; i < l->count; i++) {
		struct source_file *f = &l->files[i];

		if (f->path[0] == 'm' && !strcmp(f->path, "memory.md"))
			lower = f;
		upper |= f->path[0] == 'M' && !strcmp(f->path, "MEMORY.md");
	}
	if (lower && lower->root == 0 && !lower->skip && upper)
		lower->warning = "an ordinary note: MEMORY.md is the curated "
				 "one";
}

/* Files of one path: the one to keep first. */
static void sort_equals(struct source_file *f, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n; end++)
			if (strcmp(f[i].path, f[end].path) != 0)
				break;
		if (end - i > 1)
			qsort(f + i, end - i, sizeof(*f), by_path);
	}
}

/* In order of paths, in new memory; where there is none, as it is. */
static void sort_files(struct source_file **files, size_t n)
{
	struct name_key *k = mem_array(n, 2 * sizeof(*k));
	struct source_file *to = mem_array(n, sizeof(*to));
	const struct name_key *sorted;

	if (!k || !to) {
		qsort(*files, n, sizeof(**files), by_path);
		mem_free(to);
		mem_free(k);
		return;
	}
	for (size_t i = 0; i < n; i++)
		k[i] = (struct name_key){ .name = (*files)[i].path,
					  .item = &(*files)[i] };
	sorted = name_sort(k, n);
	for (size_t i = 0; i < n; i++)
		to[i] = *(const struct source_file *)sorted[i].item;
	sort_equals(to, n);
	mem_free(*files);
	*files = to;
	mem_free(k);
}

bool list_finish(struct list *l, bool any_order)
{
	any_order &= !l->unordered;
	for (size_t i = 0; i < l->count; i++)
		l->files[i].curated = is_curated(&l->files[i]);
	if (!any_order && !is_sorted(l)) {
		sort_files(&l->files, l->count);
		unique_paths(l);
	}
	unique_inodes(l);
	warn_of_lower(l);
	return any_order;
}

void source_list_sort(struct source_list *l)
{
	if (l->any_order && l->count)
		sort_files(&l->files, l->count);
	l->any_order = false;
}

struct source_file *source_list_find(struct source_list *l, const char *path)
{
	size_t lo = 0, hi = l->count;

	source_list_sort(l);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(path, l->files[mid].path);

		if (!c)
			return &l->files[mid];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

void list_give(struct source_list *out, struct list *l)
{
	const char **unread = ARENA_ARRAY(l->a, const char *,
					  l->unread_count + 1);

	if (!unread)
		return;
	if (l->unread_count)
		memcpy(unread, l->unread, l->unread_count * sizeof(*unread));
	out->files = l->files;
	out->count = l->count;
	l->files = NULL;
	out->unread = unread;
	out->unread_count = (int)l->unread_count;
}

void list_release(struct list *l)
{
	mem_free(l->files);
	mem_free((void *)l->unread);
}
