/*
 * The kernel for AMX (Sapphire Rapids and newer): tiles of 16 rows are
 * multiplied as bf16, 8,192 products at an instruction, and summed up in
 * floats. So there is no scale to bring in after each block, as there would be
 * with bytes, and both weights and activations are rounded less.
 *
 * Weights stay in 4 bits: a block of 32 rows at a time becomes bf16, in a buffer
 * that stays in the cache, for all tokens of a stripe.
 *
 * Tokens are dealt out evenly to tiles of up to 16 rows; a last one that would
 * have fewer starts earlier, where it computes again what is there already.
 *
 * Tiles are configured in each call and released at its end: between calls a
 * thread has nothing that the system would have to save at a change of threads.
 */
#include "base/cpu.h"

#if defined(CPU_HAS_AMX)

#include "base/attr.h"
#include "encoder/kernel.h"

#include <string.h>

#define VEC ATTR_PLAIN_STACK __attribute__((target("avx512f,avx512bw," \
	"avx512vl,avx512dq,avx512bf16,fma,amx-tile,amx-bf16")))
#include "encoder/kernel_unroll.h"
#include "encoder/kernel_zmm.h"
#include "encoder/kernel_float.h"

#define SIDE 16 /* rows of a tile, and columns of four bytes */
#define TILE_BYTES 1024
#define PAIR_ROW 64 /* bytes of a row: 16 pairs of bf16 */
#define PANEL 32 /* rows of a matrix that are unpacked at once */

_Static_assert(KERNEL_BLOCK == 2 * SIDE && KERNEL_HEAD == 2 * SIDE &&
	       PANEL == 2 * KERNEL_ROWS && KERNEL_ROWS == SIDE,
	       "a block is a row of a tile");

/* Compilers' own names for these do not tell that memory is read. */
#define tile_load(tile, p, stride) \
	__asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile \
			 :: "r"(p), "r"((long)(stride)) : "memory")
#define tile_store(p, stride, tile) \
	__asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)" \
			 :: "r"(p), "r"((long)(stride)) : "memory")
#define tile_zero(tile) __asm__ volatile("tilezero %tmm" #tile)
#define tile_dot(sum, a, b) \
	__asm__ volatile("tdpbf16ps %tmm" #b ", %tmm" #a ", %tmm" #sum)

struct config { /* of all tiles; see ldtilecfg */
	uint8_t palette, start, none[14];
	uint16_t width[16];
	uint8_t rows[16];
};

/*
 * Tiles 0 to 5 (sums and first operands) have `rows` rows, 6 and 7 all. What
 * the caller's thread had is kept in `old` and put back at the end: other
 * libraries of a process configure a thread once and count on it.
 */
VEC static INLINE void tiles_begin(struct config *old, int rows)
{
	struct config c = { .palette = 1 };

	for (int i = 0; i < 8; i++) {
		c.width[i] = PAIR_ROW;
		c.rows[i] = (uint8_t)(i < 6 ? rows : SIDE);
	}
	__asm__ volatile("sttilecfg %0" : "=m"(*old));
	__asm__ volatile("ldtilecfg %0" :: "m"(c));
}

VEC static INLINE void tiles_end(const struct config *old)
{
	if (old->palette)
		__asm__ volatile("ldtilecfg %0" :: "m"(*old));
	else
		__asm__ volatile("tilerelease");
}

VEC static INLINE vi round_two(vf low, vf high)
{
	return (vi)_mm512_cvtne2ps_pbh(high, low);
}

/* ---- matrices --------------------------------------------------------- */

/*
 * Each of LANES rows has a weight in the lowest 4 bits. A pair is cut off to
 * bf16, not rounded, so that what is lost is added before, on the average.
 */
VEC static INLINE vf weight_of(vi w, vf by)
{
	const vf value = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1,
					2, 3, 4, 5, 6, 7);

	return vf_mul(_mm512_permutexvar_ps(w, value), by);
}

#define HALF_STEP 1.00135f /* 1 + 2^-9 / sqrt(2) */

VEC static INLINE void put_pair(uint8_t *out, vf a, vf b)
{
	vi low = _mm512_srli_epi32(_mm512_castps_si512(a), 16);

	vi_store(out, _mm512_mask_mov_epi16(low, 0xaaaaaaaa,
					    _mm512_castps_si512(b)));
}

