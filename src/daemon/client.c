/*
 * The other end: whatever does not go well here is no error, the caller then
 * does the work itself and comes to the same answer.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/err.h"
#include "base/proc.h"
#include "daemon/ask.h"
#include "daemon/place.h"
#include "daemon/wire.h"
#include "front.h"

#define HELLO_MS 250 /* for "it is one of us", on a busy machine */
#define ANSWER_MS 30000 /* where the question has no deadline */
#define START_MS 5000
#define NAP_NS 5000000 /* while it starts or ends */

/* ---- one request ------------------------------------------------------ */

static bool call(struct wire *w, const char *const *env)
{
	struct place p;
	int fd;

	if (place_open(&p, env, false, NULL))
		return false;
	fd = place_connect(&p);
	place_close(&p);
	wire_init(w, fd, WIRE_ANSWER_BYTES);
	return fd >= 0;
}

static void begin(struct json *j, struct buf *b, const char *op,
		  const char *program)
{
	char stamp[96], version[32];

	wire_stamp(stamp, program);
	snprintf(version, sizeof(version), "%d.%d.%d", REMEM_VERSION_MAJOR,
		 REMEM_VERSION_MINOR, REMEM_VERSION_PATCH);
	json_begin(j, b);
	json_obj(j);
	json_kint(j, "protocol", WIRE_PROTOCOL);
	json_kstr(j, "version", version);
	json_kstr(j, "program", program ? program : "");
	json_kstr(j, "stamp", stamp);
	json_kstr(j, "op", op);
}

/* Whether the next line is an object with "ok": true; *doc is freed by the
 * caller, and may be NULL when it is of no interest. */
static bool take_ok(struct wire *w, yyjson_doc **doc, int timeout_ms)
{
	yyjson_doc *mine = NULL;
	const char *line;
	size_t len;
	bool ok;

	if (wire_line(w, &line, &len, timeout_ms, NULL) ||
	    json_read(&mine, line, len, false, "answer", NULL))
		return false;
	ok = json_bool(yyjson_doc_get_root(mine), "ok", false);
	if (ok && doc)
		*doc = mine;
	else
		yyjson_doc_free(mine);
	return ok;
}

static bool send_request(struct wire *w, const struct buf *b)
{
	return !b->failed && b->len < WIRE_REQUEST_BYTES &&
	       !wire_send(w, buf_str(b), b->len, HELLO_MS, NULL) &&
	       take_ok(w, NULL, HELLO_MS);
}

/* ---- an answer as the library has it ---------------------------------- */

static const char *join_flags(struct arena *a, yyjson_val *flags)
{
	const char *out = "";
	yyjson_val *v;
	size_t i, n;

	yyjson_arr_foreach(flags, i, n, v)
		if (yyjson_is_str(v))
			out = i ? arena_printf(a, "%s,%s", out,
					       yyjson_get_str(v)) :
				  arena_strdup(a, yyjson_get_str(v));
	return out;
}

static const char *copy(struct arena *a, yyjson_val *v, const char *key,
			const char *def)
{
	const char *s = json_str(v, key, NULL);

	return s ? arena_strdup(a, s) : def;
}

static void take_hit(struct remem_hit *h, struct arena *a, yyjson_val *v)
{
	h->path = copy(a, v, "path", "");
	h->start_line = (int)json_int(v, "startLine", 0);
	h->end_line = (int)json_int(v, "endLine", 0);
	h->score = json_num(v, "score", 0);
	h->relevance = json_num(v, "relevance", 0);
	h->snippet = copy(a, v, "snippet", "");
	h->source = copy(a, v, "source", "");
	h->citation = copy(a, v, "citation", "");
	h->date = copy(a, v, "date", "");
	h->origin = copy(a, v, "origin", "");
	h->flags = join_flags(a, yyjson_obj_get(v, "flags"));
	h->superseded_by = copy(a, v, "supersededBy", NULL);
	h->heading = "";
}

static void take_headings(struct helper_answer *out, struct arena *a,
			  yyjson_val *list)
{
	yyjson_val *v;
	size_t i, n;

	yyjson_arr_foreach(list, i, n, v)
		if (i < out->count && yyjson_is_str(v))
			out->hits[i].heading = arena_strdup(a,
							    yyjson_get_str(v));
}

