/*
 * JSON. Reading is yyjson's own API (include <yyjson.h>), through
 * json_read(), which bounds depth and size and gives good messages. Writing
 * is this small streaming writer over struct buf: it cannot emit invalid
 * UTF-8, lone surrogates or a raw NUL (bad bytes become U+FFFD).
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/buf.h"

/*
 * Parses text (len bytes). relaxed: comments and trailing commas allowed.
 * name is for messages ("reply of …", a file name). *out is freed with
 * yyjson_doc_free(). REMEM_EFORMAT with line and column; nesting beyond 256
 * levels is refused, so that recursion over the document is safe. Strings
 * may hold NULs: use yyjson_get_len() where that matters.
 */
int json_read(yyjson_doc **out, const char *text, size_t len, bool relaxed,
	      const char *name, struct remem_err *err);
/* The same, with numbers kept as they are written: yyjson_is_raw(). */
int json_read_verbatim(yyjson_doc **out, const char *text, size_t len,
		       const char *name, struct remem_err *err);
/* For yyjson's own calls: memory that is taken and given back by base/alloc. */
const yyjson_alc *json_alc(void);
/* Members of an object; def where obj is no object (or NULL), the key is
 * missing or of another type. A string is borrowed from the document. */
const char *json_str(yyjson_val *obj, const char *key, const char *def);
int64_t json_int(yyjson_val *obj, const char *key, int64_t def);
double json_num(yyjson_val *obj, const char *key, double def);
bool json_bool(yyjson_val *obj, const char *key, bool def);

struct json { /* writer */
	struct buf *out;
	int depth;
	bool pretty; /* set after json_begin: two-space indents, line breaks */
	bool after_key;
	bool first[64];
};

void json_begin(struct json *j, struct buf *out);
void json_obj(struct json *j); /* { */
void json_end(struct json *j); /* } */
void json_arr(struct json *j); /* [ */
void json_arr_end(struct json *j); /* ] */
void json_key(struct json *j, const char *key);
/* Values, in an array or after json_key(). NULL gives null. */
void json_put_str(struct json *j, const char *s);
void json_put_strn(struct json *j, const char *s, size_t len);
void json_put_int(struct json *j, int64_t v);
void json_put_num(struct json *j, double v); /* NaN and infinite: null */
void json_put_fixed(struct json *j, double v, int decimals);
void json_put_bool(struct json *j, bool v);
void json_put_null(struct json *j);
void json_put_raw(struct json *j, const char *json, size_t len);
void json_put_val(struct json *j, yyjson_val *v); /* with all it holds */
/* key and value in one call */
void json_kstr(struct json *j, const char *key, const char *s);
void json_kint(struct json *j, const char *key, int64_t v);
void json_knum(struct json *j, const char *key, double v);
void json_kfixed(struct json *j, const char *key, double v, int decimals);
void json_kbool(struct json *j, const char *key, bool v);
void json_knull(struct json *j, const char *key);

#endif
