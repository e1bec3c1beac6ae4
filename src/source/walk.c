/*
 * The walk. A folder is opened by its path beneath its root (none but a few
 * are held while walking below it, see walk_stat.c) and read whole; its notes
 * are stat'ed by name: one stat a note, none for what a name or the type in the
 * directory entry already rules out. The list is sorted in the end.
 * Links that are followed wait until everything real has been walked: a
 * folder is then known by device and inode, which also ends loops.
 */
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/path.h"
#include "source/names.h"
#include "source/walk.h"
#include "source/watch.h"

#define MAX_IGNORE_BYTES (256u << 10)

static const char by_link[] =
	"symbolic link; set followLinks or add the target to extraPaths";

enum type { TYPE_OTHER, TYPE_FOLDER, TYPE_FILE, TYPE_LINK };

bool walk_failed(const struct walker *w)
{
	return w->a->failed || w->scratch.failed || w->path.failed ||
	       w->l->failed;
}

/* The path below the root of what w->path names now. */
static const char *rel_path(const struct walker *w)
{
	size_t n = strlen(w->roots[w->root].prefix);

	return w->path.len < n ? "" : buf_str(&w->path) + n;
}

static enum type type_of(unsigned mode)
{
	return S_ISDIR(mode) ? TYPE_FOLDER : S_ISREG(mode) ? TYPE_FILE :
	       S_ISLNK(mode) ? TYPE_LINK : TYPE_OTHER;
}

/* False when it is gone already. */
static bool entry_type(enum type *out, int fd, const struct dirent *d)
{
	struct stat st;

	switch (d->d_type) {
	case DT_DIR:
		*out = TYPE_FOLDER;
		return true;
	case DT_REG:
		*out = TYPE_FILE;
		return true;
	case DT_LNK:
		*out = TYPE_LINK;
		return true;
	case DT_UNKNOWN: /* some file systems do not say */
		if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
			return false;
		*out = type_of(st.st_mode);
		return true;
	default:
		*out = TYPE_OTHER;
		return true;
	}
}

/* ---- rules by name ---------------------------------------------------- */

static bool is_allowed_hidden(const struct walker *w, const char *name)
{
	for (const char *const *p = w->o->allow_hidden; p && *p; p++)
		if (!strcmp(*p, name))
			return true;
	return false;
}

/* Whether a file of this name would be a note of this root. */
static bool is_wanted(struct walker *w, const char *name, const char **media)
{
	const struct root_more *m = &w->more[w->root];
	size_t at = w->path.len;
	bool yes;

	*media = NULL;
	if (!m->pattern)
		return name_is_note(name) || (m->extra &&
					      root_wants(media, m, "", name));
	buf_adds(&w->path, name);
	yes = root_wants(media, m, rel_path(w), name);
	buf_truncate(&w->path, at);
	return yes;
}

static char *entry_path(struct walker *w, const char *name, bool folder)
{
	size_t n = strlen(name), at = w->path.len;
	char *path = arena_text(w->a, at + n + folder);

	if (!path)
		return NULL;
	memcpy(path, buf_str(&w->path), at);
	memcpy(path + at, name, n);
	if (folder)
		path[at + n] = '/';
	return path;
}

/* The one behind the last, cleared. They are used again, so that as many are
 * made as there are at a time, not in all. */
static struct walk_entry *free_entry(struct walker *w)
{
	size_t had = w->cap;
	struct walk_entry **e;

	if (!mem_grow(&w->entries, &w->cap, w->count + 1, sizeof(*e))) {
		w->l->failed = true;
		return NULL;
	}
	memset(w->entries + had, 0, (w->cap - had) * sizeof(*e));
	e = &w->entries[w->count];
	if (*e)
		memset(*e, 0, sizeof(**e));
	else
		*e = ARENA_NEW(&w->scratch, struct walk_entry);
	return *e;
}

static struct walk_entry *add_entry(struct walker *w, const char *name, bool folder)
{
	struct walk_entry *e;

	e = free_entry(w);
	if (!e)
		return NULL;
	e->folder = folder;
	e->linked = w->linked;
	e->path = entry_path(w, name, folder);
	if (!e->path)
		return NULL;
	e->name = e->path + w->path.len;
	w->count++;
	return e;
}

