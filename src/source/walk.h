/* Inside of the walk, for the whole one and the one of some paths. */
#ifndef SOURCE_WALK_H
#define SOURCE_WALK_H

#include <dirent.h>

#include "base/buf.h"
#include "source/ignore.h"
#include "source/list.h"
#include "source/name_sort.h"
#include "source/roots.h"

#define WALK_MAX_DEPTH 128 /* folders in folders; what is deeper is listed */

struct walk_entry { /* of a folder */
	const char *path; /* shown, with '/' behind a folder's; in the result's
			     arena */
	const char *name; /* its last part */
	const char *skip; /* NULL: a note, or a folder to walk */
	struct list_stat st;
	bool folder, linked, failed, media;
	bool later; /* a link to a folder that is followed in the end */
};

struct pending_link { /* to a folder */
	int root;
	const char *path; /* shown, with '/' at the end */
	const struct ignore *ig; /* rules where the link stands */
};

struct walk_unseen { /* a listed file that is not stat'ed yet */
	size_t nr; /* in the list */
	uint32_t name; /* where in its path its name begins */
	uint16_t folder;
	bool twin;
	int failure; /* errno of its stat; 0: none */
};

#define WALK_OPEN 32

struct walk_later {
	struct walk_unseen *files;
	size_t count, cap;
	int folders[WALK_OPEN]; /* open */
	int folder_count;
};

struct walker {
	struct list *l;
	struct arena *a; /* of the result */
	struct arena scratch; /* names, ignore rules */
	const struct source_opts *o;
	struct source_root *roots;
	struct root_more *more;
	int root_count, root, depth;
	bool linked; /* below a followed link */
	bool twins; /* some file has a second name */
	struct walk_entry **entries; /* of this folder and those above: a
					stack. Those from count on are free */
	size_t count, cap;
	struct name_key *keys; /* for sorting one folder's */
	size_t key_cap;
	struct buf path; /* shown, of this folder, with '/' unless empty */
	struct pending_link *links;
	size_t link_count, link_cap;
	struct list_ids seen; /* folders, when links are followed */
	struct walk_later later;
	unsigned ignore_files; /* bits: which are in this folder */
	int folders;
};

/* Opens the roots; walk_end() is needed after a failure as well. */
int walk_begin(struct walker *w, struct list *l, struct arena *a,
	       const struct source_opts *o, struct remem_err *err);
/* rc is what went wrong, 0 for the result, which goes to out. */
int walk_end(struct walker *w, struct source_list *out, int rc,
	     struct remem_err *err);
bool walk_failed(const struct walker *w);

/* The folder w->path, opened; NULL: gone, or noted as not readable. */
DIR *walk_open(struct walker *w);
/* One name of the folder w->path, by its type: an entry, or nothing. */
void walk_name(struct walker *w, int fd, const struct dirent *d);
/* The rules for w->path: those above, and its own ignore files'. */
const struct ignore *walk_rules(struct walker *w, int fd,
				const struct ignore *above);
/* What rules say of the entries from first on, those of the open folder fd.
 * True: their notes are stat'ed later. */
bool walk_judge(struct walker *w, size_t first, int fd,
		const struct ignore *ig);
/* Lists the entries from first on, and walks the folders among them. later: as
 * walk_judge() said. */
void walk_entries(struct walker *w, size_t first, bool later,
		  const struct ignore *ig);

/* walk_stat.c: what a stat says of an entry. */
void walk_take_stat(struct walker *w, struct walk_entry *e,
		    const struct stat *st);
/* Begins with the notes from first on: true if they are to be listed with
 * walk_stat_add() and looked at by walk_stat_end(); false if there are none, or
 * they had to be stat'ed at once and those that are gone are dropped. */
bool walk_stat_begin(struct walker *w, size_t first, int fd);
void walk_stat_add(struct walker *w, const struct walk_entry *e); /* the last
								     listed */
/* Stats what waits and takes off the list what is gone. */
void walk_stat_end(struct walker *w);

/* Rules for what is below the workspace itself. */
const struct ignore *walk_workspace_rules(struct walker *w);
/* One file or folder of the workspace, by its fixed name. */
void walk_fixed(struct walker *w, const char *name, bool folder,
		const struct ignore *ig);
/* A whole extra path. */
void walk_extra(struct walker *w);

#endif
