/*
 * From a line to an answer. A client that is not just what we are (another
 * version or build, another time zone) is told so and does its work itself; a
 * newer one makes us end, so that its own helper can take the place.
 */
#include "daemon/request.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "daemon/ask.h"

#define SEND_MS 5000 /* for a client that does not read */

struct row {
	const char *op;
	bool needs_house;
	int (*fn)(struct request *q);
};

static const struct row rows[] = {
#define REQUEST(name, needs_house, fn) { name, needs_house, fn },
#include "daemon/requests.def"
#undef REQUEST
};

static int say(struct request *q, const struct buf *b)
{
	int rc = buf_check(b, &q->err);

	return rc ? rc : wire_send(q->w, buf_str(b), b->len, SEND_MS, &q->err);
}

static int say_text(struct request *q, const char *text)
{
	return wire_send(q->w, text, strlen(text), SEND_MS, &q->err);
}

/* ---- about ourselves -------------------------------------------------- */

int request_ping(struct request *q)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"ok\":true,\"pid\":%d}", (int)getpid());
	return say_text(q, text);
}

int request_status(struct request *q)
{
	const struct server *s = q->s;
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kbool(&j, "running", true);
	json_kint(&j, "pid", getpid());
	json_kstr(&j, "remem", s->version);
	json_kstr(&j, "program", s->program);
	json_kint(&j, "upSeconds", (clock_mono_ns() - s->started_ns) /
		  1000000000);
	json_kint(&j, "idleMinutes", s->idle_minutes);
	json_kint(&j, "clients", atomic_load(&s->clients) - 1);
	json_kint(&j, "requests", atomic_load(&s->requests));
	json_key(&j, "workspaces");
	houses_put(&j);
	json_end(&j);
	rc = say_text(q, "{\"ok\":true}");
	rc = rc ? rc : say(q, &b);
	buf_release(&b);
	return rc;
}

static void end_soon(struct server *s)
{
	ssize_t n;

	atomic_store(&s->ending, true);
	n = write(s->wake[1], "", 1);
	(void)n; /* full: it is awake already */
}

int request_stop(struct request *q)
{
	int rc = say_text(q, "{\"ok\":true}");

	end_soon(q->s);
	return rc;
}

/* ---- about a workspace ------------------------------------------------ */

static int say_results(struct request *q, const struct remem_results *res)
{
	struct buf b = BUF_INIT(WIRE_ANSWER_BYTES);
	char *json = NULL;
	struct json j;
	int rc = remem_results_json(res, &json, &q->err);

	if (rc)
		return rc;
	json_begin(&j, &b);
	json_obj(&j);
	json_kbool(&j, "ok", true);
	json_kstr(&j, "degraded", remem_results_degraded(res));
	json_key(&j, "headings");
	json_arr(&j);
	for (size_t i = 0; i < remem_results_count(res); i++)
		json_put_str(&j, remem_results_hit(res, i)->heading);
	json_arr_end(&j);
	json_end(&j);
	buf_addc(&b, '\n');
	buf_adds(&b, json);
	remem_free(json);
	rc = say(q, &b);
	buf_release(&b);
	return rc;
}

int request_search(struct request *q)
{
	yyjson_val *query = yyjson_obj_get(q->root, "query");
	struct remem_results *res;
	struct remem_search_opts o;
	int rc;

	if (!yyjson_is_str(query) ||
	    !ask_take_search(&o, yyjson_obj_get(q->root, "options")))
		return fail(&q->err, REMEM_EFORMAT, "no question");
	o.no_sync |= house_is_ready(q->house);
	rc = remem_search(q->r, yyjson_get_str(query), yyjson_get_len(query),
			  &o, &res, &q->err);
	if (rc)
		return rc;
	rc = say_results(q, res);
	remem_results_free(res);
	return rc;
}

static int say_json(struct request *q, char *json)
{
	int rc = say_text(q, "{\"ok\":true}");

	rc = rc ? rc : say_text(q, json);
	remem_free(json);
	return rc;
}

int request_get(struct request *q)
{
	struct remem_get_opts o = REMEM_OPTS_INIT(o);
	const char *address = json_str(q->root, "address", NULL);
	char *json;
	int rc;

	if (!address)
		return fail(&q->err, REMEM_EFORMAT, "no address");
	o.from = (int)json_int(q->root, "from", 0);
	o.lines = (int)json_int(q->root, "lines", 0);
	o.max_chars = (int)json_int(q->root, "maxChars", 0);
	o.offset = json_int(q->root, "offset", 0);
	rc = remem_get(q->r, address, &o, &json, &q->err);
	return rc ? rc : say_json(q, json);
}

