/* The library as its users see it, on a small workspace without vectors. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base_tmp.h"
#include "remem.h"

struct api {
	struct tmp tmp;
	char home[600], ws[600], path[1400];
	const char *env[4];
	struct remem_open_opts o;
	struct remem *r;
	struct remem_err err;
};

static const char *const no_vectors[] = { "provider=none", NULL };

static void put(struct api *t, const char *name, const char *text)
{
	FILE *f;

	snprintf(t->path, sizeof(t->path), "%s/%s", t->ws, name);
	f = fopen(t->path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void begin(struct api *t)
{
	memset(t, 0, sizeof(*t));
	tmp_begin(&t->tmp);
	snprintf(t->ws, sizeof(t->ws), "%s/notes", t->tmp.dir);
	snprintf(t->home, sizeof(t->home), "HOME=%s", t->tmp.dir);
	snprintf(t->path, sizeof(t->path), "%s/memory", t->ws);
	assert_int_equal(mkdir(t->ws, 0755) | mkdir(t->path, 0755), 0);
	put(t, "MEMORY.md", "# Memory\n\n- The code is ERR_PAY_4021\n"
			    "- 网关超时是三十秒\n");
	put(t, "memory/2026-03-01.md", "# Notes\n\n- Ann moved to Berlin\n");
	t->env[0] = t->home;
	t->o.size = sizeof(t->o);
	t->o.env = t->env;
	t->o.workspace = t->ws;
	t->o.set = no_vectors;
	t->o.now_ms = INT64_C(1774958400000); /* 2026-03-31 */
}

static void open_it(struct api *t)
{
	if (remem_open(&t->r, &t->o, &t->err))
		fail_msg("%s", t->err.message);
}

static void end(struct api *t)
{
	remem_close(t->r);
	tmp_end(&t->tmp);
}

static struct remem_results *ask_with(struct api *t, const char *query,
				      const struct remem_search_opts *o)
{
	struct remem_results *res;

	if (remem_search(t->r, query, strlen(query), o, &res, &t->err))
		fail_msg("%s", t->err.message);
	return res;
}

static struct remem_results *ask(struct api *t, const char *query)
{
	return ask_with(t, query, NULL);
}

/* What the JSON of an answer holds at a path of one name. */
static void assert_json(const struct remem_results *res, const char *part)
{
	char *json;

	assert_int_equal(remem_results_json(res, &json, NULL), 0);
	if (!strstr(json, part))
		fail_msg("no '%s' in %s", part, json);
	remem_free(json);
}

static void test_api__first_search_indexes_by_itself(void **state)
{
	struct remem_results *res;
	struct api t;

	(void)state;
	begin(&t);
	open_it(&t);
	res = ask(&t, "网关超时多少");
	assert_int_equal(remem_results_count(res), 1);
	assert_string_equal(remem_results_hit(res, 0)->path, "MEMORY.md");
	assert_non_null(strstr(remem_results_hit(res, 0)->citation, "#L"));
	assert_null(remem_results_hit(res, 1));
	assert_null(remem_results_degraded(res));
	assert_json(res, "\"mode\":\"text\"");
	assert_json(res, "\"stale\":false");
	assert_json(res, "\"index\":{\"files\":2,\"indexed\":2,\"pending\":0,"
			 "\"skipped\":0}");
	remem_results_free(res);
	end(&t);
}

static void test_api__a_changed_file_is_found_at_once(void **state)
{
	struct remem_results *res;
	struct api t;

	(void)state;
	begin(&t);
	open_it(&t);
	remem_results_free(ask(&t, "Berlin"));
	put(&t, "memory/2026-03-02.md", "- 雪山计划改名为 Everest\n");
	res = ask(&t, "雪山");
	assert_int_equal(remem_results_count(res), 1);
	remem_results_free(res);
	assert_int_equal(unlink(t.path), 0);
	res = ask(&t, "雪山");
	assert_int_equal(remem_results_count(res), 0);
	assert_non_null(remem_results_message(res));
	remem_results_free(res);
	end(&t);
}

