/* Vectors out of a reply in JSON, whatever its form. */
#ifndef EMBED_REPLY_H
#define EMBED_REPLY_H

#include <yyjson.h>

#include "embed/provider.h"

/* Where a vendor puts the vectors; members that it has not are NULL. */
struct reply_shape {
	const char *list; /* {"LIST": [item, item]} */
	const char *inner; /* or {"LIST": {"INNER": [item, item]}} */
	const char *vector; /* item is {"VECTOR": [0.1]}; NULL: [0.1] itself */
	const char *one; /* {"ONE": item}, in answer to one text */
};

/*
 * n vectors, put into the order of "index" where items have one. Numbers or
 * base64 of little-endian floats. NaN and Infinity as JSON knows them not, null
 * and numbers too large become NaN. REMEM_EREMOTE with the reason for anything
 * else; then out is empty.
 */
int reply_read(struct embed_reply *out, const struct reply_shape *shape,
	       size_t n, const char *body, size_t len, struct remem_err *err);
/* The same out of a reply that was parsed, or of a part of it. */
int reply_root(struct embed_reply *out, const struct reply_shape *shape,
	       yyjson_val *root, size_t n, struct remem_err *err);
/* json_read(), for JSON with NaN and Infinity in it as well. */
int reply_json(yyjson_doc **doc, const char *body, size_t len,
	       struct remem_err *err);
/* {"data":[{"index":0,"embedding":[…]}],"usage":{…}}, which most share. */
int openai_reply(struct embed_reply *out, size_t n, const char *body,
		 size_t len, struct remem_err *err);

#endif
