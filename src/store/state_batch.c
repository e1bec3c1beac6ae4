/* Rows of jobs and their lines; see state_batch.h. */
#include "store/state_batch.h"

#include <string.h>

#include "base/clock.h"
#include "store/state_db.h"

#define FIRST_VERSION 5 /* of the state that has the tables */
#define KEPT_ENDED 50 /* jobs that are over, for the record */
#define STATUS_OPEN 202 /* of HTTP: accepted, and not yet done */
#define STATUS_DONE 200

/* The suffix tells the price: see price_of_call(). */
static const char *ledger_name(struct arena *a, const struct batch_job *job)
{
	return arena_printf(a, "%s batch", job->provider);
}

static int add_lines(struct state *s, int64_t id,
		     const struct batch_line *lines, size_t n,
		     struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT OR IGNORE INTO batch_line "
			      "VALUES(?1, ?2, ?3, ?4)", &st, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < n && !rc; i++) {
		sqlite3_bind_int64(st, 1, id);
		sqlite3_bind_blob(st, 2, lines[i].key, SHA256_BYTES,
				  SQLITE_STATIC);
		sqlite3_bind_int(st, 3, lines[i].script);
		sqlite3_bind_int64(st, 4, lines[i].tokens);
		if (sqlite3_step(st) != SQLITE_DONE)
			rc = state_fail(s, "write", err);
		sqlite3_reset(st);
	}
	sqlite3_finalize(st);
	return rc;
}

static int add_row(struct state *s, struct batch_job *job,
		   struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT INTO batch_job(name, scope, provider, "
			      "model, base, fingerprint, step, lines, tokens, "
			      "made) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
			      "?9, ?10)", &st, err);

	if (rc)
		return rc;
	state_text(st, 1, job->name);
	state_text(st, 2, job->scope);
	state_text(st, 3, job->provider);
	state_text(st, 4, job->model);
	state_text(st, 5, job->base);
	state_text(st, 6, job->fingerprint);
	sqlite3_bind_int(st, 7, job->step);
	sqlite3_bind_int64(st, 8, job->lines);
	sqlite3_bind_int64(st, 9, job->tokens);
	sqlite3_bind_int64(st, 10, job->made_ms);
	if ((rc = state_done(s, st, err)))
		return rc;
	job->id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

int state_batch_add(struct state *s, struct batch_job *job,
		    const struct batch_line *lines, size_t n,
		    struct remem_err *err)
{
	int rc = state_begin(s, true, err);

	if (rc)
		return rc;
	if ((rc = add_row(s, job, err)) ||
	    (rc = add_lines(s, job->id, lines, n, err))) {
		state_rollback(s);
		return rc;
	}
	return state_commit(s, err);
}

static int reserve_tokens(struct state *s, struct batch_job *job,
			  struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	struct ledger_row row = {
		.provider = ledger_name(&a, job),
		.model = job->model,
		.items = (int)job->lines,
		.tokens = job->tokens,
		.status = STATUS_OPEN,
	};
	int rc = a.failed ? fail_nomem(err) : state_ledger_add(s, &row, err);

	if (!rc)
		job->ledger = sqlite3_last_insert_rowid(s->db);
	arena_release(&a);
	return rc;
}

static int settle(struct state *s, const struct batch_job *job, int64_t used,
		  struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "UPDATE ledger SET tokens = ?2, status = ?3, "
			      "took_ms = ?4 WHERE rowid = ?1", &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, job->ledger);
	sqlite3_bind_int64(st, 2, used);
	/* Nothing was done, nothing is paid: a call that failed. */
	sqlite3_bind_int(st, 3, job->done || used ? STATUS_DONE : 0);
	sqlite3_bind_int64(st, 4, job->ended_ms - job->sent_ms);
	return state_done(s, st, err);
}

static int drop_lines(struct state *s, int64_t id, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "DELETE FROM batch_line WHERE job = ?1", &st,
			   err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	return state_done(s, st, err);
}

static int forget_old(struct state *s, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "DELETE FROM batch_job WHERE step = ?1 AND id "
			      "NOT IN (SELECT id FROM batch_job WHERE "
			      "step = ?1 ORDER BY id DESC LIMIT ?2)", &st,
			   err);

	if (rc)
		return rc;
	sqlite3_bind_int(st, 1, JOB_ENDED);
	sqlite3_bind_int(st, 2, KEPT_ENDED);
	return state_done(s, st, err);
}

static int put_row(struct state *s, const struct batch_job *job,
		   struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "UPDATE batch_job SET step = ?2, remote = ?3, "
			      "input = ?4, output = ?5, errors = ?6, "
			      "reason = ?7, done = ?8, failed = ?9, "
			      "remote_done = ?10, sent = ?11, asked = ?12, "
			      "next = ?13, ended = ?14, tries = ?15, "
			      "ledger = ?16 WHERE id = ?1 AND step <> ?17",
			   &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, job->id);
	sqlite3_bind_int(st, 2, job->step);
	state_text(st, 3, job->remote);
	state_text(st, 4, job->input);
	state_text(st, 5, job->output);
	state_text(st, 6, job->errors);
	state_text(st, 7, job->reason);
	sqlite3_bind_int64(st, 8, job->done);
	sqlite3_bind_int64(st, 9, job->failed);
	sqlite3_bind_int64(st, 10, job->remote_done);
	sqlite3_bind_int64(st, 11, job->sent_ms);
	sqlite3_bind_int64(st, 12, job->asked_ms);
	sqlite3_bind_int64(st, 13, job->next_ms);
	sqlite3_bind_int64(st, 14, job->ended_ms);
	sqlite3_bind_int(st, 15, job->tries);
	sqlite3_bind_int64(st, 16, job->ledger);
	sqlite3_bind_int(st, 17, JOB_ENDED);
	if ((rc = state_done(s, st, err)) || sqlite3_changes(s->db))
		return rc;
	return fail(err, REMEM_EBUSY, "another process has ended the batch "
		    "job '%s'", job->name);
}

