/*
 * Batch jobs of the index against a provider in memory that outlives a killed
 * run: nothing is paid twice, nothing that was paid for is lost.
 */
#define _GNU_SOURCE
#include "workspace.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/http.h"
#include "base/json.h"
#include "embed/batch.h"
#include "index/index.h"
#include "text/term.h"

#define JOBS 32
#define LINES 64
#define DIMS 4
#define START INT64_C(1790000000000)
#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)

struct remote_job {
	char name[64];
	char keys[LINES][65];
	int lines;
	int64_t shows_ms; /* in the list of jobs, from then on */
	bool cancelled, discarded;
};

/* In memory that a forked child shares. */
struct remote {
	char keys[LINES][65]; /* of the latest file */
	int lines, files;
	struct remote_job jobs[JOBS];
	int count;
	int plain, looks, lists, cancels;
	/* How it behaves. */
	int create_status; /* 0: well */
	bool lost; /* ... and the job is there all the same */
	int late_ms; /* until a lost job is in the list */
	int work_ms; /* until a job is done; -1: it never is */
	int part; /* only so many lines are done; 0: all */
	int counted; /* lines that it says are done */
	bool forgets;
	bool no_list;
};

static struct remote *srv;
static struct ws ws;
static struct state *state;
static struct embedder *e;
static struct index_batch batch;
static struct index_opts o;
static struct index_report r;
static struct arena a;
static char dir[600], state_dir[600];
static int64_t now;

/* ---- the provider ----------------------------------------------------- */

static void say(struct http_reply *reply, int status, const char *text)
{
	reply->status = status;
	buf_adds(&reply->body, text);
}

static void take_file(const char *body)
{
	const char *at = body;

	srv->lines = 0;
	while ((at = strstr(at, "\"custom_id\":\""))) {
		at += strlen("\"custom_id\":\"");
		assert_true(srv->lines < LINES);
		memcpy(srv->keys[srv->lines], at, 64);
		srv->keys[srv->lines++][64] = '\0';
	}
	srv->files++;
}

static void show(struct buf *b, int i)
{
	const struct remote_job *j = &srv->jobs[i];
	bool over = j->cancelled ||
		    (srv->work_ms >= 0 && now >= START + srv->work_ms);

	buf_addf(b, "{\"id\":\"batch-%d\",\"status\":\"%s\",", i,
		 j->cancelled ? "cancelled" : over ? "completed" :
						     "in_progress");
	if (over)
		buf_addf(b, "\"output_file_id\":\"out-%d\",", i);
	buf_addf(b, "\"request_counts\":{\"completed\":%d},"
		 "\"metadata\":{\"remem\":\"%s\"}}", srv->counted, j->name);
}

static void create(const char *body, struct http_reply *reply)
{
	struct remote_job *j;
	const char *name = strstr(body, "remem-");

	if (srv->create_status && !srv->lost) {
		say(reply, srv->create_status, "{}");
		return;
	}
	assert_true(srv->count < JOBS);
	assert_non_null(name);
	j = &srv->jobs[srv->count++];
	snprintf(j->name, sizeof(j->name), "%.*s", (int)strcspn(name, "\""),
		 name);
	memcpy(j->keys, srv->keys, sizeof(j->keys));
	j->lines = srv->lines;
	j->shows_ms = now + srv->late_ms;
	if (srv->create_status) {
		say(reply, srv->create_status, "{}");
		return;
	}
	reply->status = 200;
	show(&reply->body, srv->count - 1);
}

static void list(struct http_reply *reply)
{
	bool some = false;

	srv->lists++;
	say(reply, 200, "{\"data\":[");
	for (int i = 0; i < srv->count; i++) {
		if (srv->jobs[i].shows_ms > now)
			continue;
		if (some)
			buf_adds(&reply->body, ",");
		some = true;
		show(&reply->body, i);
	}
	buf_adds(&reply->body, "]}");
}

static void answers(int i, struct http_reply *reply)
{
	const struct remote_job *j = &srv->jobs[i];
	int n = srv->part && srv->part < j->lines ? srv->part : j->lines;

	reply->status = 200;
	for (int k = n - 1; k >= 0; k--)
		buf_addf(&reply->body, "{\"custom_id\":\"%s\",\"response\":"
			 "{\"status_code\":200,\"body\":{\"data\":[{"
			 "\"embedding\":[1,0.5,%d,0.25]}]}}}\n", j->keys[k],
			 j->keys[k][0]);
}

