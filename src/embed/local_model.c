/*
 * Facts of a GGUF file. The id is the SHA-256 of the file's size, its first
 * 64 KiB and 4 KiB at each of 63 places over the rest: 0.3 MB are read of a
 * file of any size, and fine-tuned weights of one shape differ in it.
 */
#include "embed/local_model.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/path.h"
#include "base/utf8.h"
#include "encoder/gguf.h"

#define MIB ((int64_t)1 << 20)
#define ID_HEAD_BYTES ((size_t)65536)
#define ID_PIECE_BYTES ((size_t)4096)
#define ID_PIECES 63u
/*
 * llama.cpp clears vocabulary * tokens * 4 bytes before a text is embedded,
 * also where nothing comes of them; the window keeps that below 256 MiB. It
 * is given back after each text, so it is needed for a moment only.
 */
#define SCRATCH_BYTES (256 * MIB)
#define WINDOW_MAX 512 /* longer windows cost memory and gain nothing here */
#define WINDOW_MIN 64
/* The libraries, their tables of the vocabulary (about 300 bytes an entry) and
 * the graph of 512 tokens; from runs with shapes of 20 to 330 MB. */
#define LIBRARY_BYTES (64 * MIB)
#define VOCABULARY_BYTES 320
#define TABLES_BYTES 48 /* where it is not loaded (embed_worker_cut.h) */

struct row {
	const char *arch; /* "architecture:part" */
	const char *query_prefix, *document_prefix;
	enum local_pooling pooling;
	bool shortens;
};

static const struct row rows[] = {
#define MODEL(...) { __VA_ARGS__ },
#include "embed/local_model.def"
#undef MODEL
};

const char *local_pooling_name(enum local_pooling p)
{
	static const char *const names[] = { "none", "mean", "cls", "last",
					     "rank" };

	return p >= POOL_NONE && p <= POOL_RANK ? names[p] : "unsaid";
}

/* ---- reading ---------------------------------------------------------- */

static bool has_part(const char *s, const char *part)
{
	size_t n = strlen(part);

	for (; *s; s++)
		if (!strncasecmp(s, part, n))
			return true;
	return !n;
}

static const struct row *find_row(const struct local_model *m,
				  const char *file)
{
	size_t n = strlen(m->arch);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *part = rows[i].arch + n + 1;

		if (!strncmp(rows[i].arch, m->arch, n) &&
		    rows[i].arch[n] == ':' &&
		    (has_part(m->name, part) || has_part(file, part)))
			return &rows[i];
	}
	return NULL;
}

static int64_t number(const struct gguf *g, const struct local_model *m,
		      const char *key, int64_t def)
{
	char name[128];
	uint32_t v;

	snprintf(name, sizeof(name), "%s.%s", m->arch, key);
	return gguf_u32(g, name, &v, NULL) ? def : (int64_t)v;
}

/* One line of clean text into out; def where the file has none. */
static void text(char *out, size_t size, const struct gguf *g, const char *key,
		 const char *def)
{
	const char *s = def;
	size_t n = strlen(def);

	if (gguf_string(g, key, &s, &n, NULL) || !n || !utf8_valid(s, n)) {
		s = def;
		n = strlen(def);
	}
	n = utf8_cut(s, n, size - 1);
	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)s[i] < ' ' || s[i] == 0x7f ||
			 s[i] == '|' ? ' ' : s[i];
	out[n] = '\0';
}

static void make_id(struct local_model *m, const struct gguf *g)
{
	size_t head = g->size < ID_HEAD_BYTES ? g->size : ID_HEAD_BYTES;
	size_t step = (g->size - head) / ID_PIECES;
	unsigned char sum[SHA256_BYTES];
	uint64_t size = g->size;
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, &size, sizeof(size));
	sha256_add(&h, g->data, head);
	for (size_t i = 0; i < ID_PIECES; i++) {
		size_t at = head + i * step, n = g->size - at;

		sha256_add(&h, g->data + at,
			   n < ID_PIECE_BYTES ? n : ID_PIECE_BYTES);
	}
	sha256_done(&h, sum);
	hex_encode(m->id, sum, (sizeof(m->id) - 1) / 2);
}

static int bounded(int64_t v, int max)
{
	return v < 1 ? 0 : v > max ? max : (int)v;
}