int request_embed(struct request *q)
{
	yyjson_val *query = yyjson_obj_get(q->root, "query");
	const char *text = yyjson_get_str(query);
	size_t len = yyjson_get_len(query);
	struct buf b = BUF_INIT(0);
	struct json j;
	float *vec;
	int rc, dims;

	if (!text)
		return fail(&q->err, REMEM_EFORMAT, "no text");
	rc = remem_embed(q->r, NULL, REMEM_EMBED_QUERY, &text, &len, 1, &vec,
			 &dims, &q->err);
	if (rc)
		return rc;
	json_begin(&j, &b);
	json_arr(&j);
	for (int i = 0; i < dims; i++)
		json_put_num(&j, (double)vec[i]);
	json_arr_end(&j);
	remem_free(vec);
	rc = buf_check(&b, &q->err);
	rc = rc ? rc : say_json(q, buf_detach(&b));
	buf_release(&b);
	return rc;
}

/* ---- one line --------------------------------------------------------- */

static const struct row *find_row(const char *op)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strcmp(rows[i].op, op))
			return &rows[i];
	return NULL;
}

static void refuse(struct request *q, const char *why)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	json_begin(&j, &b);
	json_obj(&j);
	json_kbool(&j, "ok", false);
	json_kstr(&j, "why", why);
	json_end(&j);
	say(q, &b);
	buf_release(&b);
}

/* NULL, or why the client has to do without us. */
static const char *differs(struct server *s, yyjson_val *root)
{
	const char *version = json_str(root, "version", "");
	const char *program = json_str(root, "program", "");
	int64_t protocol = json_int(root, "protocol", 0);
	bool replaced = !strcmp(program, s->program) &&
			strcmp(json_str(root, "stamp", ""), s->stamp) != 0;

	if (protocol > WIRE_PROTOCOL || wire_compare(version, s->version) > 0 ||
	    replaced) {
		log_msg(LOG_INFO, "daemon", "ending for remem %s", version);
		end_soon(s);
		return "older";
	}
	if (protocol != WIRE_PROTOCOL || strcmp(version, s->version) ||
	    strcmp(program, s->program))
		return "another program";
	return NULL;
}

static int in_house(struct request *q, const struct row *row)
{
	const char *identity = json_str(q->root, "identity", "");
	struct arena a = ARENA_INIT;
	struct remem_open_opts o;
	int rc;

	if (strcmp(json_str(q->root, "zone", ""), q->s->zone))
		rc = fail(&q->err, REMEM_EINVAL, "another time zone");
	else if (!ask_take_open(&o, &a, yyjson_obj_get(q->root, "open")))
		rc = fail(&q->err, REMEM_EFORMAT, "no workspace");
	else
		rc = house_enter(&q->house, &q->r, identity, &o, &q->err);
	if (!rc) {
		rc = row->fn(q);
		house_leave(q->house, q->r);
	}
	arena_release(&a);
	return rc;
}

static bool answer(struct request *q)
{
	const struct row *row = find_row(json_str(q->root, "op", ""));
	const char *why = row && row->needs_house ? differs(q->s, q->root) :
						    NULL;
	int rc;

	if (!row)
		why = "no such request";
	if (atomic_load(&q->s->ending) && !why)
		why = "ending";
	if (why) {
		refuse(q, why);
		return false;
	}
	/* So that it knows whom it talks to before the work begins. */
	rc = say_text(q, "{\"ok\":true}");
	if (!rc)
		rc = row->needs_house ? in_house(q, row) : row->fn(q);
	if (rc)
		refuse(q, q->err.message);
	return !rc;
}

bool request_answer(struct server *s, struct wire *w, const char *line,
		    size_t len)
{
	struct request q = { .s = s, .w = w };
	yyjson_doc *doc;
	bool go_on;

	atomic_store(&s->asked_ns, clock_mono_ns());
	atomic_fetch_add(&s->requests, 1);
	if (json_read(&doc, line, len, false, "request", &q.err)) {
		refuse(&q, q.err.message);
		return false;
	}
	q.root = yyjson_doc_get_root(doc);
	go_on = answer(&q);
	yyjson_doc_free(doc);
	return go_on;
}
