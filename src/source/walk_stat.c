/*
 * Stats of a walk. Names are read first and their files stat'ed later, many
 * folders at a time, so that who helps finds work enough whether a workspace
 * has few large folders or many small ones. Until then a folder is held open;
 * there are at most WALK_OPEN of them, and where there are no descriptors to be
 * had its files are stat'ed at once, or those of all that are held.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/share.h"
#include "source/walk.h"

/* This many files of one folder in a row are worth a descriptor of a helper's
 * own: two who use the same one wait for each other at its count of users,
 * which made both a fifth slower (4,444 files). */
#define OWN_MIN 16

/* Why a file of this size is only listed, NULL: it is taken. *failed: a note
 * that should have been indexed. */
static const char *too_large(const struct walker *w, int64_t size, bool media,
			     bool *failed)
{
	int64_t max = w->o->max_file_bytes > 0 ? w->o->max_file_bytes :
						 SOURCE_MAX_FILE_BYTES;

	*failed = false;
	if (media && size > w->o->media_max_bytes)
		return arena_printf(w->a, "has %lld bytes, more than the %lld "
				    "that are taken of an image or sound",
				    (long long)size,
				    (long long)w->o->media_max_bytes);
	if (size <= max)
		return NULL;
	*failed = true;
	return arena_printf(w->a, "has %lld bytes, more than the %lld that "
			    "memorySearch.maxFileBytes allows",
			    (long long)size, (long long)max);
}

void walk_take_stat(struct walker *w, struct walk_entry *e,
		    const struct stat *st)
{
	list_stat_take(&e->st, st);
	w->twins |= st->st_nlink > 1;
	if (!e->skip)
		e->skip = too_large(w, e->st.size, e->media, &e->failed);
}

/* A note that cannot be stat'ed: what the index has of it stays. */
static const char *keep_unread(struct walker *w, const char *path, int errnum)
{
	struct remem_err why;

	fail_errno(&why, REMEM_EIO, errnum, "cannot be looked at");
	list_unread(w->l, path);
	return arena_strdup(w->a, why.message);
}

/* errno, 0 for a note; ENOENT also for what was replaced this moment. */
static int stat_file(struct stat *st, int fd, const char *name)
{
	if (fstatat(fd, name, st, AT_SYMLINK_NOFOLLOW))
		return errno ? errno : EIO;
	return S_ISREG(st->st_mode) ? 0 : ENOENT;
}

/* ---- at once ---- */

static bool wants_stat(const struct walk_entry *e)
{
	return !e->skip && !e->folder && !e->st.inode;
}

/* False: it is gone. */
static bool stat_now(struct walker *w, struct walk_entry *e, int fd)
{
	struct stat st;
	int failure = stat_file(&st, fd, e->name);

	if (failure == ENOENT)
		return false;
	if (!failure) {
		walk_take_stat(w, e, &st);
		return true;
	}
	e->skip = keep_unread(w, e->path, failure);
	e->failed = true;
	return true;
}

static void stat_entries(struct walker *w, size_t first, int fd)
{
	size_t to = first;

	for (size_t i = first; i < w->count; i++) {
		struct walk_entry *e = w->entries[i];

		if (wants_stat(e) && !stat_now(w, e, fd))
			continue;
		w->entries[i] = w->entries[to];
		w->entries[to++] = e;
	}
	w->count = to;
}

/* ---- later ---- */

bool walk_stat_begin(struct walker *w, size_t first, int fd)
{
	struct walk_later *z = &w->later;
	size_t n = 0;
	int own;

	for (size_t i = first; i < w->count; i++)
		n += wants_stat(w->entries[i]);
	if (!n)
		return false;
	if (z->folder_count == WALK_OPEN)
		walk_stat_end(w);
	own = mem_grow(&z->files, &z->cap, z->count + n, sizeof(*z->files)) ?
	      fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (own < 0) {
		stat_entries(w, first, fd);
		return false;
	}
	z->folders[z->folder_count++] = own;
	return true;
}

void walk_stat_add(struct walker *w, const struct walk_entry *e)
{
	struct walk_later *z = &w->later;
	const struct source_file *f = &w->l->files[w->l->count - 1];

	if (!wants_stat(e))
		return;
	z->files[z->count++] = (struct walk_unseen){
		.nr = w->l->count - 1,
		.name = (uint32_t)(e->name - f->path),
		.folder = (uint16_t)(z->folder_count - 1),
	};
}

/* A descriptor of one's own, if enough files of this folder come. */
static int own_folder(const struct walk_later *z, size_t i, size_t to)
{
	size_t last = i + OWN_MIN - 1;

	return last < to && z->files[last].folder == z->files[i].folder ?
	       openat(z->folders[z->files[i].folder], ".",
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* A part of the files, in whichever thread. */
static void stat_part(void *ctx, size_t from, size_t to, bool helping)
{
	struct walker *w = ctx;
	const struct walk_later *z = &w->later;
	int own = -1;

	for (size_t i = from; i < to; i++) {
		struct walk_unseen *u = &z->files[i];
		struct source_file *f = &w->l->files[u->nr];
		struct list_stat kept;
		struct stat st;

		if (i == from || u->folder != z->files[i - 1].folder) {
			if (own >= 0)
				close(own);
			own = helping ? own_folder(z, i, to) : -1;
		}
		u->failure = stat_file(&st, own >= 0 ? own :
				       z->folders[u->folder], f->path + u->name);
		if (u->failure)
			continue;
		list_stat_take(&kept, &st);
		list_stat_put(f, &kept);
		u->twin = st.st_nlink > 1;
	}
	if (own >= 0)
		close(own);
}

/* What the stats say. Whether some file is gone. */
static bool judge(struct walker *w)
{
	struct walk_later *z = &w->later;
	bool gone = false;

	for (size_t i = 0; i < z->count; i++) {
		const struct walk_unseen *u = &z->files[i];
		struct source_file *f = &w->l->files[u->nr];

		w->twins |= u->twin;
		if (u->failure == ENOENT) {
			f->gone = gone = true;
		} else if (u->failure) {
			f->skip = keep_unread(w, f->path, u->failure);
			f->failed = true;
		} else {
			f->skip = too_large(w, f->size, f->media, &f->failed);
		}
	}
	return gone;
}

void walk_stat_end(struct walker *w)
{
	struct walk_later *z = &w->later;
	struct list *l = w->l;
	size_t to = 0;

	if (!walk_failed(w)) {
		share_run(w->o->share, stat_part, w, z->count);
		if (judge(w)) {
			for (size_t i = 0; i < l->count; i++)
				if (!l->files[i].gone)
					l->files[to++] = l->files[i];
			l->count = to;
		}
	}
	for (int i = 0; i < z->folder_count; i++)
		close(z->folders[i]);
	z->folder_count = 0;
	z->count = 0;
}
