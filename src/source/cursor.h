/* Texts of Cursor, the same in its transcripts and in its store. */
#ifndef SOURCE_CURSOR_H
#define SOURCE_CURSOR_H

#include "source/transcript_format.h"

/* Pushes the user's words out of the tag they are wrapped in. */
void cursor_user_text(struct transcript *t, const char *s, size_t len);
/* Without the marks of what was taken out. */
void cursor_assistant_text(struct transcript *t, const char *s, size_t len);

#endif
