/*
 * Asking a chat model: one request at a time, tried again within one time-out
 * (half a second, one, two; what the server asks for goes before), made
 * simpler when it is refused before anything was answered.
 */
#include "chat/chat.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/trouble.h"
#include "base/utf8.h"
#include "chat/form.h"
#include "text/token.h"

#define MS INT64_C(1000000)
#define SLICE_MS 50 /* how often a wait looks whether it is cancelled */
#define TIMEOUT_MS 60000
#define TRIES 4 /* a request and three retries */
#define SECRET_BYTES 6 /* shorter ones would tear other words apart */

#define CHAT(name) extern const struct chat_provider chat_##name;
#include "chat/chat.def"
#undef CHAT

static const struct chat_provider *const providers[] = {
#define CHAT(name) &chat_##name,
#include "chat/chat.def"
#undef CHAT
};

struct chat {
	struct chat_config c;
	const struct chat_provider *p; /* NULL: off */
	void *self;
	struct http *http; /* NULL until first use */
	const char *secrets[2]; /* never in a message */
	uint64_t random;
	bool answered;
};

const char *chat_provider_at(int i)
{
	return i >= 0 && (size_t)i < ARRAY_LEN(providers) ?
		       providers[i]->name : NULL;
}

/* ---- opening ---------------------------------------------------------- */

static bool is_off(const struct chat_config *c)
{
	return !c->provider || !c->provider[0] || !strcmp(c->provider, "none");
}

static int find(const struct chat_provider **out, const char *name,
		struct remem_err *err)
{
	char names[32 * ARRAY_LEN(providers)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(providers); i++)
		if (!strcmp(providers[i]->name, name)) {
			*out = providers[i];
			return 0;
		}
	fail(err, REMEM_EINVAL, "there is no chat provider '%s'", name);
	for (size_t i = 0; i < ARRAY_LEN(providers); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s, ",
				      providers[i]->name);
	fail_action(err, "chat.provider may be %snone", names);
	return REMEM_EINVAL;
}

int chat_open(struct chat **out, const struct chat_config *config,
	      struct remem_err *err)
{
	struct chat *c = mem_zalloc(sizeof(*c));
	int rc = 0;

	*out = NULL;
	if (!c)
		return fail_nomem(err);
	c->c = *config;
	c->random = (uint64_t)clock_mono_ns();
	if (config->api_key && strlen(config->api_key) >= SECRET_BYTES)
		c->secrets[0] = config->api_key;
	if (!is_off(config) &&
	    !(rc = find(&c->p, config->provider, err)))
		rc = c->p->open(&c->self, config, err);
	if (rc)
		chat_free(c);
	else
		*out = c;
	return rc;
}

void chat_free(struct chat *c)
{
	if (!c)
		return;
	if (c->p)
		c->p->close(c->self);
	http_free(c->http);
	mem_free(c);
}

const char *chat_off(const struct chat *c)
{
	return c->p ? NULL : "no chat provider is set";
}

const char *chat_model(const struct chat *c)
{
	return c->c.model ? c->c.model : "";
}

/* ---- the answer as text ----------------------------------------------- */

static void skip(struct buf *b, size_t n)
{
	memmove(b->ptr, b->ptr + n, b->len - n);
	buf_truncate(b, b->len - n);
}

static void trim(struct buf *b)
{
	size_t n = strspn(buf_str(b), " \t\r\n");

	if (n)
		skip(b, n);
	while (b->len && strchr(" \t\r\n", b->ptr[b->len - 1]))
		buf_truncate(b, b->len - 1);
}

/* What reasoning models say to themselves stands in front, in a tag. */
static void drop_thoughts(struct buf *b)
{
	static const char *const ends[] = { "</think>", "</thinking>" };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const char *end = strstr(buf_str(b), ends[i]);

		if (end && (!strncmp(buf_str(b), "<think", 6)))
			skip(b, (size_t)(end - b->ptr) + strlen(ends[i]));
	}
	trim(b);
}

static int read_object(const char *text, size_t len)
{
	yyjson_doc *doc = NULL;
	int rc = json_read(&doc, text, len, false, "answer", NULL);

	if (!rc && !yyjson_is_obj(yyjson_doc_get_root(doc)))
		rc = REMEM_EFORMAT;
	yyjson_doc_free(doc);
	return rc;
}

/* The whole, else from its first brace to its last: some put words or a fence
 * around what they were asked for. */
static int take_object(struct buf *b, struct remem_err *err)
{
	int rc = read_object(buf_str(b), b->len);
	const char *open = strchr(buf_str(b), '{');
	const char *close = strrchr(buf_str(b), '}');

	if (rc == REMEM_EFORMAT && open && close && open < close) {
		buf_truncate(b, (size_t)(close + 1 - b->ptr));
		skip(b, (size_t)(open - b->ptr));
		rc = read_object(buf_str(b), b->len);
	}
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	return rc ? fail(err, REMEM_EREMOTE, "the model answered something "
			 "that is not JSON") : 0;
}

