/* Local models: facts of the file, and a worker that may do anything. */
#include "base_tmp.h"

#include <math.h>

#include "base/alloc.h"
#include "embed/embed.h"
#include "embed/known_model.h"
#include "embed/local_model.h"
#include "embed/runtime.h"
#include "model_build.h"

#define ITEMS 200

struct world {
	struct tmp tmp;
	char model[1200], worker[1200];
	char lib[512];
	const char *runtimes[2];
	struct embed_config c;
	struct embedder *e;
	struct remem_err err;
	struct embed_item items[ITEMS];
	char texts[ITEMS][64];
	size_t n;
	int done[ITEMS], refused[ITEMS], wrong;
	char reason[600];
	int asked, cancel_after;
};

static struct world *w;

static void make_file(const char *name, const char *arch, const char *title,
		      int pooling)
{
	static const char *const pieces[] = { "<s>", "</s>", "a", "b" };
	struct gguf_build b = { 0 };
	char key[100];

	build_string(&b, "general.architecture", arch);
	build_string(&b, "general.name", title);
	snprintf(key, sizeof(key), "%s.embedding_length", arch);
	build_u32(&b, key, 8);
	snprintf(key, sizeof(key), "%s.context_length", arch);
	build_u32(&b, key, 256);
	snprintf(key, sizeof(key), "%s.pooling_type", arch);
	if (pooling >= 0)
		build_u32(&b, key, (uint32_t)pooling);
	build_strings(&b, "tokenizer.ggml.tokens", pieces, 4);
	build_finish(&b);
	snprintf(w->model, sizeof(w->model), "%s", tmp_path(&w->tmp, name));
	build_write(b.p, b.len, w->model);
	build_release(&b);
}

static int make(void **state)
{
	char here[1024];

	(void)state;
	w = calloc(1, sizeof(*w));
	tmp_begin(&w->tmp);
	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(w->worker, sizeof(w->worker), "%s/test/server/worker.py",
		 getenv("REMEM_SOURCE_ROOT") ? getenv("REMEM_SOURCE_ROOT") :
					       here);
	tmp_put(&w->tmp, "libllama.so", "");
	snprintf(w->lib, sizeof(w->lib), "%s", w->tmp.dir);
	w->runtimes[0] = w->lib;
	w->c = (struct embed_config){ .provider = "local",
				      .local_path = w->model,
				      .worker = w->worker,
				      .runtimes = w->runtimes };
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	embedder_free(w->e);
	tmp_end(&w->tmp);
	free(w);
	w = NULL;
	return 0;
}

static void open_with(const char *name)
{
	make_file(name, "bert", "tiny", 1);
	assert_int_equal(embedder_open(&w->e, &w->c, &w->err), 0);
}

static void add(const char *text)
{
	size_t i = w->n++;

	snprintf(w->texts[i], sizeof(w->texts[i]), "%s", text);
	w->items[i] = (struct embed_item){ w->texts[i], strlen(w->texts[i]),
					   (int64_t)i, NULL };
}

static void add_many(int n)
{
	char text[64];

	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "记忆 note number %d", i);
		add(text);
	}
}

static int on_done(void *ctx, const struct embed_item *const *items,
		   const float *vecs, size_t n, int dims)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		const float *v = vecs + i * (size_t)dims;

		w->done[items[i]->tag]++;
		/* v[0] : v[2] is the text's length, as the worker makes it. */
		if (fabs(v[0] / v[2] - (double)items[i]->len) > 0.01)
			w->wrong++;
	}
	return 0;
}

static void on_refused(void *ctx, const struct embed_item *item,
		       const char *reason)
{
	(void)ctx;
	w->refused[item->tag]++;
	snprintf(w->reason, sizeof(w->reason), "%s", reason);
}

static bool on_cancel(void *ctx)
{
	(void)ctx;
	return w->cancel_after && ++w->asked >= w->cancel_after;
}

static int run(void)
{
	return embedder_documents(w->e, w->items, w->n, on_done, on_refused,
				  on_cancel, NULL, &w->err);
}

