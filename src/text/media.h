/*
 * Images and sound: what the bytes say they are, whatever the name says. Looked
 * at is only what tells a whole file of that type from a broken one and from
 * one that is something else besides; nothing is decoded.
 */
#ifndef TEXT_MEDIA_H
#define TEXT_MEDIA_H

#include <stdbool.h>
#include <stddef.h>

/* The type ("image/png"), or NULL with why the file is no good one. */
const char *media_sniff(const char **why, const void *bytes, size_t len);
/* Whether a type is an image; else it is sound. */
bool media_is_image(const char *type);

#endif
