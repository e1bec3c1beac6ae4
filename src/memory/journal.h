/* Records of the journal, as the parts that write or recall make them. */
#ifndef MEMORY_JOURNAL_H
#define MEMORY_JOURNAL_H

#include "base/buf.h"
#include "memory/memory.h"
#include "store/state_journal.h"

/*
 * Adds one record: at the time of m, in the open transaction or one of its
 * own. detail is one JSON object or NULL; it must hold no text of notes (for
 * that cannot be taken out again), only places, numbers and hashes. before
 * and after: SHA256_BYTES or NULL. *id may be NULL.
 */
int journal_add(int64_t *id, struct memory *m, const struct remem_actor *actor,
		const char *op, const char *path, const unsigned char *before,
		const unsigned char *after, int64_t bytes,
		enum remem_origin origin, const char *detail,
		struct remem_err *err);

#endif