static int clean(struct buf *b, const struct chat_request *r,
		 struct remem_err *err)
{
	if (strlen(buf_str(b)) != b->len || !utf8_valid(buf_str(b), b->len))
		return fail(err, REMEM_EREMOTE,
			    "the model answered something that is no text");
	trim(b);
	drop_thoughts(b);
	if (!b->len)
		return fail(err, REMEM_EREMOTE, "the model answered nothing");
	return r->json ? take_object(b, err) : 0;
}

/* ---- one request ------------------------------------------------------ */

enum next { DONE, AGAIN, RATE, FAULTY, SIMPLER, STOP };

struct call {
	struct chat *c;
	const struct chat_request *r;
	int64_t end_ns;
	int retry_after_ms;
	struct buf *answer;
	struct remem_err err;
};

static bool is_over(void *ctx)
{
	const struct call *k = ctx;

	return (k->r->cancel && k->r->cancel(k->r->ctx)) ||
	       clock_mono_ns() >= k->end_ns;
}

static int send(struct call *k, const struct http_request *req,
		struct http_reply *reply, struct remem_err *err)
{
	struct chat *c = k->c;
	int rc;

	reply->retry_after_ms = -1;
	if (c->c.transport) {
		c->c.transport(c->c.transport_ctx, req, reply);
		return 0;
	}
	if (!c->http && ((rc = http_new(&c->http, err)) ||
			 (rc = http_set_ca(c->http, c->c.ca_file, err))))
		return rc;
	return http_perform(c->http, req, reply, 1, is_over, k, err);
}

/* The most that the request may cost: the whole of the answer with it. */
static int hold(struct call *k, struct spend *s, int timeout_ms)
{
	const struct chat_config *c = &k->c->c;
	const struct chat_request *r = k->r;
	int64_t tokens = 0;

	for (size_t i = 0; i < r->n; i++)
		tokens += (int64_t)token_estimate(r->messages[i].text,
						  r->messages[i].len);
	*s = (struct spend){ .provider = k->c->p->name,
			     .model = chat_model(k->c),
			     .items = 1,
			     .timeout_ms = timeout_ms };
	s->answer_tokens = chat_answer_tokens(r) + k->c->p->thought_tokens;
	s->tokens = tokens + s->answer_tokens;
	return c->spend.hold ? c->spend.hold(c->spend.ctx, s, &k->err) : 0;
}

/* Where the provider did not count, the answer is not known to be long. */
static void settle(struct call *k, struct spend *s,
		   const struct chat_reply *said, const struct http_reply *http,
		   int64_t took_ms)
{
	const struct spender *to = &k->c->c.spend;
	int64_t asked = s->tokens - s->answer_tokens;

	s->tokens = spend_paid(http->status, http->rc == REMEM_ETIMEOUT,
			       said->tokens, asked);
	s->answer_tokens = s->tokens ? said->answer_tokens : 0;
	s->status = http->status;
	s->took_ms = took_ms;
	if (to->settle)
		to->settle(to->ctx, s);
	s->held = 0;
}

static void drop(struct call *k, struct spend *s)
{
	if (s->held && k->c->c.spend.drop)
		k->c->c.spend.drop(k->c->c.spend.ctx, s);
}

static void say_trouble(struct call *k, const struct trouble *t)
{
	const struct chat_request *r = k->r;
	const char *texts[8];
	size_t lens[8], n = 0;
	char said[TROUBLE_SAID] = "";

	for (; n < r->n && n < ARRAY_LEN(texts); n++) {
		texts[n] = r->messages[n].text;
		lens[n] = r->messages[n].len;
	}
	/* A message about the key may hold a part of it, and what cannot be
	 * compared with all that was sent may repeat it. */
	if (t->status != 401 && t->status != 403 && n == r->n)
		trouble_clean(said, t, k->c->secrets, texts, lens, n);
	fail(&k->err, REMEM_EREMOTE, "the chat provider %s (HTTP %d)%s%s",
	     t->quota ? "says that the account is exhausted" :
	     t->rate || t->status == 429 ? "is asked too fast" : "refused",
	     t->status, said[0] ? ": " : "", said);
	if (t->status == 401 || t->status == 403)
		fail_action(&k->err, "check chat.apiKey");
	else if (t->status == 404 || t->status == 405)
		fail_action(&k->err, "check chat.baseUrl and chat.model");
}

static enum next judge_trouble(struct call *k, const struct trouble *t)
{
	say_trouble(k, t);
	k->retry_after_ms = t->retry_after_ms;
	if (t->quota)
		return STOP;
	if (t->rate || t->status == 429)
		return RATE;
	/* Paid for, perhaps. */
	if (t->status < 300)
		return FAULTY;
	if (t->status >= 500 || t->status == 408 || t->status == 409 ||
	    t->status == 425)
		return AGAIN;
	return t->status == 400 || t->status == 422 ? SIMPLER : STOP;
}

static enum next judge_failure(struct call *k, const struct http_reply *http)
{
	fail(&k->err, http->rc, "%s", http->error);
	if (http->rc != REMEM_ETIMEOUT && http->rc != REMEM_EREMOTE)
		return STOP;
	if (!http->status)
		fail_action(&k->err, "check chat.baseUrl, and whether the "
			    "server runs");
	return http->status >= 300 && http->status < 400 ? STOP : AGAIN;
}

