/*
 * The ledger: a row a call that may cost money, and what is set aside for
 * those that are on their way. A process that was killed gives nothing back,
 * so what it held ends by itself.
 */
#include "base/clock.h"
#include "store/state_db.h"

#define DAY_MS 86400000ll
#define WITH_AGENTS 6 /* version of the file */

static int drop_hold(struct state *s, int64_t id, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "DELETE FROM hold WHERE id = ?1", &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	return state_done(s, st, err);
}

static int add_row(struct state *s, const struct ledger_row *row,
		   struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT INTO ledger(at, provider, model, items, "
			   "tokens, status, took_ms, agent, answer) "
			   "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", &st,
			   err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, row->at_ms ? row->at_ms : clock_now_ms());
	state_text(st, 2, row->provider);
	state_text(st, 3, row->model);
	sqlite3_bind_int(st, 4, row->items);
	sqlite3_bind_int64(st, 5, row->tokens);
	sqlite3_bind_int(st, 6, row->status);
	sqlite3_bind_int64(st, 7, row->took_ms);
	state_text(st, 8, row->agent);
	sqlite3_bind_int64(st, 9, row->answer_tokens);
	return state_done(s, st, err);
}

int state_ledger_add(struct state *s, const struct ledger_row *row,
		     struct remem_err *err)
{
	int rc;

	if (!row->hold)
		return add_row(s, row, err);
	if ((rc = state_begin(s, true, err)))
		return rc;
	/* The row last: its number is what a caller may ask for. */
	if ((rc = drop_hold(s, row->hold, err)) ||
	    (rc = add_row(s, row, err))) {
		state_rollback(s);
		return rc;
	}
	return state_commit(s, err);
}

int state_ledger_each(struct state *s, int64_t since_ms,
		      int (*fn)(void *ctx, const struct ledger_row *row),
		      void *ctx, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, s->version < WITH_AGENTS ?
		"SELECT at, provider, model, items, tokens, status, took_ms, "
		"NULL, 0 FROM ledger WHERE at >= ?1 ORDER BY at, rowid" :
		"SELECT at, provider, model, items, tokens, status, took_ms, "
		"agent, answer FROM ledger WHERE at >= ?1 ORDER BY at, rowid",
		&st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, since_ms);
	while (state_row(s, st, &rc, err)) {
		struct ledger_row row = {
			.at_ms = sqlite3_column_int64(st, 0),
			.provider = (const char *)sqlite3_column_text(st, 1),
			.model = (const char *)sqlite3_column_text(st, 2),
			.items = sqlite3_column_int(st, 3),
			.tokens = sqlite3_column_int64(st, 4),
			.status = sqlite3_column_int(st, 5),
			.took_ms = sqlite3_column_int64(st, 6),
			.agent = (const char *)sqlite3_column_text(st, 7),
			.answer_tokens = sqlite3_column_int64(st, 8),
		};

		rc = fn(ctx, &row);
	}
	return rc;
}

struct today {
	int32_t day;
	int (*fn)(void *ctx, const struct ledger_row *row);
	void *ctx;
};

static int if_today(void *ctx, const struct ledger_row *row)
{
	struct today *t = ctx;

	return clock_local_day(row->at_ms) == t->day ? t->fn(t->ctx, row) : 0;
}

int state_ledger_today(struct state *s,
		       int (*fn)(void *ctx, const struct ledger_row *row),
		       void *ctx, struct remem_err *err)
{
	int64_t now = clock_now_ms();
	struct today t = { clock_local_day(now), fn, ctx };

	/* A day may have 25 hours. */
	return state_ledger_each(s, now - DAY_MS - DAY_MS / 12, if_today, &t,
				 err);
}

/* ---- what is set aside ------------------------------------------------ */

int state_hold(struct state *s, int64_t *id, const struct state_held *h,
	       int64_t until_ms, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT INTO hold(until, tokens, usd) "
			   "VALUES(?1, ?2, ?3)", &st, err);

	*id = 0;
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, until_ms);
	sqlite3_bind_int64(st, 2, h->tokens);
	sqlite3_bind_double(st, 3, h->usd);
	if (!(rc = state_done(s, st, err)))
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

int state_hold_drop(struct state *s, int64_t id, struct remem_err *err)
{
	return drop_hold(s, id, err);
}

int state_held(struct state *s, struct state_held *h, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	*h = (struct state_held){ 0 };
	if (s->version < WITH_AGENTS)
		return 0;
	if ((rc = state_ask(s, "SELECT sum(tokens), sum(usd) FROM hold "
			    "WHERE until > ?1", &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, clock_now_ms());
	while (state_row(s, st, &rc, err)) {
		h->tokens = sqlite3_column_int64(st, 0);
		h->usd = sqlite3_column_double(st, 1);
	}
	return rc;
}

int state_hold_expire(struct state *s, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "DELETE FROM hold WHERE until <= ?1", &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, clock_now_ms());
	return state_done(s, st, err);
}
