/* remem_usage(): what remote providers were asked, and what that costs. */
#include <stdio.h>
#include <string.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/clock.h"
#include "embed/price.h"

struct sum {
	const char *key;
	int64_t calls, failed, items, tokens;
	double usd;
	int64_t unpriced; /* tokens of models whose price is not known */
};

struct usage {
	struct arena a;
	const char *by;
	struct sum *rows, total, today;
	size_t n, cap;
	int32_t day;
};

static void add(struct sum *s, const struct ledger_row *row)
{
	double usd = price_of_call(row->provider, row->model, row->tokens,
				   row->answer_tokens);

	s->calls++;
	s->failed += row->status < 200 || row->status > 299;
	s->items += row->items;
	s->tokens += row->tokens;
	if (usd < 0)
		s->unpriced += row->tokens;
	else
		s->usd += usd;
}

static const char *key_of(struct usage *u, const struct ledger_row *row)
{
	char day[16];

	if (!strcmp(u->by, "provider"))
		return row->provider ? row->provider : "";
	if (!strcmp(u->by, "model"))
		return row->model ? row->model : "";
	if (!strcmp(u->by, "agent"))
		return row->agent && row->agent[0] ? row->agent : "remem";
	clock_zone_format(day, sizeof(day), "%Y-%m-%d", NULL, row->at_ms);
	return arena_strdup(&u->a, day);
}

static struct sum *find(struct usage *u, const char *key)
{
	struct sum *more;

	for (size_t i = u->n; key && i--;) /* days come in their order */
		if (!strcmp(u->rows[i].key, key))
			return &u->rows[i];
	if (u->n == u->cap) {
		u->cap = u->cap ? 2 * u->cap : 32;
		more = ARENA_ARRAY(&u->a, struct sum, u->cap);
		if (!more)
			return NULL;
		if (u->n)
			memcpy(more, u->rows, u->n * sizeof(*more));
		u->rows = more;
	}
	u->rows[u->n] = (struct sum){ .key = arena_strdup(&u->a, key) };
	return u->a.failed ? NULL : &u->rows[u->n++];
}

static int on_row(void *ctx, const struct ledger_row *row)
{
	struct usage *u = ctx;
	struct sum *s = find(u, key_of(u, row));

	if (!s)
		return REMEM_ENOMEM;
	add(s, row);
	add(&u->total, row);
	if (clock_local_day(row->at_ms) == u->day)
		add(&u->today, row);
	return 0;
}

static int read_ledger(struct usage *u, struct remem *r, struct remem_err *err)
{
	struct state *s = NULL;
	int rc;

	u->day = clock_local_day(handle_now_ms(r));
	/* Nothing was ever asked where there is nothing to read. */
	if (handle_id(r, false, NULL) || !r->id[0] ||
	    state_open(&s, r->state_base, r->id, true, NULL))
		return 0;
	rc = state_ledger_each(s, 0, on_row, u, err);
	state_close(s);
	return rc == REMEM_ENOMEM ? fail_nomem(err) : rc;
}

static void put_sum(struct json *j, const struct sum *s)
{
	json_obj(j);
	if (s->key)
		json_kstr(j, "key", s->key);
	json_kint(j, "calls", s->calls);
	json_kint(j, "failed", s->failed);
	json_kint(j, "items", s->items);
	json_kint(j, "tokens", s->tokens);
	json_knum(j, "usd", s->usd);
	json_kint(j, "unpricedTokens", s->unpriced);
	json_end(j);
}

static void put_all(struct json *j, const struct usage *u,
		    const struct settings *s)
{
	json_obj(j);
	json_kint(j, "version", 1);
	json_kstr(j, "by", u->by);
	json_kstr(j, "pricesOf", PRICE_DATE);
	json_key(j, "rows");
	json_arr(j);
	for (size_t i = 0; i < u->n; i++)
		put_sum(j, &u->rows[i]);
	json_arr_end(j);
	json_key(j, "total");
	put_sum(j, &u->total);
	json_key(j, "today");
	put_sum(j, &u->today);
	json_kint(j, "budgetTokens", settings_int(s, "budget.dailyTokens"));
	json_knum(j, "budgetUsd", settings_num(s, "budget.dailyUsd"));
	json_end(j);
}

PUBLIC int remem_usage(struct remem *r, const char *by, char **json,
		       struct remem_err *err)
{
	struct usage u = { .a = ARENA_INIT, .by = by ? by : "day" };
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	*json = NULL;
	if (strcmp(u.by, "day") && strcmp(u.by, "provider") &&
	    strcmp(u.by, "model") && strcmp(u.by, "agent")) {
		fail(err, REMEM_EINVAL, "usage is told by day, provider, "
		     "model or agent, not by '%s'", u.by);
		return REMEM_EINVAL;
	}
	rc = read_ledger(&u, r, err);
	if (!rc) {
		json_begin(&j, &b);
		put_all(&j, &u, &r->settings);
		rc = json_give(json, &b, err);
	}
	buf_release(&b);
	arena_release(&u.a);
	return rc;
}
