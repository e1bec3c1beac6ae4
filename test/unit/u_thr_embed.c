/* Many requests in flight, for the thread sanitizer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "embed/embed.h"
#include "embed_fake.h"

#define COUNT 400

static int done[COUNT];

static int on_done(void *ctx, const struct embed_item *const *items,
		   const float *vecs, size_t n, int dims)
{
	(void)ctx, (void)vecs, (void)dims;
	for (size_t i = 0; i < n; i++)
		done[items[i]->tag]++;
	return 0;
}

static void test_embed__requests_in_flight_share_nothing(void **state)
{
	static char texts[COUNT][40];
	static struct embed_item items[COUNT];
	struct fake f;
	struct embed_config c = { .provider = "openai-compatible",
				  .model = "m", .base_url = "http://h",
				  .wait_scale = 1e-4, .concurrency = 16,
				  .transport = fake_transport,
				  .transport_ctx = &f };
	struct embedder *e;

	(void)state;
	fake_init(&f);
	f.slow = true;
	f.max_items = 7;
	f.status = 503;
	f.after = 9;
	f.times = 2;
	for (int i = 0; i < COUNT; i++) {
		snprintf(texts[i], sizeof(texts[i]), "第 %d 条 note", i);
		items[i] = (struct embed_item){ texts[i], strlen(texts[i]), i,
						NULL };
	}
	assert_int_equal(embedder_open(&e, &c, NULL), 0);
	assert_int_equal(embedder_documents(e, items, COUNT, on_done, NULL,
					    NULL, NULL, NULL), 0);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(done[i], 1);
	assert_true(f.most_at_once > 2);
	embedder_free(e);
	fake_release(&f);
}
