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
	int failure; /* errno of its stat; 0: none */
	bool folder, linked, failed, twin, media;
	bool later; /* a link to a folder that is followed in the end */
};

struct pending_link { /* to a folder */
	int root;
	const char *path; /* shown, with '/' at the end */
	const struct ignore *ig; /* rules where the link stands */
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
	bool any_order; /* one root, and nobody needs one */
	struct walk_entry **entries; /* of this folder and those above: a
					stack. Those from count on are free */
	size_t count, cap;
	struct name_key *keys; /* for sorting one folder's */
	size_t key_cap;
	struct buf path; /* shown, of this folder, with '/' unless empty */
	struct pending_link *links;
	size_t link_count, link_cap;
	struct list_ids seen; /* folders, when links are followed */
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
/* Stats the notes among the entries and drops those that are gone. */
void walk_judge(struct walker *w, size_t first, int fd,
		const struct ignore *ig);
/* Lists the entries from first on, and walks the folders among them. */
void walk_entries(struct walker *w, size_t first, const struct ignore *ig);

/* Rules for what is below the workspace itself. */
const struct ignore *walk_workspace_rules(struct walker *w);
/* One file or folder of the workspace, by its fixed name. */
void walk_fixed(struct walker *w, const char *name, bool folder,
		const struct ignore *ig);
/* A whole extra path. */
void walk_extra(struct walker *w);

#endif
