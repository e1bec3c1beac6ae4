/* The client's side of the embedding worker: frames, loading, answers. */
#include "embed/worker.h"

#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "embed/wire.h"

#define MESSAGE_BYTES 300u /* of a reason that is kept */

static int nonsense(struct remem_err *err, const char *what)
{
	return fail(err, REMEM_EFORMAT,
		    "the embedding worker does not keep to the protocol: %s",
		    what);
}

static int send_frame(struct worker *w, enum wire_type type,
		      const struct buf *body, const struct child_wait *wait,
		      struct remem_err *err)
{
	struct wire_head h = { WIRE_MAGIC, type, ++w->number,
			       (uint32_t)body->len };
	int rc;

	if ((rc = buf_check(body, err)) ||
	    (rc = child_write(&w->child, &h, sizeof(h), wait, err)))
		return rc;
	return child_write(&w->child, body->ptr, body->len, wait, err);
}

/* One frame, in as many calls as it takes. */
static int read_one(struct worker *w, const struct child_wait *wait,
		    struct remem_err *err)
{
	struct wire_head *h = &w->head;
	int rc = child_read(&w->child, h, sizeof(*h), &w->head_got, wait, err);

	if (rc)
		return rc;
	if (h->magic != WIRE_MAGIC)
		return nonsense(err, "a frame without its mark");
	if (h->bytes > WIRE_MAX_BYTES)
		return nonsense(err, "a frame that is too long");
	buf_reset(&w->body);
	if (!buf_reserve(&w->body, h->bytes))
		return fail_nomem(err);
	if ((rc = child_read(&w->child, w->body.ptr, h->bytes, &w->body_got,
			     wait, err)))
		return rc;
	w->body.len = h->bytes;
	w->body.ptr[h->bytes] = '\0';
	w->head_got = w->body_got = 0;
	return 0;
}

/* Answers to a request that was given up are read and forgotten. */
static int read_frame(struct worker *w, const struct child_wait *wait,
		      struct remem_err *err)
{
	int rc;

	do {
		if ((rc = read_one(w, wait, err)))
			return rc;
	} while (w->head.number < w->number);
	return w->head.number > w->number ?
		       nonsense(err, "an answer that nobody asked for") : 0;
}

/* The reason of a body from at on, in one clean line. */
static const char *reason(struct worker *w, size_t at)
{
	char *s = w->body.ptr + at;
	size_t n = w->body.len - at;

	n = utf8_trim(s, n < MESSAGE_BYTES ? n : MESSAGE_BYTES);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			s[i] = ' ';
	s[n] = '\0';
	return n && utf8_valid(s, n) ? s : "no reason was given";
}

/* ---- loading ---------------------------------------------------------- */

static int read_info(struct worker *w, struct remem_err *err)
{
	yyjson_doc *doc;
	yyjson_val *root;
	int rc = json_read(&doc, w->body.ptr, w->body.len, false,
			   "the embedding worker's answer", err);

	if (rc)
		return rc;
	root = yyjson_doc_get_root(doc);
	w->dims = (int)json_int(root, "dims", 0);
	w->window = (int)json_int(root, "window", 0);
	w->pooling = (int)json_int(root, "pooling", -1);
	yyjson_doc_free(doc);
	if (w->dims < 1 || w->dims > (int)WIRE_MAX_DIMS)
		return nonsense(err, "vectors without dimensions");
	w->loaded = true;
	return 0;
}

static int send_load(struct worker *w, const struct worker_model *m,
		     const struct child_wait *wait, struct remem_err *err)
{
	struct buf body = BUF_INIT(WIRE_MAX_BYTES);
	struct json j;
	int rc;

	json_begin(&j, &body);
	json_obj(&j);
	json_kstr(&j, "model", m->path);
	json_kstr(&j, "libraries", m->libraries);
	json_kint(&j, "window", m->window);
	json_kint(&j, "threads", m->threads);
	json_kint(&j, "pooling", m->pooling);
	json_kbool(&j, "nfkc", m->nfkc);
	json_kbool(&j, "vocabulary", m->vocabulary);
	json_end(&j);
	rc = send_frame(w, WIRE_LOAD, &body, wait, err);
	buf_release(&body);
	return rc;
}

