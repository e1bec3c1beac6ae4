/*
 * Streaming JSON writer. Strings are copied in runs of bytes that need no
 * care; everything else is escaped or replaced one character at a time.
 */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define DEPTH_MAX ((int)ARRAY_LEN(((struct json *)0)->first))

void json_begin(struct json *j, struct buf *out)
{
	memset(j, 0, sizeof(*j));
	j->out = out;
	j->first[0] = true;
}

static void indent(struct json *j)
{
	buf_addc(j->out, '\n');
	for (int i = 0; i < j->depth; i++)
		buf_add(j->out, "  ", 2);
}

/* The comma and line break before the next item of an array or object. */
static void separate(struct json *j)
{
	if (!j->first[j->depth])
		buf_addc(j->out, ',');
	if (j->pretty && j->depth)
		indent(j);
	j->first[j->depth] = false;
}

/* Before a value: one behind a key or alone needs no separator. */
static void begin_value(struct json *j)
{
	if (j->after_key)
		j->after_key = false;
	else if (j->depth)
		separate(j);
}

static void open_level(struct json *j, char c)
{
	begin_value(j);
	buf_addc(j->out, c);
	if (j->depth + 1 >= DEPTH_MAX) {
		/* Our own output is never this deep; do not write beyond. */
		if (!j->out->failed)
			j->out->failed = REMEM_ELIMIT;
		return;
	}
	j->first[++j->depth] = true;
}

static void close_level(struct json *j, char c)
{
	bool empty;

	if (!j->depth)
		return;
	empty = j->first[j->depth--];
	if (j->pretty && !empty)
		indent(j);
	buf_addc(j->out, c);
}

void json_obj(struct json *j)
{
	open_level(j, '{');
}

void json_end(struct json *j)
{
	close_level(j, '}');
}

void json_arr(struct json *j)
{
	open_level(j, '[');
}

void json_arr_end(struct json *j)
{
	close_level(j, ']');
}

static void put_escape(struct buf *out, unsigned char c)
{
	static const char letter[] = "btn?fr"; /* from 8 on */

	if (c == '"' || c == '\\') {
		buf_addc(out, '\\');
		buf_addc(out, (char)c);
	} else if (c >= 8 && c <= 13 && c != 11) {
		buf_addc(out, '\\');
		buf_addc(out, letter[c - 8]);
	} else {
		buf_addf(out, "\\u%04x", c);
	}
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f;
}

#define ONES 0x0101010101010101ull

/* High bits at the zero bytes of x, and perhaps at some behind them. */
static uint64_t zero_bytes(uint64_t x)
{
	return (x - ONES) & ~x & ONES * 0x80;
}

/* Bytes from s on that may be copied as they are, if they are UTF-8. */
static size_t plain_run(const char *s, size_t len)
{
	size_t i = 0;

	for (; len - i >= 8; i += 8) {
		uint64_t x;

		memcpy(&x, s + i, 8);
		if (((x - ONES * 0x20) & ~x & ONES * 0x80) |
		    zero_bytes(x ^ ONES * '"') | zero_bytes(x ^ ONES * '\\') |
		    zero_bytes(x ^ ONES * 0x7f))
			break;
	}
	while (i < len && is_plain((unsigned char)s[i]))
		i++;
	return i;
}

static void put_run(struct buf *out, const char *s, size_t len)
{
	while (len) {
		size_t good = utf8_valid_prefix(s, len);

		buf_add(out, s, good);
		if (good == len)
			return;
		buf_add(out, "\xef\xbf\xbd", 3);
		s += good + 1;
		len -= good + 1;
	}
}

static void put_quoted(struct buf *out, const char *s, size_t len)
{
	buf_addc(out, '"');
	while (len) {
		size_t run = plain_run(s, len);

		put_run(out, s, run);
		if (run == len)
			break;
		put_escape(out, (unsigned char)s[run]);
		s += run + 1;
		len -= run + 1;
	}
	buf_addc(out, '"');
}

void json_key(struct json *j, const char *key)
{
	separate(j);
	put_quoted(j->out, key, strlen(key));
	buf_adds(j->out, j->pretty ? ": " : ":");
	j->after_key = true;
}

