/* See sessions.h. */
#include "source/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "source/transcript_format.h"
#include "source/watch.h"

#define ANY_DEPTH 16 /* of folders the user named */

struct finder {
	struct arena *a;
	struct session_list *l;
	const struct session_opts *o;
	const struct transcript_format *format; /* NULL: by contents */
	const struct transcript_place *place; /* NULL: a folder of the user */
	const char *prefix; /* of names, for a folder of the user */
	const char *pattern;
	const char *kept; /* prefix to keep if something cannot be read */
};

static void add_text(struct arena *a, const char ***list, size_t *count,
		     size_t *cap, const char *s)
{
	*list = arena_grow(a, *list, cap, *count + 1, sizeof(**list));
	if (*list)
		(*list)[(*count)++] = s;
}

static void keep(struct finder *f)
{
	struct session_list *l = f->l;

	add_text(f->a, &l->kept, &l->kept_count, &l->kept_cap, f->kept);
}

static int64_t stamp_ns(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A store changes in its journal first. */
static void add_journal(struct finder *f, struct session_file *s)
{
	const char *wal = arena_printf(f->a, "%s-wal", s->path);
	struct stat st;

	if (!wal || lstat(wal, &st) || !S_ISREG(st.st_mode))
		return;
	s->size += st.st_size;
	if (stamp_ns(st.st_mtim) > s->mtime_ns)
		s->mtime_ns = stamp_ns(st.st_mtim);
	if (stamp_ns(st.st_ctim) > s->ctime_ns)
		s->ctime_ns = stamp_ns(st.st_ctim);
}

static void add_file(struct finder *f, const char *name, const char *path,
		     const struct stat *st)
{
	struct session_list *l = f->l;
	struct session_file *s;

	l->files = arena_grow(f->a, l->files, &l->cap, l->count + 1,
			      sizeof(*l->files));
	if (!l->files)
		return;
	s = &l->files[l->count++];
	memset(s, 0, sizeof(*s));
	s->name = name;
	s->path = path;
	s->format = f->format ? f->format->name : NULL;
	s->store = f->format && f->format->store && !f->format->single;
	s->any_project = !f->place;
	s->dev = (uint64_t)st->st_dev;
	s->inode = (uint64_t)st->st_ino;
	s->size = st->st_size;
	s->mtime_ns = stamp_ns(st->st_mtim);
	s->ctime_ns = stamp_ns(st->st_ctim);
	if (f->format && f->format->store)
		add_journal(f, s);
	if (st->st_uid != geteuid())
		s->skip = "it belongs to another user";
}

static bool has_ext(const char *name, const char *ext)
{
	size_t n = strlen(name), m = strlen(ext);

	return n > m && !strcmp(name + n - m, ext);
}

/* In a folder of the user: lines, whole JSON files and stores. */
static const char *own_name(struct finder *f, const char *rel)
{
	static const char *const exts[] = { ".jsonl", ".json", ".sqlite",
					    ".db" };
	const char *dot = strrchr(rel, '.');
	bool known = false;

	for (size_t i = 0; i < ARRAY_LEN(exts); i++)
		known |= has_ext(rel, exts[i]);
	if (f->pattern ? !path_glob(f->pattern, rel) : !known)
		return NULL;
	return arena_printf(f->a, "%s/%.*s", f->prefix,
			    known && dot ? (int)(dot - rel) :
					   (int)strlen(rel), rel);
}

static void look_at(struct finder *f, const char *dir, const char *rel,
		    const struct stat *st)
{
	const char *agent = f->o->agent && *f->o->agent ? f->o->agent : "main";
	const char *name = f->place ? f->place->name(f->a, rel, agent) :
				      own_name(f, rel);
	const char *path;
	struct finder as;

	if (!name || strchr(name, '#'))
		return;
	path = path_join(f->a, dir, rel);
	if (!path)
		return;
	as = *f;
	for (int i = 0; !f->format && transcript_row(i); i++)
		if (transcript_row(i)->is_store && transcript_row(i)->is_store(path))
			as.format = transcript_row(i);
	add_file(&as, name, path, st);
}

static void walk(struct finder *f, const char *root, const char *below,
		 int depth);

static void entry(struct finder *f, const char *root, const char *below,
		  int depth, int fd, const char *name)
{
	const char *rel;
	struct stat st;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return;
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return; /* gone meanwhile */
	rel = *below ? arena_printf(f->a, "%s/%s", below, name) :
		       arena_strdup(f->a, name);
	if (!rel)
		return;
	if (S_ISREG(st.st_mode))
		look_at(f, root, rel, &st);
	else if (S_ISDIR(st.st_mode) && depth > 1)
		walk(f, root, rel, depth - 1);
}

static void walk(struct finder *f, const char *root, const char *below,
		 int depth)
{
	const char *path = *below ? path_join(f->a, root, below) : root;
	struct session_list *l = f->l;
	struct dirent *e;
	DIR *d;
	int fd;

	if (!path)
		return;
	/* The root itself may be a link. */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
		  (*below ? O_NOFOLLOW : 0));
	d = fd >= 0 ? fdopendir(fd) : NULL;
	if (!d) {
		if (fd >= 0)
			close(fd);
		/* A root that is not there may be a disk that is not. */
		if (!*below || errno != ENOENT)
			keep(f);
		return;
	}
	/* Before it is read: what comes later is told. */
	if (f->o->watch)
		watch_talks_folder(f->o->watch, path, fd);
	add_text(f->a, &l->folders, &l->folder_count, &l->folder_cap, path);
	for (errno = 0; !f->a->failed && (e = readdir(d)); errno = 0)
		entry(f, root, below, depth, fd, e->d_name);
	if (errno)
		keep(f);
	closedir(d);
}

