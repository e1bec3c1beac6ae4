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

enum strength { WEAK, MIDDLE, STRONG, STRENGTHS };

static size_t match_any(const char *s, size_t i, size_t len,
			const char *const *list, size_t count)
{
	for (size_t k = 0; k < count; k++) {
		size_t n = strlen(list[k]);

		if (bytes_at(s, i, len, list[k], n))
			return n;
	}
	return 0;
}

/* Passes closing quotes and brackets. */
static size_t pass_closing(const char *s, size_t i, size_t len)
{
	static const char *const wide[] = { "」", "』", "”",  "’",  "）", "】",
					    "》", "〉", "〕", "！", "？", "…" };

	while (i < len) {
		size_t n = s[i] && strchr("\"')]*_`!?.", s[i]) ? 1 : 0;

		if (s[i] < 0)
			n = match_any(s, i, len, wide, ARRAY_LEN(wide));
		if (!n)
			return i;
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
 * would begin and how strong it is; else 0.
 */
static size_t text_boundary(const char *s, size_t i, size_t len,
			    enum strength *how)
{
	static const char *const ends[] = { "。", "！", "？", "；", "…", "｡" };
	static const char *const marks[] = { "，", "、", "：", "）",
					     "」", "—",	 "　" };
	size_t n, end;

	if (s[i] >= 0) {
		*how = MIDDLE;
		switch (s[i]) {
		case ' ':
		case '\t':
			*how = WEAK;
			return i + 1;
		case '\n':
			return i + 1;
		case ',':
		case ':':
			end = i + 1;
			break;
		case '.':
		case '!':
		case '?':
		case ';':
			end = pass_closing(s, i + 1, len);
			break;
		default:
			return 0;
		}
		n = skip_blank(s, end, len);
		if (n == end)
			return 0;
		if (s[i] == '!' || s[i] == '?' ||
		    (s[i] == '.' && !stop_inside(s, i, n, len)))
			*how = STRONG;
		return end;
	}
	if (s[i] != '\xe3' && s[i] != '\xef' && s[i] != '\xe2')
		return 0;
	*how = STRONG;
	if ((n = match_any(s, i, len, ends, ARRAY_LEN(ends))))
		return pass_closing(s, i + n, len);
	*how = MIDDLE;
	n = match_any(s, i, len, marks, ARRAY_LEN(marks));
	return n ? i + n : 0;
}

static size_t code_boundary(const char *s, size_t i, size_t len,
			    enum strength *how)
{
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
	size_t reach = max_tokens * TOKEN_MAX_BYTES, n, aim;
	size_t best[STRENGTHS] = { 0 };

	n = token_prefix(s, len < reach ? len : reach, max_tokens);
	if (n >= len)
		return len;
	aim = len < 2 * n ? (len + 1) / 2 : n;
	for (size_t i = n / 3; i < n;) {
		enum strength how;
		size_t at = code ? code_boundary(s, i, len, &how)
				 : text_boundary(s, i, len, &how);

		if (at && at <= n && between_graphemes(s, at, len) &&
		    (!best[how] ||
		     distance(at, aim) <= distance(best[how], aim)))
			best[how] = at;
		if (at > i)
			i = at;
		else
			i += s[i] >= '\xe0' && s[i] < '\xf0' ? 3 : 1;
	}
	for (int k = STRONG; k >= WEAK; k--) {
		if (best[k])
			return best[k];
	}
	/* Nothing to hold on to: still no crumb. */
	aim = utf8_cut(s, n, aim);
	return aim && between_graphemes(s, aim, len) ? aim : n;
}
