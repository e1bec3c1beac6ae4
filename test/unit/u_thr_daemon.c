/* Houses of the background process, entered by many threads. */
#include "workspace.h"

#include <pthread.h>
#include <stdatomic.h>

#include "daemon/house.h"

#define THREADS 8
#define ROUNDS 10

static char home[600], id[65];
static const char *env[] = { home, NULL };
static const char *const set[] = { "memorySearch.provider=none",
				   "memorySearch.sync.watchDebounceMs=1",
				   NULL };
static struct remem_open_opts o;
static atomic_int found, failed;

static void *ask_often(void *ctx)
{
	(void)ctx;
	for (int i = 0; i < ROUNDS; i++) {
		struct remem_search_opts s = REMEM_OPTS_INIT(s);
		struct remem_results *res;
		struct house *h;
		struct remem *r;
		struct remem_err err;

		if (house_enter(&h, &r, id, &o, &err)) {
			failed++;
			continue;
		}
		s.no_sync = house_is_ready(h);
		if (remem_search(r, "Samarkand", 9, &s, &res, &err)) {
			failed++;
		} else {
			found += remem_results_count(res) == 1;
			remem_results_free(res);
		}
		house_leave(h, r);
	}
	return NULL;
}

static void identify(void)
{
	struct remem_traits t = REMEM_OPTS_INIT(t);
	struct remem_err err;
	struct remem *r;
	char *json;

	if (remem_open(&r, &o, &err) || remem_index(r, NULL, &json, &err) ||
	    remem_traits(r, &t, &err))
		fail_msg("%s", err.message);
	remem_free(json);
	remem_close(r);
	memcpy(id, t.identity, sizeof(id));
}

static void test_thr_daemon__many_threads_in_one_house(void **state)
{
	pthread_t threads[THREADS];
	struct buf b = BUF_INIT(0);
	struct json j;
	struct ws ws;

	(void)state;
	ws_begin(&ws);
	ws_put(&ws, "MEMORY.md", "- Samarkand 撒马尔罕\n");
	ws_put(&ws, "memory/x.md", "- something else\n");
	snprintf(home, sizeof(home), "HOME=%s/home", ws.tmp.dir);
	o = (struct remem_open_opts)REMEM_OPTS_INIT(o);
	o.workspace = ws.dir;
	o.env = env;
	o.set = set;
	identify();
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often,
						NULL), 0);
	/* Meanwhile there is something to sync, and it is looked at. */
	for (int i = 0; i < 20; i++) {
		ws_put(&ws, "memory/x.md", i & 1 ? "- other\n" : "- same\n");
		json_begin(&j, &b);
		houses_put(&j);
		buf_reset(&b);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	houses_close();
	buf_release(&b);
	assert_int_equal(failed, 0);
	assert_int_equal(found, THREADS * ROUNDS);
	ws_end(&ws);
}

static void test_thr_daemon__another_identity_is_refused(void **state)
{
	struct remem_err err;
	struct house *h;
	struct remem *r;
	struct ws ws;

	(void)state;
	ws_begin(&ws);
	ws_put(&ws, "MEMORY.md", "- x\n");
	snprintf(home, sizeof(home), "HOME=%s/home", ws.tmp.dir);
	o = (struct remem_open_opts)REMEM_OPTS_INIT(o);
	o.workspace = ws.dir;
	o.env = env;
	memset(id, 'a', 64);
	assert_int_equal(house_enter(&h, &r, id, &o, &err), REMEM_EINVAL);
	assert_int_equal(house_enter(&h, &r, "short", &o, &err), REMEM_EINVAL);
	/* More houses than are kept. */
	for (char c = 'a'; c <= 'z'; c++) {
		memset(id, c, 64);
		assert_int_equal(house_enter(&h, &r, id, &o, &err),
				 REMEM_EINVAL);
	}
	houses_close();
	ws_end(&ws);
}
