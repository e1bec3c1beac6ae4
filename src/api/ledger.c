/* Every call of a remote provider, and what the day's budget leaves. */
#include "api/handle.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "embed/price.h"

struct state *handle_state(struct remem *r)
{
	struct remem_err why = { 0 };

	if (r->state || r->state_tried || r->read_only)
		return r->state;
	r->state_tried = true;
	if (handle_id(r, true, &why) || !r->id[0] ||
	    state_open(&r->state, r->state_base, r->id, false, &why)) {
		r->state = NULL;
		log_msg(LOG_WARN, "state", "%s", why.message);
	}
	return r->state;
}

static void add(void *ctx, const char *provider, const char *model, int items,
		int64_t tokens, int status, int64_t took_ms)
{
	struct ledger_row row = {
		.provider = provider,
		.model = model,
		.items = items,
		.tokens = tokens,
		.status = status,
		.took_ms = took_ms,
	};
	struct state *s = handle_state(ctx);
	struct remem_err why = { 0 };

	if (s && state_ledger_add(s, &row, &why))
		log_msg(LOG_WARN, "state", "%s", why.message);
}

static int add_usd(void *ctx, const struct ledger_row *row)
{
	double *usd = ctx;
	double price = price_of_call(row->provider, row->model);

	if (price > 0 && clock_local_day(row->at_ms) ==
				 clock_local_day(clock_now_ms()))
		*usd += price * (double)row->tokens / 1e6;
	return 0;
}

/* Tokens that today's dollars still buy; INT64_MAX where there is no price. */
static int64_t left_by_price(struct remem *r, struct state *s,
			     struct embedder *e)
{
	double most = settings_num(&r->settings, "budget.dailyUsd"), spent = 0;
	double price = e ? embedder_price(e) : -1, tokens;

	if (most <= 0 || price <= 0)
		return INT64_MAX;
	/* A day may have 25 hours. */
	if (state_ledger_each(s, clock_now_ms() - 26 * 3600 * INT64_C(1000),
			      add_usd, &spent, NULL))
		return 0;
	tokens = (most - spent) / price * 1e6;
	return tokens <= 0 ? 0 : tokens < 1e18 ? (int64_t)tokens : INT64_MAX;
}

/* Without a ledger nobody knows what is spent: then nothing may be. */
static int64_t left_tokens(void *ctx)
{
	struct remem *r = ctx;
	struct state *s = handle_state(r);
	int64_t most = settings_int(&r->settings, "budget.dailyTokens");
	int64_t spent = 0;

	if (!s || state_ledger_tokens_today(s, &spent, NULL))
		return 0;
	if (most <= 0)
		return INT64_MAX;
	return most > spent ? most - spent : 0;
}

struct purse { /* of one provider */
	struct remem *r;
	struct embedder **e;
};

static int64_t left(void *ctx)
{
	const struct purse *p = ctx;
	int64_t most = left_tokens(p->r);
	int64_t priced = most ? left_by_price(p->r, handle_state(p->r), *p->e) :
				0;

	return most < priced ? most : priced;
}

static int64_t none_left(void *ctx)
{
	(void)ctx;
	return 0;
}

void ledger_connect(struct embed_config *c, struct remem *r,
		    struct embedder **e)
{
	struct purse *p = ARENA_NEW(&r->a, struct purse);

	c->ledger = add;
	c->ledger_ctx = r;
	if (settings_int(&r->settings, "budget.dailyTokens") <= 0 &&
	    settings_num(&r->settings, "budget.dailyUsd") <= 0)
		return;
	c->budget_ctx = p;
	c->budget_left = p ? left : none_left;
	if (p)
		*p = (struct purse){ r, e };
}

void ledger_connect_chat(struct chat_config *c, struct remem *r)
{
	c->ledger = add;
	c->ledger_ctx = r;
	c->budget_ctx = r;
	if (settings_int(&r->settings, "budget.dailyTokens") > 0)
		c->budget_left = left_tokens;
}

/* Limits belong to an address: another server of the same model has others. */
const char *provider_key(struct arena *a, const char *what,
			 const struct embed_config *c)
{
	return arena_printf(a, "%s %s %s %s", what, c->provider,
			    c->base_url ? c->base_url : "",
			    c->model ? c->model : "");
}

int ledger_learned(struct remem *r, const struct embed_config *c)
{
	struct state *s = NULL;
	const char *key = provider_key(&r->a, "learnedItems", c);
	const char *value = NULL;
	int items;

	if (!key || !r->id[0] ||
	    state_open(&s, r->state_base, r->id, true, NULL))
		return 0;
	value = state_meta_get(s, &r->a, key);
	items = value ? atoi(value) : 0;
	state_close(s);
	return items > 0 ? items : 0;
}

void ledger_learn(struct remem *r, struct embedder *e)
{
	int items = e && embedder_info(e)->remote ?
			    embedder_info(e)->learned_items : 0;
	const char *key = items ? provider_key(&r->a, "learnedItems",
					       embedder_config(e)) : NULL;
	char text[16];

	if (!key || !handle_state(r))
		return;
	snprintf(text, sizeof(text), "%d", items);
	/* Forgotten, it is learned anew by one refusal. */
	state_meta_set(r->state, key, text, NULL);
}
