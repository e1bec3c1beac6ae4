/* See alike.h. The four fifths: a reworded line shares less, and then a
 * repetition does less harm than a loss. */
#include "memory/alike.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/hash.h"
#include "text/term.h"

#define SHARE_PER_CENT 80

static const char *const negations[] = {
	"not", "no", "never", "dont", "don", "doesn", "isn", "won", "can't",
	"cannot", "without", "stop", "nor", "didn", "shouldn", "aren", "wasn",
};

/* Chinese has no blanks: they are looked for in pairs too. */
static const char *const han_negations[] = { "不", "没", "别", "勿", "无",
					     "未", "非" };

static bool denies(const struct term *t)
{
	if (t->flags & (TERM_PAIR | TERM_SINGLE)) {
		for (size_t i = 0; i < ARRAY_LEN(han_negations); i++)
			if (t->len >= 3 &&
			    !memcmp(t->text, han_negations[i], 3))
				return true;
		return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(negations); i++)
		if (strlen(negations[i]) == t->len &&
		    !memcmp(t->text, negations[i], t->len))
			return true;
	return false;
}

static int take(void *ctx, const struct term *t)
{
	struct alike *a = ctx;
	uint32_t h = (uint32_t)hash64(t->text, t->len, 0);

	/* The stem goes without saying once its word is there. */
	if ((t->flags & TERM_STEM) && !(t->flags & TERM_WORD))
		return 0;
	if (t->flags & (TERM_NUMBER | TERM_ID))
		a->exact += h | 1;
	else if (denies(t))
		a->exact += 0x9e3779b9u;
	a->terms[a->n++] = h;
	return a->n == ALIKE_TERMS;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void alike_make(struct alike *a, const char *text, size_t len)
{
	int n = 0;

	memset(a, 0, sizeof(*a));
	term_cut(text, len, take, a);
	qsort(a->terms, (size_t)a->n, sizeof(a->terms[0]), by_value);
	for (int i = 0; i < a->n; i++)
		if (!i || a->terms[i] != a->terms[n - 1])
			a->terms[n++] = a->terms[i];
	a->n = n;
}

bool alike_same(const struct alike *a, const struct alike *b)
{
	int i = 0, k = 0, shared = 0;

	if (!a->n || !b->n || a->exact != b->exact)
		return false;
	while (i < a->n && k < b->n) {
		if (a->terms[i] == b->terms[k]) {
			shared++;
			i++;
			k++;
		} else if (a->terms[i] < b->terms[k]) {
			i++;
		} else {
			k++;
		}
	}
	return shared * 100 >= (a->n + b->n - shared) * SHARE_PER_CENT;
}
