/*
 * The kernel for any machine with vectors, written once over LANES numbers.
 * A file that includes this has defined, with the names below:
 *
 * LEVEL, KERNEL   what it is called
 * VEC             attributes of every function: the instructions it may use
 * LANES           numbers in a vector; divides the 16 rows of a tile
 * TOKENS          tokens beside a tile, at most 12
 * QUERIES         rows of attention worked on at once, at most KERNEL_QUERIES
 * vf, vi          LANES floats, LANES 32-bit integers
 * vf_load, _store, _set1, _add, _sub, _mul, _div, _max, _min, _abs, _fma(a, b,
 * c) = a * b + c, _round, _sum, _largest, _half (from fp16), _scale2(a, n) =
 * a * 2^n for whole n, _of (from integers); vi_of (to the nearest, even between
 * two), vi_add, vi_sum, vi_set1, vi_store
 *
 * and what differs most between machines, sums of products of bytes:
 *
 * put_bytes       32 integers to signed bytes; returns their sum
 * wb, wb_load     4 nibbles of each of LANES rows; wb_low, wb_high: as bytes
 * ws, ws_start, ws_add(s, w, q, g), ws_end: nibbles times the bytes of group g
 *                 behind q, from `init` on
 * ks, ks_start, ks_add, ks_end: the same for keys, whose words were xored with
 *                 KEY_FLIP; with a flip an init is -128 times the sum of q
 * ps, ps_start, ps_add(s, p, v), ps_end: pairs of 16-bit numbers, v from
 *                 vi_pair(a, b) and stored, p the pair of all lanes
 * put_weights     LANES integers to 16 bits
 */
#include <math.h>
#include <string.h>

#include "encoder/kernel_float.h"

#define PARTS (KERNEL_ROWS / LANES) /* of a tile */
#define HEAD_GROUPS (KERNEL_HEAD / 4)

/* ---- matrices --------------------------------------------------------- */

VEC static INLINE void add_products(ws *sum, wb w, const int8_t *q, int group,
				    int tokens)
{
	UNROLL for (int t = 0; t < tokens; t++)
		sum[t] = ws_add(sum[t], w, q + t * KERNEL_PITCH, group);
}

/* 4 inputs of the block's first half and 4 of its second. */
VEC static INLINE void add_group(ws *sum, const uint8_t *nibbles,
				 const int8_t *q, int group, int tokens)
{
	wb w = wb_load(nibbles + group * KERNEL_ROWS * 4);

	add_products(sum, wb_low(w), q, group, tokens);
	add_products(sum, wb_high(w), q + 16, group, tokens);
}

/* Part of a tile for `tokens` tokens, a constant at each place of use. */
VEC static INLINE void tile(float *out, size_t stride, const struct matrix *m,
			    const struct acts *a, size_t index, size_t first,
			    int tokens)
{
	const size_t blocks = (size_t)m->inputs / KERNEL_BLOCK;
	const uint8_t *nibbles = m->nibbles + index % PARTS * LANES * 4 +
		index / PARTS * blocks * KERNEL_TILE_BYTES;
	const uint16_t *scales = m->scales + index % PARTS * LANES +
		index / PARTS * blocks * KERNEL_ROWS;
	const int8_t *q = a->q + first * KERNEL_PITCH;
	const int32_t *init = a->init + first * KERNEL_BLOCK_PITCH;
	const float *scale = a->scale + first * KERNEL_BLOCK_PITCH;
	vf total[TOKENS], bias;
	ws sum[TOKENS];

	UNROLL for (int t = 0; t < tokens; t++)
		total[t] = vf_set1(0);
	for (size_t b = 0; b < blocks; b++) {
		vf by = vf_half(scales);

		UNROLL for (int t = 0; t < tokens; t++)
			sum[t] = ws_start(init[t * KERNEL_BLOCK_PITCH]);
		add_group(sum, nibbles, q, 0, tokens);
		add_group(sum, nibbles, q, 1, tokens);
		add_group(sum, nibbles, q, 2, tokens);
		add_group(sum, nibbles, q, 3, tokens);
		UNROLL for (int t = 0; t < tokens; t++) {
			vi s = ws_end(sum[t], init[t * KERNEL_BLOCK_PITCH]);

			total[t] = vf_fma(vf_of(s), vf_mul(by, vf_set1(
				scale[t * KERNEL_BLOCK_PITCH])), total[t]);
		}
		nibbles += KERNEL_TILE_BYTES;
		scales += KERNEL_ROWS;
		q += KERNEL_BLOCK;
		init++;
		scale++;
	}
	bias = vf_load(m->bias + index * LANES);
	out += first * stride + index * LANES;
	UNROLL for (int t = 0; t < tokens; t++)
		vf_store(out + (size_t)t * stride, vf_add(total[t], bias));
}