static void find_place(struct finder *f, const struct transcript_place *p)
{
	const char *base = p->env && f->o->env ?
		f->o->env(f->o->env_ctx, p->env) : NULL;
	const char *root;

	if (base && *base)
		root = path_join(f->a, base, p->env_sub);
	else if (f->o->home)
		root = path_join(f->a, f->o->home, p->home_sub);
	else
		return;
	f->place = p;
	f->kept = arena_printf(f->a, "%s/", f->format->host);
	if (root && f->kept)
		walk(f, root, "", p->depth);
}

/* A name of its own for each folder. */
static const char *extra_prefix(struct finder *f, int i)
{
	const struct source_extra *e = &f->o->extra[i];
	const char *base;
	int same = 1;

	base = path_base(e->path);
	for (int k = 0; k < i; k++)
		same += !strcmp(path_base(f->o->extra[k].path), base);
	if (same > 1)
		return arena_printf(f->a, "sessions/%s-%d", base, same);
	return arena_printf(f->a, "sessions/%s", base);
}

static void find_extra(struct finder *f, int i)
{
	const struct source_extra *e = &f->o->extra[i];
	struct stat st;

	f->format = NULL;
	f->place = NULL;
	f->pattern = e->pattern;
	f->prefix = extra_prefix(f, i);
	f->kept = f->prefix;
	if (!f->prefix)
		return;
	if (stat(e->path, &st) || !S_ISREG(st.st_mode)) {
		walk(f, e->path, "", ANY_DEPTH);
		return;
	}
	f->pattern = "*";
	f->prefix = "sessions";
	look_at(f, path_dir(f->a, e->path), path_base(e->path), &st);
}

static int by_name(const void *x, const void *y)
{
	const struct session_file *a = x, *b = y;
	int c = strcmp(a->name, b->name);

	return c ? c : strcmp(a->path, b->path);
}

