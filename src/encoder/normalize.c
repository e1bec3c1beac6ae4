/*
 * NFKC in pieces. The text is cut before every character that neither moves
 * nor composes with what stands before it: one whose decomposition begins with
 * a starter that is no mark and no trailing Hangul letter. Each piece (mostly
 * one character) is decomposed, its marks sorted by class, and composed.
 */
#include "encoder/normalize.h"

#include <utf8proc.h>

#include "base/utf8.h"

#define OPTIONS (UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT)

void normalize_init(struct normalize *n, const struct normalize_map *map,
		    const char *text, size_t len)
{
	n->map = map;
	n->text = text;
	n->len = len;
	n->at = 0;
	n->n_out = n->next_out = 0;
}

/* CJK ideographs: unchanged by NFKC, never part of a composition. */
static bool is_han(uint32_t cp)
{
	return (cp >= 0x4e00 && cp <= 0x9fff) || (cp >= 0x3400 && cp <= 0x4dbf);
}

static int decompose(int32_t *out, int room, uint32_t cp)
{
	int last = 0;
	utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)cp, out,
						     room, OPTIONS, &last);

	if (n < 0 || n > room) {
		out[0] = (int32_t)cp;
		return 1;
	}
	return (int)n;
}

/* Whether a decomposition that begins with cp may be cut off before it. */
static bool starts_piece(int32_t cp)
{
	const utf8proc_property_t *p;

	if (cp < 0x300)
		return true;
	if (cp >= 0x1160 && cp <= 0x11ff) /* Hangul vowels and finals */
		return false;
	p = utf8proc_get_property(cp);
	return !p->combining_class && p->category != UTF8PROC_CATEGORY_MN &&
		p->category != UTF8PROC_CATEGORY_MC &&
		p->category != UTF8PROC_CATEGORY_ME;
}

/* Insertion sort of marks by class; starters stay where they are. */
static void sort_marks(int32_t *cps, int n)
{
	for (int i = 1; i < n; i++) {
		int32_t cp = cps[i];
		int class = utf8proc_get_property(cp)->combining_class, j = i;

		if (!class)
			continue;
		while (j && utf8proc_get_property(cps[j - 1])->combining_class >
		       class) {
			cps[j] = cps[j - 1];
			j--;
		}
		cps[j] = cp;
	}
}

/* Reads one piece into out. There is at least one byte left. */
static void read_piece(struct normalize *n)
{
	int32_t more[NORMALIZE_GROWTH];
	int count = 0, got;
	uint32_t cp;
	utf8proc_ssize_t len;

	while (n->at < n->len && count < NORMALIZE_MARKS) {
		int step = utf8_decode(&cp, n->text + n->at, n->len - n->at);

		if (count && (cp < 0x300 || is_han(cp)))
			break;
		got = decompose(more, NORMALIZE_GROWTH, cp);
		if (count && got && starts_piece(more[0]))
			break;
		for (int i = 0; i < got; i++)
			n->out[count++] = more[i];
		n->at += (size_t)step;
		if (is_han(cp))
			break;
	}
	sort_marks(n->out, count);
	len = utf8proc_normalize_utf32(n->out, count, OPTIONS);
	n->n_out = len < 0 ? 0 : (int)len;
	n->next_out = 0;
}

/* The model's own map: false when the character is dropped. */
static bool apply_map(const struct normalize_map *map, uint32_t *cp)
{
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const uint32_t *pair = map->pairs + 2 * mid;

		if (pair[0] == *cp) {
			*cp = pair[1];
			return pair[1] != 0;
		}
		if (pair[0] < *cp)
			low = mid + 1;
		else
			high = mid;
	}
	return true;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f;
}

bool normalize_next(struct normalize *n, uint32_t *cp)
{
	for (;;) {
		if (n->next_out < n->n_out) {
			*cp = (uint32_t)n->out[n->next_out++];
		} else if (n->at >= n->len) {
			return false;
		} else if (is_plain((unsigned char)n->text[n->at]) &&
			   (n->at + 1 == n->len ||
			    !(n->text[n->at + 1] & 0x80))) {
			/* followed by no mark: nothing to compose with */
			*cp = (unsigned char)n->text[n->at++];
			return true;
		} else {
			read_piece(n);
			continue;
		}
		if (is_han(*cp) || apply_map(n->map, cp))
			return true;
	}
}