#define TILE(n)                                                            \
	VEC static void tile_##n(float *out, size_t stride,                \
				 const struct matrix *m,                   \
				 const struct acts *a, size_t index,       \
				 size_t first)                             \
	{                                                                  \
		tile(out, stride, m, a, index, first, n);                  \
	}
TILE(1) TILE(2) TILE(3) TILE(4)
#if TOKENS > 4
TILE(5) TILE(6)
#endif
#if TOKENS > 6
TILE(7) TILE(8)
#endif
#if TOKENS > 8
TILE(9) TILE(10) TILE(11) TILE(12)
#endif

typedef void tile_fn(float *, size_t, const struct matrix *,
		     const struct acts *, size_t, size_t);

static tile_fn *const tiles[TOKENS + 1] = {
	NULL, tile_1, tile_2, tile_3, tile_4,
#if TOKENS > 4
	tile_5, tile_6,
#endif
#if TOKENS > 6
	tile_7, tile_8,
#endif
#if TOKENS > 8
	tile_9, tile_10, tile_11, tile_12
#endif
};

/* Tokens are dealt out evenly, 17 as 9 and 8: few in a group are wasteful. */
static void multiply(float *out, size_t stride, const struct matrix *m,
		     const struct acts *a, int n)
{
	int groups = (n + TOKENS - 1) / TOKENS;

	for (int r = 0; r < m->rows / LANES; r++) {
		for (int g = 0, at = 0; g < groups; g++) {
			int end = n * (g + 1) / groups;

			tiles[end - at](out, stride, m, a, (size_t)r,
					(size_t)at);
			at = end;
		}
	}
}

/* ---- token by token --------------------------------------------------- */

#define BLOCK_VECTORS (KERNEL_BLOCK / LANES)

/* What is no number becomes a byte that sums cannot overflow with. */
VEC static INLINE void quantize_block(const vf *x, int8_t *q, float *scale,
				      int32_t *init)
{
	vf most = vf_abs(x[0]), by;
	vi i[BLOCK_VECTORS];
	float max;

	UNROLL for (int n = 1; n < BLOCK_VECTORS; n++)
		most = vf_max(most, vf_abs(x[n]));
	max = vf_largest(most);
	by = vf_set1(max > KERNEL_TINY ? 127 / max : 0);
	UNROLL for (int n = 0; n < BLOCK_VECTORS; n++)
		i[n] = vi_of(vf_mul(x[n], by));
	*scale = max / 127;
	*init = -8 * put_bytes(q, i);
}

VEC static INLINE void load_block(vf *v, const float *x)
{
	UNROLL for (int i = 0; i < BLOCK_VECTORS; i++)
		v[i] = vf_load(x + i * LANES);
}

VEC static void quantize(struct acts *a, const float *x, int n)
{
	int blocks = a->inputs / KERNEL_BLOCK;
	vf v[BLOCK_VECTORS];

	for (int t = 0; t < n; t++) {
		int8_t *q = a->q + t * KERNEL_PITCH;
		float *scale = a->scale + t * KERNEL_BLOCK_PITCH;
		int32_t *init = a->init + t * KERNEL_BLOCK_PITCH;

		for (int b = 0; b < blocks; b++, x += KERNEL_BLOCK) {
			load_block(v, x);
			quantize_block(v, q + b * KERNEL_BLOCK, scale + b,
				       init + b);
		}
	}
}

VEC static void gelu_quantize(struct acts *a, float *x, int n)
{
	int blocks = a->inputs / KERNEL_BLOCK;
	vf v[BLOCK_VECTORS];

	for (int t = 0; t < n; t++) {
		int8_t *q = a->q + t * KERNEL_PITCH;
		float *scale = a->scale + t * KERNEL_BLOCK_PITCH;
		int32_t *init = a->init + t * KERNEL_BLOCK_PITCH;

		for (int b = 0; b < blocks; b++, x += KERNEL_BLOCK) {
			load_block(v, x);
			UNROLL for (int i = 0; i < BLOCK_VECTORS; i++)
				v[i] = gelu(v[i]);
			quantize_block(v, q + b * KERNEL_BLOCK, scale + b,
				       init + b);
		}
	}
}

/* ---- attention -------------------------------------------------------- */

