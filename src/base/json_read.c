/*
 * Reading JSON with yyjson, its memory taken through base/alloc. yyjson's
 * reader needs no stack for nesting, but those who walk a document recurse,
 * so depth is bounded here.
 */
#include "base/json.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

#define DEPTH_MAX 256
#define SIZE_LIMIT ((size_t)1 << 30)

static void *alc_malloc(void *ctx, size_t size)
{
	(void)ctx;
	return mem_alloc(size);
}

static void *alc_realloc(void *ctx, void *p, size_t old, size_t size)
{
	(void)ctx, (void)old;
	return mem_realloc(p, size);
}

static void alc_free(void *ctx, void *p)
{
	(void)ctx;
	mem_free(p);
}

const yyjson_alc *json_alc(void)
{
	static const yyjson_alc alc = { alc_malloc, alc_realloc, alc_free,
					NULL };

	return &alc;
}

/* Line and column, in characters, of a byte; both from 1. */
static void locate(size_t *line, size_t *column, const char *text, size_t at)
{
	size_t start = 0;

	*line = 1;
	for (size_t i = 0; i < at; i++) {
		if (text[i] == '\n') {
			++*line;
			start = i + 1;
		}
	}
	*column = utf8_count(text + start, at - start) + 1;
}

static int fail_at(const char *text, size_t len, size_t at, const char *what,
		   const char *name, struct remem_err *err)
{
	size_t line, column;

	locate(&line, &column, text, at < len ? at : len);
	return fail(err, REMEM_EFORMAT, "'%s' line %zu, column %zu: %s", name,
		    line, column, what);
}

/*
 * Values lie in one array in the order of the text, and a container knows
 * where the value behind it is: depth is found in one pass over them.
 */
static bool is_too_deep(yyjson_doc *doc)
{
	yyjson_val *end[DEPTH_MAX], *v = yyjson_doc_get_root(doc);
	yyjson_val *behind = v + yyjson_doc_get_val_count(doc);
	int depth = 0;

	for (; v < behind; v++) {
		while (depth && v >= end[depth - 1])
			depth--;
		if (!yyjson_is_ctn(v))
			continue;
		if (depth == DEPTH_MAX)
			return true;
		end[depth++] = unsafe_yyjson_get_next(v);
	}
	return false;
}

static int read_flags(yyjson_doc **out, const char *text, size_t len,
		      yyjson_read_flag flags, const char *name,
		      struct remem_err *err)
{
	yyjson_read_err e;
	yyjson_doc *doc;

	*out = NULL;
	if (len > SIZE_LIMIT)
		return fail(err, REMEM_ELIMIT, "'%s' is larger than %zu bytes",
			    name, SIZE_LIMIT);
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		len -= 3;
	}
	if (!len)
		return fail(err, REMEM_EFORMAT, "'%s' is empty, not JSON",
			    name);
	doc = yyjson_read_opts((char *)(uintptr_t)text, len, flags, json_alc(),
			       &e);
	if (!doc && e.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
		return fail_nomem(err);
	if (!doc)
		return fail_at(text, len, e.pos, e.msg, name, err);
	if (is_too_deep(doc)) {
		yyjson_doc_free(doc);
		return fail(err, REMEM_EFORMAT,
			    "'%s' is nested more than %d levels deep", name,
			    DEPTH_MAX);
	}
	*out = doc;
	return 0;
}

int json_read(yyjson_doc **out, const char *text, size_t len, bool relaxed,
	      const char *name, struct remem_err *err)
{
	return read_flags(out, text, len,
			  relaxed ? YYJSON_READ_ALLOW_COMMENTS |
				    YYJSON_READ_ALLOW_TRAILING_COMMAS : 0,
			  name, err);
}

int json_read_verbatim(yyjson_doc **out, const char *text, size_t len,
		       const char *name, struct remem_err *err)
{
	return read_flags(out, text, len, YYJSON_READ_NUMBER_AS_RAW, name,
			  err);
}

const char *json_str(yyjson_val *obj, const char *key, const char *def)
{
	const char *s = yyjson_get_str(yyjson_obj_get(obj, key));

	return s ? s : def;
}

int64_t json_int(yyjson_val *obj, const char *key, int64_t def)
{
	yyjson_val *v = yyjson_obj_get(obj, key);
	double d;

	if (yyjson_is_uint(v))
		return yyjson_get_uint(v) > INT64_MAX ?
		       def : (int64_t)yyjson_get_uint(v);
	if (yyjson_is_sint(v))
		return yyjson_get_sint(v);
	if (!yyjson_is_real(v))
		return def;
	d = yyjson_get_real(v);
	/* Some programs write whole numbers as 5.0. */
	if (!(d >= -9007199254740992.0 && d <= 9007199254740992.0) ||
	    d != (double)(int64_t)d)
		return def;
	return (int64_t)d;
}

double json_num(yyjson_val *obj, const char *key, double def)
{
	yyjson_val *v = yyjson_obj_get(obj, key);

	return yyjson_is_num(v) ? yyjson_get_num(v) : def;
}

bool json_bool(yyjson_val *obj, const char *key, bool def)
{
	yyjson_val *v = yyjson_obj_get(obj, key);

	return yyjson_is_bool(v) ? yyjson_get_bool(v) : def;
}
