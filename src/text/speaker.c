/* Speaker labels: a short name and a colon, perhaps a time before it. */
#include "text/speaker.h"

#include <stdbool.h>
#include <string.h>

#include "base/attr.h"
#include "base/hash.h"
#include "text/line.h"

#define NAME_MAX_BYTES 36
#define NAME_MAX_WORDS 4
#define TIME_MAX_BYTES 24

/* Only digits and the signs of dates and times. */
static bool time_byte(char c)
{
	return byte_digit(c) || (c && strchr(":-/.T Zamp", c));
}

/* Passes "[12:03] ", "(2026-03-01 12:03) " or "12:03 "; else stays at 0. */
static size_t pass_time(const char *s, size_t len)
{
	char close = len && s[0] == '[' ? ']' : len && s[0] == '(' ? ')' : 0;
	size_t i = close ? 1 : 0, digits = 0;

	while (i < len && i < TIME_MAX_BYTES &&
	       (byte_digit(s[i]) || (close && time_byte(s[i])) || s[i] == ':'))
		digits += byte_digit(s[i++]);
	if (digits < 3 || i == len || (close && s[i] != close))
		return 0;
	i += close ? 1 : 0;
	return skip_blank(s, i, len) > i ? skip_blank(s, i, len) : 0;
}

/* Signs that end a clause do not stand in names. */
static bool ends_name(const char *s, size_t i, size_t end)
{
	const unsigned char *p = (const unsigned char *)s + i;
	unsigned c = p[0];

	if ((c == 0xe2 || c == 0xe3 || c == 0xef) && end - i >= 3)
		c = (c & 15) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
	/* clang-format off */
	switch (c) {
	case '\n': case '\0': case ',': case ';': case '!': case '?':
	case '"': case '[': case ']': case '{': case '}': case '<':
	case '>': case '|': case '=': case '+': case '`': case '#':
	case '/': case '\\': case '%': case '$': case '&': case '~':
	case '^': case '@':
	case 0xff0c: case 0x3002: case 0xff01: case 0xff1f: /* ，。！？ */
	case 0xff1b: case 0x3001: case 0x2026: /* ；、… */
	case 0x201c: case 0x201d: case 0x300a: case 0x300c: /* “”《「 */
		return true;
	default:
		return false;
	}
	/* clang-format on */
}

/* Bytes of a colon at i. */
static size_t colon_at(const char *s, size_t i, size_t end)
{
	if (i < end && s[i] == ':')
		return 1;
	return i < end && s[i] == '\xef' && bytes_at(s, i, end, "：", 3) ? 3
									 : 0;
}

size_t speaker_label(uint64_t *id, const char *s, size_t len)
{
	size_t from = pass_time(s, len), i, colon = 0, name_end, words = 1;
	bool bold = bytes_at(s, from, len, "**", 2) ||
		    bytes_at(s, from, len, "__", 2);
	size_t end;

	from += bold ? 2 : 0;
	end = len - from > NAME_MAX_BYTES ? from + NAME_MAX_BYTES : len;
	for (i = from; i < end && !(colon = colon_at(s, i, len)); i++) {
		if (s[i] == '*' || (bold && s[i] == '_') || s[i] == '(')
			break;
		if (ends_name(s, i, len) ||
		    (s[i] == ' ' && words++ >= NAME_MAX_WORDS))
			return 0;
	}
	name_end = i;
	if (i >= end || i == from)
		return 0;
	if (s[i] == '(') { /* Name (time): */
		while (i < len && i - name_end < TIME_MAX_BYTES &&
		       (s[i] == '(' || time_byte(s[i])))
			i++;
		if (i == len || s[i] != ')')
			return 0;
		i++;
		colon = colon_at(s, i, len);
	}
	i += colon;
	if (bold) {
		if (!bytes_at(s, i, len, "**", 2) &&
		    !bytes_at(s, i, len, "__", 2))
			return 0;
		i += 2;
		if (!colon) {
			colon = colon_at(s, i, len);
			i += colon;
		}
	}
	/* "10:30" and "http://" are no labels; 名字： needs no space. */
	if (!colon || (colon == 1 && i < len && !blank_at(s, i, len)))
		return 0;
	*id = hash64(s + from, trim_blank(s, from, name_end) - from, 0);
	return i;
}
