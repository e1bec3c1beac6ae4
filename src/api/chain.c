/*
 * The providers beside the first one. Down to words it goes step by step: the
 * provider of the settings, memorySearch.fallback, and after a change of the
 * model the one whose vectors still answer. Each makes vectors of its own, told
 * apart by their fingerprints; who cannot make a question's vector for those
 * that answer is no step.
 *
 * Of a former provider the durable data hold what it takes to ask it again,
 * its key only by reference: a variable or a file. A command that is no longer
 * in the settings is not run, and a key that was written out is not kept.
 */
#include "api/handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/secret.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"

/* How long a provider is down before a run in the background makes vectors of
 * the fallback: the longest time that a provider is left alone. */
#define DOWN_MS INT64_C(300000)

static bool same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* ---- the fallback ----------------------------------------------------- */

static bool first_is_remote(struct remem *r)
{
	struct embed_config c;

	if (r->embedder)
		return embedder_info(r->embedder)->remote;
	return !embed_config_from(&c, r, NULL, NULL) &&
	       embed_provider_is_remote(c.provider);
}

/* auto never turns to a service: who wants that names the first one. */
static bool may_leave(struct remem *r, const char *name)
{
	return !embed_provider_is_remote(name) || first_is_remote(r) ||
	       strcmp(settings_str(&r->settings, "memorySearch.provider"),
		      "auto") != 0;
}

static void open_it(struct other_provider *p, struct remem *r,
		    struct embed_config *c)
{
	struct remem_err why = { 0 };
	const char *off;

	if (embedder_open(&p->e, c, &why))
		p->why = arena_strdup(&r->a, why.message);
	else if ((off = embedder_off(p->e)))
		p->why = off;
}

static void open_fallback(struct other_provider *p, struct remem *r)
{
	const char *name = settings_str(&r->settings, "memorySearch.fallback");
	struct remem_err why = { 0 };
	struct embed_config c;

	p->tried = true;
	if (!name[0] || !strcmp(name, "none"))
		return;
	p->name = name;
	if (!strcmp(name, "auto"))
		p->why = "memorySearch.fallback should name a provider";
	else if (!may_leave(r, name))
		p->why = "auto never turns to a service by itself; name the "
			 "first provider in memorySearch.provider";
	else if (embed_config_of(&c, r, "memorySearch.fallback", name, &p->e,
				 &why))
		p->why = arena_strdup(&r->a, why.message);
	else
		open_it(p, r, &c);
	if (p->why)
		log_msg(LOG_INFO, "embed", "fallback %s: %s", name, p->why);
}

struct embedder *handle_fallback(struct remem *r, const char **why)
{
	if (!r->fallback.tried)
		open_fallback(&r->fallback, r);
	if (why)
		*why = r->fallback.why;
	return r->fallback.why ? NULL : r->fallback.e;
}

/* ---- what is kept of a provider --------------------------------------- */

static const char *memo_key(struct arena *a, const char *fingerprint)
{
	return arena_printf(a, "embedder %s", fingerprint);
}

/* A key by its reference; what cannot be kept is left out. */
static void put_key(struct json *j, struct arena *a, const struct settings *s,
		    const char *section)
{
	char name[96];
	const struct setting_value *v;
	const struct yaml *ref;
	size_t n;

	snprintf(name, sizeof(name), "%s.remote.apiKey", section);
	v = settings_value(s, name);
	ref = v->ref ? v->ref->child : NULL;
	n = v->text ? strlen(v->text) : 0;
	if (ref && !strcmp(ref->key, "file"))
		json_kstr(j, "keyFile", ref->str);
	else if (!ref && v->expand && n > 3 && !strncmp(v->text, "${", 2) &&
		 strchr(v->text, '}') == v->text + n - 1)
		json_kstr(j, "keyVariable",
			  arena_strndup(a, v->text + 2, n - 3));
}

static void put_memo(struct buf *b, struct arena *a, struct remem *r,
		     struct embedder *e)
{
	const struct embed_config *c = embedder_config(e);
	struct json j;

	json_begin(&j, b);
	json_obj(&j);
	json_kstr(&j, "provider", c->provider);
	json_kstr(&j, "model", c->model);
	json_kstr(&j, "baseUrl", c->base_url);
	json_kstr(&j, "caFile", c->ca_file);
	json_kstr(&j, "localPath", c->local_path);
	json_kint(&j, "dims", c->dims);
	json_kstr(&j, "queryPrefix", c->query_prefix);
	json_kstr(&j, "documentPrefix", c->document_prefix);
	json_kstr(&j, "queryInputType", c->query_input_type);
	json_kstr(&j, "documentInputType", c->document_input_type);
	if (embedder_info(e)->remote)
		put_key(&j, a, &r->settings, c->section);
	json_end(&j);
}