static void plain(const char *body, struct http_reply *reply)
{
	yyjson_doc *doc;
	size_t n;

	if (json_read(&doc, body, strlen(body), false, "x", NULL)) {
		say(reply, 500, "{}"); /* no memory */
		return;
	}
	n = yyjson_arr_size(yyjson_obj_get(yyjson_doc_get_root(doc), "input"));
	yyjson_doc_free(doc);
	srv->plain += (int)n;
	say(reply, 200, "{\"data\":[");
	for (size_t i = 0; i < n; i++)
		buf_addf(&reply->body, "%s{\"index\":%zu,\"embedding\":"
			 "[1,0.5,0.25,0.125]}", i ? "," : "", i);
	buf_adds(&reply->body, "]}");
}

static void serve(const char *path, const char *method,
		  const struct http_request *req, struct http_reply *reply)
{
	int i;

	if (!strcmp(path, "/embeddings")) {
		plain(req->body, reply);
	} else if (!strcmp(path, "/files")) {
		take_file(req->body);
		say(reply, 200, "{\"id\":\"file-1\"}");
	} else if (!strcmp(path, "/batches") && req->body) {
		create(req->body, reply);
	} else if (!strncmp(path, "/batches?", 9) && srv->no_list) {
		say(reply, 404, "{}");
	} else if (!strncmp(path, "/batches?", 9)) {
		list(reply);
	} else if (sscanf(path, "/batches/batch-%d", &i) == 1) {
		bool stop = strstr(path, "/cancel");

		srv->cancels += stop;
		srv->looks += !stop;
		srv->jobs[i].cancelled |= stop;
		reply->status = srv->forgets ? 404 : 200;
		show(&reply->body, i);
	} else if (sscanf(path, "/files/out-%d", &i) == 1 &&
		   strcmp(method, "DELETE") != 0) {
		answers(i, reply);
	} else {
		say(reply, 200, "{}");
	}
}

/* A run may be killed before the provider has a request, and after. */
static void transport(void *ctx, const struct http_request *req,
		      struct http_reply *reply)
{
	const char *path = strstr(req->url, "/v1");

	(void)ctx;
	memset(reply, 0, sizeof(*reply));
	reply->retry_after_ms = -1;
	buf_init(&reply->body, 0);
	assert_non_null(path);
	file_fault_step();
	serve(path + 3, req->method ? req->method : "", req, reply);
	file_fault_step();
}

/* ---- an index --------------------------------------------------------- */

static void set_clock(int64_t ms)
{
	now = ms;
	clock_set(ms);
}

static int64_t budget; /* tokens that are left, 0: no bound */

static int64_t left(void *ctx)
{
	(void)ctx;
	return budget;
}

static void open_embedder(void)
{
	struct embed_config c = { .provider = "openai",
				  .base_url = "http://127.0.0.1:1/v1",
				  .wait_scale = 0.001, .concurrency = 1,
				  .budget_left = budget ? left : NULL,
				  .transport = transport };
	struct remem_err err = { 0 };

	if (embedder_open(&e, &c, &err))
		fail_msg("%s", err.message);
}

static void notes(int n)
{
	char name[64], text[200];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "memory/n%d.md", i);
		snprintf(text, sizeof(text), "- thing %d is 第%d件事\n", i, i);
		ws_put(&ws, name, text);
	}
}