/*
 * Scores are bytes times bytes. Keys lie in tiles of LANES:
 * [tile][4 of the 32 dimensions][LANES keys][4 bytes]; a last tile is filled up
 * with its last key, so that the largest score stays what it is.
 *
 * Weights and values are 16-bit integers, two keys to a lane: a weight of 1 is
 * 4095, the largest value of a column 1000, so that 512 products fit 32 bits.
 * Eight bits would lose what many small weights add up to.
 */
#define WEIGHT_ONE 4095
#define VALUE_MOST 1000

_Static_assert((long long)WEIGHT_ONE * VALUE_MOST * KERNEL_MAX_LEN <= INT32_MAX,
	       "sums of attention fit");

struct head { /* one head of one sequence */
	int32_t *keys;
	float *key_scale;
	int32_t *values; /* [len / 2][32], two keys in each */
	float value_scale[KERNEL_HEAD];
	float *scores; /* [QUERIES][KERNEL_MAX_LEN], later 16-bit weights */
	size_t stride; /* of queries and results */
	int len;
};

VEC static INLINE void quantize_head(const float *x, int8_t *q, float *scale,
				     int32_t *init)
{
	vf v[BLOCK_VECTORS];

	load_block(v, x);
	quantize_block(v, q, scale, init);
}

VEC static void pack_keys(const struct head *h, const float *k)
{
	int end = (h->len + LANES - 1) / LANES * LANES;
	int32_t words[HEAD_GROUPS], init;

	for (int i = 0; i < end; i++) {
		int32_t *out = h->keys + i / LANES * LANES * HEAD_GROUPS +
			i % LANES;

		if (i < h->len)
			quantize_head(k + (size_t)i * h->stride,
				      (int8_t *)words, h->key_scale + i, &init);
		else
			h->key_scale[i] = h->key_scale[i - 1];
		for (int g = 0; g < HEAD_GROUPS; g++)
			out[g * LANES] = words[g] ^ KEY_FLIP;
	}
}

/* LANES columns; a column of zeros gets a scale, too. */
VEC static void pack_columns(struct head *h, const float *v, int column)
{
	vf most = vf_set1(KERNEL_TINY), by;

	for (int t = 0; t < h->len; t++)
		most = vf_max(most, vf_abs(vf_load(
			v + (size_t)t * h->stride + column)));
	by = vf_div(vf_set1(VALUE_MOST), most);
	vf_store(h->value_scale + column,
		 vf_div(most, vf_set1(VALUE_MOST)));
	for (int t = 0; t < h->len; t += 2) {
		const float *row = v + (size_t)t * h->stride + column;
		vi a = vi_of(vf_mul(vf_load(row), by)), b = vi_set1(0);

		if (t + 1 < h->len)
			b = vi_of(vf_mul(vf_load(row + h->stride), by));
		vi_store(h->values + t / 2 * KERNEL_HEAD + column,
			 vi_pair(a, b));
	}
}

/* Scores, in powers of two, of some queries; returns the largest of each. */
VEC static INLINE void score(const struct head *h, const int8_t *q,
			     const float *q_scale, const int32_t *q_init,
			     vf *most, int queries)
{
	const int32_t *keys = h->keys;
	ks sum[QUERIES];

	UNROLL for (int t = 0; t < queries; t++)
		most[t] = vf_set1(-INFINITY);
	for (int at = 0; at < h->len; at += LANES) {
		vf by = vf_load(h->key_scale + at);

		UNROLL for (int t = 0; t < queries; t++)
			sum[t] = ks_start(q_init[t]);
		UNROLL for (int g = 0; g < HEAD_GROUPS; g++, keys += LANES)
			UNROLL for (int t = 0; t < queries; t++)
				sum[t] = ks_add(sum[t], keys,
						q + t * KERNEL_HEAD + g * 4);
		UNROLL for (int t = 0; t < queries; t++) {
			vf s = vf_mul(vf_of(ks_end(sum[t])),
				      vf_mul(by, vf_set1(q_scale[t])));

			most[t] = vf_max(most[t], s);
			vf_store(h->scores + t * KERNEL_MAX_LEN + at, s);
		}
	}
}

/* WEIGHT_ONE * 2^x for x <= 0; below 2^-100 it is that, no denormal. */
VEC static INLINE vi weight(vf x)
{
	vf n, f, p;

	x = vf_max(x, vf_set1(-100));
	n = vf_round(x);
	f = vf_sub(x, n);
	p = vf_set1(WEIGHT_ONE * 0.00967703f);
	p = vf_fma(p, f, vf_set1(WEIGHT_ONE * 0.05550549f));
	p = vf_fma(p, f, vf_set1(WEIGHT_ONE * 0.24022652f));
	p = vf_fma(p, f, vf_set1(WEIGHT_ONE * 0.69314718f));
	p = vf_fma(p, f, vf_set1(WEIGHT_ONE));
	return vi_of(vf_scale2(p, n));
}