/* A quarter of a block of 16 rows: some of a tile's [input / 2][row][2]. */
VEC static INLINE void unpack(uint8_t *out, const uint8_t *nibbles, vf by,
			      int quarter)
{
	vi w = _mm512_loadu_si512(nibbles + quarter * 64);

	out += quarter * 2 * PAIR_ROW;
	UNROLL for (int half = 0; half < 2; half++) {
		vi v = half ? _mm512_srli_epi32(w, 4) : w;

		put_pair(out, weight_of(v, by),
			 weight_of(_mm512_srli_epi32(v, 8), by));
		put_pair(out + PAIR_ROW,
			 weight_of(_mm512_srli_epi32(v, 16), by),
			 weight_of(_mm512_srli_epi32(v, 24), by));
		out += 8 * PAIR_ROW;
	}
}

struct cut { /* tokens of a stripe into tiles */
	int rows; /* of a tile */
	int tiles;
	int groups; /* of two tiles; the last may have one */
};

/* Two tiles of a few rows take no longer than a single one of 16. */
static struct cut cut_tokens(int n)
{
	struct cut c = { .tiles = (n + SIDE - 1) / SIDE };

	if (c.tiles == 1 && n > 1)
		c.tiles = 2;
	c.rows = (n + c.tiles - 1) / c.tiles;
	c.groups = (c.tiles + 1) / 2;
	return c;
}

/* First token of a tile; the last ones overlap with those before. */
static inline size_t tile_start(struct cut c, int n, int tile)
{
	int at = tile * c.rows;

	return (size_t)(at < n - c.rows ? at : n - c.rows);
}

/*
 * One matrix and the tokens of a stripe. Blocks of 32 rows are unpacked some
 * steps before they are needed, to one slot after the other. If there are
 * several groups of tokens, a panel of 32 rows stays for all of them while the
 * next one comes in; else few slots do, which stay in the L1 cache.
 */
struct job {
	const struct matrix *m;
	const uint8_t *q; /* activations */
	size_t pitch; /* of them */
	size_t wide_pitch; /* of activations for the next matrix */
	uint8_t *slots; /* of two tiles */
	int n_slots, ahead;
	int blocks, panels, n;
	struct cut cut;
	struct config config; /* of the caller */
};

#define RING 8 /* slots for one group */
#define RING_AHEAD 5

/* Sums of a group that still want gelu. */
struct sums {
	_Alignas(64) float x[4 * SIDE * SIDE]; /* as tiles 0 to 3 */
	uint8_t *out[2]; /* of tiles 0 and 1, 2 and 3 */
	int rows, done; /* rows: of all that there are */
};

VEC static INLINE uint8_t *slot(const struct job *j, int at)
{
	return j->slots + (size_t)(at % j->n_slots) * 2 * TILE_BYTES;
}

/* Where the block number `at` comes from and goes to; there is none behind the
 * last one, which then comes again, to a slot that nobody reads. */
struct source {
	uint8_t *out;
	const uint8_t *nibbles[2];
	vf by[2];
};

VEC static INLINE struct source find_block(const struct job *j, int at)
{
	int last = j->panels * j->blocks - 1, from = at < last ? at : last;
	int block = from + from / j->blocks * j->blocks;
	const uint16_t *scales = j->m->scales + block * KERNEL_ROWS;
	const uint8_t *nibbles = j->m->nibbles + block * KERNEL_TILE_BYTES;
	const vf half_step = vf_set1(HALF_STEP);

	return (struct source){
		.out = slot(j, at),
		.nibbles = { nibbles,
			     nibbles + j->blocks * KERNEL_TILE_BYTES },
		.by = { vf_mul(vf_half(scales), half_step),
			vf_mul(vf_half(scales + j->blocks * KERNEL_ROWS),
			       half_step) }
	};
}

VEC static INLINE void unpack_part(const struct source *s, int part)
{
	int tile = part / 4;

	unpack(s->out + tile * TILE_BYTES, s->nibbles[tile], s->by[tile],
	       part % 4);
}