void json_put_strn(struct json *j, const char *s, size_t len)
{
	begin_value(j);
	if (s)
		put_quoted(j->out, s, len);
	else
		buf_adds(j->out, "null");
}

void json_put_str(struct json *j, const char *s)
{
	json_put_strn(j, s, s ? strlen(s) : 0);
}

void json_put_int(struct json *j, int64_t v)
{
	begin_value(j);
	buf_addf(j->out, "%lld", (long long)v);
}

/* printf obeys the locale of the program around us; JSON does not. */
static void put_number(struct json *j, char *text)
{
	for (char *c = text; *c; c++) {
		if (!strchr("+-0123456789eE.", *c))
			*c = '.';
	}
	buf_adds(j->out, text);
}

void json_put_num(struct json *j, double v)
{
	char room[512], *text;
	yyjson_alc alc;
	yyjson_val val;
	size_t len = 0;

	if (!isfinite(v)) {
		json_put_null(j);
		return;
	}
	if (v == floor(v) && fabs(v) < 1e15) {
		json_put_int(j, (int64_t)v);
		return;
	}
	begin_value(j);
	/* yyjson finds the shortest digits that read back, ten times as fast
	 * as printf, in memory that lies here. */
	yyjson_alc_pool_init(&alc, room, sizeof(room));
	memset(&val, 0, sizeof(val));
	unsafe_yyjson_set_real(&val, v);
	text = yyjson_val_write_opts(&val, 0, &alc, &len, NULL);
	buf_add(j->out, text ? text : "null", text ? len : 4);
}

void json_put_fixed(struct json *j, double v, int decimals)
{
	char text[64];

	begin_value(j);
	if (!isfinite(v)) {
		buf_adds(j->out, "null");
		return;
	}
	if (decimals < 0 || decimals > 17)
		decimals = decimals < 0 ? 0 : 17;
	if (fabs(v) < 1e15)
		snprintf(text, sizeof(text), "%.*f", decimals, v);
	else
		snprintf(text, sizeof(text), "%.17g", v);
	put_number(j, text);
}

void json_put_bool(struct json *j, bool v)
{
	begin_value(j);
	buf_adds(j->out, v ? "true" : "false");
}

void json_put_null(struct json *j)
{
	begin_value(j);
	buf_adds(j->out, "null");
}

void json_put_raw(struct json *j, const char *json, size_t len)
{
	begin_value(j);
	buf_add(j->out, json, len);
}

static void put_members(struct json *j, yyjson_val *v)
{
	yyjson_val *key, *item;
	size_t i, n;

	json_obj(j);
	yyjson_obj_foreach(v, i, n, key, item) {
		json_key(j, yyjson_get_str(key));
		json_put_val(j, item);
	}
	json_end(j);
}

static void put_items(struct json *j, yyjson_val *v)
{
	yyjson_val *item;
	size_t i, n;

	json_arr(j);
	yyjson_arr_foreach(v, i, n, item)
		json_put_val(j, item);
	json_arr_end(j);
}

void json_put_val(struct json *j, yyjson_val *v)
{
	if (yyjson_is_obj(v))
		put_members(j, v);
	else if (yyjson_is_arr(v))
		put_items(j, v);
	else if (yyjson_is_str(v))
		json_put_strn(j, yyjson_get_str(v), yyjson_get_len(v));
	else if (yyjson_is_raw(v))
		json_put_raw(j, yyjson_get_raw(v), yyjson_get_len(v));
	else if (yyjson_is_int(v) && !yyjson_is_uint(v))
		json_put_int(j, yyjson_get_sint(v));
	else if (yyjson_is_num(v))
		json_put_num(j, yyjson_get_num(v));
	else if (yyjson_is_bool(v))
		json_put_bool(j, yyjson_get_bool(v));
	else
		json_put_null(j);
}

void json_kstr(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_put_str(j, s);
}

void json_kint(struct json *j, const char *key, int64_t v)
{
	json_key(j, key);
	json_put_int(j, v);
}

void json_knum(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_put_num(j, v);
}

void json_kfixed(struct json *j, const char *key, double v, int decimals)
{
	json_key(j, key);
	json_put_fixed(j, v, decimals);
}

void json_kbool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_put_bool(j, v);
}

void json_knull(struct json *j, const char *key)
{
	json_key(j, key);
	json_put_null(j);
}