static void test_api__nothing_is_written_when_read_only(void **state)
{
	struct remem_results *res;
	struct api t;
	char *json;

	(void)state;
	begin(&t);
	t.o.read_only = 1;
	open_it(&t);
	res = ask(&t, "Berlin");
	assert_int_equal(remem_results_count(res), 0);
	assert_json(res, "\"stale\":true");
	assert_non_null(strstr(remem_results_message(res), "remem index"));
	remem_results_free(res);
	assert_int_equal(remem_index(t.r, NULL, &json, &t.err), REMEM_EPERM);
	assert_int_equal(remem_config_set(t.r, "project", "x", &json, &t.err),
			 REMEM_EPERM);
	assert_int_equal(tmp_count(&t.tmp), 1); /* the notes alone */
	end(&t);
}

static void test_api__an_old_index_answers_and_says_so(void **state)
{
	struct remem_search_opts o = REMEM_OPTS_INIT(o);
	struct remem_results *res;
	struct api t;

	(void)state;
	begin(&t);
	open_it(&t);
	remem_results_free(ask(&t, "Berlin"));
	remem_close(t.r);
	put(&t, "memory/2026-03-02.md", "- Everest\n");
	t.o.read_only = 1;
	open_it(&t);
	res = ask(&t, "Berlin");
	assert_int_equal(remem_results_count(res), 1);
	assert_json(res, "\"stale\":true");
	remem_results_free(res);
	o.no_sync = 1;
	res = ask_with(&t, "Everest", &o);
	assert_int_equal(remem_results_count(res), 0);
	remem_results_free(res);
	end(&t);
}

static void test_api__options_are_checked(void **state)
{
	struct remem_search_opts o = REMEM_OPTS_INIT(o);
	struct remem_results *res;
	struct api t;

	(void)state;
	begin(&t);
	open_it(&t);
	o.after = "2026-02-30";
	assert_int_equal(remem_search(t.r, "x", 1, &o, &res, &t.err),
			 REMEM_EINVAL);
	o.after = NULL;
	o.source = "dreams";
	assert_int_equal(remem_search(t.r, "x", 1, &o, &res, &t.err),
			 REMEM_EINVAL);
	o.source = NULL;
	o.max_results = -1;
	assert_int_equal(remem_search(t.r, "x", 1, &o, &res, &t.err),
			 REMEM_EINVAL);
	o.max_results = 0;
	o.mode = (enum remem_mode)7;
	assert_int_equal(remem_search(t.r, "x", 1, &o, &res, &t.err),
			 REMEM_EINVAL);
	memset(&o, 0, sizeof(o));
	assert_int_equal(remem_search(t.r, "x", 1, &o, &res, &t.err),
			 REMEM_EINVAL);
	end(&t);
}

static void test_api__filters_act(void **state)
{
	struct remem_search_opts o = REMEM_OPTS_INIT(o);
	struct remem_results *res;
	struct api t;

	(void)state;
	begin(&t);
	open_it(&t);
	o.path = "memory";
	res = ask_with(&t, "ERR_PAY_4021", &o);
	assert_int_equal(remem_results_count(res), 0);
	remem_results_free(res);
	res = ask_with(&t, "Berlin", &o);
	assert_int_equal(remem_results_count(res), 1);
	assert_string_equal(remem_results_hit(res, 0)->date, "2026-03-01");
	remem_results_free(res);
	o.path = NULL;
	o.last_days = 7; /* today is 2026-03-31 */
	res = ask_with(&t, "Berlin", &o);
	assert_int_equal(remem_results_count(res), 0);
	remem_results_free(res);
	o.now = "2026-03-02";
	res = ask_with(&t, "Berlin", &o);
	assert_int_equal(remem_results_count(res), 1);
	remem_results_free(res);
	end(&t);
}

