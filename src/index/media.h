/*
 * Images and sound in extra paths, where the provider takes them. The text of
 * such a file is a label: keywords find it by its path. The label holds the sum
 * of the bytes, so that another picture is another text, and has another key.
 */
#ifndef INDEX_MEDIA_H
#define INDEX_MEDIA_H

#include "index/vectors.h"

/* The label, cut as a note; *why: NULL, or why the file is not taken. */
int media_note(struct note *n, struct arena *a, const struct source_opts *o,
	       const struct source_file *f, const char *bytes, size_t len,
	       const char **why, struct remem_err *err);
/* The sum of a file for the store: of its path too, since a renamed one has
 * another label. */
void media_hash(unsigned char out[SHA256_BYTES], const struct source_file *f,
		const void *bytes, size_t len);
/* Whether a passage is the label of such a file; *path in the arena. */
int media_find(struct store *s, struct arena *a, const struct store_passage *p,
	       const char *text, const char **path, struct remem_err *err);
/*
 * The bytes that belong to a label, into data; false when the file is not what
 * it was when the label was made. Tokens are an estimate.
 */
bool media_load(struct embed_media *m, struct buf *data, struct arena *a,
		const struct source_opts *o, const char *path,
		const char *label, size_t len);
/* Tokens of the file that a label stands for. */
int64_t media_tokens(const char *label, size_t len);

#endif