VEC static void start_job(struct job *j, const struct matrix *m,
			  const struct acts *a, int n)
{
	j->m = m;
	j->q = (const uint8_t *)a->q;
	j->slots = a->panel;
	j->pitch = KERNEL_WIDE_PITCH(m->inputs);
	j->blocks = m->inputs / KERNEL_BLOCK;
	j->panels = m->rows / PANEL;
	j->n = n;
	j->cut = cut_tokens(n);
	j->n_slots = j->cut.groups > 1 ? 2 * j->blocks : RING;
	j->ahead = j->cut.groups > 1 ? j->blocks : RING_AHEAD;
	for (int i = 0; i < j->ahead; i++) {
		struct source s = find_block(j, i);

		UNROLL for (int part = 0; part < 8; part++)
			unpack_part(&s, part);
	}
	tiles_begin(&j->config, j->cut.rows);
}

VEC static INLINE void gelu_row(struct sums *s, size_t pitch, int rows)
{
	int tile = s->done >= rows, i = s->done - tile * rows;
	const float *x = s->x + tile * 2 * SIDE * SIDE + i * SIDE;

	vi_store(s->out[tile] + (size_t)i * pitch,
		 round_two(gelu(vf_load(x)), gelu(vf_load(x + SIDE * SIDE))));
	s->done++;
}

struct group { /* 32 rows of a matrix, one or two tiles of tokens */
	int panel;
	size_t a, b; /* first tokens */
	bool two;
	bool next; /* there are blocks to unpack */
};

/*
 * The sums of a group, left in tiles 0 to 3. What else is to do is done in
 * between, since the unit that multiplies tiles works beside the others: blocks
 * to come are unpacked, and the sums of the group before get their gelu, if
 * there are any. (That unit also falls asleep when it has nothing to do for
 * some hundred cycles, and takes as long to wake up.)
 */
VEC static INLINE void sum_tiles(const struct job *j, const struct group *g,
				 bool two, bool next, struct sums *sums)
{
	const float *bias = j->m->bias + g->panel * PANEL;
	const uint8_t *a = j->q + g->a * j->pitch;
	const uint8_t *b = j->q + g->b * j->pitch;
	int at = g->panel * j->blocks;
	struct source s;

	tile_load(0, bias, 0);
	tile_load(1, bias + SIDE, 0);
	if (two) {
		tile_load(2, bias, 0);
		tile_load(3, bias + SIDE, 0);
	}
	for (int i = 0; i < j->blocks; i++, at++) {
		const uint8_t *panel = slot(j, at);

		if (next)
			s = find_block(j, at + j->ahead);
		tile_load(4, a, j->pitch);
		tile_load(6, panel, PAIR_ROW);
		if (next)
			unpack_part(&s, 0);
		tile_dot(0, 4, 6);
		if (next)
			unpack_part(&s, 1);
		tile_load(7, panel + TILE_BYTES, PAIR_ROW);
		if (next)
			unpack_part(&s, 2);
		tile_dot(1, 4, 7);
		if (next)
			unpack_part(&s, 3);
		if (two)
			tile_load(5, b, j->pitch);
		if (next)
			unpack_part(&s, 4);
		if (two)
			tile_dot(2, 5, 6);
		if (next) {
			unpack_part(&s, 5);
			unpack_part(&s, 6);
		}
		if (two)
			tile_dot(3, 5, 7);
		if (next)
			unpack_part(&s, 7);
		a += PAIR_ROW;
		b += PAIR_ROW;
		if (sums)
			while (sums->done * j->blocks < sums->rows * (i + 1))
				gelu_row(sums, j->wide_pitch, j->cut.rows);
	}
}

/* The same for what is constant at each place. */
VEC static INLINE void sum_group(const struct job *j, const struct group *g,
				 struct sums *s)
{
	if (g->two && g->next)
		sum_tiles(j, g, true, true, s);
	else if (g->two)
		sum_tiles(j, g, true, false, s);
	else if (g->next)
		sum_tiles(j, g, false, true, s);
	else
		sum_tiles(j, g, false, false, s);
}

static struct group find_group(const struct job *j, int panel, int group)
{
	struct group g = { .panel = panel, .two = 2 * group + 1 < j->cut.tiles };

	g.a = tile_start(j->cut, j->n, 2 * group);
	g.b = tile_start(j->cut, j->n, 2 * group + 1);
	g.next = !group && (j->cut.groups == 1 || panel + 1 < j->panels);
	return g;
}

VEC static INLINE void store_sums(float *a, float *b, size_t bytes,
				  size_t right, bool two)
{
	tile_store(a, bytes, 0);
	tile_store(a + right, bytes, 1);
	if (two) {
		tile_store(b, bytes, 2);
		tile_store(b + right, bytes, 3);
	}
}