static int load(struct worker *w, const struct worker_model *m,
		const struct child_wait *wait, struct remem_err *err)
{
	const char *argv[] = { m->program, "embed-worker", NULL };
	int rc = 0;

	if (!w->child.pid) {
		if ((rc = child_start(&w->child, argv, err)) ||
		    (rc = send_load(w, m, wait, err)))
			return rc;
	}
	if ((rc = read_frame(w, wait, err)))
		return rc;
	if (w->head.type == WIRE_ERROR)
		return fail(err, REMEM_ENOTSUP, "%s", reason(w, 0));
	if (w->head.type != WIRE_INFO)
		return nonsense(err, "no word about the model");
	return read_info(w, err);
}

int worker_start(struct worker *w, const struct worker_model *m,
		 const struct child_wait *wait, struct remem_err *err)
{
	struct buf why = BUF_INIT(0);
	int rc;

	if (w->loaded)
		return 0;
	rc = load(w, m, wait, err);
	if (!rc || rc == REMEM_ECANCELLED)
		return rc;
	worker_end(w, &why);
	if (rc == REMEM_EREMOTE)
		fail(err, rc, "the embedding worker died while it loaded the "
		     "model: %s", buf_str(&why));
	else if (rc == REMEM_ETIMEOUT)
		fail(err, rc, "the model was not loaded in time");
	buf_release(&why);
	return rc;
}

void worker_end(struct worker *w, struct buf *why)
{
	child_end(&w->child, why);
	buf_release(&w->body);
	memset(w, 0, sizeof(*w));
}

/* ---- asking ----------------------------------------------------------- */

static void add_u32(struct buf *b, size_t v)
{
	uint32_t n = (uint32_t)v;

	buf_add(b, &n, sizeof(n));
}

int worker_ask(struct worker *w, const char *const *texts, const size_t *lens,
	       size_t n, const struct child_wait *wait, struct remem_err *err)
{
	struct buf body = BUF_INIT(WIRE_MAX_BYTES);
	int rc;

	add_u32(&body, n);
	for (size_t i = 0; i < n; i++) {
		add_u32(&body, lens[i]);
		buf_add(&body, texts[i], lens[i]);
	}
	rc = send_frame(w, WIRE_EMBED, &body, wait, err);
	buf_release(&body);
	if (rc == REMEM_ECANCELLED) /* half a frame may be under way */
		worker_end(w, NULL);
	return rc;
}

int worker_next(struct worker *w, size_t n, struct worker_answer *a,
		const struct child_wait *wait, struct remem_err *err)
{
	size_t vector = 2 * sizeof(uint32_t) + (size_t)w->dims * sizeof(float);
	int rc = read_frame(w, wait, err);

	memset(a, 0, sizeof(*a));
	if (rc)
		return rc;
	if (w->head.type == WIRE_DONE) {
		a->done = true;
		return 0;
	}
	if (w->head.type == WIRE_ERROR)
		return fail(err, REMEM_EFORMAT, "%s", reason(w, 0));
	if (w->head.type != WIRE_VECTOR && w->head.type != WIRE_REFUSED)
		return nonsense(err, "an unknown frame");
	if (w->body.len < sizeof(uint32_t))
		return nonsense(err, "an answer without a number");
	memcpy(&a->text, w->body.ptr, sizeof(a->text));
	if (a->text >= n)
		return nonsense(err, "an answer to no text");
	if (w->head.type == WIRE_REFUSED) {
		a->refused = reason(w, sizeof(uint32_t));
		return 0;
	}
	if (w->body.len != vector)
		return nonsense(err, "a vector of another size than it said");
	a->vec = (const float *)(const void *)(w->body.ptr +
					       2 * sizeof(uint32_t));
	return 0;
}
