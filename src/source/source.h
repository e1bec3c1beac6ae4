/*
 * Where notes are: the workspace and its extra paths, walked. Every file is
 * either listed to be indexed or listed with the reason why not.
 */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

#define SOURCE_MAX_FILE_BYTES (64ll << 20) /* where no setting says */

enum source_kind { SOURCE_MEMORY, SOURCE_SESSIONS };

struct source_extra { /* extraPaths */
	const char *path; /* absolute, or relative to the workspace; ~ expanded */
	const char *pattern; /* glob below it, NULL: *.md at any depth */
};

struct session_opts; /* sessions.h */
struct share; /* base/share.h */

enum source_media { SOURCE_IMAGE = 1, SOURCE_SOUND = 2 };

struct source_opts {
	const char *workspace; /* absolute real path */
	const struct source_extra *extra;
	int extra_count;
	bool follow_links; /* inside roots; default only listed */
	const char *const *allow_hidden; /* names of hidden folders, NULL-term. */
	int64_t max_file_bytes; /* larger files are skipped; 0: 64 MiB */
	struct watch *watch; /* NULL, or what is to know the folders walked */
	bool any_order; /* the list need not be sorted: source_list_find() and
			   source_list_sort() do that if asked */
	struct share *share; /* NULL, or where others help to stat files */
	const struct session_opts *sessions; /* NULL: no transcripts */
	/* Images and sound of extra paths that are taken, as bits of enum
	 * source_media; of these types. */
	unsigned media;
	const char *const *media_types; /* NULL-terminated */
	const char *media_why; /* why none is, NULL: nobody asked for it */
	int64_t media_max_bytes;
	bool media_listable; /* source_open_path() opens them too */
};

struct source_file {
	const char *path; /* shown: relative to the workspace, "../x/y.md" for
			     extra files outside; bytes as on disk */
	int root; /* of source_list.roots */
	const char *rel; /* relative to that root */
	enum source_kind kind;
	uint64_t dev, inode;
	int64_t size, mtime_ns, ctime_ns;
	bool curated; /* MEMORY.md, USER.md of the workspace */
	bool media; /* an image or sound, by its name */
	const char *skip; /* NULL: index it; else the reason. Folders that are
			     not walked are listed too, with '/' at the end */
	bool failed; /* skipped by a failure, not by a rule */
	bool linked; /* reached through a link that was followed */
	bool gone; /* not there any more when it was read */
	bool unread; /* it could not be read */
	bool again; /* to be cut anew whatever its stamps say */
	const char *warning; /* of a file that is indexed all the same */
};

struct source_root {
	const char *path; /* absolute, real */
	const char *prefix; /* of shown paths, "" for the workspace */
	int fd; /* open folder; -1: it is gone or cannot be read */
	const char *single; /* the one file of that folder which counts */
	const char *problem; /* NULL, or why it was not (wholly) read */
	bool incomplete; /* a folder could not be read: keep rows below it */
};

struct source_list {
	struct source_root *roots;
	int root_count;
	struct source_file *files; /* sorted by path bytes; one an inode. Freed
				      by source_list_release() */
	size_t count;
	bool any_order; /* not sorted yet: as it was asked for */
	const char *const *unread; /* shown prefixes of folders that could not
				      be read: rows below them stay */
	int unread_count;
	int64_t folders; /* walked */
	bool twins; /* some file was seen to have a second name */
	/* NULL: everything was walked. Else only these shown paths and what is
	 * below them (of one that ends in '/' the name alone); none is below
	 * another. */
	const char *const *scopes;
	int scope_count;
};

/*
 * Finds the workspace: explicit, else nearest parent of cwd with remem.yaml or
 * MEMORY.md, else home/.openclaw/workspace, else home/.remem. *out in the
 * arena, absolute and real. REMEM_ENOTFOUND with what to do.
 */
int source_find_workspace(const char **out, struct arena *a,
			  const char *explicit_path, const char *cwd,
			  const char *home, struct remem_err *err);

/* Walks. Single troubles become entries with a reason; fails only when the
 * workspace itself is gone (REMEM_ENOTFOUND) or memory is out. */
int source_walk(struct source_list *out, struct arena *a,
		const struct source_opts *o, struct remem_err *err);
/*
 * Walks only these paths, as they are shown or absolute: files, or folders
 * with all that is below. What is listed for them is what a whole walk would
 * list. Where that cannot be told from them alone (a file with two names,
 * followed links, roots inside each other, ignore files of a root, many paths)
 * everything is walked.
 */
int source_walk_some(struct source_list *out, struct arena *a,
		     const struct source_opts *o, const char *const *paths,
		     size_t n, struct remem_err *err);
/* Sorts a list that is in any order. */
void source_list_sort(struct source_list *l);
/* The file of this path, NULL if it is not listed. Sorts first. */
struct source_file *source_list_find(struct source_list *l, const char *path);
/* Frees the files and closes descriptors; paths are the arena's. */
void source_list_release(struct source_list *l);

/*
 * Reads a listed file beneath its root, never through an inner link unless
 * follow_links. f's stat data are renewed from what was opened. A file that is
 * gone: REMEM_ENOTFOUND, and f->gone is set.
 */
int source_read(struct buf *out, const struct source_list *l,
		struct source_file *f, bool follow_links,
		struct remem_err *err);

/* Whether a listed file can be read now; what it says is not kept. */
bool source_can_read(const struct source_list *l, const struct source_file *f,
		     bool follow_links);

/*
 * The listed or listable file for a shown path, checked against the roots
 * only (for `get`): opens it. REMEM_EPERM when it is beneath no root or no
 * note, REMEM_ENOTFOUND when it is not there.
 */
int source_open_path(int *fd, struct arena *a, const struct source_opts *o,
		     const char *path, const char **shown,
		     struct remem_err *err);

#endif
