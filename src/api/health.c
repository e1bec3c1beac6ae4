/*
 * How remote providers are, kept in the durable data of the workspace: a search
 * that runs as a process of its own must not find out anew, with a time-out,
 * what the one before it found out. One record a provider, address and model,
 * gone as soon as it answers.
 */
#include "api/handle.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"

struct health { /* of one provider */
	struct remem *r;
	const char *key;
};

static void read_record(struct embed_health *h, const char *text)
{
	yyjson_doc *doc = NULL;
	yyjson_val *v;

	if (json_read(&doc, text, strlen(text), false, "the record of a "
		      "provider", NULL))
		return;
	v = yyjson_doc_get_root(doc);
	h->since_ms = json_int(v, "since", 0);
	h->until_ms = json_int(v, "until", 0);
	h->times = (int)json_int(v, "times", 0);
	h->code = (int)json_int(v, "code", 0);
	snprintf(h->message, sizeof(h->message), "%s",
		 json_str(v, "message", ""));
	snprintf(h->action, sizeof(h->action), "%s", json_str(v, "action", ""));
	yyjson_doc_free(doc);
}

static void load(void *ctx, struct embed_health *h)
{
	const struct health *o = ctx;
	struct arena a = ARENA_INIT;
	struct state *s = o->r->state;
	const char *text = NULL;

	if (s || (o->r->id[0] && o->r->state_base &&
		  !state_open(&s, o->r->state_base, o->r->id, true, NULL)))
		text = state_meta_get(s, &a, o->key);
	if (text)
		read_record(h, text);
	if (s != o->r->state)
		state_close(s);
	arena_release(&a);
}

static void write_record(struct buf *b, const struct embed_health *h)
{
	struct json j;

	json_begin(&j, b);
	json_obj(&j);
	json_kint(&j, "since", h->since_ms);
	json_kint(&j, "until", h->until_ms);
	json_kint(&j, "times", h->times);
	json_kint(&j, "code", h->code);
	json_kstr(&j, "message", h->message);
	json_kstr(&j, "action", h->action);
	json_end(&j);
}

static void save(void *ctx, const struct embed_health *h)
{
	const struct health *o = ctx;
	struct state *s = handle_state(o->r);
	struct remem_err why = { 0 };
	struct buf b = BUF_INIT(0);

	if (s && h)
		write_record(&b, h);
	if (s && (buf_check(&b, &why) ||
		  state_meta_set(s, o->key, h ? buf_str(&b) : NULL, &why)))
		log_msg(LOG_WARN, "state", "%s", why.message);
	buf_release(&b);
}

void health_connect(struct embed_config *c, struct remem *r)
{
	struct health *h = ARENA_NEW(&r->a, struct health);
	const char *key = provider_key(&r->a, "down", c);

	if (!h || !key)
		return;
	*h = (struct health){ r, key };
	c->health_load = load;
	c->health_save = save;
	c->health_ctx = h;
}