static void test_api__any_text_is_a_query(void **state)
{
	static const char *const queries[] = {
		"", " ", "\"", "a AND", "foo-bar", "NEAR(a b)", "*", "'; --",
		"😀", "\xff\xfe", "(((((", "col:x", "^", "超", "-",
	};
	struct api t;
	char *long_one;

	(void)state;
	begin(&t);
	open_it(&t);
	for (size_t i = 0; i < ARRAY_LEN(queries); i++)
		remem_results_free(ask(&t, queries[i]));
	long_one = mem_zalloc((1 << 20) + 1);
	memset(long_one, 'q', 1 << 20);
	remem_results_free(ask(&t, long_one));
	mem_free(long_one);
	end(&t);
}

static yyjson_doc *get(struct api *t, const char *address,
		       const struct remem_get_opts *o)
{
	yyjson_doc *doc;
	char *json;

	if (remem_get(t->r, address, o, &json, &t->err))
		fail_msg("%s: %s", address, t->err.message);
	assert_int_equal(json_read(&doc, json, strlen(json), false, "get", NULL),
			 0);
	remem_free(json);
	return doc;
}

static void assert_get(struct api *t, const char *address, const char *text)
{
	yyjson_doc *doc = get(t, address, NULL);

	assert_string_equal(json_str(yyjson_doc_get_root(doc), "text", "?"),
			    text);
	yyjson_doc_free(doc);
}

static void test_api__get_understands_every_address(void **state)
{
	struct api t;

	(void)state;
	begin(&t);
	put(&t, "memory/a.md", "一\n二\n三\n四\n");
	open_it(&t);
	assert_get(&t, "memory/a.md", "一\n二\n三\n四");
	assert_get(&t, "memory/a.md:3", "三\n四");
	assert_get(&t, "memory/a.md:2:2", "二\n三");
	assert_get(&t, "memory/a.md#L2", "二");
	assert_get(&t, "memory/a.md#L2-L3", "二\n三");
	assert_get(&t, "./memory/a.md#L4-L9", "四");
	end(&t);
}

static void test_api__get_tells_absent_empty_and_beyond(void **state)
{
	yyjson_doc *doc;
	struct api t;

	(void)state;
	begin(&t);
	put(&t, "memory/empty.md", "");
	open_it(&t);
	doc = get(&t, "memory/2031-01-01.md", NULL);
	assert_string_equal(json_str(yyjson_doc_get_root(doc), "status", ""),
			    "not_found");
	yyjson_doc_free(doc);
	doc = get(&t, "memory/empty.md", NULL);
	assert_string_equal(json_str(yyjson_doc_get_root(doc), "status", ""),
			    "ok");
	assert_int_equal(json_int(yyjson_doc_get_root(doc), "totalLines", -1),
			 0);
	yyjson_doc_free(doc);
	doc = get(&t, "MEMORY.md:50:10", NULL);
	assert_int_equal(json_int(yyjson_doc_get_root(doc), "totalLines", -1),
			 4);
	assert_string_equal(json_str(yyjson_doc_get_root(doc), "text", "?"),
			    "");
	yyjson_doc_free(doc);
	end(&t);
}

static void test_api__get_stays_beneath_the_roots(void **state)
{
	static const char *const bad[] = {
		"../outside.md", "/etc/passwd", "memory/../../outside.md", "",
		"memory/../../../etc/passwd", ".memory/x.md", "link.md",
		"memory/link/x.md", "MEMORY.md/../../outside.md", "memory",
	};
	struct api t;
	char *json;

	(void)state;
	begin(&t);
	tmp_put(&t.tmp, "outside.md", "secret\n");
	open_it(&t);
	snprintf(t.path, sizeof(t.path), "%s/link.md", t.ws);
	assert_int_equal(symlink("../outside.md", t.path), 0);
	snprintf(t.path, sizeof(t.path), "%s/memory/link", t.ws);
	assert_int_equal(symlink("../..", t.path), 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		int rc = remem_get(t.r, bad[i], NULL, &json, &t.err);

		if (!rc && strstr(json, "secret"))
			fail_msg("'%s' was read", bad[i]);
		remem_free(json);
	}
	assert_int_equal(remem_get(t.r, "../outside.md", NULL, &json, &t.err),
			 REMEM_EPERM);
	end(&t);
}

