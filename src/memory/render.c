/* Text of notes made harmless for a prompt. */
#include "memory/render.h"

#include <string.h>
#include <strings.h>

#include "base/utf8.h"

#define ESCAPED "&lt;"

/* Elements of ours and of hosts, roles, and heads of template tokens: what a
 * '<' or "</" must not be followed by. */
static const char *const tags[] = {
	"memory", "remem", "relevant-memories", "active_memory", "system",
	"assistant", "user", "human", "developer", "tool", "function", "invoke",
	"instructions", "|", "｜", "s>", "bos>", "eos>", "start_of_turn",
	"end_of_turn", "think", "antml",
};

/* Nothing to see: zero width, joiners of no visible effect, bidirectional
 * controls, variation and tag characters, fillers. */
static bool is_invisible(uint32_t cp)
{
	return cp == 0x00ad || cp == 0x034f || cp == 0x061c ||
	       cp == 0x115f || cp == 0x1160 || cp == 0x180e ||
	       (cp >= 0x200b && cp <= 0x200f) ||
	       (cp >= 0x202a && cp <= 0x202e) ||
	       (cp >= 0x2060 && cp <= 0x206f) || cp == 0x3164 ||
	       cp == 0xfeff || cp == 0xffa0 ||
	       (cp >= 0xfff9 && cp <= 0xfffb) ||
	       (cp >= 0xe0000 && cp <= 0xe0fff);
}

static bool is_control(uint32_t cp)
{
	return (cp < 0x20 && cp != '\n' && cp != '\t') || cp == 0x7f ||
	       (cp >= 0x80 && cp < 0xa0);
}

/* U+200D joins emoji and letters of some scripts: kept between two visible
 * characters that are not ASCII. */
static bool keeps_joiner(const struct buf *out, const char *s, size_t len)
{
	return out->len && (out->ptr[out->len - 1] & 0x80) && len > 3 &&
	       (s[3] & 0x80);
}

/* All forms of '<' that fold to it. */
static bool is_less(uint32_t cp)
{
	return cp == '<' || cp == 0xff1c || cp == 0xfe64;
}

/* What stands behind a '<', without what is invisible, folded from full width
 * and as far as the longest tag needs. */
static void read_ahead(char out[40], const char *s, size_t len)
{
	size_t n = 0, at = 0;

	while (at < len && n + 4 < 36) {
		uint32_t cp;

		at += (size_t)utf8_decode(&cp, s + at, len - at);
		if (is_invisible(cp) || is_control(cp) || cp == ' ' ||
		    cp == '\t' || cp == '\n')
			continue;
		if (cp > 0xff00 && cp < 0xff5f && cp != 0xff5c)
			cp -= 0xfee0;
		if (cp == '/' && !n)
			continue;
		n += (size_t)utf8_encode(out + n, cp);
	}
	out[n] = '\0';
}

static bool opens_tag(const char *s, size_t len)
{
	char ahead[40];

	read_ahead(ahead, s, len);
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (!strncasecmp(ahead, tags[i], strlen(tags[i])))
			return true;
	return false;
}

/* Bytes of an HTML comment at s, 0 if there is none that ends. */
static size_t comment_len(const char *s, size_t len)
{
	if (len < 7 || memcmp(s, "<!--", 4))
		return 0;
	for (size_t i = 4; i + 3 <= len; i++)
		if (!memcmp(s + i, "-->", 3))
			return i + 3;
	return 0;
}

static void render(struct buf *out, const char *s, size_t len, bool one_line)
{
	bool blank = one_line;

	for (size_t at = 0; at < len;) {
		size_t hidden = comment_len(s + at, len - at), n;
		uint32_t cp;

		if (hidden) {
			at += hidden;
			continue;
		}
		n = (size_t)utf8_decode(&cp, s + at, len - at);
		if (is_invisible(cp) &&
		    !(cp == 0x200d && keeps_joiner(out, s + at, len - at))) {
			at += n;
			continue;
		}
		if (one_line && (cp == ' ' || cp == '\t' || cp == '\n' ||
				 cp == '\r' || cp == 0x2028 || cp == 0x2029)) {
			if (!blank)
				buf_addc(out, ' ');
			blank = true;
		} else if (is_less(cp) &&
			   opens_tag(s + at + n, len - at - n)) {
			buf_adds(out, ESCAPED);
			blank = false;
		} else if (cp == 0xfffd && n == 1) {
			buf_adds(out, "\xef\xbf\xbd");
			blank = false;
		} else if (!is_control(cp)) {
			buf_add(out, s + at, n);
			blank = false;
		}
		at += n;
	}
}

void render_data(struct buf *out, const char *text, size_t len)
{
	render(out, text, len, false);
}

void render_line(struct buf *out, const char *text, size_t len)
{
	size_t start = out->len;

	render(out, text, len, true);
	if (out->len > start && out->ptr[out->len - 1] == ' ')
		buf_truncate(out, out->len - 1);
}
