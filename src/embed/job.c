/* Packs and splits requests. */
#include "embed/job.h"

#include <string.h>

#include "text/token.h"

size_t job_cut(const struct embedder *e, const struct embed_item *item)
{
	const struct limits *l = &e->limits;
	size_t tokens, may;

	/* No estimate gives more tokens than bytes. */
	if (item->len <= l->input.max && item->len < l->input.bad)
		return item->len;
	tokens = token_estimate(item->text, item->len);
	may = limits_input(l, tokens);
	return may >= tokens ? item->len :
			       token_prefix(item->text, item->len, may);
}

int64_t job_tokens(const struct embedder *e, const struct embed_item *item)
{
	return (int64_t)(token_estimate(item->text, job_cut(e, item)) +
			 token_estimate(e->info.document_prefix,
					strlen(e->info.document_prefix))) +
	       (item->media ? item->media->tokens : 0);
}

static struct job *new_job(struct job_list *l, size_t n)
{
	struct job *j = ARENA_NEW(l->a, struct job);

	if (!j)
		return NULL;
	j->items = ARENA_ARRAY(l->a, const struct embed_item *, n);
	return j->items ? j : NULL;
}

/* How many of the items fit into one request. */
static size_t fitting(const struct job_list *l, int64_t *tokens)
{
	size_t items = limits_items(&l->e->limits, l->trying > 0), n = 0;
	size_t max = limits_tokens(&l->e->limits);

	*tokens = 0;
	for (; n < l->n && n < items; n++) {
		int64_t t = job_tokens(l->e, &l->items[n]);

		if (n && (uint64_t)(*tokens + t) > max)
			break;
		*tokens += t;
	}
	return n;
}

static struct job *pack(struct job_list *l)
{
	int64_t tokens;
	size_t n = fitting(l, &tokens);
	struct job *j = n ? new_job(l, n) : NULL;

	if (!j)
		return NULL;
	for (size_t i = 0; i < n; i++)
		j->items[i] = &l->items[i];
	j->n = n;
	j->tokens = tokens;
	l->items += n;
	l->n -= n;
	return j;
}

static struct job *take_ready(struct job_list *l, int64_t now_ns)
{
	for (struct job **p = &l->ready; *p; p = &(*p)->next) {
		struct job *j = *p;

		if (j->due_ns > now_ns)
			continue;
		*p = j->next;
		return j;
	}
	return NULL;
}

struct job *job_next(struct job_list *l, int64_t now_ns)
{
	const struct limits *known = &l->e->limits;
	struct job *j;

	while ((j = take_ready(l, now_ns)) && j->n > 1 &&
	       j->n >= known->items.bad)
		job_split(l, j, limits_items(known, l->trying > 0));
	return j || l->a->failed ? j : pack(l);
}

int64_t job_due(const struct job_list *l)
{
	int64_t first = l->n ? 0 : INT64_MAX;

	for (const struct job *j = l->ready; j; j = j->next)
		if (j->due_ns < first)
			first = j->due_ns;
	return first;
}

bool job_any(const struct job_list *l)
{
	return l->ready || l->n;
}

void job_again(struct job_list *l, struct job *j, int64_t due_ns)
{
	j->due_ns = due_ns;
	j->next = l->ready;
	l->ready = j;
}

/* Some items of a job; failures are counted anew, but not quite as patiently. */
static struct job *piece(struct job_list *l, const struct job *j, size_t from,
			 size_t n)
{
	struct job *p = new_job(l, n);

	if (!p)
		return NULL;
	memcpy(p->items, j->items + from, n * sizeof(*p->items));
	p->n = n;
	for (size_t i = 0; i < n; i++)
		p->tokens += job_tokens(l->e, p->items[i]);
	p->probed = j->probed;
	p->refused = j->refused;
	p->before = j->before;
	p->reason = j->reason;
	p->failed_ns = j->failed_ns;
	return p;
}

void job_split(struct job_list *l, struct job *j, size_t size)
{
	size_t end = j->n;

	if (!size)
		size = 1;
	/* From the last on, so that the first is sent first. */
	while (end) {
		size_t n = end % size ? end % size : size;
		struct job *p = piece(l, j, end - n, n);

		if (!p)
			return;
		job_again(l, p, 0);
		end -= n;
	}
}

void job_alone(struct job_list *l, const struct job *j, size_t item)
{
	struct job *p = piece(l, j, item, 1);

	if (!p)
		return;
	p->alone = true;
	job_again(l, p, 0);
}
