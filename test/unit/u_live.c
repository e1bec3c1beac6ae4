/* remem.h: the start of a conversation, watching, what identifies a handle. */
#include "workspace.h"

#include <pthread.h>

#include "remem.h"

struct live {
	struct ws ws;
	char home[600];
	const char *env[4];
	const char *set[4];
	struct remem_open_opts o;
	struct remem_err err;
};

static void begin(struct live *x)
{
	memset(x, 0, sizeof(*x));
	ws_begin(&x->ws);
	ws_put(&x->ws, "MEMORY.md", "- Samarkand 撒马尔罕\n");
	snprintf(x->home, sizeof(x->home), "HOME=%s/home", x->ws.tmp.dir);
	x->env[0] = x->home;
	x->set[0] = "memorySearch.provider=none";
	x->o = (struct remem_open_opts)REMEM_OPTS_INIT(x->o);
	x->o.workspace = x->ws.dir;
	x->o.env = x->env;
	x->o.set = x->set;
}

static void end(struct live *x)
{
	ws_end(&x->ws);
}

static struct remem *open_it(struct live *x)
{
	struct remem *r;

	if (remem_open(&r, &x->o, &x->err))
		fail_msg("%s", x->err.message);
	return r;
}

/* Hits of the index as it is. */
static size_t hits(struct live *x, const char *word)
{
	struct remem_search_opts s = REMEM_OPTS_INIT(s);
	struct remem *r = open_it(x);
	struct remem_results *res;
	size_t n;

	s.no_sync = 1;
	if (remem_search(r, word, strlen(word), &s, &res, &x->err))
		fail_msg("%s", x->err.message);
	n = remem_results_count(res);
	remem_results_free(res);
	remem_close(r);
	return n;
}

static void start_session(struct live *x, bool stale)
{
	struct remem *r = open_it(x);
	char *why;

	if (remem_session_start(r, &why, &x->err))
		fail_msg("%s", x->err.message);
	assert_int_equal(why != NULL, stale);
	remem_free(why);
	remem_close(r);
}

static void test_live__the_start_of_a_conversation_brings_in_step(void **state)
{
	struct live x;

	(void)state;
	begin(&x);
	start_session(&x, false);
	assert_int_equal(hits(&x, "Samarkand"), 1);
	ws_put(&x.ws, "memory/x.md", "- Bukhara\n");
	start_session(&x, false);
	assert_int_equal(hits(&x, "Bukhara"), 1);
	/* Whether a search may do so is another question. */
	x.set[1] = "memorySearch.sync.onSearch=false";
	ws_put(&x.ws, "memory/y.md", "- Khiva\n");
	start_session(&x, false);
	assert_int_equal(hits(&x, "Khiva"), 1);
	end(&x);
}

static void test_live__unless_it_is_not_wanted(void **state)
{
	struct live x;

	(void)state;
	begin(&x);
	start_session(&x, false);
	x.set[1] = "memorySearch.sync.onSessionStart=false";
	ws_put(&x.ws, "memory/x.md", "- Bukhara\n");
	start_session(&x, false);
	assert_int_equal(hits(&x, "Bukhara"), 0);
	/* What may write nothing says that it is behind. */
	x.set[1] = "readOnly=true";
	start_session(&x, true);
	assert_int_equal(hits(&x, "Bukhara"), 0);
	end(&x);
}

static void identity(char out[65], struct live *x)
{
	struct remem_traits t = REMEM_OPTS_INIT(t);
	struct remem *r = open_it(x);

	if (remem_traits(r, &t, &x->err))
		fail_msg("%s", x->err.message);
	memcpy(out, t.identity, 65);
	remem_close(r);
}

static void differs(struct live *x, const char *first)
{
	char id[65];

	identity(id, x);
	assert_string_not_equal(id, first);
}