static void read_numbers(struct local_model *m, const struct gguf *g)
{
	const struct gguf_key *pieces = gguf_find(g, "tokenizer.ggml.tokens");
	int64_t dims = number(g, m, "embedding_length", 0);

	dims = number(g, m, "dense_3_feat_out", dims);
	dims = number(g, m, "embedding_length_out", dims);
	m->dims = bounded(dims, 65536);
	m->max_tokens = bounded(number(g, m, "context_length", 512), 1 << 20);
	m->layers = bounded(number(g, m, "block_count", 0), 4096);
	m->pooling = (enum local_pooling)number(g, m, "pooling_type",
						POOL_UNSAID);
	m->tables = gguf_find(g, "remem.tokenizer.trie.nodes");
	m->vocabulary = pieces && pieces->type == GGUF_ARRAY ?
				(int64_t)pieces->count : 0;
}

/* Unigram models were trained on normalised text. Converters put the map into
 * the file; without it llama.cpp takes text as it is. */
static void read_tokenizer(struct local_model *m, const struct gguf *g)
{
	char kind[16];

	text(kind, sizeof(kind), g, "tokenizer.ggml.model", "");
	m->nfkc = !strcmp(kind, "t5") &&
		  !gguf_find(g, "tokenizer.ggml.precompiled_charsmap");
}

static int judge(struct local_model *m, const char *path,
		 struct remem_err *err)
{
	const struct row *row = find_row(m, path_base(path));

	if (!row)
		return fail(err, REMEM_EFORMAT, "'%s' is no model for "
			    "embeddings that is known: its architecture is "
			    "'%s'", path, m->arch);
	if (m->pooling == POOL_UNSAID)
		m->pooling = row->pooling;
	if (m->pooling == POOL_RANK || m->pooling > POOL_RANK ||
	    m->pooling < POOL_UNSAID)
		return fail(err, REMEM_EFORMAT, "'%s' gives no vectors: it is "
			    "a model that orders answers", path);
	if (m->pooling == POOL_NONE || m->pooling == POOL_UNSAID)
		return fail(err, REMEM_EFORMAT, "'%s' does not say how the "
			    "vectors of words become one", path);
	if (!m->dims || !m->max_tokens)
		return fail(err, REMEM_EFORMAT,
			    "'%s' does not say the size of its vectors", path);
	m->query_prefix = row->query_prefix;
	m->document_prefix = row->document_prefix;
	m->shortens = row->shortens;
	return 0;
}

int local_model_read(struct local_model *m, const char *path,
		     struct remem_err *err)
{
	struct gguf g;
	int rc = gguf_open_keys(&g, path, err);

	memset(m, 0, sizeof(*m));
	if (!rc) {
		text(m->arch, sizeof(m->arch), &g, "general.architecture", "");
		text(m->name, sizeof(m->name), &g, "general.name",
		     path_base(path));
		m->bytes = (int64_t)g.size;
		read_numbers(m, &g);
		read_tokenizer(m, &g);
		make_id(m, &g);
		rc = judge(m, path, err);
	}
	gguf_release(&g);
	return rc;
}

/* ---- memory ----------------------------------------------------------- */

int local_model_window(const struct local_model *m)
{
	int64_t window = WINDOW_MAX;
	int64_t per_token = m->vocabulary * (int64_t)sizeof(float);

	if (per_token && SCRATCH_BYTES / per_token < window)
		window = SCRATCH_BYTES / per_token;
	if (window < WINDOW_MIN)
		window = WINDOW_MIN;
	return window < m->max_tokens ? (int)window : m->max_tokens;
}

int64_t local_model_memory(const struct local_model *m)
{
	int64_t window = local_model_window(m);

	return m->bytes + LIBRARY_BYTES +
	       m->vocabulary * (m->tables ? TABLES_BYTES : VOCABULARY_BYTES) +
	       window * m->vocabulary * (int64_t)sizeof(float) +
	       /* keys, values and what the graph holds between two layers */
	       window * m->dims * (m->layers + 32) * (int64_t)sizeof(float);
}

/* A layer has about 12 * dims * dims weights; llama.cpp did 20 to 30 thousand
 * million of them a second in shapes of three sizes. */
int64_t local_model_speed(const struct local_model *m)
{
	int64_t weights = (int64_t)12 * m->dims * m->dims * m->layers;

	return weights > 0 ? INT64_C(22000000000) / weights : 0;
}
