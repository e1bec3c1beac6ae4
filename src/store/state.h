/*
 * The durable side of a workspace: what cannot be made again from its files.
 *
 *   STATE/by-path/HASH          which id a folder has; HASH: the first 32 hex
 *                               digits of the SHA-256 of its real path
 *   STATE/UUID/state.sqlite     workspace, ledger, meta; state_journal.h and
 *                               state_note.h say what else
 *
 * A record of by-path is text: id, device, inode, time of birth (0: not
 * known), path; one a line, the path to the end.
 */
#ifndef STORE_STATE_H
#define STORE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

#define STATE_VERSION 6
#define UUID_CHARS 37 /* with NUL */

/*
 * The id of the folder real_path (absolute, links resolved). A folder that was
 * moved keeps its id, a copy gets its own. With create an unknown one gets an
 * id, and what was found is written down; without, nothing is written and
 * REMEM_ENOTFOUND says it is unknown.
 */
int state_find(char uuid[UUID_CHARS], const char *state_dir,
	       const char *real_path, bool create, struct remem_err *err);

struct state;

/* REMEM_ENOTFOUND when read_only and not there; else it is made. */
int state_open(struct state **out, const char *state_dir, const char *uuid,
	       bool read_only, struct remem_err *err);
void state_close(struct state *s);

/*
 * A transaction, taken for writing at once. They nest: only the outermost one
 * counts, and a rollback inside ends it all. sync false: a power cut may take
 * the commit back, a killed process cannot.
 */
int state_begin(struct state *s, bool sync, struct remem_err *err);
int state_commit(struct state *s, struct remem_err *err);
void state_rollback(struct state *s);

/* Where it says the workspace is. */
int state_set_workspace(struct state *s, const char *real_path, uint64_t dev,
			uint64_t inode, struct remem_err *err);
/* In the arena; "" when not known. */
int state_workspace(struct state *s, struct arena *a, const char **real_path,
		    uint64_t *dev, uint64_t *inode, struct remem_err *err);

struct ledger_row {
	int64_t at_ms; /* 0: now */
	const char *provider, *model;
	int items;
	int64_t tokens;
	int status; /* of HTTP, 0: none */
	int64_t took_ms;
	const char *agent; /* who asked: a program or an agent; NULL: unknown */
	int64_t answer_tokens; /* those of tokens that a model wrote */
	int64_t hold; /* added: what was set aside for it, which goes */
};

/* One call of a provider that may cost money. */
int state_ledger_add(struct state *s, const struct ledger_row *row,
		     struct remem_err *err);
/* Oldest first; stops at a result other than 0, which is returned. */
int state_ledger_each(struct state *s, int64_t since_ms,
		      int (*fn)(void *ctx, const struct ledger_row *row),
		      void *ctx, struct remem_err *err);

/* The same for the calls of the local day of now. */
int state_ledger_today(struct state *s,
		       int (*fn)(void *ctx, const struct ledger_row *row),
		       void *ctx, struct remem_err *err);

/*
 * Tokens and dollars of calls that are on their way, until their rows are
 * added or until_ms has passed. Whoever compares the sum with a budget does
 * all of it in one transaction.
 */
struct state_held {
	int64_t tokens;
	double usd;
};

int state_hold(struct state *s, int64_t *id, const struct state_held *h,
	       int64_t until_ms, struct remem_err *err);
int state_hold_drop(struct state *s, int64_t id, struct remem_err *err);
/* The sum of all that are not over. */
int state_held(struct state *s, struct state_held *h, struct remem_err *err);
/* Forgets those that are. */
int state_hold_expire(struct state *s, struct remem_err *err);

/* value NULL removes; the second gives NULL when there is no such key. */
int state_meta_set(struct state *s, const char *key, const char *value,
		   struct remem_err *err);
const char *state_meta_get(struct state *s, struct arena *a, const char *key);
/* Values of all keys that begin so. */
int state_meta_each(struct state *s, const char *prefix,
		    void (*fn)(void *ctx, const char *value), void *ctx,
		    struct remem_err *err);

#endif
