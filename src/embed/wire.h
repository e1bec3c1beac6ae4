/*
 * What remem and its embedding worker say to each other: frames of a head and
 * a body, numbers in the machine's own order, since both run on it. Neither
 * side believes the other: lengths are checked before anything is allocated.
 *
 *   to the worker    WIRE_LOAD    JSON: model, libraries, window, threads,
 *                                 pooling (a number of llama.cpp), nfkc,
 *                                 vocabulary (true: llama.cpp's own, also
 *                                 where the file has our tables)
 *                    WIRE_EMBED   u32 texts, then for each u32 bytes, bytes
 *   from the worker  WIRE_INFO    JSON: release, dims, window, pooling
 *                    WIRE_VECTOR  u32 text, u32 tokens, floats
 *                    WIRE_REFUSED u32 text, why (a text that cannot be done)
 *                    WIRE_DONE    nothing: all texts have been answered
 *                    WIRE_ERROR   why: nothing of the request can be done
 *
 * Texts are answered one by one in their order, so that after a crash the
 * first one without an answer is the one that caused it.
 */
#ifndef EMBED_WIRE_H
#define EMBED_WIRE_H

#include <stdint.h>

#define WIRE_MAGIC 0x314d4552u /* "REM1" */
#define WIRE_MAX_BYTES (64u << 20)
#define WIRE_MAX_TEXTS 4096u
#define WIRE_MAX_DIMS 65536u

enum wire_type {
	WIRE_LOAD = 1,
	WIRE_EMBED,
	WIRE_INFO,
	WIRE_VECTOR,
	WIRE_REFUSED,
	WIRE_DONE,
	WIRE_ERROR
};

struct wire_head {
	uint32_t magic, type;
	uint32_t number; /* of the request; an answer repeats it */
	uint32_t bytes; /* of the body */
};

#endif