/* Every text once: done, but for those that are refused. */
static void check_all(int refused)
{
	int count = 0;

	for (size_t i = 0; i < w->n; i++) {
		assert_int_equal(w->done[i] + w->refused[i], 1);
		count += w->refused[i];
	}
	assert_int_equal(count, refused);
	assert_int_equal(w->wrong, 0);
}

/* How often the worker was started. */
static int starts(void)
{
	char path[1300];
	struct stat st;

	snprintf(path, sizeof(path), "%s.starts", w->model);
	return stat(path, &st) ? 0 : (int)st.st_size;
}

/* ---- the file --------------------------------------------------------- */

static void test_local__facts_and_prefixes_by_architecture(void **state)
{
	static const struct {
		const char *arch, *name;
		int pooling, want;
		const char *query, *document;
	} rows[] = {
		{ "gemma-embedding", "x", -1, POOL_MEAN,
		  "task: search result | query: ", "title: none | text: " },
		{ "bert", "multilingual-e5-small", -1, POOL_MEAN, "query: ",
		  "passage: " },
		{ "bert", "bge-small-zh", -1, POOL_CLS, "", "" },
		{ "bert", "bge-small-zh", 1, POOL_MEAN, "", "" },
		{ "nomic-bert", "x", 1, POOL_MEAN, "search_query: ",
		  "search_document: " },
		{ "qwen3", "x", 3, POOL_LAST, NULL, "" },
	};
	struct local_model m;

	make(state);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		make_file("a.gguf", rows[i].arch, rows[i].name,
			  rows[i].pooling);
		assert_int_equal(local_model_read(&m, w->model, &w->err), 0);
		assert_int_equal(m.pooling, rows[i].want);
		assert_int_equal(m.dims, 8);
		assert_int_equal(m.max_tokens, 256);
		assert_int_equal(m.vocabulary, 4);
		assert_string_equal(m.document_prefix, rows[i].document);
		if (rows[i].query)
			assert_string_equal(m.query_prefix, rows[i].query);
		else
			assert_non_null(strstr(m.query_prefix, "Instruct: "));
	}
	unmake(state);
}

static void test_local__other_files_are_refused_with_the_reason(void **state)
{
	struct local_model m;

	make(state);
	make_file("a.gguf", "llama", "chat", -1);
	assert_int_equal(local_model_read(&m, w->model, &w->err),
			 REMEM_EFORMAT);
	assert_non_null(strstr(w->err.message, "'llama'"));
	make_file("a.gguf", "bert", "reranker", 4);
	assert_int_equal(local_model_read(&m, w->model, &w->err),
			 REMEM_EFORMAT);
	make_file("a.gguf", "modern-bert", "x", -1);
	assert_int_equal(local_model_read(&m, w->model, &w->err),
			 REMEM_EFORMAT);
	make_file("a.gguf", "bert", "x", 4711);
	assert_int_equal(local_model_read(&m, w->model, &w->err),
			 REMEM_EFORMAT);
	tmp_put(&w->tmp, "a.gguf", "GGUF but not really, is it?");
	assert_int_equal(local_model_read(&m, w->model, &w->err),
			 REMEM_EFORMAT);
	assert_int_equal(local_model_read(&m, "/nowhere.gguf", &w->err),
			 REMEM_ENOTFOUND);
	unmake(state);
}

/* Same bytes, same vectors, wherever they lie; other bytes, other ones. */
static void test_local__identity_is_of_the_bytes(void **state)
{
	char first[600], second[600];

	make(state);
	open_with("one.gguf");
	snprintf(first, sizeof(first), "%s", embedder_info(w->e)->fingerprint);
	assert_non_null(strstr(first, "mean"));
	assert_non_null(strstr(first, "local|tiny@"));
	embedder_free(w->e);
	open_with("two.gguf");
	snprintf(second, sizeof(second), "%s",
		 embedder_info(w->e)->fingerprint);
	assert_string_equal(first, second);
	embedder_free(w->e);
	make_file("two.gguf", "bert", "tiny", 2);
	assert_int_equal(embedder_open(&w->e, &w->c, &w->err), 0);
	assert_string_not_equal(first, embedder_info(w->e)->fingerprint);
	assert_int_equal(starts(), 0);
	unmake(state);
}

