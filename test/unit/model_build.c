/* GGUF files for tests; see model_build.h. */
#include "model_build.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#undef fail /* base/err.h has a function of that name */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/gguf.h"
#include "encoder/kernel.h"

#define WIDTH 64
#define INNER 128
#define POSITIONS 16
#define FIRST_PIECE 4

const char *const build_pieces[] = {
	"\xe2\x96\x81", "a", "b", "ab", "\xe2\x96\x81" "a", "abab",
	"\xe2\x96\x81the", "t", "h", "e", "中", "文", "中文", "记忆", "记", "c"
};
const size_t build_n_pieces = sizeof(build_pieces) / sizeof(*build_pieces);

static void put(unsigned char **p, size_t *len, size_t *cap, const void *from,
		size_t n)
{
	while (*len + n > *cap) {
		*cap = *cap ? *cap * 2 : 4096;
		*p = realloc(*p, *cap);
		assert_non_null(*p);
	}
	if (n)
		memcpy(*p + *len, from, n);
	*len += n;
}

static void put_key(struct gguf_build *b, const void *from, size_t n)
{
	put(&b->p, &b->len, &b->cap, from, n);
}

static void put_u32(struct gguf_build *b, uint32_t v)
{
	put_key(b, &v, sizeof(v));
}

static void put_u64(struct gguf_build *b, uint64_t v)
{
	put_key(b, &v, sizeof(v));
}

static void put_string(struct gguf_build *b, const char *s)
{
	put_u64(b, strlen(s));
	put_key(b, s, strlen(s));
}

static void begin_key(struct gguf_build *b, const char *name, uint32_t type)
{
	put_string(b, name);
	put_u32(b, type);
	b->n_keys++;
}

void build_u32(struct gguf_build *b, const char *name, uint32_t v)
{
	begin_key(b, name, GGUF_U32);
	put_u32(b, v);
}

void build_f32(struct gguf_build *b, const char *name, float v)
{
	begin_key(b, name, GGUF_F32);
	put_key(b, &v, sizeof(v));
}

void build_string(struct gguf_build *b, const char *name, const char *s)
{
	begin_key(b, name, GGUF_STRING);
	put_string(b, s);
}

static void begin_array(struct gguf_build *b, const char *name, uint32_t type,
			size_t count)
{
	begin_key(b, name, GGUF_ARRAY);
	put_u32(b, type);
	put_u64(b, count);
}

void build_array(struct gguf_build *b, const char *name, uint32_t item_type,
		 const void *items, size_t count, size_t item_size)
{
	static const unsigned char zeros[64];
	char pad[32];
	size_t at, n;

	snprintf(pad, sizeof(pad), "pad.%d", b->pads++);
	at = 24 + b->len + 24 + strlen(pad) + 24 + strlen(name);
	n = (64 - at % 64) % 64;
	begin_array(b, pad, GGUF_U8, n);
	put_key(b, zeros, n);
	begin_array(b, name, item_type, count);
	put_key(b, items, count * item_size);
}

void build_strings(struct gguf_build *b, const char *name,
		   const char *const *s, size_t count)
{
	begin_array(b, name, GGUF_STRING, count);
	for (size_t i = 0; i < count; i++)
		put_string(b, s[i]);
}

void build_tensor(struct gguf_build *b, const char *name, uint32_t type,
		  uint64_t d0, uint64_t d1, const void *data, size_t bytes)
{
	static const unsigned char zeros[32];
	uint64_t words[3] = { strlen(name), d0, d1 };
	uint64_t offset = b->data_len;
	uint32_t dims = d1 > 1 ? 2 : 1;

	put(&b->info, &b->info_len, &b->info_cap, words, 8);
	put(&b->info, &b->info_len, &b->info_cap, name, strlen(name));
	put(&b->info, &b->info_len, &b->info_cap, &dims, 4);
	put(&b->info, &b->info_len, &b->info_cap, words + 1, 8 * dims);
	put(&b->info, &b->info_len, &b->info_cap, &type, 4);
	put(&b->info, &b->info_len, &b->info_cap, &offset, 8);
	put(&b->data, &b->data_len, &b->data_cap, data, bytes);
	put(&b->data, &b->data_len, &b->data_cap, zeros,
	    (32 - bytes % 32) % 32);
	b->n_tensors++;
}

