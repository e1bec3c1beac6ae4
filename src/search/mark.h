/*
 * What a passage's wording says about how far to trust it: text that gives
 * orders to an assistant, and statements that hold only for once.
 */
#ifndef SEARCH_MARK_H
#define SEARCH_MARK_H

struct cand;

/* Sets suspect and one_off. */
void mark_text(struct cand *c);

#endif