/* Before a run makes vectors: later the settings may be others. */
static void remember(struct remem *r, struct embedder *e)
{
	const char *key, *old;
	struct buf b = BUF_INIT(0);
	struct remem_err why = { 0 };
	struct arena a = ARENA_INIT;

	if (!e || embedder_off(e) || r->read_only ||
	    !strcmp(embedder_info(e)->provider, "builtin"))
		return;
	key = memo_key(&a, embedder_info(e)->fingerprint);
	put_memo(&b, &a, r, e);
	if (key && !buf_check(&b, NULL) && handle_state(r)) {
		old = state_meta_get(r->state, &a, key);
		if (!same(old, buf_str(&b)) &&
		    state_meta_set(r->state, key, buf_str(&b), &why))
			log_msg(LOG_WARN, "state", "%s", why.message);
	}
	buf_release(&b);
	arena_release(&a);
}

/* ---- the former one --------------------------------------------------- */

static const char *kept(struct remem *r, yyjson_val *v, const char *key)
{
	const char *s = json_str(v, key, NULL);

	return s ? arena_strdup(&r->a, s) : NULL;
}

static int kept_secret(struct embed_config *c, struct remem *r, yyjson_val *v,
		       struct remem_err *err)
{
	const char *name = json_str(v, "keyVariable", NULL);
	const char *file = json_str(v, "keyFile", NULL);
	const char *key = name ? env_get(&r->env, name) : NULL;

	if (name && !key)
		return fail(err, REMEM_EINVAL, "the variable %s is not set",
			    name);
	if (file)
		return secret_file(&key, &r->settings, file, "its key", err);
	c->api_key = key;
	return 0;
}

/* The key and the headers of now are for the address that they were given
 * for, and for no other. */
static int former_remote(struct embed_config *c, struct remem *r,
			 yyjson_val *v, struct remem_err *err)
{
	static const char *const sections[] = { "memorySearch",
						"memorySearch.fallback" };
	struct embed_config now;

	for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
		const char *name = i ? settings_str(&r->settings,
						    "memorySearch.fallback") :
				       NULL;
		int rc = i ? embed_config_of(&now, r, sections[i], name,
					     &r->former.e, NULL) :
			     embed_config_from(&now, r, NULL, NULL);

		if (rc || !same(now.provider, c->provider) ||
		    !same(now.base_url, c->base_url))
			continue;
		c->api_key = now.api_key;
		c->headers = now.headers;
		return 0;
	}
	return kept_secret(c, r, v, err);
}

static int former_config(struct embed_config *c, struct remem *r,
			 yyjson_val *v, struct remem_err *err)
{
	const char *name = kept(r, v, "provider");

	if (!name)
		return fail(err, REMEM_EFORMAT, "its settings cannot be read");
	if (embed_provider_is_remote(name) && !first_is_remote(r))
		return fail(err, REMEM_ENOTSUP, "the settings name no service "
			    "any more, and none is asked");
	memset(c, 0, sizeof(*c));
	c->section = "memorySearch";
	c->provider = name;
	c->model = kept(r, v, "model");
	c->base_url = kept(r, v, "baseUrl");
	c->ca_file = kept(r, v, "caFile");
	c->local_path = kept(r, v, "localPath");
	c->dims = (int)json_int(v, "dims", 0);
	c->query_prefix = kept(r, v, "queryPrefix");
	c->document_prefix = kept(r, v, "documentPrefix");
	c->query_input_type = kept(r, v, "queryInputType");
	c->document_input_type = kept(r, v, "documentInputType");
	c->worker = r->program;
	c->runtimes = runtime_folders(&r->a, r);
	c->query_timeout_ms = (int)settings_int(
		&r->settings, "memorySearch.embedding.queryTimeoutMs");
	if (r->a.failed)
		return fail_nomem(err);
	if (!embed_provider_is_remote(name))
		return 0;
	ledger_connect(c, r, &r->former.e);
	health_connect(c, r);
	return former_remote(c, r, v, err);
}

static int builtin_config(struct embed_config *c, struct remem *r,
			  struct remem_err *err)
{
	memset(c, 0, sizeof(*c));
	c->provider = "builtin";
	c->builtin_enabled = true;
	return model_find(&c->model_path, r, err);
}

