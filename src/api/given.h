/* What is put in front of a model by itself: only from those who may, nothing
 * twice in a conversation, each time in the journal. */
#ifndef API_GIVEN_H
#define API_GIVEN_H

#include "api/handle.h"

struct given {
	struct remem *r;
	struct state *state; /* NULL: there is none and none may be made */
	struct state *reader; /* where nothing may be written: the same */
	enum remem_origin edits;
	struct remem_actor actor;
	int count; /* that were marked, in the open transaction */
	bool quiet; /* the state cannot be written */
	size_t bytes;
};

/* Never fails: without a state nothing is known and nothing is kept. */
void given_begin(struct given *g, struct remem *r,
		 const struct remem_actor *actor);
/* Whether lines of a note may be given unasked: the owner's and agents'. They
 * are whole lines with their annotations, see note_lines(). */
bool given_trusted(struct given *g, const char *path, const char *text,
		   size_t len);
bool given_hit(struct given *g, const struct remem_hit *h);
/* Whether this conversation has had a line of it. */
bool given_before(struct given *g, const char *text, size_t len);
void given_mark(struct given *g, const char *text, size_t len);
/* One record for all that was marked: op "context" or "recall", citations as a
 * JSON array or NULL. Needed in any case. */
void given_end(struct given *g, const char *op, const char *citations);

#endif