/* Logits of 262,144 pieces are 1 MiB a token. */
static void test_local__windows_follow_the_vocabulary(void **state)
{
	struct local_model m = { .max_tokens = 2048, .vocabulary = 30000 };

	(void)state;
	assert_int_equal(local_model_window(&m), 512);
	m.vocabulary = 262144;
	assert_int_equal(local_model_window(&m), 256);
	m.vocabulary = 100000000;
	assert_int_equal(local_model_window(&m), 64);
	m.max_tokens = 16;
	assert_int_equal(local_model_window(&m), 16);
	m = (struct local_model){ .bytes = 333 << 20, .vocabulary = 262144,
				  .dims = 768, .layers = 24,
				  .max_tokens = 2048 };
	assert_in_range(local_model_memory(&m) >> 20, 600, 1000);
}

static void test_local__memory_is_what_machine_and_group_leave(void **state)
{
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	assert_int_equal(local_memory_free(t.dir), -1);
	assert_int_equal(dir_make(tmp_path(&t, "proc"), 0700, NULL), 0);
	assert_int_equal(dir_make(tmp_path(&t, "sys/fs/cgroup"), 0700, NULL),
			 0);
	tmp_put(&t, "proc/meminfo", "MemTotal: 9 kB\nMemAvailable:  4096 kB\n");
	assert_int_equal(local_memory_free(t.dir), 4096 << 10);
	tmp_put(&t, "sys/fs/cgroup/memory.max", "max\n");
	assert_int_equal(local_memory_free(t.dir), 4096 << 10);
	tmp_put(&t, "sys/fs/cgroup/memory.max", "1000000\n");
	tmp_put(&t, "sys/fs/cgroup/memory.current", "900000\n");
	tmp_put(&t, "sys/fs/cgroup/memory.stat",
		"anon 1\ninactive_file 200000\nactive_file 100000\n");
	assert_int_equal(local_memory_free(t.dir), 400000);
	tmp_end(&t);
}

static void put_in(struct tmp *t, const char *folder, const char *name,
		   const char *text)
{
	char path[300];

	assert_int_equal(dir_make(tmp_path(t, folder), 0700, NULL), 0);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	tmp_put(t, path, text);
}

/* The smallest of the groups around the process decides. */
static void test_local__memory_of_groups_within_groups(void **state)
{
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	put_in(&t, "proc/self", "cgroup", "0::/user.slice/记忆\n");
	put_in(&t, "proc", "meminfo", "MemAvailable: 8192 kB\n");
	put_in(&t, "sys/fs/cgroup/user.slice/记忆", "memory.max", "max\n");
	put_in(&t, "sys/fs/cgroup/user.slice", "memory.max", "3000000\n");
	put_in(&t, "sys/fs/cgroup/user.slice", "memory.current", "1000000\n");
	assert_int_equal(local_memory_free(t.dir), 2000000);
	put_in(&t, "sys/fs/cgroup/user.slice/记忆", "memory.max", "900\n");
	put_in(&t, "sys/fs/cgroup/user.slice/记忆", "memory.current", "1000\n");
	assert_int_equal(local_memory_free(t.dir), 0);
	/* A path that leads elsewhere is not followed. */
	put_in(&t, "proc/self", "cgroup", "0::/../../user.slice\n");
	assert_int_equal(local_memory_free(t.dir), 8192 << 10);
	tmp_end(&t);
}

static void test_local__memory_of_the_first_version_of_groups(void **state)
{
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	put_in(&t, "proc/self", "cgroup",
	       "5:cpu,cpuacct:/a\n4:memory:/docker/abc\n0::/a\n");
	put_in(&t, "sys/fs/cgroup/memory/docker/abc", "memory.limit_in_bytes",
	       "9223372036854771712\n");
	put_in(&t, "sys/fs/cgroup/memory/docker/abc", "memory.usage_in_bytes",
	       "5000\n");
	put_in(&t, "sys/fs/cgroup/memory", "memory.limit_in_bytes", "70000\n");
	put_in(&t, "sys/fs/cgroup/memory", "memory.usage_in_bytes", "60000\n");
	put_in(&t, "sys/fs/cgroup/memory", "memory.stat",
	       "cache 1\ntotal_inactive_file 20000\ntotal_active_file 500\n");
	assert_int_equal(local_memory_free(t.dir), 30500);
	/* In a container the path is not to be seen. */
	put_in(&t, "proc/self", "cgroup", "4:memory:/outside\n");
	assert_int_equal(local_memory_free(t.dir), 30500);
	tmp_end(&t);
}