void build_finish(struct gguf_build *b)
{
	static const unsigned char zeros[32];
	struct gguf_build whole = { 0 };

	put_key(&whole, "GGUF", 4);
	put_u32(&whole, 3);
	put_u64(&whole, b->n_tensors);
	put_u64(&whole, b->n_keys);
	put_key(&whole, b->p, b->len);
	put_key(&whole, b->info, b->info_len);
	if (b->n_tensors)
		put_key(&whole, zeros, (32 - whole.len % 32) % 32);
	put_key(&whole, b->data, b->data_len);
	build_release(b);
	*b = whole;
}

void build_release(struct gguf_build *b)
{
	free(b->p);
	free(b->info);
	free(b->data);
	memset(b, 0, sizeof(*b));
}

/* ---- the tiny model --------------------------------------------------- */

static uint32_t random_state = 1;

static uint32_t random_u32(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state >> 8;
}

static void add_floats(struct gguf_build *b, const char *name, size_t d0,
		       size_t d1, float middle, float spread)
{
	float *v = calloc(d0 * d1, sizeof(*v));

	assert_non_null(v);
	for (size_t i = 0; i < d0 * d1; i++)
		v[i] = middle + spread *
			((float)(random_u32() % 2001) / 1000 - 1);
	build_tensor(b, name, GGUF_TENSOR_F32, d0, d1, v,
		     d0 * d1 * sizeof(*v));
	free(v);
}

static void add_words(struct gguf_build *b, size_t rows)
{
	size_t bytes = rows * WIDTH / 32 * 18;
	unsigned char *v = calloc(bytes, 1);

	assert_non_null(v);
	for (size_t i = 0; i < bytes; i++)
		v[i] = (unsigned char)random_u32();
	for (size_t i = 0; i < bytes; i += 18) { /* fp16 near 0.01 */
		v[i] = 0x1f;
		v[i + 1] = 0x21;
	}
	build_tensor(b, "token_embd.weight", GGUF_TENSOR_Q4_0, WIDTH, rows, v,
		     bytes);
	free(v);
}

/* Child ranges by breadth, as tools/make-model.py lays them out. */
static size_t make_trie(uint32_t *nodes, uint32_t *ids, size_t *n_ids)
{
	char prefix[256][16];
	size_t n = 1;

	nodes[0] = 0;
	prefix[0][0] = 0;
	*n_ids = 0;
	for (size_t at = 0; at < n; at++) {
		size_t len = strlen(prefix[at]), first = n;

		for (int c = 1; c < 256; c++) {
			bool found = false, ends = false;

			for (size_t i = 0; i < build_n_pieces; i++) {
				const char *s = build_pieces[i];

				if (strncmp(s, prefix[at], len) ||
				    (unsigned char)s[len] != c)
					continue;
				found = true;
				if (!s[len + 1]) {
					ends = true;
					ids[(*n_ids)++] =
						(uint32_t)i + FIRST_PIECE;
				}
			}
			if (!found)
				continue;
			assert_true(n < 256);
			snprintf(prefix[n], sizeof(prefix[n]), "%.*s%c",
				 (int)len, prefix[at], c);
			nodes[n++] = (uint32_t)c | (ends ? 256 : 0);
		}
		if (n > first) {
			nodes[at] |= (uint32_t)first << 10;
			nodes[n - 1] |= 512;
		}
	}
	return n;
}

static void add_tokenizer(struct gguf_build *b)
{
	static const uint32_t map[] = { 0, 0, '\t', ' ', '\n', ' ', 0xfffd, ' ' };
	uint32_t nodes[256], ids[64], ranks[8], ends = 0;
	size_t n_ids, n = make_trie(nodes, ids, &n_ids);
	float scores[FIRST_PIECE + 64] = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (i % 32 == 0)
			ranks[i / 32] = ends;
		ends += nodes[i] >> 8 & 1;
	}
	for (size_t i = 0; i < build_n_pieces; i++)
		scores[FIRST_PIECE + i] = -1 - (float)i;
	build_string(b, "tokenizer.ggml.model", "t5");
	build_u32(b, "tokenizer.ggml.token_type_count", 2);
	build_u32(b, "tokenizer.ggml.bos_token_id", 0);
	build_u32(b, "tokenizer.ggml.eos_token_id", 2);
	build_u32(b, "tokenizer.ggml.unknown_token_id", 3);
	build_f32(b, "remem.tokenizer.unknown_score", -40);
	build_array(b, "tokenizer.ggml.scores", GGUF_F32, scores,
		    FIRST_PIECE + build_n_pieces, 4);
	build_array(b, "remem.tokenizer.trie.nodes", GGUF_U32, nodes, n, 4);
	build_array(b, "remem.tokenizer.trie.ids", GGUF_U32, ids, n_ids, 4);
	build_array(b, "remem.tokenizer.trie.ranks", GGUF_U32, ranks,
		    (n + 31) / 32, 4);
	build_array(b, "remem.tokenizer.map", GGUF_U32, map, 8, 4);
}

