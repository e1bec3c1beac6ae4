/* Every call of a remote provider, and what the day's budget leaves. */
#include "api/handle.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "embed/price.h"

#define SLACK_MS 5000 /* beyond its time-out nothing is on its way */

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

/* ---- what was spent today ---------------------------------------------- */

struct spent {
	int64_t tokens;
	double usd; /* where the price is known */
};

static int add_spent(void *ctx, const struct ledger_row *row)
{
	struct spent *s = ctx;
	double usd = price_of_call(row->provider, row->model, row->tokens,
				   row->answer_tokens);

	s->tokens += row->tokens;
	s->usd += usd > 0 ? usd : 0;
	return 0;
}

/* With what is on its way, of this process and others. */
static int read_spent(struct spent *out, struct state *s, struct remem_err *err)
{
	struct state_held held;
	int rc;

	*out = (struct spent){ 0 };
	if ((rc = state_ledger_today(s, add_spent, out, err)) ||
	    (rc = state_held(s, &held, err)))
		return rc;
	out->tokens += held.tokens;
	out->usd += held.usd;
	return 0;
}

/* ---- before a request ---------------------------------------------------- */

static int say_used_up(const char *what, const char *setting,
		       struct remem_err *err)
{
	fail(err, REMEM_ELIMIT, "today's budget of %s does not allow another "
	     "request", what);
	fail_action(err, "raise %s, or go on tomorrow", setting);
	return REMEM_ELIMIT;
}

static int check_budget(struct remem *r, const struct spent *spent,
			int64_t tokens, double usd, struct remem_err *err)
{
	int64_t most = settings_int(&r->settings, "budget.dailyTokens");
	double most_usd = settings_num(&r->settings, "budget.dailyUsd");

	if (most > 0 && tokens > most - spent->tokens)
		return say_used_up("tokens", "budget.dailyTokens", err);
	if (most_usd > 0 && usd > 0 && spent->usd + usd > most_usd)
		return say_used_up("dollars", "budget.dailyUsd", err);
	return 0;
}

static int hold_in(struct remem *r, struct state *s, struct spend *sp,
		   struct remem_err *err)
{
	double usd = price_of_call(sp->provider, sp->model, sp->tokens,
				   sp->answer_tokens);
	struct state_held h = { sp->tokens, usd > 0 ? usd : 0 };
	struct spent spent;
	int rc;

	if ((rc = state_hold_expire(s, err)) ||
	    (rc = read_spent(&spent, s, err)) ||
	    (rc = check_budget(r, &spent, h.tokens, h.usd, err)))
		return rc;
	return state_hold(s, &sp->held, &h,
			  clock_now_ms() + sp->timeout_ms + SLACK_MS, err);
}

/* Reading what is spent and setting aside is one step for all processes. */
static int hold(void *ctx, struct spend *sp, struct remem_err *err)
{
	struct remem *r = ctx;
	struct state *s = handle_state(r);
	int rc;

	/* Without a ledger nobody knows what is spent: then nothing may be. */
	if (!s) {
		fail(err, REMEM_ELIMIT, "there is a daily budget and no ledger "
		     "that tells what is left of it");
		fail_action(err, "remem doctor tells why the state cannot be "
			    "written");
		return REMEM_ELIMIT;
	}
	if ((rc = state_begin(s, false, err)))
		return rc;
	if ((rc = hold_in(r, s, sp, err))) {
		state_rollback(s);
		return rc;
	}
	return state_commit(s, err);
}

static void drop(void *ctx, const struct spend *sp)
{
	struct state *s = handle_state(ctx);

	if (s)
		state_hold_drop(s, sp->held, NULL);
}

struct purse { /* of one provider */
	struct remem *r;
	struct embedder **e;
};

/* Tokens for a batch job, which is written down as a whole. */
static int64_t left(void *ctx)
{
	const struct purse *p = ctx;
	struct remem *r = p->r;
	struct state *s = handle_state(r);
	int64_t most = settings_int(&r->settings, "budget.dailyTokens");
	double usd = settings_num(&r->settings, "budget.dailyUsd"), tokens;
	double price = *p->e ? embedder_price(*p->e) : -1;
	struct spent spent;

	if (!s || read_spent(&spent, s, NULL))
		return 0;
	most = most > 0 ? most - spent.tokens : INT64_MAX;
	tokens = usd > 0 && price > 0 ? (usd - spent.usd) / price * 1e6 : 1e18;
	if (tokens < 1e18 && (int64_t)tokens < most)
		most = (int64_t)tokens;
	return most > 0 ? most : 0;
}

/* ---- after it ------------------------------------------------------------ */

static void settle(void *ctx, const struct spend *sp)
{
	struct remem *r = ctx;
	struct ledger_row row = {
		.provider = sp->provider,
		.model = sp->model,
		.items = sp->items,
		.tokens = sp->tokens,
		.status = sp->status,
		.took_ms = sp->took_ms,
		.agent = r->agent[0] ? r->agent : r->client,
		.answer_tokens = sp->answer_tokens,
		.hold = sp->held,
	};
	struct state *s = handle_state(r);
	struct remem_err why = { 0 };

	if (s && state_ledger_add(s, &row, &why))
		log_msg(LOG_WARN, "state", "%s", why.message);
}

static void connect(struct spender *to, struct remem *r)
{
	*to = (struct spender){ .settle = settle, .drop = drop, .ctx = r };
	if (settings_int(&r->settings, "budget.dailyTokens") > 0 ||
	    settings_num(&r->settings, "budget.dailyUsd") > 0)
		to->hold = hold;
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

	connect(&c->spend, r);
	if (!c->spend.hold)
		return;
	c->budget_ctx = p;
	c->budget_left = p ? left : none_left;
	if (p)
		*p = (struct purse){ r, e };
}

void ledger_connect_chat(struct chat_config *c, struct remem *r)
{
	connect(&c->spend, r);
}

/* ---- what was learned ---------------------------------------------------- */

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
