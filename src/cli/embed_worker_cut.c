/* Texts to tokens without llama.cpp's vocabulary. */
#include "cli/embed_worker_cut.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static bool get_id(int32_t *out, const struct gguf *g, const char *key,
		   uint64_t pieces)
{
	uint32_t id;

	if (gguf_u32(g, key, &id, NULL) || id >= pieces)
		return false;
	*out = (int32_t)id;
	return true;
}

static void tell_no_vocabulary(struct cutter *c, const char *arch, size_t len,
			       uint64_t pieces)
{
	struct abi_override *o = c->overrides;

	o[0].kind = ABI_OVERRIDE_STRING;
	snprintf(o[0].key, sizeof(o[0].key), "tokenizer.ggml.model");
	snprintf(o[0].value.string, sizeof(o[0].value.string), "none");
	o[1].kind = ABI_OVERRIDE_INTEGER;
	snprintf(o[1].key, sizeof(o[1].key), "%.*s.vocab_size", (int)len,
		 arch);
	o[1].value.integer = (int64_t)pieces;
}

static bool prepare(struct cutter *c, const char *path)
{
	const struct gguf *g = &c->file;
	const struct gguf_key *pieces;
	const char *arch;
	size_t len;

	if (gguf_open_keys(&c->file, path, NULL) ||
	    unigram_init(&c->tables, g, NULL) ||
	    gguf_string(g, "general.architecture", &arch, &len, NULL) ||
	    !len || len > 64)
		return false;
	pieces = gguf_find(g, "tokenizer.ggml.tokens");
	if (!pieces || pieces->type != GGUF_ARRAY ||
	    !get_id(&c->first, g, "tokenizer.ggml.bos_token_id",
		    pieces->count) ||
	    !get_id(&c->last, g, "tokenizer.ggml.eos_token_id",
		    pieces->count))
		return false;
	c->run = mem_alloc(sizeof(*c->run));
	if (c->run)
		tell_no_vocabulary(c, arch, len, pieces->count);
	return c->run;
}

void cutter_open(struct cutter *c, const char *path)
{
	memset(c, 0, sizeof(*c));
	c->on = prepare(c, path);
	if (!c->on)
		cutter_release(c);
}

void cutter_release(struct cutter *c)
{
	gguf_release(&c->file);
	mem_free(c->run);
	memset(c, 0, sizeof(*c));
}

int cutter_tokens(struct cutter *c, const char *text, size_t len, int32_t *out,
		  int max)
{
	size_t room = max > 2 ? (size_t)max - 2 : 0, got = 0, n = 1;

	if (!room)
		return -1;
	unigram_start(c->run, &c->tables, text, len);
	while (n && got < room) {
		n = unigram_next(c->run, out + 1 + got, room - got);
		got += n;
	}
	if (n)
		return -1;
	out[0] = c->first;
	out[got + 1] = c->last;
	return (int)got + 2;
}