static bool take_results(struct helper_answer *out, struct arena *a,
			 yyjson_val *about, yyjson_val *root)
{
	yyjson_val *list = yyjson_obj_get(root, "results"), *v;
	size_t i, n;

	if (!yyjson_is_arr(list))
		return false;
	out->count = yyjson_arr_size(list);
	out->hits = ARENA_ARRAY(a, struct remem_hit, out->count + 1);
	yyjson_arr_foreach(list, i, n, v)
		if (out->hits)
			take_hit(&out->hits[i], a, v);
	if (out->hits)
		take_headings(out, a, yyjson_obj_get(about, "headings"));
	out->message = copy(a, root, "message", NULL);
	out->degraded = copy(a, about, "degraded", NULL);
	return !a->failed;
}

void helper_answer_release(struct helper_answer *out)
{
	if (out->keep)
		arena_release(out->keep);
	mem_free(out->keep);
	mem_free(out->json);
	memset(out, 0, sizeof(*out));
}

static bool take_answer(struct helper_answer *out, struct wire *w,
			int timeout_ms)
{
	yyjson_doc *about = NULL, *doc = NULL;
	const char *line;
	size_t len;
	bool ok = false;

	if (!take_ok(w, &about, timeout_ms) ||
	    wire_line(w, &line, &len, timeout_ms, NULL) ||
	    json_read(&doc, line, len, false, "answer", NULL))
		goto out;
	out->json = mem_memdup0(line, len);
	out->keep = mem_zalloc(sizeof(struct arena));
	if (!out->json || !out->keep)
		goto out;
	arena_init(out->keep, 0);
	ok = take_results(out, out->keep, yyjson_doc_get_root(about),
			  yyjson_doc_get_root(doc));
out:
	yyjson_doc_free(about);
	yyjson_doc_free(doc);
	if (!ok)
		helper_answer_release(out);
	return ok;
}

/* ---- questions -------------------------------------------------------- */

/* Whether the helper could answer r's questions, and sooner. */
static bool is_for_helper(struct remem_traits *t, struct remem *r,
			  const struct remem_open_opts *open)
{
	*t = (struct remem_traits)REMEM_OPTS_INIT(*t);
	return open->env && !open->now_ms &&
	       !env_find(open->env, "REMEM_TRACE") &&
	       !env_find(open->env, "REMEM_CPU") &&
	       !remem_traits(r, t, NULL) && !t->text_only && !t->read_only;
}

static void put_search(struct buf *b, const struct remem_traits *t,
		       struct remem *r, const struct remem_open_opts *open,
		       const char *query, size_t len,
		       const struct remem_search_opts *o)
{
	const char *zone = env_find(open->env, "TZ");
	struct json j;

	begin(&j, b, "search", open->program);
	json_kstr(&j, "zone", zone ? zone : "");
	json_kstr(&j, "identity", t->identity);
	json_key(&j, "open");
	ask_put_open(&j, open, remem_workspace(r));
	json_key(&j, "query");
	json_put_strn(&j, query, len);
	json_key(&j, "options");
	ask_put_search(&j, o);
	json_end(&j);
}

bool helper_search(struct helper_answer *out, struct remem *r,
		   const struct remem_open_opts *open, const char *query,
		   size_t len, const struct remem_search_opts *o)
{
	struct remem_traits t;
	struct buf b = BUF_INIT(0);
	struct wire w;
	bool ok = false;

	memset(out, 0, sizeof(*out));
	if (!is_for_helper(&t, r, open) ||
	    !ask_is_plain(open, o, query, len) || !call(&w, open->env))
		return false;
	put_search(&b, &t, r, open, query, len, o);
	if (send_request(&w, &b))
		ok = take_answer(out, &w, o->deadline_ms > 0 ?
				 o->deadline_ms : ANSWER_MS);
	buf_release(&b);
	wire_release(&w);
	return ok;
}

/* ---- starting and ending ---------------------------------------------- */

/* After the hello: whoever says no more than that is not one of us. */
static bool take_pid(struct wire *w)
{
	yyjson_doc *doc = NULL;
	bool ok = take_ok(w, &doc, HELLO_MS) &&
		  json_int(yyjson_doc_get_root(doc), "pid", 0) > 0;

	yyjson_doc_free(doc);
	return ok;
}