bool build_small_items;

static void add_tiles(struct gguf_build *b)
{
	const size_t values = 4 * WIDTH * WIDTH + 2 * WIDTH * INNER;
	unsigned char *nibbles = calloc(values / 2, 1);
	uint16_t *scales = calloc(values / 32, 2);

	assert_non_null(nibbles);
	assert_non_null(scales);
	for (size_t i = 0; i < values / 2; i++)
		nibbles[i] = (unsigned char)random_u32();
	for (size_t i = 0; i < values / 32; i++)
		scales[i] = (uint16_t)(0x2000 + random_u32() % 1024);
	if (build_small_items) {
		build_array(b, "remem.tiles.scales", GGUF_U16, scales,
			    values / 32, 2);
		build_array(b, "remem.tiles.nibbles", GGUF_U8, nibbles,
			    values / 2, 1);
	} else {
		build_array(b, "remem.tiles.scales", GGUF_U64, scales,
			    values / 32 / 4, 8);
		build_array(b, "remem.tiles.nibbles", GGUF_U64, nibbles,
			    values / 2 / 8, 8);
	}
	free(nibbles);
	free(scales);
}

static void add_layer(struct gguf_build *b)
{
	static const char *const vectors[] = {
		"attn_q.bias", "attn_k.bias", "attn_v.bias",
		"attn_output.bias", "ffn_down.bias", "attn_output_norm.bias",
		"layer_output_norm.bias"
	};
	char name[64];

	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		snprintf(name, sizeof(name), "blk.0.%s", vectors[i]);
		add_floats(b, name, WIDTH, 1, 0, 0.1f);
	}
	add_floats(b, "blk.0.ffn_up.bias", INNER, 1, 0, 0.1f);
	add_floats(b, "blk.0.attn_output_norm.weight", WIDTH, 1, 1, 0.1f);
	add_floats(b, "blk.0.layer_output_norm.weight", WIDTH, 1, 1, 0.1f);
}

void build_model(struct gguf_build *b)
{
	memset(b, 0, sizeof(*b));
	random_state = 1;
	build_string(b, "general.architecture", "bert");
	build_string(b, "general.name", "tiny");
	build_u32(b, "bert.block_count", 1);
	build_u32(b, "bert.context_length", POSITIONS);
	build_u32(b, "bert.embedding_length", WIDTH);
	build_u32(b, "bert.feed_forward_length", INNER);
	build_u32(b, "bert.attention.head_count", WIDTH / KERNEL_HEAD);
	build_f32(b, "bert.attention.layer_norm_epsilon", 1e-12f);
	build_u32(b, "bert.pooling_type", 1);
	build_u32(b, "remem.format", 1);
	build_string(b, "remem.id", "0123456789abcdef0123456789abcdef"
		     "0123456789abcdef0123456789abcdef");
	add_tokenizer(b);
	add_tiles(b);
	add_words(b, FIRST_PIECE + build_n_pieces);
	add_floats(b, "position_embd.weight", WIDTH, POSITIONS, 0, 0.1f);
	add_floats(b, "token_types.weight", WIDTH, 2, 0, 0.1f);
	add_floats(b, "token_embd_norm.weight", WIDTH, 1, 1, 0.1f);
	add_floats(b, "token_embd_norm.bias", WIDTH, 1, 0, 0.1f);
	add_layer(b);
	build_finish(b);
}

void build_write(const void *p, size_t len, const char *path)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

const char *model_path(void)
{
	const char *path = getenv("REMEM_MODEL");

	return path && path[0] ? path :
		"build/share/remem/models/multilingual-e5-small-q4_0.gguf";
}
