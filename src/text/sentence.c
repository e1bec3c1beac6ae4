/*
 * Cuts are made at the strongest boundary within reach:
 *
 *            text                              code
 *   strong   sentence end . ! ? 。！？；…      blank line
 *   middle   line end, clause mark ，、：      line end
 *   weak     blank                             blank
 *
 * Closing quotes and brackets stay with the sentence they close. When what is
 * left makes less than two full parts it is cut near its middle, so that no
 * crumb remains.
 */
#include "text/sentence.h"

#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

#include "base/attr.h"
#include "base/utf8.h"
#include "text/line.h"
#include "text/token.h"

/* No token of the estimate is made of more bytes than this. */
#define TOKEN_MAX_BYTES 16
/* So far behind the bound is looked for closing quotes and blanks. */
#define LOOK_BEHIND 64

enum strength { WEAK, MIDDLE, STRONG, STRENGTHS };

/* What a sign means for cutting. */
enum sign {
	SIGN_NONE,
	SIGN_BLANK,
	SIGN_LINE,
	SIGN_CLAUSE,
	SIGN_END,
	SIGN_CLOSE
};

/* The character at i (bytes of it to *n), as far as it is a sign. */
static enum sign sign_at(const char *s, size_t i, size_t len, size_t *n)
{
	const unsigned char *p = (const unsigned char *)s + i;
	unsigned c = p[0];

	*n = 1;
	if (c >= 0xe0 && c < 0xf0 && len - i >= 3) {
		*n = 3;
		if (c != 0xe2 && c != 0xe3 && c != 0xef)
			return SIGN_NONE;
		c = (c & 15) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
	}
	/* clang-format off */
	switch (c) {
	case ' ': case '\t': case 0x3000:
		return SIGN_BLANK;
	case '\n':
		return SIGN_LINE;
	case ',': case ':': case ';':
	case 0xff0c: case 0x3001: case 0xff1a: case 0x2014: /* ，、：— */
		return SIGN_CLAUSE;
	case '.': case '!': case '?':
	case 0x3002: case 0xff01: case 0xff1f: /* 。！？ */
	case 0xff1b: case 0x2026: case 0xff61: /* ；…｡ */
		return SIGN_END;
	case '"': case '\'': case ')': case ']': case '*': case '_': case '`':
	case 0x300d: case 0x300f: case 0x201d: case 0x2019: /* 」』”’ */
	case 0xff09: case 0x3011: case 0x300b: case 0x3009: /* ）】》〉 */
	case 0x3015: /* 〕 */
		return SIGN_CLOSE;
	default:
		return SIGN_NONE;
	}
	/* clang-format on */
}

/* Passes closing quotes and brackets, and more signs of an end. */
static size_t pass_closing(const char *s, size_t i, size_t len)
{
	size_t n;
	enum sign sign;

	while (i < len) {
		sign = sign_at(s, i, len, &n);
		if (sign != SIGN_CLOSE && sign != SIGN_END)
			break;
		i += n;
	}
	return i;
}

/* "e.g. this", "J. Smith", "Dr. Wu": a full stop that ends nothing. */
static bool stop_inside(const char *s, size_t dot, size_t next, size_t len)
{
	static const char *const titles[] = { "Dr", "Mr",  "Mrs", "Ms",	 "Prof",
					      "St", "Fig", "No",  "Vol", "vs" };

	for (size_t k = 0; k < ARRAY_LEN(titles); k++) {
		size_t n = strlen(titles[k]);

		if (dot >= n && !memcmp(s + dot - n, titles[k], n) &&
		    (dot == n || byte_blank(s[dot - n - 1])))
			return true;
	}
	if (dot >= 1 && s[dot - 1] >= 'A' && s[dot - 1] <= 'Z' &&
	    (dot == 1 || byte_blank(s[dot - 2])))
		return true;
	return next < len && s[next] >= 'a' && s[next] <= 'z';
}

/*
 * If a boundary lies behind the character at i, tells where the next part
 * would begin and how strong it is; else 0. *next: where to look next.
 */
static size_t text_boundary(const char *s, size_t i, size_t len,
			    enum strength *how, size_t *next)
{
	size_t n, end, blank;
	enum sign sign = sign_at(s, i, len, &n);

	*next = i + n;
	switch (sign) {
	case SIGN_NONE:
		return 0;
	case SIGN_BLANK:
		*how = WEAK;
		return i + n;
	case SIGN_LINE:
		*how = MIDDLE;
		return i + n;
	case SIGN_CLAUSE:
	case SIGN_CLOSE:
		*how = MIDDLE;
		return n > 1 || blank_at(s, i + n, len) ? i + n : 0;
	case SIGN_END:
		break;
	}
	*next = end = pass_closing(s, i + n, len);
	*how = STRONG;
	if (n > 1)
		return end;
	blank = skip_blank(s, end, len);
	if (blank == end)
		return 0;
	if (s[i] == '.' && stop_inside(s, i, blank, len))
		*how = MIDDLE;
	return end;
}

static size_t code_boundary(const char *s, size_t i, size_t len,
			    enum strength *how, size_t *next)
{
	*next = i + 1;
	*how = s[i] == '\n' ? MIDDLE : WEAK;
	if (s[i] == '\n' && i + 1 < len && s[i + 1] == '\n')
		*how = STRONG;
	return byte_blank(s[i]) ? i + 1 : 0;
}

/* False if a cut at i would divide a grapheme cluster. */
static bool between_graphemes(const char *s, size_t i, size_t len)
{
	size_t from = i;
	uint32_t before, after;

	if (i >= len || s[i] >= 0)
		return true;
	do
		from--;
	while (from && (s[from] & '\xc0') == '\x80');
	utf8_decode(&before, s + from, i - from);
	utf8_decode(&after, s + i, len - i);
	return utf8proc_grapheme_break((utf8proc_int32_t)before,
				       (utf8proc_int32_t)after);
}

static size_t distance(size_t a, size_t b)
{
	return a < b ? b - a : a - b;
}

size_t sentence_cut(const char *s, size_t len, size_t max_tokens, bool code)
{
	size_t reach = max_tokens * TOKEN_MAX_BYTES, n, aim, end;
	size_t best[STRENGTHS] = { 0 };

	n = token_prefix(s, len < reach ? len : reach, max_tokens);
	if (n >= len)
		return len;
	aim = len < 2 * n ? (len + 1) / 2 : n;
	end = len - n > LOOK_BEHIND ? n + LOOK_BEHIND : len;
	for (size_t i = n / 3, next; i < n; i = next) {
		enum strength how = WEAK;
		size_t at = code ? code_boundary(s, i, end, &how, &next)
				 : text_boundary(s, i, end, &how, &next);

		if (at && at <= n &&
		    (!best[how] ||
		     distance(at, aim) <= distance(best[how], aim)) &&
		    between_graphemes(s, at, len))
			best[how] = at;
	}
	for (int k = STRONG; k >= WEAK; k--) {
		if (best[k])
			return best[k];
	}
	/* Nothing to hold on to: still no crumb. */
	aim = utf8_cut(s, n, aim);
	return aim && between_graphemes(s, aim, len) ? aim : n;
}