static void add_folder(struct walker *w, const char *name)
{
	bool allowed = is_allowed_hidden(w, name);
	struct walk_entry *e;

	if (!strcmp(name, ".git"))
		return;
	e = add_entry(w, name, true);
	if (!e || allowed)
		return;
	if (name_is_tool_folder(name))
		e->skip = "folder of a tool, ignored by default";
	else if (name[0] == '.')
		e->skip = "hidden folder; allowHidden lets it in";
}

/* Why an image or sound is only listed; NULL: it is taken. */
static const char *media_skip(const struct walker *w, struct walk_entry *e,
			      const char *name, const char *media)
{
	e->media = media && (w->o->media & name_media_kind(name));
	if (!media || e->media)
		return NULL;
	if (w->o->media)
		return "left out by memorySearch.multimodal.modalities";
	return w->o->media_why ? w->o->media_why : media;
}

static void add_file(struct walker *w, const char *name)
{
	const char *media;
	struct walk_entry *e;

	if (!is_wanted(w, name, &media) || (name_is_note(name) ?
					    name_is_temp_note(name) :
					    name_is_temp(name)))
		return;
	e = add_entry(w, name, false);
	if (!e)
		return;
	if (name[0] == '.' && !is_allowed_hidden(w, name))
		e->skip = "hidden file; allowHidden lets it in";
	else if (name_is_conflict(name))
		e->skip = "copy left by a synchronisation conflict";
	else
		e->skip = media_skip(w, e, name, media);
}

/* A root that was declared is walked by itself; its link is no news. */
static bool is_root(const struct walker *w, const struct stat *st)
{
	for (int i = 0; i < w->root_count; i++)
		if (w->roots[i].fd >= 0 && !w->roots[i].single &&
		    w->more[i].dev == (uint64_t)st->st_dev &&
		    w->more[i].inode == (uint64_t)st->st_ino)
			return true;
	return false;
}

static void add_link(struct walker *w, int fd, const char *name)
{
	const char *media = NULL;
	struct stat st;
	bool there = fstatat(fd, name, &st, 0) == 0, folder;
	struct walk_entry *e;

	folder = there && S_ISDIR(st.st_mode);
	if (!strcmp(name, ".git") || name_is_temp(name) ||
	    (folder ? is_root(w, &st) : !is_wanted(w, name, &media)))
		return;
	if (folder && w->o->follow_links) {
		size_t before = w->count;

		add_folder(w, name);
		if (w->count > before)
			w->entries[before]->later = true;
		return;
	}
	e = add_entry(w, name, folder);
	if (!e)
		return;
	e->linked = true;
	if (!w->o->follow_links)
		e->skip = by_link;
	else if (!there)
		e->skip = "symbolic link that leads nowhere";
	else if (!S_ISREG(st.st_mode))
		e->skip = "not a regular file";
	else if (!(e->skip = media_skip(w, e, name, media)))
		walk_take_stat(w, e, &st);
}

static void add_other(struct walker *w, const char *name)
{
	const char *media;
	struct walk_entry *e;

	if (name_is_temp(name) || !is_wanted(w, name, &media))
		return;
	e = add_entry(w, name, false);
	if (e)
		e->skip = "not a regular file";
}

void walk_name(struct walker *w, int fd, const struct dirent *d)
{
	const char *name = d->d_name;
	enum type type;
	int nr;

	if (name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2])))
		return;
	if (!entry_type(&type, fd, d))
		return;
	nr = name[0] == '.' ? name_ignore_file(name) : -1;
	if (nr >= 0 && (type == TYPE_FILE || type == TYPE_LINK))
		w->ignore_files |= 1u << nr;
	switch (type) {
	case TYPE_FOLDER:
		add_folder(w, name);
		break;
	case TYPE_FILE:
		add_file(w, name);
		break;
	case TYPE_LINK:
		add_link(w, fd, name);
		break;
	case TYPE_OTHER:
		add_other(w, name);
		break;
	}
}

/* ---- one folder ------------------------------------------------------- */

/* Folders whose files wait for their stats are held open. Where nothing more
 * can be opened they are given up first: true if that was it. */
static bool make_room(struct walker *w, int errnum)
{
	if ((errnum != EMFILE && errnum != ENFILE) || !w->later.folder_count)
		return false;
	walk_stat_end(w);
	return true;
}