VEC static void multiply(float *out, size_t stride, const struct matrix *m,
			 const struct acts *a, int n)
{
	struct job j;

	start_job(&j, m, a, n);
	for (int r = 0; r < j.panels; r++, out += PANEL) {
		for (int i = 0; i < j.cut.groups; i++) {
			struct group g = find_group(&j, r, i);

			sum_group(&j, &g, NULL);
			store_sums(out + g.a * stride, out + g.b * stride,
				   stride * sizeof(float), SIDE, g.two);
		}
	}
	tiles_end(&j.config);
}

VEC static void multiply_gelu(struct acts *out, const struct matrix *m,
			      const struct acts *a, int n)
{
	struct sums s = { .rows = 0 };
	uint8_t *o = (uint8_t *)out->q;
	struct job j;

	start_job(&j, m, a, n);
	j.wide_pitch = KERNEL_WIDE_PITCH(out->inputs);
	for (int r = 0; r < j.panels; r++, o += PAIR_ROW) {
		for (int i = 0; i < j.cut.groups; i++) {
			struct group g = find_group(&j, r, i);

			sum_group(&j, &g, &s);
			store_sums(s.x, s.x + 2 * SIDE * SIDE, PAIR_ROW,
				   SIDE * SIDE, g.two);
			s.out[0] = o + g.a * j.wide_pitch;
			s.out[1] = o + g.b * j.wide_pitch;
			s.rows = j.cut.rows * (g.two ? 2 : 1);
			s.done = 0;
		}
	}
	while (s.done < s.rows)
		gelu_row(&s, j.wide_pitch, j.cut.rows);
	tiles_end(&j.config);
}

/* ---- token by token --------------------------------------------------- */

VEC static void quantize(struct acts *a, const float *x, int n)
{
	const size_t pitch = KERNEL_WIDE_PITCH(a->inputs);

	for (int t = 0; t < n; t++) {
		uint8_t *q = (uint8_t *)a->q + (size_t)t * pitch;

		for (int i = 0; i < a->inputs; i += KERNEL_BLOCK, x += 2 * LANES)
			vi_store(q + 2 * i, round_two(vf_load(x),
						      vf_load(x + LANES)));
	}
}

/* ---- attention -------------------------------------------------------- */

struct head { /* one head of one sequence */
	uint8_t *queries; /* [len][32] */
	uint8_t *keys; /* [end / 16][16 pairs of dimensions][16 keys][2] */
	uint8_t *values; /* [end / 32][two tiles: 16 pairs of keys][16][2] */
	size_t stride; /* of what comes and goes */
	int len, end; /* end: a multiple of 32 */
	int pitch; /* of scores, later weights in bf16; no power of two */
};

/* log2(e) / sqrt(32): scores are in powers of two. */
#define SCORE_SCALE 0.25503487f

VEC static void pack_queries(const struct head *h, const float *q)
{
	const vf by = vf_set1(SCORE_SCALE);

	for (int t = 0; t < h->len; t++, q += h->stride)
		vi_store(h->queries + t * PAIR_ROW,
			 round_two(vf_mul(vf_load(q), by),
				   vf_mul(vf_load(q + LANES), by)));
}

