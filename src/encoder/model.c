/*
 * Finds the weights in the GGUF. A model of another shape than this encoder
 * computes is refused here, so that the forward pass needs no checks.
 */
#include "encoder/model.h"

#include <stdio.h>
#include <string.h>

/* Tiles are taken off these arrays, matrix by matrix. */
struct tiles {
	const uint8_t *nibbles;
	const uint16_t *scales;
	uint64_t n_nibbles, n_scales; /* left */
};

static int get_int(const struct gguf *g, const char *name, int low, int high,
		   int *out, struct remem_err *err)
{
	uint32_t v;
	int rc = gguf_u32(g, name, &v, err);

	if (rc)
		return rc;
	if (v < (uint32_t)low || v > (uint32_t)high)
		return fail(err, REMEM_EFORMAT,
			    "GGUF key '%s' is %u, not %d to %d", name,
			    (unsigned)v, low, high);
	*out = (int)v;
	return 0;
}

static int check_kind(const struct gguf *g, struct remem_err *err)
{
	const char *s;
	size_t len;
	int rc, format = 0, pooling = 0;

	if ((rc = gguf_string(g, "general.architecture", &s, &len, err)))
		return rc;
	if (len != 4 || memcmp(s, "bert", 4))
		return fail(err, REMEM_EFORMAT,
			    "GGUF has architecture '%.*s', not 'bert'",
			    (int)(len < 32 ? len : 32), s);
	if (!gguf_find(g, "remem.format")) {
		rc = fail(err, REMEM_EFORMAT,
			  "GGUF is not prepared for the builtin encoder");
		fail_action(err, "make it with tools/make-model.py, or use "
			    "this file with the provider 'local'");
		return rc;
	}
	if ((rc = get_int(g, "remem.format", 0, INT32_MAX, &format, err)))
		return rc;
	if (format != MODEL_FORMAT)
		return fail(err, format > MODEL_FORMAT ? REMEM_EVERSION :
			    REMEM_EFORMAT, "model has format %d, not %d",
			    format, MODEL_FORMAT);
	/* 1 is the mean over all tokens */
	return get_int(g, "bert.pooling_type", 1, 1, &pooling, err);
}

static int get_shape(struct model *m, struct remem_err *err)
{
	const struct gguf *g = &m->file;
	int rc, v = 0;

	if ((rc = get_int(g, "bert.block_count", 1, MODEL_MAX_LAYERS,
			  &m->n_layers, err)) ||
	    (rc = get_int(g, "bert.context_length", 8, KERNEL_MAX_LEN,
			  &m->positions, err)) ||
	    (rc = get_int(g, "bert.embedding_length", 64, MODEL_MAX_WIDTH,
			  &m->width, err)) ||
	    (rc = get_int(g, "bert.feed_forward_length", 64, MODEL_MAX_INNER,
			  &m->inner, err)) ||
	    (rc = get_int(g, "bert.attention.head_count", 1, MODEL_MAX_WIDTH,
			  &m->heads, err)) ||
	    (rc = gguf_f32(g, "bert.attention.layer_norm_epsilon", &m->eps,
			   err)))
		return rc;
	m->vocabulary = (int)m->tokenizer.n_scores;
	if (m->width % 64 || m->inner % 64 ||
	    m->heads * KERNEL_HEAD != m->width ||
	    !(m->eps > 0 && m->eps < 1))
		return fail(err, REMEM_EFORMAT,
			    "model shape %d, %d, %d heads is not supported",
			    m->width, m->inner, m->heads);
	if ((rc = get_int(g, "tokenizer.ggml.bos_token_id", 0,
			  m->vocabulary - 1, &v, err)))
		return rc;
	m->first_token = v;
	if ((rc = get_int(g, "tokenizer.ggml.eos_token_id", 0,
			  m->vocabulary - 1, &v, err)))
		return rc;
	m->last_token = v;
	return 0;
}

static int get_names(struct model *m, struct remem_err *err)
{
	const char *s;
	size_t len;
	int rc;

	if ((rc = gguf_string(&m->file, "general.name", &s, &len, err)))
		return rc;
	if (!len || len >= sizeof(m->name) || memchr(s, 0, len))
		return fail(err, REMEM_EFORMAT, "model has a wrong name");
	for (size_t i = 0; i < len; i++)
		if (s[i] < 0x21 || s[i] > 0x7e)
			return fail(err, REMEM_EFORMAT,
				    "model name has a byte that is not plain "
				    "ASCII");
	memcpy(m->name, s, len);
	if ((rc = gguf_string(&m->file, "remem.id", &s, &len, err)))
		return rc;
	for (size_t i = 0; i < len && i < 64; i++)
		if (!s[i] || !strchr("0123456789abcdef", s[i]))
			len = 0;
	if (len != 64)
		return fail(err, REMEM_EFORMAT, "model has a wrong id");
	memcpy(m->id, s, len);
	return 0;
}

static int get_floats(const struct gguf *g, const char *name, int d0, int d1,
		      const float **out, struct remem_err *err)
{
	const void *p;
	int rc = gguf_tensor(g, name, GGUF_TENSOR_F32, (uint64_t)d0,
			     (uint64_t)d1, &p, err);

	if (!rc)
		*out = p;
	return rc;
}

