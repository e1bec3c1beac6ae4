/*
 * Settings in JSON or JSON5, changed as text: what is not ours keeps its
 * bytes, comments and order. A member or an element is put in front of its
 * container, so that one insertion does it, and taking these very bytes out
 * again gives the file as it was.
 */
#ifndef HOSTS_JSONTEXT_H
#define HOSTS_JSONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define JSONTEXT_MAX_BYTES (16u << 20) /* of a settings file */
#define JSONTEXT_MAX_DEPTH 64

struct jsontext;

/* Reads all of it; text is borrowed. An empty text is an empty object.
 * REMEM_EFORMAT with the line; REMEM_ELIMIT. */
int jsontext_read(struct jsontext **out, struct arena *a, const char *text,
		  size_t len, const char *name, struct remem_err *err);

/* The value at a path of names (ended by NULL) as it stands in the text. */
bool jsontext_get(const struct jsontext *t, const char *const *path,
		  const char **value, size_t *len);
/* The same for the first element of the array at path that contains part. */
bool jsontext_find(const struct jsontext *t, const char *const *path,
		   const char *part, const char **value, size_t *len);

/* The whole as plain JSON, for a reader that knows no JSON5. */
void jsontext_plain(struct buf *out, const struct jsontext *t);

struct jsontext_edit {
	size_t at, remove; /* bytes of the old text that go */
	const char *insert; /* what comes in their place, in the arena */
};

/*
 * Puts value (JSON in one line) at path, making objects that are missing. A
 * value that is there is replaced. REMEM_EFORMAT: something on the way is no
 * object.
 */
int jsontext_set(struct jsontext_edit *out, const struct jsontext *t,
		 struct arena *a, const char *const *path, const char *value,
		 struct remem_err *err);
/* Puts value in front of the array at path, which is made if missing. */
int jsontext_add(struct jsontext_edit *out, const struct jsontext *t,
		 struct arena *a, const char *const *path, const char *value,
		 struct remem_err *err);
/* Takes out the value given by jsontext_get() or jsontext_find() with its key
 * and its comma. */
void jsontext_take(struct jsontext_edit *out, const struct jsontext *t,
		   const char *value);
/* How many members or elements the value at path has; -1: none is there or
 * it is neither object nor array. */
int jsontext_count(const struct jsontext *t, const char *const *path);

#endif