static void test_local__releases_that_are_not_known_are_not_used(void **state)
{
	(void)state;
	assert_true(runtime_knows("0.4.0"));
	assert_true(runtime_knows("v0.4.0-dev"));
	assert_false(runtime_knows("0.4.1"));
	assert_false(runtime_knows("0.4.0-dirty"));
	assert_false(runtime_knows(""));
}

/* Each can be run, is found by its name, and fits into memory with room. */
static void test_local__known_models_are_such_as_can_be_used(void **state)
{
	const struct known_model *k;
	struct local_model m;
	char file[200];

	make(state);
	for (int i = 0; (k = known_model_at(i)); i++) {
		make_file("a.gguf", k->arch, k->name, -1);
		assert_int_equal(local_model_read(&m, w->model, &w->err), 0);
		assert_ptr_equal(known_model_find(k->name), k);
		snprintf(file, sizeof(file), "%s-Q8_0.gguf", k->name);
		assert_ptr_equal(known_model_find(file), k);
		snprintf(file, sizeof(file), "%sx.gguf", k->name);
		assert_ptr_not_equal(known_model_find(file), k);
		assert_in_range(known_model_memory(k), k->bytes,
				k->bytes * 3 + (200 << 20));
		assert_true(known_model_speed(k) > 10);
		assert_true(k->languages[0] && k->licence[0]);
	}
	assert_null(known_model_find(""));
	unmake(state);
}

/* ---- a worker that works ---------------------------------------------- */

static void test_local__documents_and_a_question(void **state)
{
	float *v;
	int dims;

	make(state);
	open_with("x.noisy.gguf");
	add_many(150);
	assert_int_equal(run(), 0);
	check_all(0);
	assert_int_equal(embedder_query(w->e, "小王?", 7, 0, &v, &dims,
					&w->err), 0);
	assert_int_equal(dims, 8);
	mem_free(v);
	assert_int_equal(starts(), 1);
	unmake(state);
}

/* Where a model allows it, fewer dimensions are a part of the identity. */
static void test_local__dimensions_may_be_cut_where_the_model_allows(void **state)
{
	float *v, sum = 0;
	int dims;

	make(state);
	w->c.dims = 4;
	open_with("x.gguf");
	assert_non_null(embedder_off(w->e));
	embedder_free(w->e);
	make_file("x.gguf", "nomic-bert", "x", 1);
	assert_int_equal(embedder_open(&w->e, &w->c, &w->err), 0);
	assert_null(embedder_off(w->e));
	assert_non_null(strstr(embedder_info(w->e)->fingerprint, "|4|"));
	assert_int_equal(embedder_query(w->e, "a", 1, 0, &v, &dims, &w->err),
			 0);
	assert_int_equal(dims, 4);
	for (int i = 0; i < dims; i++)
		sum += v[i] * v[i];
	assert_true(fabs(sum - 1.0) < 1e-5);
	mem_free(v);
	unmake(state);
}

/* ---- one that does not ------------------------------------------------ */

static void test_local__the_text_that_kills_it_is_set_aside(void **state)
{
	make(state);
	open_with("x.dies=BOOM.gguf");
	add_many(70);
	add("BOOM");
	add_many(20);
	add("another BOOM");
	assert_int_equal(run(), 0);
	check_all(2);
	assert_int_equal(w->refused[70], 1);
	assert_non_null(strstr(w->reason, "abort"));
	assert_non_null(strstr(w->reason, "ASSERT(n_tokens) failed: 坏"));
	/* Each text is tried twice, and the next start goes on. */
	assert_int_equal(starts(), 5);
	unmake(state);
}

static void test_local__one_death_is_no_reason(void **state)
{
	make(state);
	open_with("x.dies1=7.gguf");
	add_many(20);
	assert_int_equal(run(), 0);
	check_all(0);
	assert_int_equal(starts(), 2);
	unmake(state);
}

