/*
 * What a provider is: one file and one row in providers.def. The embedder
 * (embed.c) does for all of them what they have in common: prefixes, packing,
 * limits, retries, checks, normalising.
 */
#ifndef EMBED_PROVIDER_H
#define EMBED_PROVIDER_H

#include "base/http.h"
#include "embed/embed.h"

/* Texts of one request, prefixes added. */
struct embed_request {
	enum embed_kind kind;
	const char *const *texts;
	const size_t *lens;
	size_t n;
	const struct embed_media *media; /* of the only text; NULL */
};

/*
 * Vectors of one request: n * dims floats in vecs (mem_alloc). One that the
 * provider could not give has a NaN in it, and the embedder asks for that text
 * alone.
 */
struct embed_reply {
	float *vecs;
	int dims;
	int64_t tokens; /* as the provider counted, 0: it did not say */
	/* Local ones: NULL, or for each text NULL or why there is no vector of
	 * it (mem_alloc, also each reason). Its floats mean nothing then. */
	char **refused;
};

struct batch_vendor;

struct embed_provider {
	const char *name;
	bool remote; /* text leaves the machine; needs libcurl */
	bool in_auto; /* auto may choose it where builtin is switched off */
	const char *key_env; /* variable of its key, for allowEnvKeys; NULL */
	int max_items, max_tokens; /* of a request; 0: no bound known */
	int max_input_tokens; /* of one text */

	/*
	 * Opens by config into *self and fills info (model, dims if known,
	 * prefixes, calibration; fingerprint is made by the embedder). Nothing is
	 * sent. A provider that cannot work says why in err.
	 */
	int (*open)(void **self, struct embed_info *info,
		    const struct embed_config *c, struct remem_err *err);
	void (*close)(void *self);

	/* Local ones: vectors at once. NULL for remote ones. */
	int (*embed)(void *self, const struct embed_request *r,
		     struct embed_reply *out, bool (*cancel)(void *), void *ctx,
		     struct remem_err *err);

	/* Remote ones: a request as HTTP and its reply back. request's strings
	 * are built in body and live until parse returned; vectors need not be
	 * normalised. parse sees replies with a status of 2xx and without an
	 * "error" member; what is no answer is REMEM_EREMOTE. */
	int (*build)(void *self, const struct embed_request *r,
		     struct http_request *http, struct buf *body,
		     struct remem_err *err);
	int (*parse)(void *self, const struct embed_request *r,
		     const struct http_reply *http, struct embed_reply *out,
		     struct remem_err *err);
	/* Called when all is refused from the start: leaves out a part of the
	 * requests that not every server knows. False: nothing is left to leave
	 * out. May be NULL. */
	bool (*simplify)(void *self);
	/* Types of images and sound that a model takes; NULL: none does. */
	const char *const *(*media)(const char *model);
	const struct batch_vendor *batch; /* NULL: no batch interface */
};

/* What the names of its settings begin with, without the last dot. */
static inline const char *embed_section(const struct embed_config *c)
{
	return c->section ? c->section : "memorySearch";
}

/* Rows of providers.def and presets.def. */
const struct embed_provider *embed_provider_find(const char *name);
/* Rows of presets.def, NULL behind the last. */
extern const struct embed_provider *const embed_presets[];

#endif