static void test_live__what_answers_alike_has_one_identity(void **state)
{
	char first[65], id[65], cwd[4096];
	struct live x;

	(void)state;
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	begin(&x);
	identity(first, &x);
	assert_int_equal(strlen(first), 64);
	identity(id, &x);
	assert_string_equal(id, first);
	x.env[1] = "PWD=/anywhere";
	identity(id, &x);
	assert_string_equal(id, first);
	x.env[1] = "REMEM_QUERY_MAX_RESULTS=3";
	differs(&x, first);
	x.env[1] = "CLAUDE_CONFIG_DIR=/elsewhere";
	differs(&x, first);
	x.env[1] = NULL;
	x.set[1] = "memorySearch.query.maxResults=3";
	differs(&x, first);
	/* A path that means another file elsewhere. */
	x.set[1] = "memorySearch.builtin.modelPath=model.gguf";
	identity(id, &x);
	assert_int_equal(chdir("/"), 0);
	differs(&x, id);
	assert_int_equal(chdir(cwd), 0);
	x.set[1] = NULL;
	x.o.agent = "work";
	differs(&x, first);
	x.o.agent = NULL;
	x.o.read_only = 1;
	differs(&x, first);
	x.o.read_only = 0;
	ws_put(&x.ws, "remem.yaml", "project: x\n");
	differs(&x, first);
	ws_remove(&x.ws, "remem.yaml");
	identity(id, &x);
	assert_string_equal(id, first);
	end(&x);
}

static void test_live__traits_of_another_size_are_refused(void **state)
{
	struct remem_traits t = { 0 };
	struct live x;
	struct remem *r;

	(void)state;
	begin(&x);
	r = open_it(&x);
	assert_int_equal(remem_traits(r, &t, &x.err), REMEM_EINVAL);
	t.size = sizeof(t) + 8;
	assert_int_equal(remem_traits(r, &t, &x.err), REMEM_EINVAL);
	remem_close(r);
	end(&x);
}

static void test_live__watching_has_to_be_allowed(void **state)
{
	struct remem_watch *w;
	struct live x;
	struct remem *r;

	(void)state;
	begin(&x);
	x.set[1] = "memorySearch.sync.watch=false";
	r = open_it(&x);
	assert_int_equal(remem_watch_new(&w, r, NULL, &x.err), REMEM_EINVAL);
	assert_null(w);
	remem_close(r);
	x.set[1] = "readOnly=true";
	r = open_it(&x);
	assert_int_equal(remem_watch_new(&w, r, NULL, &x.err), REMEM_EPERM);
	remem_close(r);
	end(&x);
}

static int stop_at_once(void *ctx, const char *json)
{
	char *first = ctx;

	snprintf(first, 100, "%s", json);
	return 1;
}

static void test_live__the_receiver_of_events_may_end_it(void **state)
{
	struct remem_watch_opts o = REMEM_OPTS_INIT(o);
	struct remem_watch *w;
	char first[100] = "";
	struct live x;
	struct remem *r;

	(void)state;
	begin(&x);
	r = open_it(&x);
	o.event = stop_at_once;
	o.ctx = first;
	assert_int_equal(remem_watch_new(&w, r, &o, &x.err), 0);
	assert_false(remem_watch_is_clean(w));
	assert_int_equal(remem_watch(w, &x.err), 0);
	assert_non_null(strstr(first, "\"event\":\"synced\""));
	remem_watch_free(w);
	remem_close(r);
	assert_int_equal(hits(&x, "Samarkand"), 1);
	end(&x);
}

static void *watch_it(void *ctx)
{
	return remem_watch(ctx, NULL) ? ctx : NULL;
}

static void test_live__it_ends_when_it_is_told_to(void **state)
{
	struct remem_watch *w;
	struct live x;
	struct remem *r;
	pthread_t t;
	void *failed;

	(void)state;
	begin(&x);
	r = open_it(&x);
	assert_int_equal(remem_watch_new(&w, r, NULL, &x.err), 0);
	assert_int_equal(pthread_create(&t, NULL, watch_it, w), 0);
	while (!remem_watch_is_clean(w))
		remem_watch_hurry(w);
	remem_watch_stop(w);
	pthread_join(t, &failed);
	assert_null(failed);
	remem_watch_free(w);
	remem_close(r);
	end(&x);
}