static int put_all(struct state *s, struct batch_job *job, bool reserve,
		   int64_t used, struct remem_err *err)
{
	int rc;

	if (reserve && !job->ledger && (rc = reserve_tokens(s, job, err)))
		return rc;
	if ((rc = put_row(s, job, err)) || job->step != JOB_ENDED)
		return rc;
	if ((job->ledger && (rc = settle(s, job, used, err))) ||
	    (rc = drop_lines(s, job->id, err)))
		return rc;
	return forget_old(s, err);
}

int state_batch_put(struct state *s, struct batch_job *job, bool reserve,
		    int64_t used, struct remem_err *err)
{
	int rc = state_begin(s, true, err);

	if (rc)
		return rc;
	if ((rc = put_all(s, job, reserve, used, err))) {
		state_rollback(s);
		return rc;
	}
	return state_commit(s, err);
}

int state_batch_drop(struct state *s, int64_t id, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_begin(s, true, err);

	if (rc)
		return rc;
	if (!(rc = drop_lines(s, id, err)) &&
	    !(rc = state_ask(s, "DELETE FROM batch_job WHERE id = ?1", &st,
			     err))) {
		sqlite3_bind_int64(st, 1, id);
		rc = state_done(s, st, err);
	}
	if (rc) {
		state_rollback(s);
		return rc;
	}
	return state_commit(s, err);
}

int state_batch_forget(struct state *s, int64_t id,
		       const unsigned char key[SHA256_BYTES],
		       struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "DELETE FROM batch_line WHERE job = ?1 AND "
			      "key = ?2", &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	sqlite3_bind_blob(st, 2, key, SHA256_BYTES, SQLITE_STATIC);
	return state_done(s, st, err);
}

/* ---- reading ---- */

static void read_row(struct batch_job *job, sqlite3_stmt *st, struct arena *a)
{
	job->id = sqlite3_column_int64(st, 0);
	job->name = state_col(st, 1, a);
	job->scope = state_col(st, 2, a);
	job->provider = state_col(st, 3, a);
	job->model = state_col(st, 4, a);
	job->base = state_col(st, 5, a);
	job->fingerprint = state_col(st, 6, a);
	job->step = (enum job_step)sqlite3_column_int(st, 7);
	job->remote = state_col(st, 8, a);
	job->input = state_col(st, 9, a);
	job->output = state_col(st, 10, a);
	job->errors = state_col(st, 11, a);
	job->reason = state_col(st, 12, a);
	job->lines = sqlite3_column_int64(st, 13);
	job->tokens = sqlite3_column_int64(st, 14);
	job->done = sqlite3_column_int64(st, 15);
	job->failed = sqlite3_column_int64(st, 16);
	job->remote_done = sqlite3_column_int64(st, 17);
	job->made_ms = sqlite3_column_int64(st, 18);
	job->sent_ms = sqlite3_column_int64(st, 19);
	job->asked_ms = sqlite3_column_int64(st, 20);
	job->next_ms = sqlite3_column_int64(st, 21);
	job->ended_ms = sqlite3_column_int64(st, 22);
	job->tries = sqlite3_column_int(st, 23);
	job->ledger = sqlite3_column_int64(st, 24);
}

int state_batch_list(struct state *s, struct arena *a, const char *scope,
		     bool open, struct batch_job **out, size_t *count,
		     struct remem_err *err)
{
	size_t cap = 0;
	sqlite3_stmt *st;
	int rc;

	*out = NULL;
	*count = 0;
	if (s->version < FIRST_VERSION)
		return 0;
	rc = state_ask(s, "SELECT id, name, scope, provider, model, base, "
			  "fingerprint, step, remote, input, output, errors, "
			  "reason, lines, tokens, done, failed, remote_done, "
			  "made, sent, asked, next, ended, tries, ledger "
			  "FROM batch_job WHERE (?1 IS NULL OR scope = ?1) "
			  "AND (?2 = 0 OR step <> ?3) ORDER BY id", &st, err);
	if (rc)
		return rc;
	state_text(st, 1, scope);
	sqlite3_bind_int(st, 2, open);
	sqlite3_bind_int(st, 3, JOB_ENDED);
	while (state_row(s, st, &rc, err)) {
		*out = arena_grow(a, *out, &cap, *count + 1, sizeof(**out));
		if (*out)
			read_row(&(*out)[(*count)++], st, a);
		if (a->failed)
			rc = fail_nomem(err);
	}
	return rc;
}

int state_batch_lines(struct state *s, struct arena *a, int64_t id,
		      struct batch_line **out, size_t *count,
		      struct remem_err *err)
{
	size_t cap = 0;
	sqlite3_stmt *st;
	int rc;

	*out = NULL;
	*count = 0;
	rc = state_ask(s, "SELECT key, script, tokens FROM batch_line "
			  "WHERE job = ?1 ORDER BY key", &st, err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	while (state_row(s, st, &rc, err)) {
		struct batch_line *l;

		*out = arena_grow(a, *out, &cap, *count + 1, sizeof(**out));
		if (!*out) {
			rc = fail_nomem(err);
			continue;
		}
		l = &(*out)[(*count)++];
		state_hash(st, 0, l->key, SHA256_BYTES);
		l->script = sqlite3_column_int(st, 1);
		l->tokens = sqlite3_column_int64(st, 2);
	}
	return rc;
}