/* An ignore file whose rules do not count is said, not passed over. */
static void ignore_trouble(struct walker *w, const char *shown,
			   const char *message)
{
	struct source_file *f = list_add(w->l, shown, 0, w->root);

	if (!f)
		return;
	w->l->unordered = true;
	f->skip = arena_printf(w->a, "its rules do not count: %s", message);
	f->failed = true;
}

static void ignore_file(struct walker *w, struct ignore *ig, int fd,
			const char *name)
{
	const char *shown = arena_printf(&w->scratch, "%s%s",
					 buf_str(&w->path), name);
	struct buf text = BUF_INIT(MAX_IGNORE_BYTES);
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	struct remem_err e;
	int f = openat(fd, name, flags);

	if (f < 0 && make_room(w, errno))
		f = openat(fd, name, flags);
	if (!shown)
		goto out;
	if (f < 0) {
		fail_errno(&e, REMEM_EIO, errno, "cannot open '%s'", name);
		ignore_trouble(w, shown, e.message);
	} else if (file_read_fd(&text, f, name, &e)) {
		ignore_trouble(w, shown, e.message);
	} else {
		ignore_add(ig, &w->scratch, shown, buf_str(&text), text.len);
	}
out:
	buf_release(&text);
	if (f >= 0)
		close(f);
}

/* The rules for this folder: those above, and its own ignore files'. */
const struct ignore *walk_rules(struct walker *w, int fd,
					 const struct ignore *above)
{
	struct ignore *ig;

	if (!w->ignore_files)
		return above;
	ig = ignore_new(&w->scratch, above, rel_path(w));
	for (int i = 0; ig && name_ignore_files[i]; i++)
		if (w->ignore_files & (1u << i))
			ignore_file(w, ig, fd, name_ignore_files[i]);
	return ig ? ig : above;
}

static void ignore_entry(struct walker *w, struct walk_entry *e,
			 const struct ignore *ig)
{
	size_t prefix = strlen(w->roots[w->root].prefix);
	const char *rel = e->path + prefix, *from;

	if (e->folder)
		rel = arena_strndup(&w->scratch, rel, strlen(rel) - 1);
	from = rel ? ignore_match(ig, rel, e->folder) : NULL;
	if (from)
		e->skip = arena_printf(w->a, "ignored by %s", from);
}

/* What rules say of the entries, and their stats: begun, or done. */
bool walk_judge(struct walker *w, size_t first, int fd,
		const struct ignore *ig)
{
	for (size_t i = first; ig && i < w->count; i++)
		if (!w->entries[i]->skip)
			ignore_entry(w, w->entries[i], ig);
	return !walk_failed(w) && walk_stat_begin(w, first, fd);
}

/* Followed links: which way to a folder comes first is told by names. */
static void sort_entries(struct walker *w, struct walk_entry **e, size_t n)
{
	const struct name_key *sorted;
	struct name_key *k;

	if (n < 2)
		return;
	if (!mem_grow(&w->keys, &w->key_cap, 2 * n, sizeof(*k))) {
		w->l->failed = true;
		return;
	}
	k = w->keys;
	for (size_t i = 0; i < n; i++)
		k[i] = (struct name_key){ .name = e[i]->name, .item = e[i] };
	sorted = name_sort(k, n);
	for (size_t i = 0; i < n; i++)
		e[i] = sorted[i].item;
}

static void emit(struct walker *w, const struct walk_entry *e, bool later)
{
	const struct source_root *r = &w->roots[w->root];
	struct source_file *f = list_add_owned(w->l, e->path,
					       strlen(r->prefix), w->root);

	if (!f)
		return;
	list_stat_put(f, &e->st);
	f->skip = e->skip;
	f->failed = e->failed;
	f->linked = e->linked;
	f->media = e->media;
	if (later)
		walk_stat_add(w, e);
}

/* The folder w->path cannot be read (any more): what the index has stays. */
static void unread(struct walker *w, const char *why)
{
	struct source_root *r = &w->roots[w->root];
	const char *path = arena_strdup(w->a, w->path.len ?
					buf_str(&w->path) : "./");
	struct source_file *f;

	if (!path)
		return;
	r->incomplete = true;
	if (!r->problem)
		r->problem = arena_printf(w->a, "'%s' %s", path, why);
	list_unread(w->l, w->path.len ? path : "");
	f = list_add(w->l, path, strlen(r->prefix) <= strlen(path) ?
		     strlen(r->prefix) : 0, w->root);
	if (f) {
		f->skip = arena_printf(w->a, "%s; what the index has of it "
				       "stays", why);
		f->failed = true;
	}
}

