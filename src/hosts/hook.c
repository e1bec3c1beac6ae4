/*
 * remem hook: between a host and its user's next prompt, so that it must be
 * quick, quiet, and never in the way. The work is done in a thread; when time
 * is over the process ends with an empty answer. What may take long, the
 * writing before a compaction and at the end of a conversation, is handed to
 * a process of its own, because hosts kill hooks that linger.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/file.h"
#include "base/json.h"
#include "base/proc.h"
#include "front.h"
#include "hosts/event.h"
#include "hosts/hook_log.h"
#include "hosts/hosts.h"

#define INPUT_BYTES (8u << 20)
#define INPUT_BLOCK 65536
#define START_MS 2000
#define OTHER_MS 300
/* Starting the writer is all that is done here; waiting for it is for tests
 * and for people who look for an error. */
#define WAIT_MS 600000
#define ARGS_MAX 24

struct hook {
	const struct hook_opts *o;
	const struct host *host;
	enum hook_event event;
	struct arena a;
	struct event in;
	struct buf out; /* what the host gets */
	const char *log;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool done;
};

static void note(struct hook *h, const char *what, const char *detail)
{
	hook_log(h->log, "%s %s: %s%s%s", h->o->host, h->o->event, what,
		 detail && detail[0] ? "; " : "", detail ? detail : "");
}

/* ---- answers ---------------------------------------------------------- */

static struct remem_actor actor_of(struct hook *h)
{
	struct remem_actor actor = REMEM_OPTS_INIT(actor);

	actor.via = arena_printf(&h->a, "hook:%s", h->host->name);
	actor.session = h->in.session;
	return actor;
}

/* The text of a report that goes before the model. */
static void answer_with(struct hook *h, const char *json)
{
	yyjson_doc *doc;

	if (json_read(&doc, json, strlen(json), false, "the report", NULL))
		return;
	h->host->answer(&h->out, h->host, h->event,
			json_str(yyjson_doc_get_root(doc), "text", ""));
	yyjson_doc_free(doc);
}

static int give_context(struct hook *h, struct remem *r, struct remem_err *err)
{
	struct remem_context_opts o = REMEM_OPTS_INIT(o);
	char *json;
	int rc;

	o.shared = h->o->shared;
	o.host = h->host->name;
	o.max_chars = h->host->max_chars;
	o.actor = actor_of(h);
	rc = remem_context(r, &o, &json, err);
	if (!rc)
		answer_with(h, json);
	remem_free(json);
	return rc;
}

static int give_recall(struct hook *h, struct remem *r, struct remem_err *err)
{
	struct remem_recall_opts o = REMEM_OPTS_INIT(o);
	char *json;
	int rc;

	o.shared = h->o->shared;
	o.actor = actor_of(h);
	rc = remem_recall(r, h->in.prompt ? h->in.prompt : "",
			  h->in.prompt_len, &o, &json, err);
	if (!rc)
		answer_with(h, json);
	remem_free(json);
	return rc;
}

/* ---- writing, in a process of its own --------------------------------- */

static void add_open_args(const char **argv, size_t *n, const struct hook *h)
{
	const struct remem_open_opts *o = &h->o->open;

	if (o->workspace) {
		argv[(*n)++] = "--workspace";
		argv[(*n)++] = o->workspace;
	}
	if (o->agent) {
		argv[(*n)++] = "--agent";
		argv[(*n)++] = o->agent;
	}
	if (o->config_file) {
		argv[(*n)++] = "--config";
		argv[(*n)++] = o->config_file;
	}
	if (o->read_only)
		argv[(*n)++] = "--read-only";
}

/* The program itself with n arguments so far; waited for only if asked. */
static int start_remem(struct hook *h, const char **argv, size_t n,
		       struct remem_err *err)
{
	struct proc_detach_opts detach = { NULL, h->log, h->o->open.env };
	struct proc_opts run = { .timeout_ms = WAIT_MS,
				 .env = h->o->open.env };
	struct buf out = BUF_INIT(1u << 20), errors = BUF_INIT(4096);
	int status = 0, rc;

	argv[n++] = "--quiet";
	add_open_args(argv, &n, h);
	argv[n] = NULL;
	if (h->a.failed)
		return fail_nomem(err);
	if (!h->o->wait)
		return proc_detach(argv, &detach, err);
	run.errors = &errors;
	rc = proc_run_opts(&out, argv, &run, &status, err);
	if (!rc && status)
		note(h, argv[1], buf_str(&errors));
	buf_release(&out);
	buf_release(&errors);
	return rc;
}

/* Notes that have changed are in the index before they are asked for; the
 * conversation does not wait for it. */
static int start_index(struct hook *h, struct remem *r, struct remem_err *err)
{
	const char *argv[ARGS_MAX];
	yyjson_doc *doc;
	bool wanted = false;
	char *json;

	if (h->o->open.read_only ||
	    remem_config_get(r, "memorySearch.sync.onSessionStart", &json,
			     NULL))
		return 0;
	if (!json_read(&doc, json, strlen(json), false, "the setting", NULL)) {
		wanted = json_bool(yyjson_doc_get_root(doc), "value", false);
		yyjson_doc_free(doc);
	}
	remem_free(json);
	argv[0] = h->o->open.program;
	argv[1] = "index";
	return wanted ? start_remem(h, argv, 2, err) : 0;
}

