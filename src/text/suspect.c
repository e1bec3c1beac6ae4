/*
 * Cue phrases with points, in English and Chinese (suspect_cues.def). A text
 * is suspect at POINTS_NEEDED: an order that only an injected text gives, or
 * an address to an assistant together with an order.
 *
 * It is folded first, so that spelling hides nothing: NFKC, case, Traditional
 * to Simplified, no invisible characters, letters of other scripts that look
 * Latin, digits in the place of letters, blanks between Chinese characters.
 * Letters that stand one by one, and what base64 or hex spells, are read too.
 * Each place of the folded text is looked up by its first three bytes: time
 * is linear.
 */
#include "text/suspect.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "text/fold.h"
#include "text/line.h"

#define POINTS_NEEDED 3
#define WINDOW 4096 /* folded bytes that are looked at together */
#define OVERLAP 256 /* of two windows: an order is one sentence */
#define REACH 72 /* bytes from a verb to what it takes away */
#define LOOKED_AT 4096 /* by text_one_off() */
#define HEADS 1024
#define SINGLES 8 /* letters one by one that make a word */
#define CODE_MIN 24 /* characters of base64; 18 bytes hold no order */
#define CODE_MAX 2048

enum kind { ADDRESS, OVERRIDE, ORDER, ROLE, VERB, RANGE, RULES, REPORT, KINDS };

struct cue {
	const char *text;
	uint8_t len;
	uint8_t points; /* of one kind only the strongest counts */
	uint8_t kind;
};

static const struct cue cues[] = {
#define CUE(text, kind, points) { text, sizeof(text) - 1, points, kind },
#include "text/suspect_cues.def"
#undef CUE
};

/* Of letters that stood one by one. */
static const char *const joined[] = {
	"ignoreall", "ignoreprev", "ignoreyour", "ignorethe", "disregard",
	"previousinstructions", "systemprompt", "youarenow", "donottell",
	"forgeteverything", "developermode", "newinstructions",
};

static uint16_t heads[HEADS], next_cue[ARRAY_LEN(cues)]; /* index + 1 */
static pthread_once_t heads_made = PTHREAD_ONCE_INIT;

static const char *const once[] = {
	"this once", "just once", "only once", "today", "tonight",
	"this week", "this morning", "this afternoon", "for now",
	"temporar", "for the time being", "just this time", "one-off",
	"not to be repeated", "as an exception", "exceptionally",
	"今天", "今日", "今晚", "这次", "這次", "本周", "这周", "這週",
	"这星期", "暂时", "暫時", "临时", "臨時", "仅此一次", "这一次",
	"破例", "例外",
};

static unsigned head_of(const char *s)
{
	const unsigned char *b = (const unsigned char *)s;

	return (b[0] * 961u + b[1] * 31u + b[2]) % HEADS;
}

static void make_heads(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cues); i++) {
		unsigned h = head_of(cues[i].text);

		next_cue[i] = heads[h];
		heads[h] = (uint16_t)(i + 1);
	}
}

/* Lower-cases ASCII and folds blanks to one; result NUL-terminated. */
static size_t fold(char *out, size_t cap, const char *s, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len && n + 1 < cap; i++) {
		char c = s[i];

		if (c == '\t' || c == '\n' || c == '\r' || c == '\0')
			c = ' ';
		if (c == ' ' && n && out[n - 1] == ' ')
			continue;
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		out[n++] = c;
	}
	out[n] = '\0';
	return n;
}

/* ---- folding for cues ---- */

/* Letters of Cyrillic and Greek, folded, that look like Latin ones. */
static uint32_t look_alike(uint32_t cp)
{
	static const struct {
		uint16_t from;
		char to;
	} map[] = {
		{ 0x3b1, 'a' }, { 0x3b5, 'e' }, { 0x3b9, 'i' }, { 0x3ba, 'k' },
		{ 0x3bd, 'v' }, { 0x3bf, 'o' }, { 0x3c1, 'p' }, { 0x3c4, 't' },
		{ 0x3c5, 'u' }, { 0x3c7, 'x' }, { 0x3b3, 'y' }, { 0x3f2, 'c' },
		{ 0x430, 'a' }, { 0x432, 'b' }, { 0x433, 'r' }, { 0x435, 'e' },
		{ 0x43a, 'k' }, { 0x43c, 'm' }, { 0x43d, 'h' }, { 0x43e, 'o' },
		{ 0x440, 'p' }, { 0x441, 'c' }, { 0x442, 't' }, { 0x443, 'y' },
		{ 0x445, 'x' }, { 0x455, 's' }, { 0x456, 'i' }, { 0x457, 'i' },
		{ 0x458, 'j' }, { 0x501, 'd' }, { 0x51b, 'q' }, { 0x51d, 'w' },
		{ 0x4bb, 'h' }, { 0x261, 'g' }, { 0x131, 'i' }, { 0x251, 'a' },
		{ 0x2019, '\'' }, { 0x2018, '\'' }, { 0x3002, '.' },
	};

	if (cp < 0x131 || (cp > 0x51d && cp < 0x2018) || cp > 0x3002)
		return cp;
	for (size_t i = 0; i < ARRAY_LEN(map); i++)
		if (map[i].from == cp)
			return (uint32_t)map[i].to;
	return cp;
}

