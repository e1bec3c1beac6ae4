/*
 * Who speaks: the label at the beginning of a line of dialogue.
 *
 *   Name: text    **Name:** text    **Name**: text    名字：text
 *   [12:03] Name: text    12:03 Name: text    User (2026-03-01 09:30): text
 */
#ifndef TEXT_SPEAKER_H
#define TEXT_SPEAKER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of the label at s (with its colon), 0 if the text begins with none.
 * *id is the same for the same name. Time: a constant.
 */
size_t speaker_label(uint64_t *id, const char *s, size_t len);

#endif
