/* Any bytes as a GGUF: what is handed out must lie inside them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "encoder/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sum; /* so that nothing read is optimised away */

static unsigned touch(const unsigned char *p, uint64_t n)
{
	return n ? (unsigned)p[0] + p[n - 1] : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct remem_err err;
	struct gguf g;

	if (!gguf_parse(&g, data, size, &err)) {
		for (size_t i = 0; i < g.n_keys; i++) {
			const struct gguf_key *k = &g.keys[i];

			sum += touch((const unsigned char *)k->name,
				     k->name_len);
			if (k->type != GGUF_ARRAY || k->item_type == GGUF_U8)
				sum += touch(k->data, k->type == GGUF_STRING ||
					     k->type == GGUF_ARRAY ?
					     k->count : 1);
			else if (k->item_type == GGUF_U32)
				sum += touch(k->data, k->count * 4);
		}
		for (size_t i = 0; i < g.n_tensors; i++)
			sum += touch(g.tensors[i].data, g.tensors[i].bytes);
		if (gguf_find(&g, "a")) {
			const void *p;
			uint64_t n;
			float f;

			gguf_array(&g, "a", GGUF_U32, &p, &n, &err);
			gguf_f32(&g, "a", &f, &err);
			gguf_tensor(&g, "a", GGUF_TENSOR_F32, 1, 1, &p, &err);
		}
	}
	gguf_release(&g);
	return 0;
}