static void begin(int n)
{
	struct note_opts note = NOTE_OPTS_DEFAULT;

	ws_begin(&ws);
	snprintf(dir, sizeof(dir), "%s/index", ws.tmp.dir);
	snprintf(state_dir, sizeof(state_dir), "%s/state", ws.tmp.dir);
	srv = mmap(NULL, sizeof(*srv), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(srv != MAP_FAILED);
	memset(&o, 0, sizeof(o));
	o.dir = dir;
	o.backend = "sqlite";
	o.source = &ws.o;
	o.note = note;
	o.batch = &batch;
	set_clock(START);
	notes(n);
}

/* As another process: what is in memory is new. */
static void open_all(void)
{
	struct remem_err err = { 0 };

	assert_int_equal(dir_make(state_dir, 0700, &err), 0);
	if (state_open(&state, state_dir, "id", false, &err))
		fail_msg("%s", err.message);
	batch = (struct index_batch){ .state = state, .scope = "",
				      .concurrency = 2, .poll_ms = 1000,
				      .least = 3 };
	open_embedder();
	o.embedder = e;
	arena_init(&a, 0);
}

static void close_all(void)
{
	embedder_free(e);
	state_close(state);
	arena_release(&a);
	e = NULL;
	state = NULL;
}

static long fail_at; /* this allocation of a run, 0: none */

static int try_run(void)
{
	struct remem_err err = { 0 };
	int rc;

	open_all();
	if (fail_at)
		alloc_fail_at(fail_at);
	rc = index_run(&r, &a, &o, &err);
	if (fail_at && alloc_count() < fail_at)
		fail_at = -1; /* there were fewer */
	alloc_fail_at(0);
	if (rc && rc != REMEM_ENOMEM)
		fail_msg("%s", err.message);
	close_all();
	return rc;
}

static void run(void)
{
	assert_int_equal(try_run(), 0);
}

/* Time passes, runs come and go, until all is there. */
static void finish(void)
{
	for (int i = 0; i < 12; i++) {
		set_clock(now + 5 * MINUTE);
		run();
		if (r.complete)
			return;
	}
	fail_msg("%lld vectors are missing", (long long)r.vectors_pending);
}

static void end(void)
{
	ws_end(&ws);
	munmap(srv, sizeof(*srv));
	clock_set(-1);
	budget = 0;
}

static int paid(void)
{
	int n = 0;

	for (int i = 0; i < srv->count; i++)
		n += srv->jobs[i].lines;
	return n;
}

struct sum {
	int64_t tokens;
	int rows, open;
};

static int add(void *ctx, const struct ledger_row *row)
{
	struct sum *s = ctx;

	if (strcmp(row->provider, "openai batch") != 0)
		return 0;
	s->rows++;
	s->tokens += row->tokens;
	s->open += row->status == 202;
	return 0;
}

static struct sum ledger(void)
{
	struct sum s = { 0 };

	open_all();
	assert_int_equal(state_ledger_each(state, 0, add, &s, NULL), 0);
	close_all();
	return s;
}

static struct batch_job last_job(void)
{
	struct batch_job *jobs, last;
	size_t n;

	open_all();
	assert_int_equal(state_batch_list(state, &a, NULL, false, &jobs, &n,
					  NULL), 0);
	assert_true(n > 0);
	last = jobs[n - 1];
	close_all();
	return last; /* its numbers */
}

/* ---- tests ------------------------------------------------------------ */

static void test_jobs__one_job_from_plan_to_end(void **st)
{
	struct batch_job job;

	(void)st;
	begin(10);
	srv->work_ms = HOUR;
	run();
	assert_int_equal(batch.jobs, 1);
	assert_int_equal(batch.texts, 10);
	assert_int_equal(r.vectors_pending, 10);
	assert_false(r.complete);
	assert_int_equal(ledger().open, 1);
	set_clock(START + HOUR);
	run();
	assert_true(r.complete);
	assert_int_equal(r.vectors_done, 10);
	assert_int_equal(paid(), 10);
	assert_int_equal(srv->plain, 1); /* for the dimensions */
	assert_int_equal(ledger().open, 0);
	job = last_job();
	assert_int_equal(job.step, JOB_ENDED);
	assert_int_equal(job.done, 10);
	assert_int_equal(job.ended_ms, START + HOUR);
	end();
}

static bool killed_at(long n)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		file_fault_at(n);
		_exit(try_run() ? 3 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return true;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	return false;
}

static void wipe(void)
{
	dir_remove(dir, NULL);
	dir_remove(state_dir, NULL);
	memset(srv, 0, sizeof(*srv));
	set_clock(START);
}

static void check_paid_once(long n)
{
	struct sum s = ledger();

	if (paid() != 7 || srv->count != 1 || s.rows != 1 || s.open)
		fail_msg("killed at step %ld: %d lines in %d jobs, %d rows "
			 "of the ledger, %d open", n, paid(), srv->count,
			 s.rows, s.open);
}

/* The run that hands over, killed at each write and around each request. */
static void test_jobs__killed_while_it_is_handed_over(void **st)
{
	long n = 0;

	(void)st;
	begin(7);
	for (;;) {
		wipe();
		if (!killed_at(++n))
			break;
		assert_true(n < 400);
		finish();
		check_paid_once(n);
	}
	assert_true(n > 20);
	end();
}

/* The run that asks and fetches, killed likewise. */
static void test_jobs__killed_while_it_is_fetched(void **st)
{
	long n = 0;

	(void)st;
	begin(7);
	for (;;) {
		wipe();
		srv->work_ms = (int)MINUTE;
		run();
		set_clock(START + 2 * MINUTE);
		if (!killed_at(++n))
			break;
		assert_true(n < 400);
		finish();
		check_paid_once(n);
	}
	assert_true(n > 10);
	end();
}

/* The answer to the hand-over is lost, the job is not. */
static void test_jobs__a_job_whose_answer_was_lost_is_found(void **st)
{
	(void)st;
	begin(8);
	srv->create_status = 503;
	srv->lost = true;
	run();
	assert_int_equal(srv->count, 1);
	srv->create_status = 0;
	finish();
	assert_int_equal(srv->count, 1);
	assert_int_equal(paid(), 8);
	end();
}

/* It shows in the list only later: until it would have, nothing is sent. */
static void test_jobs__a_job_that_shows_late_is_not_sent_again(void **st)
{
	(void)st;
	begin(8);
	srv->create_status = 503;
	srv->lost = true;
	srv->late_ms = 20000;
	run();
	srv->create_status = 0;
	set_clock(START + 5000);
	run();
	assert_int_equal(srv->lists, 1);
	set_clock(START + 40000);
	run();
	assert_int_equal(srv->count, 1);
	finish();
	assert_int_equal(paid(), 8);
	end();
}

static void test_jobs__one_that_never_arrived_is_sent_from_the_same_file(void **st)
{
	(void)st;
	begin(8);
	srv->create_status = 503;
	run();
	assert_int_equal(srv->count, 0);
	srv->create_status = 0;
	finish();
	assert_int_equal(srv->count, 1);
	assert_int_equal(srv->files, 1);
	assert_int_equal(ledger().rows, 1);
	end();
}

/* Asked ever less often, called off after its window, sent anew. */
static void test_jobs__one_that_never_ends_is_called_off(void **st)
{
	int asked;

	(void)st;
	begin(8);
	srv->work_ms = -1;
	run();
	for (int i = 0; i < 60 * 4; i++) { /* each minute for four hours */
		set_clock(now + MINUTE);
		run();
	}
	asked = srv->looks;
	assert_in_range(asked, 40, 100);
	assert_int_equal(srv->cancels, 0);
	assert_int_equal(srv->count, 1);
	srv->part = 5;
	set_clock(START + 26 * HOUR);
	run();
	assert_int_equal(srv->cancels, 1);
	srv->work_ms = 0;
	finish();
	/* What it had done is kept, and it is another job for the rest. */
	assert_int_equal(srv->jobs[1].lines, 3);
	assert_int_equal(paid(), 11);
	end();
}

static void test_jobs__one_that_is_forgotten_is_sent_once_more(void **st)
{
	(void)st;
	begin(8);
	srv->work_ms = -1;
	run();
	srv->forgets = true;
	set_clock(now + MINUTE);
	run();
	assert_int_equal(srv->count, 2);
	assert_int_equal(batch.failures, 1);
	srv->forgets = false;
	srv->work_ms = 0;
	finish();
	assert_int_equal(paid(), 16); /* nobody can know */
	end();
}

/* A text that is deleted while its job is at work does no harm. */
static void test_jobs__texts_may_go_and_come_meanwhile(void **st)
{
	(void)st;
	begin(8);
	srv->work_ms = (int)HOUR;
	run();
	ws_remove(&ws, "memory/n3.md");
	ws_put(&ws, "memory/new.md", "- one more\n");
	set_clock(START + 2 * MINUTE);
	run();
	assert_int_equal(r.vectors_pending, 7);
	assert_int_equal(srv->plain, 2);
	set_clock(START + 2 * HOUR);
	finish();
	notes(8); /* it comes back: its vector is there */
	run();
	assert_true(r.complete);
	assert_int_equal(paid(), 8);
	assert_int_equal(srv->plain, 2);
	end();
}

/* A text that was forgotten does not come back as the answer of a job. */
static void test_jobs__what_is_forgotten_is_not_kept(void **st)
{
	int before;

	(void)st;
	begin(8);
	srv->work_ms = (int)HOUR;
	run();
	ws_remove(&ws, "memory/n3.md");
	o.force = o.purge = true;
	run();
	o.force = o.purge = false;
	set_clock(START + 2 * HOUR);
	run();
	assert_true(r.complete);
	assert_int_equal(r.vectors_done, 7);
	before = srv->plain;
	notes(8); /* it is new, as if it had never been there */
	run();
	assert_true(r.complete);
	assert_int_equal(srv->plain, before + 1);
	assert_int_equal(ledger().rows, 1);
	end();
}

/* All its notes are gone: it is ended and accounted for all the same. */
static void test_jobs__nothing_waits_for_it_any_more(void **st)
{
	char name[64];

	(void)st;
	begin(8);
	srv->work_ms = (int)HOUR;
	run();
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "memory/n%d.md", i);
		ws_remove(&ws, name);
	}
	set_clock(START + 2 * HOUR);
	run();
	assert_int_equal(r.vectors_pending, 0);
	assert_int_equal(last_job().step, JOB_ENDED);
	assert_int_equal(ledger().open, 0);
	end();
}

