/*
 * Unigram tokenizer. Words are handled one after the other: a piece has the
 * blank mark U+2581 at its beginning only, so no piece reaches over two words
 * and the best cut of the text is the best cut of each word.
 *
 * A word's cut is found forwards: best[i] is the highest score of any cut of
 * the first i bytes, and from every i that can be reached the trie is walked
 * as far as the bytes lead. Of equal scores the one found first stays, which
 * is the longer piece, as in sentencepiece.
 */
#include "encoder/unigram.h"

#include <string.h>

#include "base/utf8.h"

#define MARK "\xe2\x96\x81" /* U+2581 before each word */
#define MARK_LEN 3
#define UNREACHED (-1e30f)
#define MAX_SCORE 1e6f

#define NODE_LABEL(n) ((unsigned char)((n) & 0xff))
#define NODE_ENDS(n) ((n) >> 8 & 1)
#define NODE_LAST(n) ((n) >> 9 & 1)
#define NODE_CHILD(n) ((n) >> 10)
#define RANK_NODES 32

static int get_u32s(const struct gguf *g, const char *name,
		    const uint32_t **out, size_t *count, struct remem_err *err)
{
	const void *p;
	uint64_t n;
	int rc = gguf_array(g, name, GGUF_U32, &p, &n, err);

	if (rc)
		return rc;
	*out = p;
	*count = (size_t)n;
	return 0;
}

static int get_map(struct unigram *u, const struct gguf *g,
		   struct remem_err *err)
{
	size_t n;
	int rc = get_u32s(g, "remem.tokenizer.map", &u->map.pairs, &n, err);

	if (rc)
		return rc;
	u->map.count = n / 2;
	for (size_t i = 0; i < u->map.count; i++) {
		const uint32_t *p = u->map.pairs + 2 * i;

		if (p[1] > 0x10ffff || (i && p[0] <= p[-2]))
			return fail(err, REMEM_EFORMAT,
				    "GGUF key 'remem.tokenizer.map' is wrong "
				    "at %zu", i);
	}
	return n % 2 ? fail(err, REMEM_EFORMAT, "GGUF key "
			    "'remem.tokenizer.map' has an odd length") : 0;
}

/* The root has many children and is asked for every character. */
static void fill_root(struct unigram *u)
{
	size_t at = NODE_CHILD(u->nodes[0]);

	memset(u->root, 0, sizeof(u->root));
	for (int i = 0; i < 256 && at && at < u->n_nodes; i++, at++) {
		u->root[NODE_LABEL(u->nodes[at])] = (uint32_t)at;
		if (NODE_LAST(u->nodes[at]))
			break;
	}
}

int unigram_init(struct unigram *u, const struct gguf *g,
		 struct remem_err *err)
{
	const void *scores;
	uint64_t n_scores;
	uint32_t unknown;
	int rc;

	memset(u, 0, sizeof(*u));
	if ((rc = get_u32s(g, "remem.tokenizer.trie.nodes", &u->nodes,
			   &u->n_nodes, err)) ||
	    (rc = get_u32s(g, "remem.tokenizer.trie.ids", &u->ids, &u->n_ids,
			   err)) ||
	    (rc = get_u32s(g, "remem.tokenizer.trie.ranks", &u->ranks,
			   &u->n_ranks, err)) ||
	    (rc = get_map(u, g, err)) ||
	    (rc = gguf_array(g, "tokenizer.ggml.scores", GGUF_F32, &scores,
			     &n_scores, err)) ||
	    (rc = gguf_u32(g, "tokenizer.ggml.unknown_token_id", &unknown,
			   err)) ||
	    (rc = gguf_f32(g, "remem.tokenizer.unknown_score",
			   &u->unknown_score, err)))
		return rc;
	u->scores = scores;
	u->n_scores = (size_t)n_scores;
	if (!u->n_nodes || u->n_scores > INT32_MAX || unknown >= u->n_scores ||
	    u->n_ranks != (u->n_nodes + RANK_NODES - 1) / RANK_NODES ||
	    !(u->unknown_score < 0 && u->unknown_score > -MAX_SCORE))
		return fail(err, REMEM_EFORMAT,
			    "the tokenizer's tables in the GGUF do not fit "
			    "together");
	u->unknown = (int32_t)unknown;
	fill_root(u);
	return 0;
}

/* Child of node by the byte, 0 if there is none. */
static size_t child(const struct unigram *u, size_t node, unsigned char byte)
{
	size_t at = NODE_CHILD(u->nodes[node]);

	if (at <= node) /* none; or a loop in a hostile file */
		return 0;
	for (; at < u->n_nodes; at++) {
		uint32_t n = u->nodes[at];

		if (NODE_LABEL(n) == byte)
			return at;
		if (NODE_LABEL(n) > byte || NODE_LAST(n))
			break;
	}
	return 0;
}

/* Id and score of the piece that ends at node; false if it has none. */
static bool piece(const struct unigram *u, size_t node, int32_t *id,
		  float *score)
{
	size_t block = node / RANK_NODES * RANK_NODES;
	size_t rank = u->ranks[node / RANK_NODES];

	for (size_t i = block; i < node; i++)
		rank += NODE_ENDS(u->nodes[i]);
	if (rank >= u->n_ids || u->ids[rank] >= u->n_scores)
		return false;
	*id = (int32_t)u->ids[rank];
	*score = u->scores[*id];
	return *score > -MAX_SCORE && *score < MAX_SCORE; /* and no NaN */
}

