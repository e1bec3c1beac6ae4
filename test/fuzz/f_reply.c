/*
 * Replies of a provider: what is taken has its count and its dimensions, what
 * is not has a reason, and neither reads beyond the reply. The first byte
 * chooses the number of texts and, with its upper bits, the status.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "embed/check.h"
#include "embed/reply.h"
#include "base/trouble.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void parse(const char *body, size_t len, size_t n)
{
	struct embed_reply r;
	struct remem_err err = { 0 };

	if (openai_reply(&r, n, body, len, &err)) {
		if (!err.message[0] || r.vecs)
			abort();
		return;
	}
	if (!r.vecs || r.dims < 1)
		abort();
	for (size_t i = 0; i < n; i++)
		(void)check_vector(r.vecs + i * (size_t)r.dims, r.dims);
	mem_free(r.vecs);
}

static void explain(const char *body, size_t len, int status)
{
	static const char *const secrets[] = { "sk-secret", NULL };
	const char *text = "记忆 memory";
	size_t text_len = strlen(text);
	struct http_reply http = { .status = status, .retry_after_ms = -1 };
	struct trouble t;
	char said[TROUBLE_SAID];

	buf_init(&http.body, 0);
	buf_add(&http.body, body, len);
	trouble_read(&t, &http);
	(void)trouble_number(&t, 100);
	trouble_clean(said, &t, secrets, &text, &text_len, 1);
	if (!utf8_valid(said, strlen(said)) || strchr(said, '\n') ||
	    strstr(said, "sk-secret"))
		abort();
	http_reply_release(&http);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const int statuses[] = { 200, 400, 429, 500 };

	if (!len)
		return 0;
	parse((const char *)data + 1, len - 1, 1 + data[0] % 8);
	explain((const char *)data + 1, len - 1, statuses[data[0] >> 6]);
	return 0;
}
