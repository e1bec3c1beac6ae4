/*
 * Where transcripts are: the hosts' own places and the folders the user named.
 * Only regular files of this user; links inside are not followed. Nothing is
 * opened here: what belongs to a project is known when a talk is read.
 */
#ifndef SOURCE_SESSIONS_H
#define SOURCE_SESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "source/source.h"
#include "source/transcript.h"

struct session_opts {
	const char *home; /* NULL: no places of hosts */
	/* Value of a variable that moves a host's folder, NULL if unset. */
	const char *(*env)(void *ctx, const char *name);
	void *env_ctx;
	const struct source_extra *extra; /* sessions.paths, ~ expanded */
	int extra_count;
	const char *agent; /* of OpenClaw; NULL or "": main */
	const char *project; /* only talks held in or below it; NULL: all */
	unsigned want; /* TRANSCRIPT_WANT_…: what is indexed */
	bool personal; /* numbers of people are masked too */
	struct watch *watch; /* NULL, or what is to know the folders */
};

struct session_file {
	/* The talk's stable name, "claude/<project>/<session>"; of a store the
	 * beginning of its talks' names, "openclaw/main". */
	const char *name;
	const char *path; /* absolute */
	const char *format; /* NULL: by its contents */
	bool store;
	bool any_project; /* the user named it: no question of scope */
	uint64_t dev, inode;
	int64_t size, mtime_ns, ctime_ns; /* of a store with its journal */
	const char *skip; /* NULL, or why it is not read */
};

struct session_list {
	struct session_file *files; /* by name, each once */
	size_t count, cap;
	/* Beginnings of names whose places could not be read (wholly): what is
	 * known of them stays. */
	const char **kept;
	size_t kept_count, kept_cap;
	const char **folders; /* that were read, for those who watch */
	size_t folder_count, folder_cap;
};

/* Only memory can fail. All in the arena. */
int sessions_find(struct session_list *out, struct arena *a,
		  const struct session_opts *o, struct remem_err *err);
/* Whether a talk counts by where it was held. */
bool session_in_scope(const struct session_opts *o,
		      const struct session_file *f,
		      const struct transcript_info *i);
/* True if name begins like one whose place could not be read. */
bool session_is_kept(const struct session_list *l, const char *name);
/* The next file, from number *at on, that may hold the talk of this name, and
 * in a store its session; stores come first: they have the newer form of a
 * talk that stands in both. NULL: there is none. *at is 0 at first. */
const struct session_file *session_by_name(const struct session_list *l,
					   const char *name,
					   const char **session, size_t *at);
/* Whether it has the form of such a name, "claude/…". */
bool session_is_name(const char *path);
/* SHA-256 over all that was found and what is wanted of it. */
void sessions_digest(unsigned char out[SHA256_BYTES],
		     const struct session_list *l,
		     const struct session_opts *o);

#endif
