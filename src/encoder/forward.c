/*
 * BERT with the norms behind attention and feed-forward. The token-wise parts
 * run over stripes of tokens, so that what one step writes is still in the
 * cache when the next one reads it.
 */
#include "encoder/forward.h"

#include <string.h>

#include "base/alloc.h"

#define ALIGN 64

struct layout {
	size_t size;
	char *base;
};

/* Room for count items; the first round only counts, the second hands out. */
static void *room(struct layout *l, size_t count, size_t size)
{
	char *p = l->base ? l->base + l->size : NULL;

	l->size += (count * size + ALIGN - 1) / ALIGN * ALIGN;
	return p;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

static void place_acts(struct acts *a, struct layout *l,
		       const struct kernel *k, int inputs, size_t n)
{
	a->inputs = inputs;
	if (k->wide) {
		a->q = room(l, n * KERNEL_WIDE_PITCH(inputs), 1);
		a->panel = room(l, KERNEL_PANEL_BYTES(inputs), 1);
		return;
	}
	a->q = room(l, n * KERNEL_PITCH, 1);
	a->init = room(l, n * KERNEL_BLOCK_PITCH, sizeof(*a->init));
	a->scale = room(l, n * KERNEL_BLOCK_PITCH, sizeof(*a->scale));
}

static void place(struct forward *f, struct layout *l, const struct model *m,
		  const struct kernel *k)
{
	size_t n = (size_t)f->tokens * (size_t)m->width;
	size_t stripe = (size_t)least(f->tokens, k->stripe);

	f->x = room(l, n, sizeof(float));
	f->query = room(l, n, sizeof(float));
	f->key = room(l, n, sizeof(float));
	f->value = room(l, n, sizeof(float));
	if (!k->wide)
		f->inner = room(l, stripe * (size_t)m->inner, sizeof(float));
	place_acts(&f->acts, l, k, m->width, stripe);
	place_acts(&f->inner_acts, l, k, m->inner, stripe);
	f->scratch = room(l, 1, sizeof(*f->scratch));
}

bool forward_init(struct forward *f, const struct model *m,
		  const struct kernel *k, int tokens)
{
	struct layout l = { 0, NULL };

	memset(f, 0, sizeof(*f));
	f->kernel = k;
	f->tokens = tokens;
	place(f, &l, m, k);
	f->memory = mem_zalloc_aligned(ALIGN, l.size);
	if (!f->memory)
		return false;
	l.size = 0;
	l.base = f->memory;
	place(f, &l, m, k);
	return true;
}

void forward_release(struct forward *f)
{
	mem_free_aligned(f->memory);
	memset(f, 0, sizeof(*f));
}

static void embed_words(struct forward *f, const struct model *m,
			const struct kernel *k, const struct batch *b)
{
	size_t width = (size_t)m->width;
	size_t row = width / GGUF_Q4_0_VALUES * GGUF_Q4_0_BYTES;

	for (int s = 0; s < b->n_sequences; s++) {
		for (int t = b->start[s]; t < b->start[s + 1]; t++) {
			float *x = f->x + (size_t)t * width;
			const float *position = m->position +
				(size_t)(t - b->start[s]) * width;

			kernel_unpack(x, m->words + (size_t)b->ids[t] * row,
				      m->width);
			for (size_t i = 0; i < width; i++)
				x[i] += position[i] + m->kind[i];
		}
	}
	k->add_norm(f->x, NULL, m->norm, m->norm_bias, b->n_tokens, m->width,
		    m->eps);
}

static void project(struct forward *f, const struct layer *l,
		    const struct kernel *k, int n, size_t width)
{
	for (int t = 0; t < n; t += k->stripe) {
		size_t at = (size_t)t * width;
		int count = least(n - t, k->stripe);

		k->quantize(&f->acts, f->x + at, count);
		k->multiply(f->query + at, width, &l->query, &f->acts, count);
		k->multiply(f->key + at, width, &l->key, &f->acts, count);
		k->multiply(f->value + at, width, &l->value, &f->acts, count);
	}
}

/* Each head writes its result over its own queries. */
static void attend(struct forward *f, const struct kernel *k,
		   const struct batch *b, const struct model *m)
{
	size_t width = (size_t)m->width;

	for (int s = 0; s < b->n_sequences; s++) {
		for (int h = 0; h < m->heads; h++) {
			size_t at = (size_t)b->start[s] * width +
				(size_t)h * KERNEL_HEAD;

			k->attend(f->query + at, f->query + at, f->key + at,
				  f->value + at, width,
				  b->start[s + 1] - b->start[s], f->scratch);
		}
	}
}

static void widen(struct forward *f, const struct layer *l,
		  const struct kernel *k, int n)
{
	if (k->multiply_gelu) {
		k->multiply_gelu(&f->inner_acts, &l->up, &f->acts, n);
		return;
	}
	k->multiply(f->inner, (size_t)l->up.rows, &l->up, &f->acts, n);
	k->gelu_quantize(&f->inner_acts, f->inner, n);
}

/* From what attention gave to the layer's result; key serves as scratch. */
static void feed_forward(struct forward *f, const struct layer *l,
			 const struct kernel *k, const struct model *m, int n)
{
	size_t width = (size_t)m->width;
	float *y = f->key;

	for (int t = 0; t < n; t += k->stripe) {
		float *x = f->x + (size_t)t * width;
		int count = least(n - t, k->stripe);

		k->quantize(&f->acts, f->query + (size_t)t * width, count);
		k->multiply(y, width, &l->output, &f->acts, count);
		k->add_norm(x, y, l->attn_norm, l->attn_norm_bias, count,
			    m->width, m->eps);
		k->quantize(&f->acts, x, count);
		widen(f, l, k, count);
		k->multiply(y, width, &l->down, &f->inner_acts, count);
		k->add_norm(x, y, l->out_norm, l->out_norm_bias, count,
			    m->width, m->eps);
	}
}

static void take_means(const struct forward *f, const struct batch *b,
		       size_t width, float *means)
{
	for (int s = 0; s < b->n_sequences; s++) {
		float *mean = means + (size_t)s * width;
		float by = 1.0f / (float)(b->start[s + 1] - b->start[s]);

		memset(mean, 0, width * sizeof(*mean));
		for (int t = b->start[s]; t < b->start[s + 1]; t++)
			for (size_t i = 0; i < width; i++)
				mean[i] += f->x[(size_t)t * width + i];
		for (size_t i = 0; i < width; i++)
			mean[i] *= by;
	}
}

bool forward_run(struct forward *f, const struct model *m,
		 const struct batch *b, float *means,
		 bool (*stop)(void *ctx), void *ctx)
{
	const struct kernel *k = f->kernel;

	embed_words(f, m, k, b);
	for (int i = 0; i < m->n_layers; i++) {
		if (stop && stop(ctx))
			return false;
		project(f, &m->layers[i], k, b->n_tokens, (size_t)m->width);
		attend(f, k, b, m);
		feed_forward(f, &m->layers[i], k, m, b->n_tokens);
	}
	take_means(f, b, (size_t)m->width, means);
	return true;
}
