/* Script classes, read from the folding tables. */
#include "text/script.h"

#include <stdbool.h>

#include "text/fold.h"

/* A CJK character says about as much as two Latin letters. */
#define CJK_WEIGHT 2
/* Japanese is Han with at least one kana in this many characters. */
#define KANA_SHARE 10

enum script script_of(uint32_t cp)
{
	return (enum script)FOLD_SCRIPT(fold_entry(cp));
}

static enum script larger_part(const size_t count[SCRIPT_COUNT])
{
	size_t weight[SCRIPT_COUNT];
	enum script best = SCRIPT_LATIN;

	for (int i = 0; i < SCRIPT_COUNT; i++)
		weight[i] = count[i];
	weight[SCRIPT_NONE] = weight[SCRIPT_KANA] = 0;
	weight[SCRIPT_HAN] =
		CJK_WEIGHT * (count[SCRIPT_HAN] + count[SCRIPT_KANA]);
	weight[SCRIPT_HANGUL] *= CJK_WEIGHT;
	for (int i = 0; i < SCRIPT_COUNT; i++)
		if (weight[i] > weight[best])
			best = (enum script)i;
	if (best == SCRIPT_HAN &&
	    count[SCRIPT_KANA] * KANA_SHARE >=
		    count[SCRIPT_HAN] + count[SCRIPT_KANA])
		return SCRIPT_KANA;
	return best;
}

enum script script_of_text(const char *s, size_t len)
{
	size_t count[SCRIPT_COUNT] = { 0 };
	size_t bytes;

	for (size_t i = 0; i < len; i += bytes) {
		uint32_t cp = fold_decode(s + i, len - i, &bytes);

		count[script_of(cp)]++;
	}
	return larger_part(count);
}

const char *script_name(enum script s)
{
	static const char *const names[SCRIPT_COUNT] = {
		"none",	 "latin",  "han",    "kana",	   "hangul", "cyrillic",
		"greek", "arabic", "hebrew", "devanagari", "thai",   "other"
	};

	return (unsigned)s < SCRIPT_COUNT ? names[s] : "none";
}