static void sort_files(struct session_list *l)
{
	size_t n = 0;

	if (l->count)
		qsort(l->files, l->count, sizeof(*l->files), by_name);
	for (size_t i = 0; i < l->count; i++) {
		struct session_file *s = &l->files[i];
		bool same = n && !strcmp(l->files[n - 1].name, s->name);

		/* Two files of one name: the newer one is the talk. */
		if (same && !s->store && s->mtime_ns > l->files[n - 1].mtime_ns)
			l->files[n - 1] = *s;
		else if (!same)
			l->files[n++] = *s;
	}
	l->count = n;
}

int sessions_find(struct session_list *out, struct arena *a,
		  const struct session_opts *o, struct remem_err *err)
{
	struct finder f = { .a = a, .l = out, .o = o };

	memset(out, 0, sizeof(*out));
	if (o->watch)
		watch_talks_begin(o->watch);
	for (int i = 0; transcript_row(i); i++) {
		const struct transcript_place *p = transcript_row(i)->places;

		f.format = transcript_row(i);
		for (; p && p->home_sub; p++)
			find_place(&f, p);
	}
	for (int i = 0; i < o->extra_count; i++)
		find_extra(&f, i);
	if (a->failed)
		return fail_nomem(err);
	if (o->watch)
		watch_talks_end(o->watch);
	sort_files(out);
	return 0;
}

bool session_in_scope(const struct session_opts *o,
		      const struct session_file *f,
		      const struct transcript_info *i)
{
	const struct transcript_format *row = transcript_format_find(i->format);
	size_t n = o->project ? strlen(o->project) : 0;

	if (!n || f->any_project)
		return true;
	if (!i->cwd)
		return row && row->held_in &&
		       row->held_in(i, f->path, o->project);
	return !strncmp(i->cwd, o->project, n) &&
	       (!i->cwd[n] || i->cwd[n] == '/' || o->project[n - 1] == '/');
}

bool session_is_kept(const struct session_list *l, const char *name)
{
	for (size_t i = 0; i < l->kept_count; i++)
		if (!strncmp(name, l->kept[i], strlen(l->kept[i])))
			return true;
	return false;
}

const struct session_file *session_by_name(const struct session_list *l,
					   const char *name,
					   const char **session, size_t *at)
{
	while (*at < 2 * l->count) {
		bool stores = *at < l->count;
		const struct session_file *f = &l->files[(*at)++ % l->count];
		size_t n = strlen(f->name);

		*session = stores ? name + n + 1 : NULL;
		if (f->skip || f->store != stores)
			continue;
		if (stores ? !strncmp(name, f->name, n) && name[n] == '/' :
			     !strcmp(name, f->name))
			return f;
	}
	return NULL;
}

bool session_is_name(const char *path)
{
	for (int i = 0; transcript_row(i); i++) {
		const char *host = transcript_row(i)->host;
		size_t n = strlen(host);

		if (!strncmp(path, host, n) && path[n] == '/')
			return !strstr(path, "..");
	}
	return false;
}

void sessions_digest(unsigned char out[SHA256_BYTES],
		     const struct session_list *l,
		     const struct session_opts *o)
{
	const char *project = o->project ? o->project : "";
	int64_t wants[2] = { o->want, o->personal };
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, wants, sizeof(wants));
	sha256_add(&h, project, strlen(project) + 1);
	for (size_t i = 0; i < l->count; i++) {
		const struct session_file *f = &l->files[i];
		int64_t n[5] = { (int64_t)f->dev, (int64_t)f->inode, f->size,
				 f->mtime_ns, f->ctime_ns };

		sha256_add(&h, f->name, strlen(f->name) + 1);
		sha256_add(&h, f->skip ? f->skip : "",
			   f->skip ? strlen(f->skip) + 1 : 1);
		sha256_add(&h, n, sizeof(n));
	}
	for (size_t i = 0; i < l->kept_count; i++)
		sha256_add(&h, l->kept[i], strlen(l->kept[i]) + 1);
	sha256_done(&h, out);
}