static int read_memo(struct embed_config *c, struct remem *r,
		     const char *fingerprint, struct remem_err *err)
{
	const char *key = memo_key(&r->a, fingerprint), *text = NULL;
	struct state *s = r->state;
	yyjson_doc *doc = NULL;
	int rc;

	if (!strncmp(fingerprint, "builtin|", 8))
		return builtin_config(c, r, err);
	if (key && r->id[0] && r->state_base &&
	    (s || !state_open(&s, r->state_base, r->id, true, NULL)))
		text = state_meta_get(s, &r->a, key);
	if (s != r->state)
		state_close(s);
	if (!text)
		return fail(err, REMEM_ENOTFOUND, "its settings are not known");
	if ((rc = json_read(&doc, text, strlen(text), false,
			    "settings of the former model", err)))
		return rc;
	rc = former_config(c, r, yyjson_doc_get_root(doc), err);
	yyjson_doc_free(doc);
	return rc;
}

static void open_former(struct other_provider *p, struct remem *r,
			const char *fingerprint)
{
	struct remem_err why = { 0 };
	struct embed_config c;

	p->tried = true;
	p->name = arena_strndup(&r->a, fingerprint, strcspn(fingerprint, "|"));
	if (read_memo(&c, r, fingerprint, &why)) {
		p->why = arena_strdup(&r->a, why.message);
		return;
	}
	open_it(p, r, &c);
	if (!p->why && strcmp(embedder_info(p->e)->fingerprint, fingerprint))
		p->why = "its settings are not the same any more";
}

struct embedder *handle_former(struct remem *r, const char *fingerprint,
			       const char **why)
{
	struct other_provider *p = &r->former;

	if (p->e && strcmp(embedder_info(p->e)->fingerprint, fingerprint)) {
		embedder_free(p->e);
		memset(p, 0, sizeof(*p));
	}
	if (!p->tried)
		open_former(p, r, fingerprint);
	*why = p->why ? p->why : p->e ? NULL : "no memory";
	return *why ? NULL : p->e;
}

/* ---- runs of the index ------------------------------------------------ */

/* A model of this machine that fails sends nothing away: to begin with a
 * service is for a person, who sees the price. */
static bool is_for_a_person(struct remem *r, struct embedder *e,
			    bool by_hand)
{
	return !by_hand && embedder_info(e)->remote && !first_is_remote(r);
}

static struct embedder *turn_to_fallback(void *ctx, bool by_hand)
{
	struct remem *r = ctx;
	struct embedder *e;
	struct embed_health h;

	embedder_cooling(r->embedder, &h);
	/* Its vectors of everything are not made, and maybe paid for, because
	 * of a minute. */
	if (!by_hand && h.times && clock_now_ms() - h.since_ms < DOWN_MS)
		return NULL;
	if (!(e = handle_fallback(r, NULL)) || is_for_a_person(r, e, by_hand))
		return NULL;
	if (by_hand)
		embedder_wake(e);
	remember(r, e);
	return e;
}

void handle_vectors(struct index_opts *o, struct remem *r, bool by_hand,
		    const char **off)
{
	const char *why;

	o->embedder = handle_embedder(r, &why);
	if (off)
		*off = why;
	/* Without its key, say: it gives no answer either. */
	if (why && handle_fallback(r, NULL) &&
	    !is_for_a_person(r, r->fallback.e, by_hand))
		o->embedder = r->fallback.e;
	if (!o->embedder)
		return;
	o->by_hand = by_hand;
	if (by_hand)
		embedder_wake(o->embedder);
	if (o->dry_run)
		return;
	remember(r, o->embedder);
	if (!why && strcmp(settings_str(&r->settings, "memorySearch.fallback"),
			   "none")) {
		o->fallback = turn_to_fallback;
		o->fallback_ctx = r;
	}
}

bool handle_wants_back(struct remem *r)
{
	const struct store_ops *ops = r->ops;
	struct embedder *e = handle_text_only(r) ? NULL :
						   handle_embedder(r, NULL);
	const char *fingerprint = NULL;
	int fp, own, dims;

	if (!r->store || !e || embedder_off(e) || embedder_cooling(e, NULL) ||
	    ops->fingerprint_active(r->store, &fp, &dims, &fingerprint,
				    NULL) || !fp ||
	    same(fingerprint, embedder_info(e)->fingerprint))
		return false;
	/* Begun once; to begin is for a person, who sees the price. */
	return !ops->fingerprint_find(r->store, embedder_info(e)->fingerprint,
				      &own, &dims, NULL) && own;
}
