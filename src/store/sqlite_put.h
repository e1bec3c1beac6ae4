/* A file being replaced: what stood there, what comes. */
#ifndef STORE_SQLITE_PUT_H
#define STORE_SQLITE_PUT_H

#include "store/sqlite_store.h"

#define DIGEST_BYTES 16

struct old_chunk {
	int64_t id, passage_first;
	int ord, passage_count;
	int first_line, line_first, line_last, heading_line;
	size_t lead;
	unsigned char digest[DIGEST_BYTES];
	bool kept;
};

struct new_chunk {
	int64_t id;
	unsigned char digest[DIGEST_BYTES];
	const char *heading_path;
	int first_line, heading_line;
	int old; /* index of the chunk that stays for it, -1 */
};

/* A passage of a chunk that goes: its vector may be wanted again. */
struct reuse {
	unsigned char hash[SHA256_BYTES];
	int64_t heading, slot, slot_next;
	bool used;
};

struct put {
	struct sq *s;
	struct arena *a;
	const struct note *n; /* NULL: the file goes or is skipped */
	struct store_file *f;
	struct store_file before; /* as stored */
	bool existed;
	struct old_chunk *old;
	struct post_chunk *old_post; /* texts, filled where needed */
	int old_count;
	struct new_chunk *now;
	struct post_chunk *now_post;
	int now_count;
	int64_t *heading_ids; /* by heading of the note */
	struct reuse *reuse;
	size_t reuse_count, reuse_cap;
	struct buf packed; /* passages of the chunk at hand */
	int64_t *free_ids; /* of chunks that went */
	int free_count, free_used;
};

/* sqlite_old.c */
int old_load(struct put *p, struct remem_err *err);
/* Texts of those that go, and of those their overlap stands in. */
int old_texts(struct put *p, struct remem_err *err);
/* Takes the rows of those not kept away; fills reuse and free_ids. */
int old_remove(struct put *p, struct remem_err *err);
/* A vector for a passage; slots are SLOT_NONE when there is none. */
int old_vector(struct put *p, const unsigned char *hash, int64_t heading,
	       int64_t *slot, int64_t *slot_next, struct remem_err *err);
/* Vectors that nobody wanted again are unlinked. */
int old_finish(struct put *p, struct remem_err *err);

/* sqlite_new.c */
int new_prepare(struct put *p, struct remem_err *err);
int new_insert(struct put *p, struct remem_err *err);

/* sqlite_heading.c */
int headings_resolve(struct put *p, struct remem_err *err);
int headings_count(struct put *p, struct remem_err *err);

#endif