static void test_jobs__a_search_that_waits_asks_nobody(void **st)
{
	(void)st;
	begin(8);
	srv->work_ms = -1;
	run();
	set_clock(now + HOUR);
	o.vector_budget_ms = 1000;
	ws_put(&ws, "memory/new.md", "- one more\n");
	run();
	assert_int_equal(srv->looks, 0);
	assert_int_equal(srv->plain, 2);
	assert_int_equal(r.vectors_pending, 8);
	end();
}

static void test_jobs__another_model_leaves_them(void **st)
{
	int64_t tokens;

	(void)st;
	begin(8);
	srv->work_ms = -1;
	srv->counted = 4;
	run();
	tokens = ledger().tokens;
	set_clock(now + MINUTE);
	open_all();
	embedder_free(e);
	{
		struct embed_config c = {
			.provider = "openai", .model = "text-embedding-3-large",
			.base_url = "http://127.0.0.1:1/v1",
			.wait_scale = 0.001, .transport = transport
		};

		assert_int_equal(embedder_open(&e, &c, NULL), 0);
		o.embedder = e;
	}
	srv->work_ms = -1;
	o.by_hand = true;
	assert_int_equal(index_run(&r, &a, &o, NULL), 0);
	assert_int_equal(srv->cancels, 1);
	assert_int_equal(srv->count, 2);
	close_all();
	/* The second as it is set aside, of the first the half that was made. */
	assert_int_equal(ledger().tokens, tokens + tokens / 2);
	end();
}