static void test_api__status_reads_only(void **state)
{
	struct api t;
	char *json;

	(void)state;
	begin(&t);
	open_it(&t);
	assert_int_equal(remem_status(t.r, 1, &json, &t.err), 0);
	assert_non_null(strstr(json, "\"stale\":true"));
	assert_non_null(strstr(json, "\"changed\":2"));
	assert_non_null(strstr(json, "there is no index yet"));
	remem_free(json);
	assert_int_equal(tmp_count(&t.tmp), 1);
	remem_results_free(ask(&t, "Berlin"));
	assert_int_equal(remem_status(t.r, 1, &json, &t.err), 0);
	assert_non_null(strstr(json, "\"complete\":true"));
	assert_non_null(strstr(json, "\"check\":{\"ok\":true"));
	remem_free(json);
	end(&t);
}

/* Every file of the index cut to nothing or made of noise. */
static void spoil(struct api *t, const char *text)
{
	char command[2000];
	int rc;

	snprintf(command, sizeof(command),
		 "find '%s/.cache' -type f -name 'index.sqlite*' -exec sh -c "
		 "'printf \"%s\" > \"$1\"' _ {} \\;", t->tmp.dir, text);
	rc = system(command);
	assert_int_equal(rc, 0);
}

static void test_api__a_damaged_index_is_built_anew(void **state)
{
	static const char *const texts[] = { "", "not a database at all" };
	struct remem_results *res;
	struct api t;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		begin(&t);
		open_it(&t);
		remem_results_free(ask(&t, "Berlin"));
		remem_close(t.r);
		spoil(&t, texts[i]);
		open_it(&t);
		res = ask(&t, "Berlin");
		assert_int_equal(remem_results_count(res), 1);
		remem_results_free(res);
		end(&t);
	}
}

static void test_api__doctor_repairs_what_is_derived(void **state)
{
	struct api t;
	char *json;

	(void)state;
	begin(&t);
	put(&t, "memory/.remem-tmp-abc", "half");
	open_it(&t);
	assert_int_equal(remem_doctor(t.r, 1, &json, &t.err), 0);
	assert_non_null(strstr(json, "\"ok\":true"));
	assert_non_null(strstr(json, "unfinished files"));
	remem_free(json);
	assert_int_equal(access(t.path, F_OK), -1);
	assert_int_equal(remem_doctor(t.r, 0, &json, &t.err), 0);
	assert_null(strstr(json, "warning"));
	remem_free(json);
	end(&t);
}

static void test_api__trust_is_for_one_text_of_the_file(void **state)
{
	static const char file[] = "memorySearch: {extraPaths: [../more]}\n";
	struct api t;
	char *json;

	(void)state;
	begin(&t);
	put(&t, "remem.yaml", file);
	open_it(&t);
	assert_int_equal(remem_config_get(t.r, "extraPaths", &json, NULL), 0);
	assert_non_null(strstr(json, "\"value\":[]"));
	remem_free(json);
	assert_int_equal(remem_trust(t.r, 1, &json, &t.err), 0);
	assert_non_null(strstr(json, "\"trusted\":true"));
	remem_free(json);
	remem_close(t.r);
	open_it(&t);
	assert_int_equal(remem_config_get(t.r, "extraPaths", &json, NULL), 0);
	assert_non_null(strstr(json, "\"value\":[\"../more\"]"));
	remem_free(json);
	remem_close(t.r);
	put(&t, "remem.yaml", "memorySearch: {extraPaths: [/etc]}\n");
	open_it(&t);
	assert_int_equal(remem_trust(t.r, -1, &json, &t.err), 0);
	assert_non_null(strstr(json, "\"trusted\":false"));
	remem_free(json);
	end(&t);
}

