/* See journal.h. */
#include "memory/journal.h"

#include "memory/origin.h"

int journal_add(int64_t *id, struct memory *m, const struct remem_actor *actor,
		const char *op, const char *path, const unsigned char *before,
		const unsigned char *after, int64_t bytes,
		enum remem_origin origin, const char *detail,
		struct remem_err *err)
{
	struct journal_row r = {
		.at_ms = memory_now(m),
		.actor = actor && actor->via ? actor->via : "lib",
		.session = actor ? actor->session : NULL,
		.op = op,
		.path = path,
		.before = before,
		.after = after,
		.bytes = bytes,
		.origin = origin_name(origin),
		.detail = detail,
	};

	return state_journal_add(m->state, &r, id, err);
}