/* Scores to weights, in place; returns one over their sum. */
VEC static INLINE float soften(float *s, int len, vf most)
{
	const vf top = vf_set1(vf_largest(most));
	vi sum = vi_set1(0);
	int16_t *out = (int16_t *)s; /* behind what is still to be read */

	for (int i = len; i % LANES; i++)
		s[i] = -INFINITY;
	for (int at = 0; at < len; at += LANES) {
		vi p = weight(vf_sub(vf_load(s + at), top));

		sum = vi_add(sum, p);
		put_weights(out + at, p);
	}
	return 1 / (float)vi_sum(sum);
}

/* Two vectors of columns of some results. */
VEC static INLINE void gather(const struct head *h, const float *by,
			      float *out, int column, int queries)
{
	const int32_t *values = h->values + column;
	ps sum[QUERIES][2];

	UNROLL for (int t = 0; t < queries; t++)
		sum[t][0] = sum[t][1] = ps_start();
	for (int s = 0; s < h->len; s += 2, values += KERNEL_HEAD) {
		UNROLL for (int t = 0; t < queries; t++) {
			const int16_t *p = (const int16_t *)(h->scores +
				t * KERNEL_MAX_LEN) + s;

			sum[t][0] = ps_add(sum[t][0], p, values);
			sum[t][1] = ps_add(sum[t][1], p, values + LANES);
		}
	}
	UNROLL for (int t = 0; t < queries; t++) {
		float *o = out + (size_t)t * h->stride + column;
		vf b = vf_set1(by[t]);

		UNROLL for (int i = 0; i < 2; i++)
			vf_store(o + i * LANES, vf_mul(
				vf_of(ps_end(sum[t][i])),
				vf_mul(b, vf_load(h->value_scale + column +
						  i * LANES))));
	}
}

VEC static INLINE void some(const struct head *h, float *out, const float *q,
			    int queries)
{
	int8_t bytes[QUERIES * KERNEL_HEAD];
	float scale[QUERIES], by[QUERIES];
	int32_t init[QUERIES];
	vf most[QUERIES];

	for (int t = 0; t < queries; t++) {
		quantize_head(q + (size_t)t * h->stride,
			      bytes + t * KERNEL_HEAD, scale + t, init + t);
		/* from -8 times the sum to -128 times, or to none */
		init[t] *= KEY_FLIP ? 16 : 0;
		scale[t] *= 0.25503487f; /* log2(e) / sqrt(32) */
	}
	score(h, bytes, scale, init, most, queries);
	UNROLL for (int t = 0; t < queries; t++)
		by[t] = soften(h->scores + t * KERNEL_MAX_LEN, h->len, most[t]);
	for (int column = 0; column < KERNEL_HEAD; column += 2 * LANES)
		gather(h, by, out, column, queries);
}

#define SOME(n)                                                            \
	VEC static void some_##n(const struct head *h, float *out,         \
				 const float *q)                           \
	{                                                                  \
		some(h, out, q, n);                                        \
	}
SOME(1) SOME(2) SOME(3) SOME(4)
#if QUERIES > 4
SOME(5) SOME(6) SOME(7) SOME(8)
#endif

typedef void some_fn(const struct head *, float *, const float *);

static some_fn *const somes[QUERIES + 1] = {
	NULL, some_1, some_2, some_3, some_4,
#if QUERIES > 4
	some_5, some_6, some_7, some_8
#endif
};

VEC static void attend(float *out, const float *q, const float *k,
		       const float *v, size_t stride, int len,
		       struct attend_scratch *s)
{
	struct head h = { .keys = s->keys, .key_scale = s->key_scale,
			  .values = s->values, .scores = s->scores,
			  .stride = stride, .len = len };
	int groups = (len + QUERIES - 1) / QUERIES;

	pack_keys(&h, k);
	for (int column = 0; column < KERNEL_HEAD; column += LANES)
		pack_columns(&h, v, column);
	for (int g = 0, at = 0; g < groups; g++) {
		int end = len * (g + 1) / groups;

		somes[end - at](&h, out + (size_t)at * stride,
				q + (size_t)at * stride);
		at = end;
	}
}

const struct kernel KERNEL = {
	.level = LEVEL,
	.stripe = KERNEL_STRIPE,
	.quantize = quantize,
	.gelu_quantize = gelu_quantize,
	.multiply = multiply,
	.add_norm = add_norm,
	.attend = attend,
};
