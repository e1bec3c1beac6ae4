/* Every call of a remote provider, and what the day's budget leaves. */
#include "api/handle.h"

#include "base/log.h"

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

/* Without a ledger nobody knows what is spent: then nothing may be. */
static int64_t left(void *ctx)
{
	struct remem *r = ctx;
	struct state *s = handle_state(r);
	int64_t most = settings_int(&r->settings, "budget.dailyTokens");
	int64_t spent = 0;

	if (!s || state_ledger_tokens_today(s, &spent, NULL))
		return 0;
	return most > spent ? most - spent : 0;
}

void ledger_connect(struct embed_config *c, struct remem *r)
{
	c->ledger = add;
	c->ledger_ctx = r;
	if (settings_int(&r->settings, "budget.dailyTokens") > 0)
		c->budget_left = left;
}
