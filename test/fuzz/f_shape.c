/*
 * Replies in the form of each provider, read by the provider itself: what is
 * taken has its count and dimensions, what is not has a reason and leaves
 * nothing behind. The first byte chooses the row of both tables of providers,
 * the second the number of texts and which of Bedrock's families.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "embed/check.h"
#include "embed/provider.h"

#define TEXTS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A remote provider that can be opened; NULL: this row is none. */
static const struct embed_provider *open_row(void **self, int row, bool cohere)
{
	struct embed_config c = { .base_url = "http://h/v1", .api_key = "k",
				  .model = "m" };
	const char *name = embed_provider_at(row);
	const struct embed_provider *p = name ? embed_provider_find(name) : NULL;
	struct embed_info info = { .query_prefix = "", .document_prefix = "" };

	*self = NULL;
	if (!p || !p->parse)
		return NULL;
	c.provider = name;
	if (!strcmp(name, "bedrock"))
		c.model = cohere ? "cohere.embed-v4:0" :
				   "amazon.titan-embed-text-v2:0";
	return p->open(self, &info, &c, NULL) ? NULL : p;
}

static void parse(const struct embed_provider *p, void *self, const char *body,
		  size_t len, size_t n)
{
	static const char *const texts[TEXTS] = { "a", "b", "c", "d",
						  "e", "f", "g", "h" };
	static const size_t lens[TEXTS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct embed_request r = { EMBED_DOCUMENT, texts, lens, n, NULL };
	struct http_reply http = { .status = 200, .retry_after_ms = -1 };
	struct embed_reply out = { 0 };
	struct remem_err err = { 0 };

	buf_init(&http.body, 0);
	buf_add(&http.body, body, len);
	if (p->parse(self, &r, &http, &out, &err)) {
		if (!err.message[0] || out.vecs)
			abort();
	} else if (!out.vecs || out.dims < 1) {
		abort();
	}
	for (size_t i = 0; out.vecs && i < n; i++)
		(void)check_vector(out.vecs + i * (size_t)out.dims, out.dims);
	mem_free(out.vecs);
	http_reply_release(&http);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct embed_provider *p;
	void *self;

	if (len < 2)
		return 0;
	p = open_row(&self, data[0], data[1] >= 128);
	if (!p)
		return 0;
	parse(p, self, (const char *)data + 2, len - 2, 1 + data[1] % TEXTS);
	if (p->close)
		p->close(self);
	return 0;
}