/* "remem flush" or "remem snapshot" over the conversation's transcript. */
static int start_writer(struct hook *h, const char *verb, const char *reason,
			bool force, struct remem_err *err)
{
	const char *argv[ARGS_MAX];
	size_t n = 0;

	argv[n++] = h->o->open.program;
	argv[n++] = verb;
	argv[n++] = "--transcript";
	argv[n++] = h->in.transcript;
	argv[n++] = "--format";
	argv[n++] = h->host->transcripts;
	argv[n++] = "--reason";
	argv[n++] = reason;
	if (h->in.session) {
		argv[n++] = "--session";
		argv[n++] = h->in.session;
	}
	if (force)
		argv[n++] = "--force";
	argv[n++] = "--via";
	argv[n++] = arena_printf(&h->a, "hook:%s", h->host->name);
	return start_remem(h, argv, n, err);
}

static int write_down(struct hook *h, struct remem_err *err)
{
	if (!h->in.transcript) {
		note(h, "the host named no transcript", NULL);
		return 0;
	}
	switch (h->event) {
	case HOOK_PRE_COMPACT:
		return start_writer(h, "flush", "compact", true, err);
	case HOOK_SESSION_END:
		return start_writer(h, "snapshot", h->in.reason ?
				    h->in.reason : "end", false, err);
	default: /* at the end of a turn: only if it is time */
		return start_writer(h, "flush", "turn", false, err);
	}
}

/* ---- one event -------------------------------------------------------- */

static int with_memory(struct hook *h, struct remem_err *err)
{
	struct remem *r;
	int rc = remem_open(&r, &h->o->open, err);

	if (rc)
		return rc;
	remem_client(r, h->host->name);
	if (h->event == HOOK_PROMPT)
		rc = give_recall(h, r, err);
	else if (!(rc = give_context(h, r, err)))
		rc = start_index(h, r, err);
	/* The conversation that begins will ask again. */
	if (!rc)
		helper_wake(r, &h->o->open, REMEM_MODE_HYBRID);
	remem_close(r);
	return rc;
}

static int read_input(struct buf *in, struct remem_err *err)
{
	for (;;) {
		char *to = buf_reserve(in, INPUT_BLOCK);
		ssize_t n = to ? read(STDIN_FILENO, to, INPUT_BLOCK) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_fail(err, errno, "read", "standard input");
		if (!n)
			return buf_check(in, err);
		in->len += (size_t)n;
		in->ptr[in->len] = '\0';
	}
}

static int handle(struct hook *h, struct remem_err *err)
{
	struct buf in = BUF_INIT(INPUT_BYTES);
	int rc = read_input(&in, err);

	if (!rc)
		rc = event_read(&h->in, &h->a, buf_str(&in), in.len, err);
	buf_release(&in);
	if (rc)
		return rc;
	/* The workspace may be the nearest one of the conversation's folder. */
	if (h->in.cwd && h->in.cwd[0] == '/' && chdir(h->in.cwd))
		note(h, "cannot go to the conversation's folder", h->in.cwd);
	switch (h->event) {
	case HOOK_SESSION_START:
	case HOOK_PROMPT:
		return with_memory(h, err);
	case HOOK_TOOL_USE:
		return 0;
	default:
		return write_down(h, err);
	}
}

static void *work(void *ctx)
{
	struct hook *h = ctx;
	struct remem_err err = { 0 };

	if (handle(h, &err))
		note(h, err.message, err.action);
	if (h->out.failed)
		buf_reset(&h->out);
	if (!h->out.len)
		h->host->answer(&h->out, h->host, h->event, "");
	pthread_mutex_lock(&h->lock);
	h->done = true;
	pthread_cond_signal(&h->ended);
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

/* Whether the work was done in time. */
static bool wait_for(struct hook *h, int timeout_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&h->lock);
	while (!h->done &&
	       pthread_cond_timedwait(&h->ended, &h->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&h->lock);
	return h->done;
}

static int default_ms(const struct hook *h)
{
	if (h->o->wait)
		return WAIT_MS;
	return h->event == HOOK_SESSION_START ? START_MS : OTHER_MS;
}

static void run(struct hook *h)
{
	pthread_condattr_t attr;
	pthread_t thread;
	int ms = h->o->timeout_ms ? h->o->timeout_ms : default_ms(h);

	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&h->ended, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&thread, NULL, work, h)) {
		note(h, "cannot start a thread", NULL);
		return;
	}
	if (!wait_for(h, ms)) {
		struct buf empty = BUF_INIT(0);

		note(h, "took too long", NULL);
		h->host->answer(&empty, h->host, h->event, "");
		file_write_all(STDOUT_FILENO, buf_str(&empty), empty.len,
			       "standard output", NULL);
		/* The thread is in the middle of something: nothing of it may
		 * be taken apart. */
		_exit(0);
	}
	pthread_join(thread, NULL);
	file_write_all(STDOUT_FILENO, buf_str(&h->out), h->out.len,
		       "standard output", NULL);
}

int hook_run(const struct hook_opts *o)
{
	struct hook h = { .o = o, .a = ARENA_INIT, .out = BUF_INIT(0) };
	int event = hook_event_find(o->event);

	h.host = host_find(o->host);
	h.log = hook_log_path(&h.a, o->open.env);
	if (!h.host || event < 0) {
		note(&h, h.host ? "there is no such event" :
				  "there is no such host", NULL);
	} else {
		h.event = (enum hook_event)event;
		run(&h);
	}
	buf_release(&h.out);
	arena_release(&h.a);
	return 0;
}