static bool take_status(struct wire *w, char **status)
{
	const char *line;
	size_t len;

	return take_ok(w, NULL, HELLO_MS) &&
	       !wire_line(w, &line, &len, HELLO_MS, NULL) &&
	       (*status = mem_memdup0(line, len));
}

/* status: NULL, or what it says of itself, to the caller. */
static bool is_running(const struct helper_opts *o, char **status)
{
	struct buf b = BUF_INIT(0);
	struct wire w;
	struct json j;
	bool ok;

	if (!call(&w, o->env))
		return false;
	begin(&j, &b, status ? "status" : "ping", o->program);
	json_end(&j);
	ok = send_request(&w, &b) &&
	     (status ? take_status(&w, status) : take_pid(&w));
	buf_release(&b);
	wire_release(&w);
	return ok;
}

static int start(const struct helper_opts *o, struct remem_err *err)
{
	char minutes[16];
	const char *argv[] = { o->program, "daemon", "run", "--idle-minutes",
			       minutes, NULL };
	struct proc_detach_opts detach = { .dir = "/", .env = o->env };
	struct place p;
	int rc;

	if (!o->program)
		return fail(err, REMEM_ENOTFOUND, "the program's own path is "
			    "not known");
	snprintf(minutes, sizeof(minutes), "%d", o->idle_minutes);
	if ((rc = place_open(&p, o->env, true, err)))
		return rc;
	detach.log = p.log;
	rc = proc_detach(argv, &detach, err);
	place_close(&p);
	return rc;
}

void helper_wake(struct remem *r, const struct remem_open_opts *open,
		 enum remem_mode mode)
{
	struct helper_opts o = { .env = open->env, .program = open->program };
	struct remem_traits t;

	/* For keywords alone it is asked if it runs, and not worth a start. */
	if (mode == REMEM_MODE_TEXT || !is_for_helper(&t, r, open) ||
	    !t.auto_start || is_running(&o, NULL))
		return;
	o.idle_minutes = t.idle_minutes;
	start(&o, NULL);
}

static void nap(void)
{
	struct timespec t = { 0, NAP_NS };

	nanosleep(&t, NULL);
}

int helper_start(const struct helper_opts *o, struct remem_err *err)
{
	int64_t until = clock_mono_ns() + (int64_t)START_MS * 1000000;
	struct place p;
	int rc;

	if (is_running(o, NULL))
		return 0;
	if ((rc = start(o, err)))
		return rc;
	while (clock_mono_ns() < until) {
		if (is_running(o, NULL))
			return 0;
		nap();
	}
	fail(err, REMEM_ETIMEOUT, "it does not answer");
	if (!place_open(&p, o->env, false, NULL)) {
		fail_action(err, "its log is '%.200s'", p.log);
		place_close(&p);
	}
	return REMEM_ETIMEOUT;
}

int helper_stop(const struct helper_opts *o, struct remem_err *err)
{
	int64_t until = clock_mono_ns() + (int64_t)START_MS * 1000000;
	struct buf b = BUF_INIT(0);
	struct wire w;
	struct json j;
	bool ok;

	if (!call(&w, o->env))
		return fail(err, REMEM_ENOTFOUND, "no background process runs");
	begin(&j, &b, "stop", o->program);
	json_end(&j);
	ok = send_request(&w, &b);
	buf_release(&b);
	wire_release(&w);
	if (!ok)
		return fail(err, REMEM_EIO, "whoever holds its socket does not "
			    "answer");
	while (is_running(o, NULL)) {
		if (clock_mono_ns() > until)
			return fail(err, REMEM_ETIMEOUT, "it does not end");
		nap();
	}
	return 0;
}

int helper_status(const struct helper_opts *o, char **json,
		  struct remem_err *err)
{
	*json = NULL;
	if (!is_running(o, json))
		*json = mem_strdup("{\"version\":1,\"running\":false}");
	return *json ? 0 : fail_nomem(err);
}

int helper_log(const struct helper_opts *o, char *out, size_t size,
	       struct remem_err *err)
{
	struct place p;
	int rc = place_open(&p, o->env, false, err);

	if (rc)
		return rc;
	snprintf(out, size, "%s", p.log);
	place_close(&p);
	return 0;
}
