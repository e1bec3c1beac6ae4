/*
 * When a conversation should be flushed: shortly before its host compacts it.
 *
 *   reserve   = min(reserve set, window / 4)
 *   soft      = min(soft threshold, (window - reserve) / 2)
 *   compactAt = max(0, window - reserve, the provider's own floor)
 *   flushAt   = max(0, window - reserve - soft)
 *   projected = max(total known to be fresh, usage in the transcript and an
 *               estimate of what came after) + last output + pending prompt
 *
 * Two triggers, one alone is enough: projected >= flushAt > 0, and the bytes
 * of the transcript >= forceBytes > 0, which holds when token counts do not.
 * The formula and its defaults are OpenClaw's.
 */
#ifndef MEMORY_DUE_H
#define MEMORY_DUE_H

#include <stdbool.h>
#include <stdint.h>

#define DUE_SOFT_TOKENS 4000
#define DUE_RESERVE_TOKENS 20000
#define DUE_FORCE_BYTES ((int64_t)2 << 20)
#define DUE_TRIES 3 /* failures in one cycle before it is given up */

struct due_opts {
	int64_t window; /* tokens of the host's model; 0: not known */
	int64_t reserve, soft, force_bytes; /* settings; negative counts as 0 */
	int64_t floor; /* where the provider itself compacts, 0: nowhere */
	int64_t total; /* tokens, as the host knows them */
	bool stale; /* ... from before the last messages: does not count */
	int64_t usage, after; /* in the transcript, and estimated behind it */
	int64_t last_output, pending;
	int64_t bytes; /* of the transcript */
};

struct due {
	int64_t reserve, soft, compact_at, flush_at, projected;
	bool by_tokens, by_bytes;
};

void due_compute(struct due *d, const struct due_opts *o);

/*
 * What is known of one conversation and kept between processes: a flush that
 * succeeded holds for its cycle, the span between two compactions.
 */
struct due_record {
	int64_t cycle; /* compactions before it; -1: never flushed */
	bool done; /* succeeded, or given up */
	int failures; /* in this cycle */
	int64_t line; /* last line of the transcript that was read */
	int64_t bytes; /* size of the transcript then */
	int64_t at_ms;
	int64_t written, nothing, failed; /* flushes ever, by their end */
	int64_t missed; /* compactions that no flush came before */
};

#define DUE_RECORD_INIT { .cycle = -1 }

/* One line of text, at most DUE_RECORD_BYTES with its NUL. */
#define DUE_RECORD_BYTES 256
void due_record_format(char out[DUE_RECORD_BYTES], const struct due_record *r);
/* text NULL or not understood: a fresh record, which at worst flushes once
 * more, and what is written already is not written again. */
void due_record_parse(struct due_record *r, const char *text);

/* Whether this cycle has had its flush. */
bool due_record_done(const struct due_record *r, int64_t cycle);
void due_record_success(struct due_record *r, int64_t cycle, bool written);
/* True once in a cycle: it is given up and the user is to be told. */
bool due_record_failure(struct due_record *r, int64_t cycle);

#endif
