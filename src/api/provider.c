/* The embedder that the settings ask for. */
#include "api/handle.h"

#include <stdio.h>
#include <string.h>

#include "api/secret.h"
#include "base/log.h"

static const char *or_null(const char *s)
{
	return s && s[0] ? s : NULL;
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* The settings of one provider: all names begin with its section. */
struct section {
	struct remem *r;
	const char *name;
};

static const char *full(char out[96], const struct section *at,
			const char *name)
{
	snprintf(out, 96, "%s.%s", at->name, name);
	return out;
}

static const char *text(const struct section *at, const char *name)
{
	char whole[96];

	return or_null(settings_str(&at->r->settings, full(whole, at, name)));
}

static int number(const struct section *at, const char *name)
{
	char whole[96];

	return (int)settings_int(&at->r->settings, full(whole, at, name));
}

static bool is_set(const struct section *at, const char *name)
{
	char whole[96];

	return settings_is_set(&at->r->settings, full(whole, at, name));
}

/* The type for one purpose, else the one for both. */
static const char *input_type(const struct section *at, const char *name)
{
	const char *own = text(at, name);

	return own ? own : text(at, "inputType");
}

/* The key that other programs find in the environment, where that is allowed. */
static const char *env_key(struct remem *r, const char *provider)
{
	const char *name = embed_provider_key_env(provider);

	return name && settings_bool(&r->settings, "memorySearch.allowEnvKeys") ?
		       env_get(&r->env, name) : NULL;
}

static int fill_remote(struct embed_config *c, const struct section *at,
		       struct embedder **e, struct remem_err *err)
{
	const struct settings *s = &at->r->settings;
	char name[96];
	int rc;

	c->query_input_type = input_type(at, "queryInputType");
	c->document_input_type = input_type(at, "documentInputType");
	c->ca_file = text(at, "remote.caFile");
	c->base_url = text(at, "remote.baseUrl");
	ledger_connect(c, at->r, e);
	health_connect(c, at->r);
	c->learned_items = ledger_learned(at->r, c);
	if ((rc = secret_resolve(&c->api_key, s, full(name, at, "remote.apiKey"),
				 err)))
		return rc;
	if (!c->api_key)
		c->api_key = env_key(at->r, c->provider);
	return secret_headers(&c->headers, s, full(name, at, "remote.headers"),
			      err);
}

static void fill_limits(struct embed_config *c, const struct section *at)
{
	const struct settings *s = &at->r->settings;

	c->max_batch_items = number(at, "embedding.maxBatchItems");
	c->max_batch_tokens = number(at, "embedding.maxBatchTokens");
	c->max_input_tokens = number(at, "embedding.maxInputTokens");
	/* What is ours, and not the provider's. */
	c->concurrency =
		(int)settings_int(s, "memorySearch.embedding.concurrency");
	c->query_timeout_ms =
		(int)settings_int(s, "memorySearch.embedding.queryTimeoutMs");
	c->batch_timeout_ms =
		(int)settings_int(s, "memorySearch.embedding.batchTimeoutMs");
	c->retry_wait_ms =
		(int)settings_int(s, "memorySearch.embedding.retryWaitMs");
	c->threads = (int)settings_int(s, "memorySearch.embedding.threads");
}

/*
 * auto is the local model that is set, else the builtin one. Who has switched
 * that off has the first service that there is a key for: one that was given
 * to remem is OpenAI's, unless a provider is named.
 */
static const char *choose(struct remem *r)
{
	const struct settings *s = &r->settings;
	const char *name = settings_str(s, "memorySearch.provider");

	if (strcmp(name, "auto") ||
	    settings_str(s, "memorySearch.local.modelPath")[0] ||
	    settings_bool(s, "memorySearch.builtin.enabled"))
		return name;
	for (int i = 0; (name = embed_provider_at(i)); i++)
		if (embed_provider_is_auto(name) &&
		    (settings_is_set(s, "memorySearch.remote.apiKey") ||
		     env_key(r, name)))
			return name;
	return "auto";
}

/* An explicit local model goes before the builtin one. */
static int fill_local(struct embed_config *c, const struct section *at,
		      struct remem_err *err)
{
	bool automatic = !strcmp(c->provider, "auto");
	struct remem *r = at->r;
	int rc = 0;

	if (automatic || !strcmp(c->provider, "local")) {
		rc = model_local(&c->local_path, r, text(at, "local.modelPath"),
				 err);
		c->worker = r->program;
		c->runtimes = runtime_folders(&r->a, r);
	}
	if (rc || !c->builtin_enabled || (automatic && c->local_path) ||
	    (!automatic && strcmp(c->provider, "builtin") != 0))
		return rc;
	return model_find(&c->model_path, r, err);
}

int embed_config_of(struct embed_config *c, struct remem *r,
		    const char *section, const char *provider,
		    struct embedder **e, struct remem_err *err)
{
	const struct settings *s = &r->settings;
	const struct section at = { r, section };

	memset(c, 0, sizeof(*c));
	c->section = section;
	c->provider = provider;
	c->model = text(&at, "model");
	c->dims = number(&at, "outputDimensionality");
	/* "" is a prefix too: none instead of the model's own. */
	if (is_set(&at, "embedding.queryPrefix"))
		c->query_prefix = or_empty(text(&at, "embedding.queryPrefix"));
	if (is_set(&at, "embedding.documentPrefix"))
		c->document_prefix =
			or_empty(text(&at, "embedding.documentPrefix"));
	c->builtin_enabled = settings_bool(s, "memorySearch.builtin.enabled");
	c->fail_closed = settings_bool(s, "memorySearch.failClosed");
	fill_limits(c, &at);
	return embed_provider_is_remote(c->provider) ?
		       fill_remote(c, &at, e, err) : fill_local(c, &at, err);
}

int embed_config_from(struct embed_config *c, struct remem *r,
		      const char *provider, struct remem_err *err)
{
	return embed_config_of(c, r, "memorySearch",
			       provider ? provider : choose(r), &r->embedder,
			       err);
}

bool handle_text_only(const struct remem *r)
{
	const struct settings *s = &r->settings;

	return !strcmp(settings_str(s, "memorySearch.provider"), "none") ||
	       !settings_bool(s, "memorySearch.store.vector.enabled") ||
	       !settings_bool(s, "memorySearch.query.hybrid.enabled");
}

static void open_embedder(struct remem *r)
{
	struct embed_config c;

	r->embedder_tried = true;
	if (handle_text_only(r)) {
		fail(&r->embedder_err, REMEM_ENOTSUP,
		     "vectors are switched off by the settings");
		return;
	}
	if (embed_config_from(&c, r, NULL, &r->embedder_err) ||
	    embedder_open(&r->embedder, &c, &r->embedder_err)) {
		r->embedder = NULL;
		log_msg(LOG_INFO, "embed", "%s", r->embedder_err.message);
	}
}

struct embedder *handle_embedder(struct remem *r, const char **why)
{
	const char *off = NULL;

	if (!r->embedder_tried)
		open_embedder(r);
	if (!r->embedder)
		off = r->embedder_err.message;
	else
		off = embedder_off(r->embedder);
	if (why)
		*why = off;
	return r->embedder;
}