static int get_embeddings(struct model *m, struct remem_err *err)
{
	const struct gguf *g = &m->file;
	const void *p;
	int rc, kinds = 0;

	if ((rc = get_int(g, "tokenizer.ggml.token_type_count", 1, 16, &kinds,
			  err)) ||
	    (rc = gguf_tensor(g, "token_embd.weight", GGUF_TENSOR_Q4_0,
			      (uint64_t)m->width, (uint64_t)m->vocabulary, &p,
			      err)) ||
	    (rc = get_floats(g, "position_embd.weight", m->width, m->positions,
			     &m->position, err)) ||
	    (rc = get_floats(g, "token_types.weight", m->width, kinds,
			     &m->kind, err)) ||
	    (rc = get_floats(g, "token_embd_norm.weight", m->width, 1,
			     &m->norm, err)) ||
	    (rc = get_floats(g, "token_embd_norm.bias", m->width, 1,
			     &m->norm_bias, err)))
		return rc;
	m->words = p;
	return 0;
}

static int get_vector(const struct gguf *g, int layer, const char *what,
		      int width, const float **out, struct remem_err *err)
{
	char name[96];

	snprintf(name, sizeof(name), "blk.%d.%s", layer, what);
	return get_floats(g, name, width, 1, out, err);
}

static int get_matrix(const struct gguf *g, struct tiles *t, int layer,
		      const char *what, int rows, int inputs,
		      struct matrix *out, struct remem_err *err)
{
	uint64_t values = (uint64_t)rows * (uint64_t)inputs;
	char bias[64];

	if (values / 2 > t->n_nibbles || values / KERNEL_BLOCK > t->n_scales)
		return fail(err, REMEM_EFORMAT,
			    "GGUF arrays 'remem.tiles.*' are too short");
	out->nibbles = t->nibbles;
	out->scales = t->scales;
	out->rows = rows;
	out->inputs = inputs;
	t->nibbles += values / 2;
	t->n_nibbles -= values / 2;
	t->scales += values / KERNEL_BLOCK;
	t->n_scales -= values / KERNEL_BLOCK;
	snprintf(bias, sizeof(bias), "%s.bias", what);
	return get_vector(g, layer, bias, rows, &out->bias, err);
}

static int get_layer(struct model *m, struct tiles *t, int i,
		     struct remem_err *err)
{
	const struct gguf *g = &m->file;
	struct layer *l = &m->layers[i];
	int w = m->width, rc;

	if ((rc = get_matrix(g, t, i, "attn_q", w, w, &l->query, err)) ||
	    (rc = get_matrix(g, t, i, "attn_k", w, w, &l->key, err)) ||
	    (rc = get_matrix(g, t, i, "attn_v", w, w, &l->value, err)) ||
	    (rc = get_matrix(g, t, i, "attn_output", w, w, &l->output, err)) ||
	    (rc = get_matrix(g, t, i, "ffn_up", m->inner, w, &l->up, err)) ||
	    (rc = get_matrix(g, t, i, "ffn_down", w, m->inner, &l->down, err)))
		return rc;
	if ((rc = get_vector(g, i, "attn_output_norm.weight", w, &l->attn_norm,
			     err)) ||
	    (rc = get_vector(g, i, "attn_output_norm.bias", w,
			     &l->attn_norm_bias, err)) ||
	    (rc = get_vector(g, i, "layer_output_norm.weight", w, &l->out_norm,
			     err)))
		return rc;
	return get_vector(g, i, "layer_output_norm.bias", w, &l->out_norm_bias,
			  err);
}

/*
 * An array of small numbers, in bytes. It may stand in the file as 64-bit
 * items: llama.cpp reads, and prints, arrays item by item, and needs a second
 * for ten million of them.
 */
static int get_packed(const struct gguf *g, const char *name, uint32_t type,
		      size_t size, const void **out, uint64_t *bytes,
		      struct remem_err *err)
{
	const struct gguf_key *k = gguf_find(g, name);
	int rc;

	if (k && k->type == GGUF_ARRAY && k->item_type == GGUF_U64) {
		type = GGUF_U64;
		size = sizeof(uint64_t);
	}
	rc = gguf_array(g, name, type, out, bytes, err);
	if (!rc)
		*bytes *= size;
	return rc;
}

static int get_layers(struct model *m, struct remem_err *err)
{
	const struct gguf *g = &m->file;
	const void *nibbles, *scales;
	struct tiles t;
	int rc;

	if ((rc = get_packed(g, "remem.tiles.nibbles", GGUF_U8, 1, &nibbles,
			     &t.n_nibbles, err)) ||
	    (rc = get_packed(g, "remem.tiles.scales", GGUF_U16,
			     sizeof(uint16_t), &scales, &t.n_scales, err)))
		return rc;
	t.nibbles = nibbles;
	t.scales = scales;
	t.n_scales /= sizeof(uint16_t);
	for (int i = 0; i < m->n_layers; i++)
		if ((rc = get_layer(m, &t, i, err)))
			return rc;
	return 0;
}

int model_open(struct model *m, const char *path, struct remem_err *err)
{
	int rc;

	memset(m, 0, sizeof(*m));
	if ((rc = gguf_open(&m->file, path, err)))
		return rc;
	if ((rc = check_kind(&m->file, err)) || (rc = get_names(m, err)) ||
	    (rc = unigram_init(&m->tokenizer, &m->file, err)) ||
	    (rc = get_shape(m, err)) || (rc = get_embeddings(m, err)) ||
	    (rc = get_layers(m, err)))
		fail_add(err, "'%s'", path);
	return rc;
}

void model_release(struct model *m)
{
	if (m)
		gguf_release(&m->file);
}