static bool is_hidden(uint32_t cp)
{
	return cp == 0xad || (cp >= 0x200b && cp <= 0x200f) ||
	       (cp >= 0x202a && cp <= 0x202e) ||
	       (cp >= 0x2060 && cp <= 0x2069) || cp == 0xfeff || cp == 0x34f;
}

static bool is_cjk(uint8_t kind)
{
	return kind == FOLD_HAN || kind == FOLD_HIRA || kind == FOLD_KATA;
}

static bool is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

struct folded {
	char text[WINDOW + 8];
	size_t len;
	bool after_han; /* the last character that is no blank or mark */
	size_t gap; /* where what stands between two of them begins */
};

static void put_char(struct folded *f, const struct fold_ch *ch)
{
	uint32_t cp = look_alike(ch->cp);
	bool han = is_cjk(ch->kind);

	if (cp <= 0x20)
		cp = ' ';
	if (cp == ' ' && f->len && f->text[f->len - 1] == ' ')
		return;
	/* Nothing but thin marks between two Chinese characters. */
	if (han && f->after_han && f->gap < f->len && f->len - f->gap <= 2)
		f->len = f->gap;
	f->len += (size_t)utf8_encode(f->text + f->len, cp);
	if (han)
		f->gap = f->len;
	f->after_han = han || (f->after_han && cp < 0x80 &&
			       strchr(" -_.*|~/+", (int)cp));
}

/* Fills a window from at on; returns the place behind what it holds. */
static size_t fold_window(struct folded *f, const char *s, size_t len,
			  size_t at)
{
	struct fold_at p = { at, 0 };
	struct fold_ch ch;

	f->len = f->gap = 0;
	f->after_han = false;
	while (f->len < WINDOW && fold_look(&ch, s, len, p)) {
		p = ch.after;
		if (!is_hidden(ch.cp))
			put_char(f, &ch);
	}
	memset(f->text + f->len, 0, 4);
	return f->len < WINDOW ? len : p.at;
}

/* "1gn0re" */
static void read_digits(struct folded *f)
{
	static const char from[] = "013457@$!", to[] = "oieastasi";

	for (size_t i = 0; i + 1 < f->len; i++) {
		const char *d = is_letter(f->text[i]) || !f->text[i] ? NULL :
				strchr(from, f->text[i]);

		if (d && is_letter(f->text[i + 1]) &&
		    (byte_digit(*d) ? !i || !byte_digit(f->text[i - 1]) :
				      i && is_letter(f->text[i - 1])))
			f->text[i] = to[d - from];
	}
}

/* ---- letters one by one ---- */

static bool says_joined(const char *s)
{
	for (size_t i = 0; i < ARRAY_LEN(joined); i++)
		if (strstr(s, joined[i]))
			return true;
	return false;
}

/* "i g n o r e" and "i.g.n.o.r.e". */
static bool spelled(const struct folded *f)
{
	char word[128];
	size_t n = 0;

	for (size_t i = 0; i < f->len; i++) {
		bool alone = is_letter(f->text[i]) &&
			     (!i || !is_letter(f->text[i - 1])) &&
			     !is_letter(f->text[i + 1]);

		if (alone && n < sizeof(word) - 1)
			word[n++] = f->text[i];
		if (alone || (n && strchr(" .-_*,/|", f->text[i]) &&
			      f->text[i]))
			continue;
		word[n] = '\0';
		if (n >= SINGLES && says_joined(word))
			return true;
		n = 0;
	}
	word[n] = '\0';
	return n >= SINGLES && says_joined(word);
}

/* ---- cues ---- */

struct score {
	uint8_t points[KINDS];
	size_t verb; /* behind it, 0: none in this sentence */
	bool range, rules; /* within reach of it */
};

static void hit(struct score *k, const struct cue *c, size_t at)
{
	if (c->points > k->points[c->kind])
		k->points[c->kind] = c->points;
	if (c->kind == VERB) {
		k->verb = at + c->len;
		k->range = k->rules = false;
	} else if (k->verb && at >= k->verb && at - k->verb <= REACH) {
		k->range = k->range || c->kind == RANGE;
		k->rules = k->rules || c->kind == RULES;
		if (k->range && k->rules)
			k->points[OVERRIDE] = POINTS_NEEDED;
	}
}

static bool ends_sentence(const char *s)
{
	return (*s == '.' || *s == '!' || *s == '?') &&
	       (s[1] == ' ' || !s[1] || (s[1] & 0x80));
}

