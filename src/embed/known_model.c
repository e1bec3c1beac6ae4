/* Models that are known by name. */
#include "embed/known_model.h"

#include <string.h>
#include <strings.h>

static const struct known_model rows[] = {
#define KNOWN(...) { __VA_ARGS__ },
#include "embed/known_model.def"
#undef KNOWN
};

const struct known_model *known_model_at(int i)
{
	return i >= 0 && (size_t)i < ARRAY_LEN(rows) ? &rows[i] : NULL;
}

/* "bge-m3" is in "BGE-M3-Q8_0.gguf", and not in "bge-m35.gguf". */
const struct known_model *known_model_find(const char *file)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n = strlen(rows[i].name);

		if (!strncasecmp(file, rows[i].name, n) &&
		    (!file[n] || strchr("-_.", file[n])))
			return &rows[i];
	}
	return NULL;
}

static void shape(struct local_model *m, const struct known_model *k)
{
	memset(m, 0, sizeof(*m));
	m->bytes = k->bytes;
	m->dims = k->dims;
	m->max_tokens = k->tokens;
	m->layers = k->layers;
	m->vocabulary = k->vocabulary;
}

int64_t known_model_memory(const struct known_model *k)
{
	struct local_model m;

	shape(&m, k);
	return local_model_memory(&m);
}

int64_t known_model_speed(const struct known_model *k)
{
	struct local_model m;

	shape(&m, k);
	return local_model_speed(&m);
}