static void test_jobs__every_failed_allocation_ends_well(void **st)
{
	(void)st;
	begin(5);
	for (long n = 1; fail_at >= 0; n += 1 + n / 10) {
		wipe();
		fail_at = n;
		if (!try_run() && fail_at > 0) {
			set_clock(now + MINUTE);
			try_run();
		}
		if (fail_at > 0)
			fail_at = 0;
		finish();
		assert_int_equal(paid(), 5);
		assert_int_equal(ledger().open, 0);
		assert_true(n < 200000);
	}
	fail_at = 0;
	end();
}

/* Small budgets: as much as they allow, and not less than a job is worth. */
static void test_jobs__the_budget_bounds_what_is_sent(void **st)
{
	(void)st;
	budget = 60;
	begin(20);
	srv->work_ms = -1;
	run();
	assert_int_equal(srv->count, 1);
	assert_in_range(srv->jobs[0].lines, 3, 8);
	assert_true(ledger().tokens <= 60);
	assert_non_null(r.degraded);
	end();
}

/* Its texts do not wait for ever for a server that cannot tell. */
static void test_jobs__where_no_list_tells_it_is_given_up(void **st)
{
	(void)st;
	begin(8);
	srv->create_status = 503;
	srv->no_list = true;
	run();
	set_clock(now + MINUTE);
	run();
	assert_int_equal(last_job().step, JOB_SENDING);
	srv->create_status = 0;
	srv->work_ms = 0;
	set_clock(now + 26 * HOUR);
	run();
	finish();
	assert_int_equal(paid(), 8);
	end();
}