/* It dies at every text: the model is to blame, and no text is set aside. */
static void test_local__a_model_that_kills_every_time_ends_the_run(void **state)
{
	make(state);
	open_with("x.dies=.gguf");
	add_many(20);
	assert_int_equal(run(), REMEM_EREMOTE);
	assert_non_null(strstr(w->err.message, "does not work"));
	for (int i = 0; i < 20; i++)
		assert_int_equal(w->done[i] + w->refused[i], 0);
	assert_int_equal(starts(), 3);
	/* Nothing is tried again at once. */
	assert_int_equal(run(), REMEM_EREMOTE);
	assert_int_equal(starts(), 3);
	unmake(state);
}

static void test_local__a_text_that_hangs_is_set_aside(void **state)
{
	make(state);
	w->c.batch_timeout_ms = 1500;
	open_with("x.hangs=BOOM.gguf");
	add_many(3);
	add("BOOM");
	add_many(3);
	assert_int_equal(run(), 0);
	check_all(1);
	assert_non_null(strstr(w->reason, "within 1 s"));
	unmake(state);
}

static void test_local__texts_it_refuses_and_nan_are_set_aside(void **state)
{
	make(state);
	open_with("x.refuses=NO.nan=NAN.gguf");
	add("NO");
	add_many(3);
	assert_int_equal(run(), 0);
	check_all(1);
	assert_string_equal(w->reason, "not this one");
	add("a NAN");
	memset(w->done, 0, sizeof(w->done));
	memset(w->refused, 0, sizeof(w->refused));
	assert_int_equal(run(), 0);
	check_all(2);
	assert_non_null(strstr(w->reason, "numbers that are none"));
	assert_int_equal(starts(), 1);
	unmake(state);
}

static void test_local__nonsense_ends_the_run_and_keeps_the_texts(void **state)
{
	static const char *const names[] = { "x.garbage.gguf", "x.short.gguf",
					     "x.stranger.gguf",
					     "x.skips.gguf" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		make(state);
		open_with(names[i]);
		add_many(3);
		if (strstr(names[i], "skips")) {
			/* Alone it is answered, since it is the first then. */
			assert_int_equal(run(), 0);
			check_all(0);
		} else {
			assert_int_equal(run(), REMEM_EREMOTE);
			assert_non_null(strstr(w->err.message, "protocol"));
			assert_int_equal(w->refused[0], 0);
		}
		unmake(state);
	}
}

static void test_local__other_dimensions_than_before_are_refused(void **state)
{
	make(state);
	open_with("x.grows.dies1=7.gguf");
	add_many(20);
	assert_int_equal(run(), REMEM_EREMOTE);
	assert_non_null(strstr(w->err.message, "gave 9 before"));
	unmake(state);
}

static void check_question(int want)
{
	float *v;
	int dims;

	assert_int_equal(embedder_query(w->e, "a", 1, 0, &v, &dims, &w->err),
			 want);
	mem_free(v);
}

/* Other weights under the same name: their vectors belong to another model. */
static void test_local__a_file_that_is_swapped_is_not_used(void **state)
{
	char copy[1300];

	make(state);
	snprintf(copy, sizeof(copy), "%s", tmp_path(&w->tmp, "x.gguf"));
	w->c.local_path = copy;
	open_with("x.gguf");
	check_question(0);
	/* The same bytes in a new file are the same model. */
	make_file("y.gguf", "bert", "tiny", 1);
	assert_int_equal(rename(w->model, copy), 0);
	check_question(0);
	make_file("y.gguf", "bert", "tinY", 1);
	assert_int_equal(rename(w->model, copy), 0);
	check_question(REMEM_EREMOTE);
	assert_non_null(strstr(w->err.message, "changed while it was in use"));
	add("a text");
	assert_int_equal(run(), REMEM_EREMOTE);
	assert_int_equal(w->done[0] + w->refused[0], 0);
	embedder_free(w->e);
	assert_int_equal(embedder_open(&w->e, &w->c, &w->err), 0);
	check_question(0);
	unmake(state);
}

