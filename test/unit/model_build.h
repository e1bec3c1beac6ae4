/*
 * GGUF files made in memory, and a tiny but complete model of the builtin
 * encoder's shape with fixed pseudo-random weights, for tests that break it.
 */
#ifndef TEST_MODEL_BUILD_H
#define TEST_MODEL_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gguf_build {
	unsigned char *p; /* keys, later the whole file */
	size_t len, cap;
	unsigned char *info, *data; /* of tensors */
	size_t info_len, info_cap, data_len, data_cap;
	uint64_t n_keys, n_tensors;
	int pads;
};

void build_u32(struct gguf_build *b, const char *name, uint32_t v);
void build_f32(struct gguf_build *b, const char *name, float v);
void build_string(struct gguf_build *b, const char *name, const char *s);
/* The items start at a multiple of 64 bytes of the file. */
void build_array(struct gguf_build *b, const char *name, uint32_t item_type,
		 const void *items, size_t count, size_t item_size);
void build_strings(struct gguf_build *b, const char *name,
		   const char *const *s, size_t count);
void build_tensor(struct gguf_build *b, const char *name, uint32_t type,
		  uint64_t d0, uint64_t d1, const void *data, size_t bytes);
/* Puts the parts together; p and len are the file. */
void build_finish(struct gguf_build *b);
void build_release(struct gguf_build *b);

/* Pieces of the tiny model: ids from 4 on, scores -1, -2, … by their order. */
extern const char *const build_pieces[];
extern const size_t build_n_pieces;
/* Matrices as items of 1 and 2 bytes, as files had them once, not of 8. */
extern bool build_small_items;
/* The whole tiny model: 64 wide, 2 heads, 128 inside, 1 layer, 16 positions. */
void build_model(struct gguf_build *b);
/* Writes the file; fails the test when that does not work. */
void build_write(const void *p, size_t len, const char *path);

/* Path of the real model: $REMEM_MODEL or where make setup puts it. */
const char *model_path(void);

#endif