static enum next judge_answer(struct call *k, const struct http_reply *http,
			      struct chat_reply *reply)
{
	struct buf *b = k->answer;
	yyjson_doc *doc;
	int rc = chat_form_read(&doc, http, &k->err);

	if (!rc)
		rc = k->c->p->parse(yyjson_doc_get_root(doc), reply, b,
				    &k->err);
	yyjson_doc_free(doc);
	if (!rc && reply->cut)
		rc = fail(&k->err, REMEM_EREMOTE,
			  "the model's answer was cut off at its limit");
	if (!rc)
		rc = clean(b, k->r, &k->err);
	if (rc)
		return rc != REMEM_EREMOTE || reply->cut || reply->final ?
			       STOP : FAULTY;
	k->c->answered = true;
	return DONE;
}

static enum next judge(struct call *k, const struct http_reply *http,
		       struct chat_reply *reply)
{
	struct trouble t;

	k->retry_after_ms = -1;
	if (http->rc)
		return judge_failure(k, http);
	trouble_read(&t, http);
	if (t.in_body || t.status < 200 || t.status >= 300)
		return judge_trouble(k, &t);
	return judge_answer(k, http, reply);
}

static enum next once(struct call *k)
{
	struct chat *c = k->c;
	struct buf body = BUF_INIT(0);
	struct http_request http = { 0 };
	struct http_reply reply = { 0 };
	struct chat_reply said = { 0 };
	struct spend spend = { 0 };
	int64_t start = clock_mono_ns();
	enum next next = STOP;

	buf_reset(k->answer);
	http.timeout_ms = (int)((k->end_ns - start) / MS);
	if (http.timeout_ms < 1)
		http.timeout_ms = 1;
	if (hold(k, &spend, http.timeout_ms) ||
	    c->p->build(c->self, k->r, &http, &body, &k->err) ||
	    send(k, &http, &reply, &k->err))
		goto out;
	next = judge(k, &reply, &said);
	settle(k, &spend, &said, &reply, (clock_mono_ns() - start) / MS);
out:
	drop(k, &spend);
	http_reply_release(&reply);
	buf_release(&body);
	return next;
}

/* ---- the whole call --------------------------------------------------- */

/* False when there is no time for it, or it was cancelled. A request that has
 * hardly time to be sent would be paid for in vain. */
static bool wait_ms(struct call *k, int ms)
{
	int64_t end = clock_mono_ns() + ms * MS, left;

	if (ms < 0 || end + SLICE_MS * MS >= k->end_ns)
		return false;
	while ((left = end - clock_mono_ns()) > 0) {
		struct timespec t = { 0, (long)(left < SLICE_MS * MS ?
						left : SLICE_MS * MS) };

		if (is_over(k))
			return false;
		nanosleep(&t, NULL);
	}
	return true;
}

static bool simpler(struct chat *c)
{
	return !c->answered && c->p->simplify && c->p->simplify(c->self);
}

/* Until it is answered, or there is no use or no time. */
static enum next run(struct call *k)
{
	struct chat *c = k->c;

	for (int tries = 0, faulty = 0;;) {
		enum next next = once(k);

		if (next == SIMPLER) {
			if (!simpler(c))
				return STOP;
			continue;
		}
		/* An answer is paid for, also one that is of no use. */
		if (next == FAULTY && faulty++)
			return next;
		if (next == DONE || next == STOP || ++tries >= TRIES ||
		    !wait_ms(k, trouble_wait_ms(tries - 1, k->retry_after_ms,
						c->c.wait_scale, &c->random)))
			return next;
	}
}

static int say_why(struct call *k, struct remem_err *err)
{
	if (k->r->cancel && k->r->cancel(k->r->ctx))
		return fail(err, REMEM_ECANCELLED, "stopped");
	if (k->err.code == REMEM_ECANCELLED || k->err.code == REMEM_ETIMEOUT)
		return fail(err, REMEM_ETIMEOUT, "the chat provider did not "
			    "answer in time");
	if (err)
		*err = k->err;
	return k->err.code;
}

int chat_ask(struct chat *c, const struct chat_request *r, struct buf *out,
	     struct remem_err *err)
{
	int timeout_ms = r->timeout_ms > 0 ? r->timeout_ms :
			 c->c.timeout_ms > 0 ? c->c.timeout_ms : TIMEOUT_MS;
	struct buf answer = BUF_INIT(out->limit);
	struct call k = { .c = c, .r = r, .answer = &answer };
	int rc = 0;

	if (chat_off(c))
		return fail(err, REMEM_ENOTSUP, "%s", chat_off(c));
	k.end_ns = clock_mono_ns() + timeout_ms * MS;
	if (run(&k) == DONE) {
		buf_add(out, buf_str(&answer), answer.len);
		rc = buf_check(out, err);
	} else {
		rc = say_why(&k, err);
	}
	buf_release(&answer);
	return rc;
}
