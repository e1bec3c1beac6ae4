/* Judges replies and spaces retries. */
#include "embed/retry.h"

#include <string.h>

#include "base/alloc.h"
#include "embed/embedder.h"
#include "base/trouble.h"

/* ---- replies that are not answers ------------------------------------- */

static enum verdict verdict_of(const struct trouble *t)
{
	if (t->quota && !(t->status == 429 && t->retry_after_ms >= 0))
		return VERDICT_STOP;
	if (t->status == 429 || (t->rate && t->status != 413))
		return VERDICT_RATE;
	switch (t->status) {
	case 408:
	case 409:
	case 425:
		return VERDICT_AGAIN;
	case 400:
	case 413:
	case 414:
	case 422:
		return VERDICT_REFUSED;
	case 501:
	case 505:
		return VERDICT_STOP;
	default:
		break;
	}
	if (t->status >= 500)
		return t->size ? VERDICT_REFUSED : VERDICT_AGAIN;
	return t->status < 300 ? VERDICT_REFUSED : VERDICT_STOP;
}

static void say_action(struct outcome *o, const struct embedder *e,
		       const struct trouble *t)
{
	const char *section = embed_section(&e->c);

	if (t->status == 401 || t->status == 403)
		fail_action(&o->err, "check %s.remote.apiKey", section);
	else if (t->status == 404 || t->status == 405)
		fail_action(&o->err, "check %s.remote.baseUrl and %s.model",
			    section, section);
	else if (o->verdict == VERDICT_STOP && t->quota)
		fail_action(&o->err, "look at your account with the provider; "
			    "until then search goes by keywords");
}

/* The message of a reply about the key may hold a part of it. */
static bool may_quote(const struct trouble *t)
{
	return t->status != 401 && t->status != 403;
}

static void say_trouble(struct outcome *o, const struct embedder *e,
			const struct embed_request *r, const struct trouble *t)
{
	char said[TROUBLE_SAID] = "", code[sizeof(t->code) + 2] = "";
	const char *what = o->verdict == VERDICT_RATE ? "is asked too fast" :
			   o->verdict == VERDICT_STOP && t->quota ?
					"says that the account is exhausted" :
			   o->verdict == VERDICT_AGAIN ? "failed" :
							 "refused";

	if (may_quote(t))
		trouble_clean(said, t, e->secrets, r->texts, r->lens, r->n);
	if (t->code[0]) {
		memcpy(code, ", ", 2);
		memcpy(code + 2, t->code, sizeof(code) - 2);
		code[sizeof(code) - 1] = '\0';
	}
	fail(&o->err, REMEM_EREMOTE, "the provider %s (HTTP %d%s)%s%s", what,
	     t->status, code, said[0] ? ": " : "", said);
	say_action(o, e, t);
}

/* ---- no whole reply --------------------------------------------------- */

static void judge_failure(struct outcome *o, const struct embedder *e,
			  const struct http_reply *http)
{
	o->timed_out = http->rc == REMEM_ETIMEOUT;
	if (http->rc == REMEM_ELIMIT)
		o->verdict = VERDICT_REFUSED;
	else if (http->rc == REMEM_ETIMEOUT)
		o->verdict = VERDICT_AGAIN;
	else if (http->rc == REMEM_EREMOTE && (http->status < 300 ||
					       http->status >= 400))
		o->verdict = VERDICT_AGAIN;
	else
		o->verdict = VERDICT_STOP;
	fail(&o->err, http->rc, "%s", http->error);
	if (!http->status && o->verdict == VERDICT_AGAIN)
		fail_action(&o->err, "check %s.remote.baseUrl, and whether "
			    "the server runs", embed_section(&e->c));
}

/* ---- answers ---------------------------------------------------------- */

static int check_dims(struct embedder *e, int dims, struct remem_err *err)
{
	if (!e->info.dims || e->info.dims == dims)
		return 0;
	fail(err, REMEM_EREMOTE, "the provider answered vectors of %d "
	     "dimensions, not %d", dims, e->info.dims);
	fail_action(err, "to change over: remem config set "
		    "%s.outputDimensionality %d", embed_section(&e->c),
		    dims);
	return REMEM_EREMOTE;
}

static void judge_answer(struct outcome *o, struct embedder *e,
			 const struct embed_request *r,
			 const struct http_reply *http)
{
	int rc = e->p->parse(e->self, r, http, &o->reply, &o->err);

	if (!rc && (rc = check_dims(e, o->reply.dims, &o->err))) {
		mem_free(o->reply.vecs);
		o->reply.vecs = NULL;
	}
	o->verdict = !rc ? VERDICT_GOOD :
		     rc == REMEM_ENOMEM ? VERDICT_STOP : VERDICT_FAULTY;
	if (!rc) {
		e->answered = true;
		e->info.dims = o->reply.dims;
	}
}

void outcome_of(struct outcome *o, struct embedder *e,
		const struct embed_request *r, const struct http_reply *http)
{
	struct trouble t;

	memset(o, 0, sizeof(*o));
	o->status = http->status;
	o->retry_after_ms = -1;
	if (http->rc) {
		judge_failure(o, e, http);
		return;
	}
	trouble_read(&t, http);
	o->retry_after_ms = t.retry_after_ms;
	if (t.status >= 200 && t.status < 300 && !t.in_body) {
		judge_answer(o, e, r, http);
		return;
	}
	o->verdict = verdict_of(&t);
	if (o->verdict == VERDICT_REFUSED)
		o->hint = trouble_number(&t, r->n);
	say_trouble(o, e, r, &t);
}