/* 16 rows of 16 words to 16 columns. */
VEC static INLINE void transpose(vi *r)
{
	vi a[16], b[16];

	UNROLL for (int i = 0; i < 16; i += 2) {
		a[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
		a[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
	}
	UNROLL for (int i = 0; i < 16; i += 4) {
		b[i] = _mm512_unpacklo_epi64(a[i], a[i + 2]);
		b[i + 1] = _mm512_unpackhi_epi64(a[i], a[i + 2]);
		b[i + 2] = _mm512_unpacklo_epi64(a[i + 1], a[i + 3]);
		b[i + 3] = _mm512_unpackhi_epi64(a[i + 1], a[i + 3]);
	}
	UNROLL for (int i = 0; i < 4; i++) { /* quarters to their places */
		vi even = _mm512_shuffle_i32x4(b[i], b[4 + i], 0x88);
		vi odd = _mm512_shuffle_i32x4(b[i], b[4 + i], 0xdd);
		vi even2 = _mm512_shuffle_i32x4(b[8 + i], b[12 + i], 0x88);
		vi odd2 = _mm512_shuffle_i32x4(b[8 + i], b[12 + i], 0xdd);

		r[i] = _mm512_shuffle_i32x4(even, even2, 0x88);
		r[4 + i] = _mm512_shuffle_i32x4(odd, odd2, 0x88);
		r[8 + i] = _mm512_shuffle_i32x4(even, even2, 0xdd);
		r[12 + i] = _mm512_shuffle_i32x4(odd, odd2, 0xdd);
	}
}

VEC static void pack_keys(const struct head *h, const float *k)
{
	vi r[SIDE];

	for (int t = 0; t < h->end; t += SIDE) {
		UNROLL for (int i = 0; i < SIDE; i++) {
			r[i] = vi_set1(0);
			if (t + i < h->len) {
				r[i] = round_two(vf_load(k),
						 vf_load(k + LANES));
				k += h->stride;
			}
		}
		transpose(r);
		UNROLL for (int i = 0; i < SIDE; i++)
			vi_store(h->keys + (t + i) * PAIR_ROW, r[i]);
	}
}

VEC static void pack_values(const struct head *h, const float *v)
{
	const vi mix = _mm512_set_epi16(
		31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8,
		23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);

	for (int t = 0; t < h->end; t += 2, v += 2 * h->stride) {
		vf a[2], b[2];

		UNROLL for (int i = 0; i < 2; i++) {
			a[i] = b[i] = vf_set1(0);
			if (t < h->len)
				a[i] = vf_load(v + i * LANES);
			if (t + 1 < h->len)
				b[i] = vf_load(v + h->stride + i * LANES);
			vi_store(h->values + t / 32 * 2 * TILE_BYTES +
				 i * TILE_BYTES + t % 32 / 2 * PAIR_ROW,
				 _mm512_permutexvar_epi16(
					 mix, round_two(a[i], b[i])));
		}
	}
}

/*
 * 2^x = 2^f * 2^n, f being what x is above the next lower whole number n. The
 * polynomial meets 2^f at four Chebyshev nodes; it is off by 1.0e-04 at most, a
 * fortieth of a step of bf16.
 */
VEC static INLINE vf power(vf x)
{
	vf f = _mm512_reduce_ps(x, 1), p;

	p = vf_fma(vf_set1(0.078967257f), f, vf_set1(0.22469316f));
	p = vf_fma(p, f, vf_set1(0.69632477f));
	p = vf_fma(p, f, vf_set1(0.99990029f));
	return vf_scale2(p, x);
}

/* A row of scores to weights, in place; returns one over their sum. */
VEC static INLINE float soften(float *s, int len, int end)
{
	vf top, most[2], sum[2] = { vf_set1(0), vf_set1(0) };
	uint8_t *out = (uint8_t *)s; /* behind what is still to be read */

	for (int i = len; i < end; i++)
		s[i] = -INFINITY;
	most[0] = vf_load(s);
	most[1] = vf_load(s + LANES);
	for (int at = 2 * LANES; at < end; at += 2 * LANES) {
		most[0] = vf_max(most[0], vf_load(s + at));
		most[1] = vf_max(most[1], vf_load(s + at + LANES));
	}
	top = vf_set1(vf_largest(vf_max(most[0], most[1])));
	for (int at = 0; at < end; at += 2 * LANES, out += PAIR_ROW) {
		vf a = power(vf_sub(vf_load(s + at), top));
		vf b = power(vf_sub(vf_load(s + at + LANES), top));

		sum[0] = vf_add(sum[0], a);
		sum[1] = vf_add(sum[1], b);
		vi_store(out, round_two(a, b));
	}
	return 1 / vf_sum(vf_add(sum[0], sum[1]));
}

/* 16 queries at a time. Scores, weights and results of three such groups are
 * worked on in turns, so that tiles are multiplied while powers are taken. */
struct turn {
	float *scores[2]; /* of the present group; of the one before and next */
	float by[2][SIDE]; /* one over the sums of the present and the last */
	float *last; /* where results go, or NULL */
	const uint8_t *next; /* queries, or NULL */
};

VEC static INLINE void score_keys(const struct head *h, float *scores,
				  const uint8_t *queries, int t)
{
	const size_t pitch = (size_t)h->pitch * sizeof(float);
	const uint8_t *keys = h->keys + t * PAIR_ROW;

	if (!t)
		tile_load(4, queries, PAIR_ROW);
	tile_zero(0);
	tile_zero(1);
	tile_load(6, keys, PAIR_ROW);
	tile_dot(0, 4, 6);
	tile_load(7, keys + TILE_BYTES, PAIR_ROW);
	tile_dot(1, 4, 7);
	tile_store(scores + t, pitch, 0);
	tile_store(scores + t + SIDE, pitch, 1);
}

VEC static INLINE void put_results(const struct head *h, float *out,
				   const float *by, int rows)
{
	_Alignas(64) float x[2 * SIDE * SIDE];

	tile_store(x, PAIR_ROW, 2);
	tile_store(x + SIDE * SIDE, PAIR_ROW, 3);
	for (int i = 0; i < rows; i++, out += h->stride) {
		vf b = vf_set1(by[i]);

		vf_store(out, vf_mul(vf_load(x + i * SIDE), b));
		vf_store(out + SIDE, vf_mul(vf_load(
			x + SIDE * SIDE + i * SIDE), b));
	}
}

VEC static INLINE void gather_keys(const struct head *h, const float *weights,
				   int t)
{
	const uint8_t *values = h->values + t * PAIR_ROW;

	if (!t) {
		tile_zero(2);
		tile_zero(3);
	}
	tile_load(5, (const uint8_t *)weights + t * 2,
		  (size_t)h->pitch * sizeof(float));
	tile_load(6, values, PAIR_ROW);
	tile_dot(2, 5, 6);
	tile_load(7, values + TILE_BYTES, PAIR_ROW);
	tile_dot(3, 5, 7);
}

/* Some of the work on the groups beside: first on the last one, which leaves
 * its place to the next one. t goes over the keys twice. */
VEC static INLINE void beside(const struct head *h, struct turn *turn, int t,
			      int rows)
{
	if (t < h->end && turn->last) {
		gather_keys(h, turn->scores[1], t);
		if (t + 2 * SIDE == h->end)
			put_results(h, turn->last, turn->by[1], rows);
	}
	if (t >= h->end && turn->next)
		score_keys(h, turn->scores[1], turn->next, t - h->end);
}

VEC static INLINE void some(const struct head *h, struct turn *turn, int rows)
{
	float *scores = turn->scores[0];

	for (int i = 0, t = 0; i < rows; i++) {
		for (; t * rows < 2 * h->end * (i + 1); t += 2 * SIDE)
			beside(h, turn, t, rows);
		turn->by[0][i] = soften(scores + i * h->pitch, h->len, h->end);
	}
	turn->scores[0] = turn->scores[1];
	turn->scores[1] = scores;
	memcpy(turn->by[1], turn->by[0], sizeof(turn->by[0]));
}

VEC static void attend(float *out, const float *q, const float *k,
		       const float *v, size_t stride, int len,
		       struct attend_scratch *s)
{
	int end = (len + 2 * SIDE - 1) / (2 * SIDE) * 2 * SIDE;
	struct head h = { .queries = (uint8_t *)s->queries,
			  .keys = (uint8_t *)s->keys,
			  .values = (uint8_t *)s->values, .stride = stride,
			  .len = len, .end = end, .pitch = end + SIDE };
	struct turn turn = { .scores = { s->scores,
					 s->scores + SIDE * h.pitch } };
	struct config config;
	struct cut c = { .tiles = (len + SIDE - 1) / SIDE };

	c.rows = (len + c.tiles - 1) / c.tiles;
	pack_queries(&h, q);
	pack_keys(&h, k);
	pack_values(&h, v);
	tiles_begin(&config, c.rows);
	for (int t = 0; t < end; t += 2 * SIDE)
		score_keys(&h, turn.scores[0], h.queries, t);
	for (int g = 0; g < c.tiles; g++) {
		turn.next = g + 1 == c.tiles ? NULL :
			h.queries + tile_start(c, len, g + 1) * PAIR_ROW;
		some(&h, &turn, c.rows);
		turn.last = out + tile_start(c, len, g) * stride;
	}
	for (int t = 0; t < end; t += 2 * SIDE)
		gather_keys(&h, turn.scores[1], t);
	put_results(&h, turn.last, turn.by[1], c.rows);
	tiles_end(&config);
}

const struct kernel kernel_amx = {
	.level = CPU_AMX,
	.wide = true,
	.stripe = KERNEL_MAX_LEN,
	.quantize = quantize,
	.multiply = multiply,
	.multiply_gelu = multiply_gelu,
	.add_norm = add_norm,
	.attend = attend,
};

#else
typedef int kernel_amx_is_for_x86; /* an empty file is no C */
#endif