static void unread_errno(struct walker *w, int errnum)
{
	struct remem_err e;

	fail_errno(&e, REMEM_EIO, errnum, "cannot be read");
	unread(w, e.message);
}

/* Below the root at hand; -1 with errno. A link by now is as good as gone: it is
 * listed as one by the next walk. */
static int open_folder(const struct walker *w, const char *rel)
{
	int fd, root = w->roots[w->root].fd;
	struct remem_err e;

	if (w->linked)
		return openat(root, rel, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = file_open_beneath(root, rel, &e);
	if (fd == REMEM_EPERM || fd == REMEM_ENOTFOUND) {
		errno = ENOENT;
		return -1;
	}
	return fd >= 0 ? fd : openat(root, rel, O_RDONLY | O_DIRECTORY |
				     O_NOFOLLOW | O_CLOEXEC); /* for errno */
}

/* The folder w->path, opened; NULL: gone, or noted as not readable. */
DIR *walk_open(struct walker *w)
{
	size_t n = strlen(rel_path(w));
	char *rel = arena_strndup(&w->scratch, n ? rel_path(w) : ".",
				  n ? n - 1 : 1);
	DIR *d = NULL;
	int fd;

	if (!rel)
		return NULL;
	fd = open_folder(w, rel);
	if (fd < 0 && make_room(w, errno))
		fd = open_folder(w, rel);
	if (fd >= 0)
		d = fdopendir(fd);
	if (!d && errno != ENOENT && errno != ENOTDIR)
		unread_errno(w, errno);
	if (!d && fd >= 0)
		close(fd);
	return d;
}

/* False when the folder has been walked before. Only asked below links. */
static bool first_visit(struct walker *w, int fd)
{
	struct stat st;

	if (!w->o->follow_links || fstat(fd, &st))
		return true;
	return list_ids_add(&w->seen, (uint64_t)st.st_dev,
			    (uint64_t)st.st_ino, 0) == LIST_NEW || !w->linked;
}

/* Before it is read: what comes later is told. */
static void watch_this(struct walker *w, int fd)
{
	if (w->o->watch)
		watch_folder(w->o->watch, w->root, buf_str(&w->path), fd);
}

static void read_folder(struct walker *w, DIR *d)
{
	struct dirent *e;

	w->ignore_files = 0;
	for (;;) {
		errno = 0;
		e = readdir(d);
		if (!e)
			break;
		walk_name(w, dirfd(d), e);
	}
	if (errno)
		unread_errno(w, errno);
}

static void wait_link(struct walker *w, const char *name,
		      const struct ignore *ig)
{
	struct pending_link *p;

	w->links = arena_grow(&w->scratch, w->links, &w->link_cap,
			      w->link_count + 1, sizeof(*p));
	if (!w->links)
		return;
	p = &w->links[w->link_count++];
	p->root = w->root;
	p->ig = ig;
	p->path = arena_printf(&w->scratch, "%s%s", buf_str(&w->path), name);
}

static void walk_folder(struct walker *w, const struct ignore *above);

void walk_entries(struct walker *w, size_t first, bool later,
		  const struct ignore *ig)
{
	size_t end = w->count, at = w->path.len;

	/* Files first, so that their folder need not be held for long. */
	for (size_t i = first; i < end && !walk_failed(w); i++)
		if (!w->entries[i]->folder || w->entries[i]->skip)
			emit(w, w->entries[i], later);
	/* Alone they are stat'ed while they are in the processor's cache. */
	if (later && !w->o->share)
		walk_stat_end(w);
	for (size_t i = first; i < end && !walk_failed(w); i++) {
		const struct walk_entry *e = w->entries[i];

		if (!e->folder || e->skip)
			continue;
		if (e->later) {
			wait_link(w, e->name, ig);
			continue;
		}
		buf_adds(&w->path, e->name);
		walk_folder(w, ig);
		buf_truncate(&w->path, at);
	}
}

/* Walks w->path. Recursion is bounded by WALK_MAX_DEPTH; frames are small. */
static void walk_folder(struct walker *w, const struct ignore *above)
{
	size_t first = w->count;
	const struct ignore *ig;
	bool later;
	DIR *d;

	if (w->depth >= WALK_MAX_DEPTH) {
		unread(w, "is more than 128 folders deep");
		return;
	}
	d = walk_open(w);
	if (!d)
		return;
	if (!first_visit(w, dirfd(d))) {
		closedir(d);
		return;
	}
	w->depth++;
	w->folders++;
	watch_this(w, dirfd(d));
	read_folder(w, d);
	ig = walk_rules(w, dirfd(d), above);
	later = walk_judge(w, first, dirfd(d), ig);
	closedir(d);
	if (!walk_failed(w) && w->o->follow_links)
		sort_entries(w, w->entries + first, w->count - first);
	if (!walk_failed(w))
		walk_entries(w, first, later, ig);
	w->count = first;
	w->depth--;
}

/* ---- roots ------------------------------------------------------------ */

/* One file or folder of the workspace itself, by its fixed name. */
void walk_fixed(struct walker *w, const char *name, bool folder,
		       const struct ignore *ig)
{
	int fd = w->roots[w->root].fd;
	size_t first = w->count, at = w->path.len;
	struct stat st;
	enum type type;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW)) {
		buf_adds(&w->path, name);
		if (errno != ENOENT)
			unread_errno(w, errno);
		buf_truncate(&w->path, at);
		return;
	}
	type = type_of(st.st_mode);
	if (type == TYPE_LINK) {
		add_link(w, fd, name);
		/* "memory" that leads nowhere is said as well. */
		if (folder && w->count == first && fstatat(fd, name, &st, 0) &&
		    add_entry(w, name, false))
			w->entries[first]->skip =
				"symbolic link that leads nowhere";
	} else if (folder && type == TYPE_FOLDER) {
		add_entry(w, name, true);
	} else if (!folder && type == TYPE_FILE) {
		struct walk_entry *e = add_entry(w, name, false);

		if (e)
			walk_take_stat(w, e, &st);
	} else {
		struct walk_entry *e = add_entry(w, name, false);

		if (e)
			e->skip = folder ? "not a folder" :
					   "not a regular file";
	}
	walk_entries(w, first, false, ig);
	w->count = first;
}