static void look_at(struct score *k, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned c;

		if (ends_sentence(s + i))
			k->verb = 0;
		/* Words from their beginning only, characters too. */
		if (((unsigned char)s[i] & 0xc0) == 0x80 ||
		    (i && is_letter(s[i]) && is_letter(s[i - 1])))
			continue;
		for (c = heads[head_of(s + i)]; c; c = next_cue[c - 1]) {
			const struct cue *cue = &cues[c - 1];

			if (cue->len <= len - i &&
			    !memcmp(s + i, cue->text, cue->len))
				hit(k, cue, i);
		}
	}
}

static bool is_enough(const struct score *k)
{
	return k->points[ADDRESS] + k->points[OVERRIDE] + k->points[ORDER] +
		       k->points[ROLE] >= POINTS_NEEDED;
}

/* The bytes of the quotation mark that closes the one at s; *open its bytes. */
static const char *closing(const char *s, size_t *open)
{
	static const char *const marks[][2] = {
		{ "\"", "\"" }, { "`", "`" }, { "“", "”" }, { "「", "」" },
		{ "『", "』" }, { "«", "»" }, { "《", "》" },
	};

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		*open = strlen(marks[i][0]);
		if (!strncmp(s, marks[i][0], *open))
			return marks[i][1];
	}
	return NULL;
}

/* A text about such texts: what it quotes is not its own word. */
static bool only_quotes(struct folded *f)
{
	struct score k = { 0 };

	for (size_t i = 0, open; i < f->len; i++) {
		const char *close = closing(f->text + i, &open), *end;

		end = close ? strstr(f->text + i + open, close) : NULL;
		if (!end)
			continue;
		memset(f->text + i, '_', (size_t)(end - f->text) - i);
		i = (size_t)(end - f->text);
	}
	look_at(&k, f->text, f->len);
	return k.points[REPORT] && !is_enough(&k);
}

/* ---- what is written in code ---- */

static bool suspect(const char *s, size_t len, bool decode);

static int digit16(unsigned char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Decodes a run of digits of so many bits; false when it is not text. */
static bool decodes_to_order(const char *s, size_t len, int bits)
{
	char out[CODE_MAX];
	uint32_t acc = 0;
	int have = 0;
	size_t n = 0;

	for (size_t i = 0; i < len && n < sizeof(out); i++) {
		unsigned char c = (unsigned char)s[i];

		acc = acc << bits | (uint32_t)(bits == 6 ? base64_digit(c) :
							   digit16(c));
		have += bits;
		if (have < 8)
			continue;
		have -= 8;
		out[n] = (char)(acc >> have & 0xff);
		if ((unsigned char)out[n] < 9 || out[n] == 0x7f)
			return false;
		n++;
	}
	return utf8_valid_prefix(out, n) + 4 > n && suspect(out, n, false);
}

static bool hides_code(const char *s, size_t len)
{
	for (size_t i = 0, end; i < len; i = end + 1) {
		bool hex = true;

		for (end = i; end < len &&
			      base64_digit((unsigned char)s[end]) >= 0; end++)
			hex = hex && digit16((unsigned char)s[end]) >= 0;
		if (end - i >= CODE_MIN &&
		    (decodes_to_order(s + i, end - i, 6) ||
		     (hex && decodes_to_order(s + i, end - i, 4))))
			return true;
	}
	return false;
}

/* Characters that hide text from a reader but not from a model. */
static bool hidden_text(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len) {
		uint32_t cp;

		/* The first bytes of U+202D, U+202E and of tags. */
		if (s[i] != '\xe2' && s[i] != '\xf3') {
			i++;
			continue;
		}
		i += (size_t)utf8_decode(&cp, s + i, len - i);
		if ((cp >= 0xE0020 && cp <= 0xE007F) || cp == 0x202E ||
		    cp == 0x202D)
			return true;
	}
	return false;
}

/* ---- all of it ---- */

static bool suspect(const char *s, size_t len, bool decode)
{
	struct folded f;
	size_t at = 0, end;

	for (;;) {
		struct score k = { 0 };

		end = fold_window(&f, s, len, at);
		read_digits(&f);
		look_at(&k, f.text, f.len);
		if (spelled(&f) || (is_enough(&k) &&
				    !(k.points[REPORT] && only_quotes(&f))))
			return true;
		if (end >= len)
			break;
		at = end - OVERLAP > at ? end - OVERLAP : end;
	}
	return decode && hides_code(s, len);
}

bool text_suspect(const char *s, size_t len)
{
	pthread_once(&heads_made, make_heads);
	return hidden_text(s, len) || suspect(s, len, true);
}

bool text_one_off(const char *s, size_t len)
{
	char text[LOOKED_AT];
	size_t i;

	fold(text, sizeof(text), s, len);
	for (i = 0; i < ARRAY_LEN(once); i++)
		if (strstr(text, once[i]))
			return true;
	return false;
}
