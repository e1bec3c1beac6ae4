/* The embedder that the settings ask for. */
#include "api/handle.h"

#include <string.h>

#include "api/secret.h"
#include "base/log.h"

static const char *or_null(const char *s)
{
	return s && s[0] ? s : NULL;
}

/* The type for one purpose, else the one for both. */
static const char *input_type(const struct settings *s, const char *name)
{
	const char *own = or_null(settings_str(s, name));

	return own ? own : or_null(settings_str(s, "memorySearch.inputType"));
}

/* The key that other programs find in the environment, where that is allowed. */
static const char *env_key(struct remem *r, const char *provider)
{
	const char *name = embed_provider_key_env(provider);

	return name && settings_bool(&r->settings, "memorySearch.allowEnvKeys") ?
		       env_get(&r->env, name) : NULL;
}

static int fill_remote(struct embed_config *c, struct remem *r,
		       struct remem_err *err)
{
	const struct settings *s = &r->settings;
	int rc;

	ledger_connect(c, r);
	c->learned_items = ledger_learned(r);
	c->query_input_type = input_type(s, "memorySearch.queryInputType");
	c->document_input_type =
		input_type(s, "memorySearch.documentInputType");

	c->ca_file = or_null(settings_str(s, "memorySearch.remote.caFile"));
	c->base_url = or_null(settings_str(s, "memorySearch.remote.baseUrl"));
	if ((rc = secret_resolve(&c->api_key, s, "memorySearch.remote.apiKey",
				 err)))
		return rc;
	if (!c->api_key)
		c->api_key = env_key(r, c->provider);
	return secret_headers(&c->headers, s, "memorySearch.remote.headers",
			      err);
}

static void fill_limits(struct embed_config *c, const struct settings *s)
{
	c->max_batch_items =
		(int)settings_int(s, "memorySearch.embedding.maxBatchItems");
	c->max_batch_tokens =
		(int)settings_int(s, "memorySearch.embedding.maxBatchTokens");
	c->max_input_tokens =
		(int)settings_int(s, "memorySearch.embedding.maxInputTokens");
	c->concurrency =
		(int)settings_int(s, "memorySearch.embedding.concurrency");
	c->query_timeout_ms =
		(int)settings_int(s, "memorySearch.embedding.queryTimeoutMs");
	c->batch_timeout_ms =
		(int)settings_int(s, "memorySearch.embedding.batchTimeoutMs");
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
static int fill_local(struct embed_config *c, struct remem *r,
		      struct remem_err *err)
{
	bool automatic = !strcmp(c->provider, "auto");
	int rc = 0;

	if (automatic || !strcmp(c->provider, "local")) {
		rc = model_local(&c->local_path, r, err);
		c->worker = r->program;
		c->runtimes = runtime_folders(&r->a, r);
	}
	if (rc || !c->builtin_enabled || (automatic && c->local_path) ||
	    (!automatic && strcmp(c->provider, "builtin") != 0))
		return rc;
	return model_find(&c->model_path, r, err);
}

int embed_config_from(struct embed_config *c, struct remem *r,
		      const char *provider, struct remem_err *err)
{
	const struct settings *s = &r->settings;

	memset(c, 0, sizeof(*c));
	c->provider = provider ? provider : choose(r);
	c->model = or_null(settings_str(s, "memorySearch.model"));
	c->dims = (int)settings_int(s, "memorySearch.outputDimensionality");
	if (settings_is_set(s, "memorySearch.embedding.queryPrefix"))
		c->query_prefix =
			settings_str(s, "memorySearch.embedding.queryPrefix");
	if (settings_is_set(s, "memorySearch.embedding.documentPrefix"))
		c->document_prefix = settings_str(
			s, "memorySearch.embedding.documentPrefix");
	c->builtin_enabled = settings_bool(s, "memorySearch.builtin.enabled");
	c->fail_closed = settings_bool(s, "memorySearch.failClosed");
	fill_limits(c, s);
	return embed_provider_is_remote(c->provider) ?
		       fill_remote(c, r, err) : fill_local(c, r, err);
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