const struct ignore *walk_workspace_rules(struct walker *w)
{
	int fd = w->roots[0].fd;

	watch_this(w, fd);
	w->ignore_files = 0;
	for (int i = 0; name_ignore_files[i]; i++)
		if (!faccessat(fd, name_ignore_files[i], F_OK, 0))
			w->ignore_files |= 1u << i;
	/* What is declared by its name is not ignored as a whole; the rules
	 * count below it. */
	return walk_rules(w, fd, NULL);
}

static void walk_workspace(struct walker *w)
{
	const struct ignore *ig = walk_workspace_rules(w);

	for (int i = 0; name_fixed_files[i]; i++)
		walk_fixed(w, name_fixed_files[i], false, ig);
	walk_fixed(w, "memory", true, ig);
	w->folders++;
}

static void walk_single(struct walker *w)
{
	struct source_root *r = &w->roots[w->root];
	const char *shown = w->more[w->root].shown;
	const char *media = name_media(r->single);
	struct walk_entry e = { 0 };
	struct source_file *f;
	struct stat st;

	watch_this(w, r->fd);
	if (fstatat(r->fd, r->single, &st, AT_SYMLINK_NOFOLLOW)) {
		r->problem = "not there";
		return;
	}
	e.skip = media_skip(w, &e, r->single, media);
	if (!e.skip && !S_ISREG(st.st_mode))
		e.skip = "not a regular file";
	walk_take_stat(w, &e, &st);
	f = list_add(w->l, shown, 0, w->root);
	if (!f)
		return;
	f->rel = r->single;
	list_stat_put(f, &e.st);
	f->skip = e.skip;
	f->failed = e.failed;
	f->media = e.media;
}