static void test_api__config_set_keeps_the_rest(void **state)
{
	struct buf b = BUF_INIT(0);
	struct api t;
	char *json;

	(void)state;
	begin(&t);
	open_it(&t);
	snprintf(t.path, sizeof(t.path), "%s/.config/remem/config.yaml",
		 t.tmp.dir);
	assert_int_equal(remem_config_set(t.r, "query.maxResults", "3", &json,
					  &t.err), 0);
	remem_free(json);
	assert_int_equal(remem_config_set(t.r, "project", "雪 山", &json,
					  &t.err), 0);
	remem_free(json);
	assert_int_equal(remem_config_set(t.r, "query.maxResults", "0", &json,
					  &t.err), REMEM_EINVAL);
	assert_int_equal(remem_config_set(t.r, "nope", "0", &json, &t.err),
			 REMEM_EINVAL);
	assert_int_equal(file_read(&b, t.path, NULL), 0);
	assert_string_equal(buf_str(&b), "memorySearch:\n  query:\n"
			    "    maxResults: 3\nproject: \"雪 山\"\n");
	buf_release(&b);
	end(&t);
}

static void test_api__a_bad_agent_or_workspace_is_told(void **state)
{
	struct api t;

	(void)state;
	begin(&t);
	t.o.agent = "../x";
	assert_int_equal(remem_open(&t.r, &t.o, &t.err), REMEM_EINVAL);
	assert_null(t.r);
	t.o.agent = "工作";
	assert_int_equal(remem_open(&t.r, &t.o, &t.err), REMEM_EINVAL);
	t.o.agent = NULL;
	t.o.workspace = "/nowhere/at/all";
	assert_int_equal(remem_open(&t.r, &t.o, &t.err), REMEM_ENOTFOUND);
	assert_true(t.err.action[0] != '\0');
	end(&t);
}

static void test_api__agents_have_indexes_of_their_own(void **state)
{
	struct api t;

	(void)state;
	begin(&t);
	t.o.agent = "work";
	open_it(&t);
	remem_results_free(ask(&t, "Berlin"));
	snprintf(t.path, sizeof(t.path), "test -d '%s'/.cache/remem/*/agent-work"
		 "/gen-000001", t.tmp.dir);
	assert_int_equal(system(t.path), 0);
	end(&t);
}

static void test_api__options_of_another_version_are_understood(void **state)
{
	struct {
		struct remem_get_opts o;
		int newer;
	} wide = { { .size = sizeof(wide) }, 0 };
	struct api t;
	char *json;

	(void)state;
	begin(&t);
	open_it(&t);
	assert_int_equal(remem_get(t.r, "MEMORY.md", &wide.o, &json, &t.err), 0);
	remem_free(json);
	wide.newer = 1;
	assert_int_equal(remem_get(t.r, "MEMORY.md", &wide.o, &json, &t.err),
			 REMEM_ENOTSUP);
	wide.o.size = offsetof(struct remem_get_opts, max_chars);
	wide.o.max_chars = -5; /* beyond what an older caller has */
	assert_int_equal(remem_get(t.r, "MEMORY.md", &wide.o, &json, &t.err), 0);
	remem_free(json);
	end(&t);
}

/* One whole life, with the n-th allocation failing. */
static int live(struct api *t)
{
	struct remem_results *res = NULL;
	struct remem *r = NULL;
	char *json = NULL;
	int rc;

	if (!(rc = remem_open(&r, &t->o, &t->err)) &&
	    !(rc = remem_search(r, "Berlin 网关", 13, NULL, &res, &t->err)) &&
	    !(rc = remem_results_json(res, &json, &t->err))) {
		remem_free(json);
		json = NULL;
		if (!(rc = remem_get(r, "MEMORY.md:1:2", NULL, &json, &t->err))) {
			remem_free(json);
			json = NULL;
			rc = remem_status(r, 0, &json, &t->err);
		}
	}
	remem_free(json);
	remem_results_free(res);
	remem_close(r);
	return rc;
}

static void test_api__every_allocation_may_fail(void **state)
{
	struct api t;
	long n = 1;

	(void)state;
	begin(&t);
	assert_int_equal(live(&t), 0);
	for (;; n++) {
		long asked;

		alloc_fail_at(n);
		live(&t);
		asked = alloc_count();
		alloc_fail_at(0);
		if (asked < n)
			break;
	}
	assert_true(n > 50);
	assert_int_equal(live(&t), 0);
	end(&t);
}
