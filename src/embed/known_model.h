/* Models that are known by name before they are fetched. */
#ifndef EMBED_KNOWN_MODEL_H
#define EMBED_KNOWN_MODEL_H

#include "embed/local_model.h"

struct known_model {
	const char *name, *arch;
	int64_t bytes; /* about */
	int dims, tokens, layers;
	int64_t vocabulary;
	const char *languages, *licence;
};

/* Rows by index, NULL behind the last. */
const struct known_model *known_model_at(int i);
/* The row that a file's name begins with, in any case, or NULL. */
const struct known_model *known_model_find(const char *file);
/* As local_model_memory() and local_model_speed(). */
int64_t known_model_memory(const struct known_model *k);
int64_t known_model_speed(const struct known_model *k);

#endif