/* A job of an account that is not set now says nothing of when to look. */
static void test_jobs__the_next_look_is_that_of_our_own(void **st)
{
	struct batch_job other = { .name = "remem-x", .scope = "",
				   .provider = "voyage", .model = "m",
				   .base = "https://voyage.test/v1",
				   .fingerprint = "f", .step = JOB_RUNNING,
				   .lines = 5, .made_ms = START };

	(void)st;
	begin(8);
	srv->work_ms = HOUR;
	open_all();
	assert_int_equal(state_batch_add(state, &other, NULL, 0, NULL), 0);
	close_all();
	run();
	assert_int_equal(batch.jobs, 1);
	assert_true(batch.next_ms > now);
	end();
}

/* Two processes: what one has ended the other does not open again, nor does it
 * hand over what was taken away. */
static void test_jobs__an_ended_one_stays_ended(void **st)
{
	struct batch_job job, late;

	(void)st;
	begin(8);
	srv->work_ms = 10 * MINUTE;
	run();
	late = last_job();
	finish();
	job = last_job();
	assert_int_equal(job.step, JOB_ENDED);
	open_all();
	late.step = JOB_CANCELLING;
	late.name = late.remote = late.input = late.output = late.errors =
		late.reason = "";
	late.provider = "openai";
	late.model = "m";
	assert_int_equal(state_batch_put(state, &late, false, 0, NULL),
			 REMEM_EBUSY);
	late.id = job.id + 1;
	late.ledger = 0;
	assert_int_equal(state_batch_put(state, &late, true, 0, NULL),
			 REMEM_EBUSY);
	close_all();
	assert_int_equal(last_job().step, JOB_ENDED);
	assert_int_equal(ledger().rows, 1);
	end();
}

static char seen_url[300];

static void keep_url(void *ctx, const struct http_request *req,
		     struct http_reply *reply)
{
	(void)ctx;
	memset(reply, 0, sizeof(*reply));
	reply->retry_after_ms = -1;
	buf_init(&reply->body, 0);
	snprintf(seen_url, sizeof(seen_url), "%s", req->url);
	say(reply, 200, "{\"file\":{\"name\":\"files/x\"}}");
}

static void check_upload(const char *base, const char *url)
{
	struct embed_config c = { .provider = "gemini", .api_key = "a-key",
				  .base_url = base, .transport = keep_url };
	struct buf body = BUF_INIT(0);
	char file[BATCH_ID];
	struct embedder *own;
	struct embed_batch *b;

	assert_int_equal(embedder_open(&own, &c, NULL), 0);
	assert_int_equal(embed_batch_new(&b, own, NULL), 0);
	embed_batch_begin(b, &body, "remem-x");
	assert_int_equal(embed_batch_upload(b, &body, file, NULL, NULL, NULL),
			 0);
	assert_string_equal(file, "files/x");
	assert_string_equal(seen_url, url);
	buf_release(&body);
	embed_batch_free(b);
	embedder_free(own);
}

/* The key goes along: nothing else becomes the host. */
static void test_jobs__files_go_to_the_host_that_is_set(void **st)
{
	(void)st;
	check_upload("http://127.0.0.1:1/v1beta",
		     "http://127.0.0.1:1/upload/v1beta/files?"
		     "uploadType=multipart");
	check_upload("http://127.0.0.1:1/a/v1beta/openai/",
		     "http://127.0.0.1:1/a/upload/v1beta/files?"
		     "uploadType=multipart");
	check_upload("http://127.0.0.1:1/",
		     "http://127.0.0.1:1/upload/files?uploadType=multipart");
}