void unigram_start(struct unigram_run *r, const struct unigram *u,
		   const char *text, size_t len)
{
	r->u = u;
	normalize_init(&r->in, &u->map, text, len);
	r->held = 0;
	r->gap = true;
	r->ended = false;
	r->after_unknown = false;
	r->len = 0;
	r->n_queue = 0;
}

static void append(struct unigram_run *r, uint32_t cp)
{
	char bytes[4];
	int n = utf8_encode(bytes, cp);

	memcpy(r->window + r->len, bytes, (size_t)n);
	r->len += (size_t)n;
}

/*
 * Fills the window up to the end of a word; true when that is reached, false
 * when the window is full before it.
 */
static bool fill(struct unigram_run *r)
{
	uint32_t cp;

	for (;;) {
		if (r->held) {
			cp = r->held;
			r->held = 0;
		} else if (!normalize_next(&r->in, &cp)) {
			r->ended = true;
			return true;
		}
		if (cp == ' ') {
			r->gap = true;
			continue;
		}
		if (r->gap && r->len) {
			r->held = cp;
			return true;
		}
		if (r->gap) {
			memcpy(r->window, MARK, MARK_LEN);
			r->len = MARK_LEN;
			r->gap = false;
		}
		append(r, cp);
		if (r->len >= UNIGRAM_WINDOW)
			return false;
	}
}

static size_t char_len(unsigned char c)
{
	return c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

static void reach(struct unigram_run *r, size_t from, size_t to, int32_t id,
		  float score)
{
	if (r->best[from] + score > r->best[to]) {
		r->best[to] = r->best[from] + score;
		r->from[to] = (uint16_t)from;
		r->id[to] = id;
	}
}

/* All pieces that begin at `from`, and the unknown one where it is needed. */
static void extend(struct unigram_run *r, size_t from)
{
	const struct unigram *u = r->u;
	size_t one = from + char_len(r->window[from]), at = from;
	size_t end = r->len - from > UNIGRAM_PIECE ? from + UNIGRAM_PIECE :
		r->len;
	size_t node = u->root[r->window[at++]];
	bool known = false;
	int32_t id;
	float score;

	if (one > r->len)
		one = r->len;
	while (node) {
		if (NODE_ENDS(u->nodes[node]) &&
		    piece(u, node, &id, &score)) {
			reach(r, from, at, id, score);
			known |= at == one;
		}
		if (at >= end)
			break;
		node = child(u, node, r->window[at++]);
	}
	if (!known)
		reach(r, from, one, u->unknown, u->unknown_score);
}

static void find_paths(struct unigram_run *r)
{
	for (size_t i = 0; i <= r->len; i++)
		r->best[i] = UNREACHED;
	r->best[0] = 0;
	for (size_t i = 0; i < r->len; i++)
		if (r->best[i] > UNREACHED)
			extend(r, i);
}

/*
 * A position that the best paths to all of the last positions go through, so
 * that nothing that follows can change what lies before it. Falls back to a
 * joint of the best path in the first half.
 */
static size_t meeting(struct unigram_run *r)
{
	size_t first = r->len - UNIGRAM_PIECE, meet = r->len, at;

	memset(r->marked, 0, r->len + 1);
	for (at = r->len; at; at = r->from[at])
		r->marked[at] = true;
	for (size_t i = first; i < r->len; i++) {
		if (r->best[i] <= UNREACHED)
			continue;
		for (at = i; at && !r->marked[at]; at = r->from[at])
			;
		if (at < meet)
			meet = at;
	}
	if (meet >= r->len / 4) /* less would read the window too often */
		return meet;
	for (meet = r->len; meet > r->len / 2; meet = r->from[meet])
		;
	return meet ? meet : r->len;
}

/* Queues the tokens up to end; a run of unknown ones becomes one. */
static void emit(struct unigram_run *r, size_t end)
{
	const int32_t unknown = r->u->unknown;
	size_t n = 0;

	for (size_t at = end; at; at = r->from[at]) {
		if (r->id[at] == unknown && n && r->queue[n - 1] == unknown)
			continue;
		r->queue[n++] = r->id[at];
	}
	r->n_queue = n;
	if (n && r->after_unknown && r->queue[n - 1] == unknown)
		r->n_queue--;
	if (n)
		r->after_unknown = r->queue[0] == unknown;
	memmove(r->window, r->window + end, r->len - end);
	r->len -= end;
}

size_t unigram_next(struct unigram_run *r, int32_t *ids, size_t cap)
{
	size_t n = 0;
	bool whole;

	while (n < cap) {
		if (r->n_queue) {
			ids[n++] = r->queue[--r->n_queue];
			continue;
		}
		if (r->ended && !r->len)
			break;
		whole = r->ended || fill(r);
		if (!r->len)
			continue;
		find_paths(r);
		emit(r, whole ? r->len : meeting(r));
	}
	return n;
}