/* It was opened: what is gone by name may go on in the worker. */
static void test_local__a_file_that_is_gone_goes_on_in_the_worker(void **state)
{
	make(state);
	open_with("x.gguf");
	check_question(0);
	assert_int_equal(unlink(w->model), 0);
	check_question(0);
	assert_int_equal(starts(), 1);
	unmake(state);
}

static void test_local__failures_of_the_start_say_why(void **state)
{
	float *v;
	int dims;

	make(state);
	open_with("x.deaf.gguf");
	assert_int_equal(embedder_query(w->e, "a", 1, 0, &v, &dims, &w->err),
			 REMEM_EREMOTE);
	assert_non_null(strstr(w->err.message, "ASSERT(layers) failed"));
	assert_null(v);
	/* The next one is not made to wait for it. */
	assert_int_equal(embedder_query(w->e, "a", 1, 0, &v, &dims, &w->err),
			 REMEM_EREMOTE);
	assert_int_equal(starts(), 1);
	unmake(state);

	make(state);
	open_with("x.no.gguf");
	assert_int_equal(embedder_query(w->e, "a", 1, 0, &v, &dims, &w->err),
			 REMEM_ENOTSUP);
	assert_string_equal(w->err.message, "a model of no kind");
	unmake(state);

	make(state);
	w->runtimes[0] = "/nowhere";
	open_with("x.gguf");
	assert_int_equal(embedder_query(w->e, "a", 1, 0, &v, &dims, &w->err),
			 REMEM_ENOTFOUND);
	assert_string_equal(w->err.action, "remem models runtime");
	unmake(state);

	make(state);
	w->c.worker = "/nowhere/remem";
	open_with("x.gguf");
	assert_int_equal(embedder_query(w->e, "a", 1, 0, &v, &dims, &w->err),
			 REMEM_ENOTFOUND);
	unmake(state);
}

/* A search that cannot wait leaves the worker loading, and the next has it. */
static void test_local__a_deadline_does_not_end_the_loading(void **state)
{
	float *v;
	int dims, rc;

	make(state);
	make_file("x.slow.gguf", "bert", "tiny", 1);
	tmp_put(&w->tmp, "x.slow.gguf.wait", "");
	assert_int_equal(embedder_open(&w->e, &w->c, &w->err), 0);
	assert_int_equal(embedder_query(w->e, "a", 1, 50, &v, &dims, &w->err),
			 REMEM_ETIMEOUT);
	assert_int_equal(unlink(tmp_path(&w->tmp, "x.slow.gguf.wait")), 0);
	rc = embedder_query(w->e, "a", 1, 0, &v, &dims, &w->err);
	assert_int_equal(rc, 0);
	mem_free(v);
	assert_int_equal(starts(), 1);
	unmake(state);
}

static void test_local__cancel_ends_a_batch_at_once(void **state)
{
	make(state);
	open_with("x.hangs=BOOM.gguf");
	add_many(2);
	add("BOOM");
	add_many(2);
	w->cancel_after = 20;
	assert_int_equal(run(), REMEM_ECANCELLED);
	w->cancel_after = 0;
	w->n = 2;
	assert_int_equal(run(), 0);
	assert_int_equal(starts(), 2);
	unmake(state);
}

static void test_local__nothing_is_chosen_or_fetched_by_itself(void **state)
{
	make(state);
	make_file("x.gguf", "bert", "tiny", 1);
	w->c.provider = "auto";
	w->c.builtin_enabled = true;
	assert_int_equal(embedder_open(&w->e, &w->c, &w->err), 0);
	assert_string_equal(embedder_info(w->e)->provider, "local");
	embedder_free(w->e);
	w->c.provider = "local";
	w->c.local_path = "hf:somebody/something/model.gguf";
	assert_int_equal(embedder_open(&w->e, &w->c, &w->err), 0);
	assert_non_null(strstr(embedder_off(w->e), "nothing is fetched"));
	embedder_free(w->e);
	w->c.local_path = NULL;
	assert_int_equal(embedder_open(&w->e, &w->c, &w->err), 0);
	assert_non_null(strstr(embedder_off(w->e), "no local model"));
	unmake(state);
}
