/*
 * Reader of GGUF files, version 3, little-endian: a header, typed keys, the
 * list of tensors, their data. Nothing in the file is believed: every offset,
 * count, length and type is checked against the file's real size when it is
 * opened, so that what the functions below hand out lies inside the mapping.
 * Memory grows with what was really read, never with what a count claims.
 */
#ifndef ENCODER_GGUF_H
#define ENCODER_GGUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define GGUF_MAX_KEYS 1024
#define GGUF_MAX_TENSORS 1024
#define GGUF_MAX_DIMS 4

/* Types of values, numbers of the format. */
enum gguf_type {
	GGUF_U8, GGUF_I8, GGUF_U16, GGUF_I16, GGUF_U32, GGUF_I32, GGUF_F32,
	GGUF_BOOL, GGUF_STRING, GGUF_ARRAY, GGUF_U64, GGUF_I64, GGUF_F64
};

/* Types of tensors that can be read. */
enum gguf_tensor_type { GGUF_TENSOR_F32 = 0, GGUF_TENSOR_F16 = 1,
			GGUF_TENSOR_Q4_0 = 2 };

#define GGUF_Q4_0_VALUES 32
#define GGUF_Q4_0_BYTES 18

struct gguf_key {
	const char *name; /* not terminated; all pointers are into the file */
	size_t name_len;
	uint32_t type;
	uint32_t item_type; /* of an array */
	uint64_t count; /* items of an array, bytes of a string, else 1 */
	const unsigned char *data;
};

struct gguf_tensor {
	const char *name;
	size_t name_len;
	uint32_t type;
	uint32_t n_dims;
	uint64_t dims[GGUF_MAX_DIMS]; /* fastest first; 1 beyond n_dims */
	const unsigned char *data;
	uint64_t bytes;
	uint64_t offset; /* of the data, from the start of all data */
};

struct gguf {
	const unsigned char *data;
	size_t size;
	void *mapped; /* NULL when the caller owns the bytes */
	struct gguf_key *keys;
	size_t n_keys, cap_keys;
	struct gguf_tensor *tensors;
	size_t n_tensors, cap_tensors;
};

/*
 * Maps and checks a file. REMEM_ENOTFOUND, EIO, ENOMEM; EFORMAT says what is
 * wrong. Released with gguf_release(), also after a failure.
 */
int gguf_open(struct gguf *g, const char *path, struct remem_err *err);
/* The keys alone: the tensors of any model, of types unknown here too, are not
 * looked at. */
int gguf_open_keys(struct gguf *g, const char *path, struct remem_err *err);
/* gguf_open() over bytes that stay with the caller. */
int gguf_parse(struct gguf *g, const void *data, size_t size,
	       struct remem_err *err);
void gguf_release(struct gguf *g);

/* NULL when there is none. */
const struct gguf_key *gguf_find(const struct gguf *g, const char *name);

/* These fail with REMEM_EFORMAT when the key is absent or of another type. */
int gguf_u32(const struct gguf *g, const char *name, uint32_t *out,
	     struct remem_err *err);
int gguf_f32(const struct gguf *g, const char *name, float *out,
	     struct remem_err *err);
int gguf_string(const struct gguf *g, const char *name, const char **out,
		size_t *len, struct remem_err *err);
/* item_type: a number type; the items must be aligned to their size. */
int gguf_array(const struct gguf *g, const char *name, uint32_t item_type,
	       const void **out, uint64_t *count, struct remem_err *err);
/*
 * A tensor of exactly this type and these dimensions (d1 = 1: a vector),
 * aligned for its items.
 */
int gguf_tensor(const struct gguf *g, const char *name, uint32_t type,
		uint64_t d0, uint64_t d1, const void **out,
		struct remem_err *err);

#endif