/* A root that could not be opened is listed, so that it is not forgotten. */
static void list_problem(struct walker *w)
{
	struct source_root *r = &w->roots[w->root];
	const char *shown = w->more[w->root].shown;
	bool slash = !r->single && r->prefix[0];
	const char *path = slash ? r->prefix : shown;
	struct source_file *f = list_add(w->l, path[0] ? path : "./", 0,
					 w->root);

	if (f) {
		f->skip = arena_printf(w->a, "extra path: %s", r->problem);
		f->failed = true;
	}
	if (r->incomplete)
		list_unread(w->l, path);
}

void walk_extra(struct walker *w)
{
	struct source_root *r = &w->roots[w->root];
	size_t before;

	if (r->fd < 0) {
		list_problem(w);
		return;
	}
	walk_stat_end(w); /* what is gone of other roots is not missing here */
	before = w->l->count;
	if (r->single) {
		walk_single(w);
		if (r->problem)
			list_problem(w);
		return;
	}
	walk_folder(w, NULL);
	walk_stat_end(w);
	if (w->l->count == before && !r->problem && !walk_failed(w)) {
		r->problem = "no note in it";
		list_problem(w);
	}
}

static void follow_links(struct walker *w)
{
	w->linked = true;
	w->l->unordered = true;
	list_ids_add(&w->seen, w->more[0].dev, w->more[0].inode, 0);
	for (size_t i = 0; i < w->link_count && !walk_failed(w); i++) {
		struct pending_link p = w->links[i];

		if (!p.path)
			break;
		w->root = p.root;
		buf_reset(&w->path);
		buf_adds(&w->path, p.path);
		walk_folder(w, p.ig);
	}
}

static void walk_roots(struct walker *w)
{
	for (int i = 0; i < w->root_count && !walk_failed(w); i++) {
		w->root = i;
		buf_reset(&w->path);
		buf_adds(&w->path, w->roots[i].prefix);
		w->l->unordered |= i > 0;
		if (i)
			walk_extra(w);
		else
			walk_workspace(w);
	}
	if (w->link_count && !walk_failed(w))
		follow_links(w);
}

int walk_begin(struct walker *w, struct list *l, struct arena *a,
	       const struct source_opts *o, struct remem_err *err)
{
	int rc;

	memset(l, 0, sizeof(*l));
	memset(w, 0, sizeof(*w));
	l->a = w->a = a;
	w->l = l;
	w->o = o;
	buf_init(&w->path, 0);
	arena_init(&w->scratch, 0);
	rc = roots_open(&w->roots, &w->more, &w->root_count, a, o, err);
	return rc;
}

int walk_end(struct walker *w, struct source_list *out, int rc,
	     struct remem_err *err)
{
	walk_stat_end(w);
	/* What was read before a removal of the whole must remove nothing. */
	if (!rc && !walk_failed(w) && access(w->o->workspace, F_OK))
		rc = file_fail(err, errno, "open workspace", w->o->workspace);
	if (!rc && !walk_failed(w))
		out->any_order = list_finish(w->l, w->o->any_order);
	if (!rc && !walk_failed(w))
		list_give(out, w->l);
	if (!rc && walk_failed(w))
		rc = fail_nomem(err);
	if (rc) {
		roots_close(w->roots, w->root_count);
	} else {
		out->roots = w->roots;
		out->root_count = w->root_count;
		out->folders = w->folders;
		out->twins = w->twins;
	}
	list_ids_release(&w->seen);
	mem_free(w->entries);
	mem_free(w->keys);
	mem_free(w->later.files);
	buf_release(&w->path);
	arena_release(&w->scratch);
	list_release(w->l);
	return rc;
}

int source_walk(struct source_list *out, struct arena *a,
		const struct source_opts *o, struct remem_err *err)
{
	struct walker w;
	struct list l;
	int rc = walk_begin(&w, &l, a, o, err);

	memset(out, 0, sizeof(*out));
	if (!rc && o->watch)
		watch_begin(o->watch, o, w.roots, w.more, w.root_count);
	if (!rc)
		walk_roots(&w);
	if (!rc && o->watch)
		watch_end(o->watch, w.roots, !walk_failed(&w));
	return walk_end(&w, out, rc, err);
}

void source_list_release(struct source_list *l)
{
	if (!l)
		return;
	roots_close(l->roots, l->root_count);
	mem_free(l->files);
	l->files = NULL;
	l->root_count = 0;
	l->count = 0;
}
