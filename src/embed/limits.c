/* Limits of a provider, set and learned. */
#include "embed/limits.h"

#include <stdint.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t next_try(const struct bound *b)
{
	size_t n = b->max;

	if (b->bad != SIZE_MAX)
		n = smaller(n, b->good + 1 >= b->bad ? b->good :
				       b->good + (b->bad - b->good) / 2);
	return n ? n : 1;
}

static void taken(struct bound *b, size_t n)
{
	if (n > b->good)
		b->good = n;
	/* What is taken is no longer too much. */
	if (b->bad <= n)
		b->bad = SIZE_MAX;
}

static void init(struct bound *b, size_t max)
{
	b->max = max ? max : SIZE_MAX;
	b->good = 0;
	b->bad = SIZE_MAX;
}

void limits_init(struct limits *l, size_t items, size_t tokens, size_t input)
{
	init(&l->items, items);
	init(&l->tokens, tokens);
	init(&l->input, input);
	l->hint = 0;
}

bool limits_tries(const struct limits *l, size_t items)
{
	return l->items.bad != SIZE_MAX && items > l->items.good;
}

size_t limits_items(const struct limits *l, bool settled)
{
	if (settled && l->items.bad != SIZE_MAX && l->items.good)
		return smaller(l->items.good, l->items.max);
	if (l->hint > l->items.good && l->hint < l->items.bad)
		return smaller(l->hint, l->items.max);
	return next_try(&l->items);
}

size_t limits_tokens(const struct limits *l)
{
	return next_try(&l->tokens);
}

size_t limits_input(const struct limits *l, size_t tokens)
{
	/* No search for the middle: each try that fails costs a request. */
	if (tokens >= l->input.bad)
		tokens = l->input.good ? l->input.good : 1;
	return smaller(tokens, l->input.max);
}

void limits_taken(struct limits *l, size_t items, size_t tokens,
		  size_t largest)
{
	taken(&l->items, items);
	taken(&l->tokens, tokens);
	taken(&l->input, largest);
}

void limits_refused(struct limits *l, size_t items, size_t tokens,
		    size_t hint)
{
	/* A number that was taken before is not the cause. */
	if (hint && hint < items && hint >= l->items.good) {
		l->hint = hint;
		l->items.bad = smaller(l->items.bad, hint + 1);
	} else if (items > l->items.good) {
		l->items.bad = smaller(l->items.bad, items);
	} else if (tokens > l->tokens.good) {
		l->tokens.bad = smaller(l->tokens.bad, tokens);
	}
}

void limits_input_refused(struct limits *l, size_t tokens)
{
	if (tokens > l->input.good)
		l->input.bad = smaller(l->input.bad, tokens);
}

void limits_restore(struct limits *l, const struct limits *before)
{
	l->items.bad = before->items.bad;
	l->tokens.bad = before->tokens.bad;
	l->hint = before->hint;
	taken(&l->items, l->items.good);
	taken(&l->tokens, l->tokens.good);
}

size_t limits_learned(const struct limits *l)
{
	return l->items.bad == SIZE_MAX ? 0 : smaller(l->items.good, l->items.max);
}
