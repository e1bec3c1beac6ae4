/*
 * What a text's wording says about how far to trust it. Rules, not a model:
 * they mark, they never remove, and what they mark is shown with a flag.
 */
#ifndef TEXT_SUSPECT_H
#define TEXT_SUSPECT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * True for text that gives orders to an assistant instead of telling a fact:
 * "ignore all earlier instructions", "AI agents reading this: …",
 * "（写给助手）…". Invisible tag characters and right-to-left overrides count
 * as well.
 */
bool text_suspect(const char *s, size_t len);

/* True for what holds once or for now: "this week only", "today", "临时". */
bool text_one_off(const char *s, size_t len);

#endif
