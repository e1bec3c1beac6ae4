/*
 * Embeddings. A provider is a struct of functions (providers.def, one file
 * each). The embedder around it packs batches, learns limits, retries,
 * checks replies, and says why when it cannot.
 */
#ifndef EMBED_EMBED_H
#define EMBED_EMBED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spend.h"

struct http_reply;
struct http_request;

enum embed_kind { EMBED_QUERY, EMBED_DOCUMENT };

/* A provider that gave no answer is left alone for a while. */
struct embed_health {
	int64_t since_ms; /* wall clock: of the first failure */
	int64_t until_ms; /* it is asked again from then on */
	int times; /* failures one after the other; 0: it is well */
	int code;
	char message[512], action[256];
};

/* What the settings say; all strings borrowed for the life of the embedder. */
struct embed_config {
	/* Where these settings stand, for messages; NULL: "memorySearch". */
	const char *section;
	const char *provider; /* "auto", "builtin", "openai-compatible", "none" */
	const char *model; /* NULL: the provider's default */
	const char *base_url;
	const char *api_key; /* resolved from its reference; never logged */
	const char *ca_file; /* certificates to trust; NULL: the system's */
	const char *const *headers; /* "Name: value", NULL-terminated, or NULL */
	int dims; /* asked of the provider, 0: its own */
	const char *query_prefix, *document_prefix; /* NULL: the model's */
	/* Sent as input_type where the provider knows it; NULL: not sent. */
	const char *query_input_type, *document_input_type;
	const char *model_path; /* builtin: the GGUF file */
	bool builtin_enabled;
	const char *local_path; /* local: the GGUF file; NULL: none is set */
	const char *worker; /* program that is called with "embed-worker" */
	const char *const *runtimes; /* folders where llama.cpp may lie */
	int max_batch_items, max_batch_tokens; /* 0: the provider's */
	int max_input_tokens; /* 0: the provider's */
	int concurrency; /* requests in flight, 0: 4 */
	int query_timeout_ms, batch_timeout_ms; /* 0: spec's */
	int threads; /* builtin: 0 = fair default */
	bool fail_closed;
	struct spender spend; /* of each remote request */
	/* For batch jobs, which are counted as a whole: */
	int64_t (*budget_left)(void *ctx); /* tokens; NULL: no bound */
	void *budget_ctx;
	int learned_items; /* embed_info's of an earlier run, 0: none */
	/*
	 * What other processes know of a provider that does not answer: load
	 * fills h (untouched: nothing is known), save keeps it, NULL once it
	 * answers again. May be NULL.
	 */
	void (*health_load)(void *ctx, struct embed_health *h);
	void (*health_save)(void *ctx, const struct embed_health *h);
	void *health_ctx;
	/* Before the first retry, where the provider does not say when; 0: 500.
	 * Longer waits are multiples of it. */
	int retry_wait_ms;
	/*
	 * Tests only. All waits are multiplied by wait_scale (0: 1), those that
	 * the provider asks for as well. transport takes the place of the
	 * network: called from several threads at once, it fills reply as
	 * http_perform() does.
	 */
	double wait_scale;
	void (*transport)(void *ctx, const struct http_request *req,
			  struct http_reply *reply);
	void *transport_ctx;
};

struct embed_info {
	const char *provider; /* as used: "builtin" when auto chose it */
	const char *model;
	int dims; /* 0 until the first good answer */
	bool remote;
	/* Identity of the vectors: provider, model, dims if they are asked for
	 * (else 0), prefixes, input types. Known from the start and never
	 * changing; dims that were learned are kept beside it. Address, key and
	 * headers are no part of it. */
	const char *fingerprint;
	const char *document_prefix; /* "" if none: part of the cache key */
	const char *query_prefix;
	int max_input_tokens;
	int max_items; /* of a request to this model, 0: the provider's */
	/* Most texts in a request that the provider takes, learned from a
	 * refusal; 0: none was refused. Worth remembering for the next run. */
	int learned_items;
	double calibration; /* v = clamp(centred cosine / calibration), 0.5 */
	/* Default language means per script class (enum script), each dims
	 * floats or NULL; NULL: none are known for this model. */
	const float *const *means;
};

struct embedder;

