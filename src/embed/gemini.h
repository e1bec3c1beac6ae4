/* What requests to Gemini and its batches have in common. */
#ifndef EMBED_GEMINI_H
#define EMBED_GEMINI_H

#include "base/json.h"
#include "embed/provider.h"

/* Models that tell questions and notes apart by prefixes, not by taskType. */
bool gemini_takes_prefixes(const char *model);

struct gemini_text {
	const char *model; /* with models/ */
	const char *type; /* taskType; NULL or "": none */
	int dims; /* asked for, 0: not */
	const char *text;
	size_t len;
	const struct embed_media *media; /* beside it; NULL */
};

/* One text as the object that embedContent takes. */
void gemini_put_text(struct json *j, const struct gemini_text *t);

#endif