/*
 * Opens what the config names. Never fails for a provider that is down or
 * unknown to be up: that shows at first use. "none" gives an embedder whose
 * embedder_off() says why. REMEM_EINVAL for settings that make no sense.
 */
int embedder_open(struct embedder **out, const struct embed_config *c,
		  struct remem_err *err);
void embedder_free(struct embedder *e);
const struct embed_info *embedder_info(struct embedder *e);
/* As it was opened, with the provider that auto chose. */
const struct embed_config *embedder_config(const struct embedder *e);
/* NULL, or why there are no vectors at all ("no provider is set"). */
const char *embedder_off(struct embedder *e);
/*
 * Says how many dimensions the stored vectors of this fingerprint have. From
 * then on other replies are refused with a reason; without it the first good
 * answer decides. REMEM_EREMOTE when the provider has answered others before.
 */
int embedder_expect(struct embedder *e, int dims, struct remem_err *err);

/*
 * One query vector into *out (mem_free), dims floats, normalised, prefix
 * added. Retries within deadline_ms (0: the config's time-out).
 */
int embedder_query(struct embedder *e, const char *text, size_t len,
		   int deadline_ms, float **out, int *dims,
		   struct remem_err *err);

/* From now on queries end with REMEM_ECANCELLED when cancel, asked about ten
 * times a second while a remote provider is waited for, is true. NULL: never. */
void embedder_on_cancel(struct embedder *e, bool (*cancel)(void *ctx),
			void *ctx);

/*
 * True while a remote provider is left alone after a failure, here or in
 * another process; h, if not NULL, says why and until when. Its calls end with
 * that reason at once.
 */
bool embedder_cooling(struct embedder *e, struct embed_health *h);
/* A person asks: the next call goes out whatever happened before. */
void embedder_wake(struct embedder *e);

/* Documents are from now on embedded at low priority, where that is work of
 * this process: nobody waits for them. */
void embedder_behind(struct embedder *e);

/* An image or sound that is sent with its text. */
struct embed_media {
	const char *type; /* "image/png" */
	const void *data;
	size_t len;
	int64_t tokens; /* an estimate */
};

struct embed_item {
	const char *text; /* with heading, without prefix */
	size_t len;
	int64_t tag; /* the caller's */
	const struct embed_media *media; /* NULL: the text alone; else it is
					    the only item of its call */
};

/*
 * Embeds documents; done() is called for each request that was answered and
 * checked, with its vectors (dims floats each, normalised), in any order, in
 * the caller's thread; a result other than 0 stops. refused() is called for
 * an item the provider will not take, with the reason. Batches are packed over
 * all items, several are in flight. Returns 0 when every item was either done
 * or refused; else the error that ended the run, items so far being done.
 */
int embedder_documents(struct embedder *e, const struct embed_item *items,
		       size_t n,
		       int (*done)(void *ctx, const struct embed_item *const *items,
				   const float *vecs, size_t n, int dims),
		       void (*refused)(void *ctx, const struct embed_item *item,
				       const char *reason),
		       bool (*cancel)(void *ctx), void *ctx,
		       struct remem_err *err);

/* Tokens the provider would count for a text: an estimate. */
int64_t embedder_tokens(struct embedder *e, const char *text, size_t len);
/* Price of a million tokens in US dollars, negative when unknown, 0 local. */
double embedder_price(struct embedder *e);
/* A short real request: 0 when the provider answers well. */
int embedder_probe(struct embedder *e, int64_t *took_ms, struct remem_err *err);

/* Types of images and sound that a model of a provider takes, NULL-terminated;
 * NULL: none. model NULL: the provider's default. */
const char *const *embed_media_of(const char *provider, const char *model);
/* Bytes of one that fit into a request. */
#define EMBED_MEDIA_MAX ((int64_t)14 << 20)

/* Rows of providers.def and presets.def by index, NULL behind the last. */
const char *embed_provider_at(int i);
/* Whether texts leave the machine; false for a name that is not known. */
bool embed_provider_is_remote(const char *name);
/* Whether auto may turn to it where the builtin model is switched off. */
bool embed_provider_is_auto(const char *name);
/* The variable that holds its key by custom; NULL: it has none. */
const char *embed_provider_key_env(const char *name);

#endif
