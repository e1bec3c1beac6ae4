/* Settings: the table, files, variables, flags, what is said of mistakes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "api/secret.h"
#include "api/settings.h"
#include "base/alloc.h"
#include "base_tmp.h"

struct fixture {
	struct arena a;
	struct env env;
	struct settings s;
};

static const char *const vars[] = {
	"HOME=/home/nobody", "OPENAI_API_KEY=sk-secret-1", "REMEM_PROJECT=雪山",
	"REMEM_QUERY_MAX_RESULTS=9", "REMEM_MEMORY_SEARCH_QUERY_MIN_SCORE=0.2",
	"REMEM_READ_ONLY=1", "REMEM_CPU=portable", NULL,
};

static void set_up(struct fixture *f, const char *agent)
{
	arena_init(&f->a, 0);
	assert_int_equal(env_init(&f->env, &f->a, vars, NULL), 0);
	assert_int_equal(settings_init(&f->s, &f->a, &f->env, agent, NULL), 0);
}

static void add(struct fixture *f, const char *yaml, bool trusted)
{
	assert_int_equal(settings_add_file(&f->s, yaml, strlen(yaml), "c.yaml",
					   trusted ? FROM_USER : FROM_WORKSPACE,
					   trusted, NULL), 0);
}

static const char *warning(struct fixture *f, size_t i)
{
	return i < f->s.warning_count ? f->s.warnings[i] : "";
}

static void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' does not say '%s'", text, part);
}

static void test_settings__defaults_are_those_of_the_table(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, NULL);
	assert_int_equal(settings_int(&f.s, "memorySearch.query.maxResults"), 6);
	assert_true(settings_num(&f.s, "memorySearch.query.minScore") == 0.35);
	assert_true(settings_bool(&f.s, "memorySearch.query.mmr.enabled"));
	assert_string_equal(settings_str(&f.s, "memorySearch.provider"), "auto");
	assert_string_equal(settings_value(&f.s, "memorySearch.sources")
				    ->items[0].text, "memory");
	assert_int_equal(settings_int(&f.s,
				      "memorySearch.sync.sessions.deltaBytes"),
			 4096);
	arena_release(&f.a);
}

static void test_settings__openclaw_names_work_as_they_stand(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, NULL);
	add(&f, "memory: {backend: builtin, citations: on}\n"
		"agents:\n  defaults:\n    memorySearch:\n"
		"      provider: openai-compatible\n"
		"      extraPaths: [~/笔记, {path: /data, pattern: '*.txt'}]\n"
		"      query: {maxResults: 3, hybrid: {vectorWeight: 0.5,\n"
		"        mmr: {enabled: false}}}\n"
		"    compaction:\n      memoryFlush: {enabled: false}\n"
		"memorySearch:\n  query: {minScore: 0.1}\n"
		"  compaction: {memoryFlush: {softThresholdTokens: 5}}\n", true);
	assert_int_equal(f.s.warning_count, 0);
	assert_string_equal(settings_str(&f.s, "memory.citations"), "on");
	assert_int_equal(settings_int(&f.s, "memorySearch.query.maxResults"), 3);
	assert_true(settings_num(&f.s, "memorySearch.query.minScore") == 0.1);
	assert_false(settings_bool(&f.s, "memorySearch.query.mmr.enabled"));
	assert_false(settings_bool(&f.s, "compaction.memoryFlush.enabled"));
	assert_int_equal(settings_int(&f.s,
				      "compaction.memoryFlush.softThresholdTokens"),
			 5);
	assert_int_equal(settings_value(&f.s, "memorySearch.extraPaths")->count,
			 2);
	assert_string_equal(settings_value(&f.s, "memorySearch.extraPaths")
				    ->items[1].name, "*.txt");
	arena_release(&f.a);
}

static void test_settings__the_agent_goes_before_the_defaults(void **state)
{
	static const char yaml[] =
		"agents:\n  list:\n  - id: work\n    memorySearch:\n"
		"      query: {maxResults: 2}\n      extraPaths: [b]\n"
		"  - id: other\n    memorySearch: {query: {maxResults: 99}}\n"
		"  defaults:\n    memorySearch:\n      extraPaths: [a]\n"
		"      query: {maxResults: 4}\n";
	struct fixture f;

	(void)state;
	set_up(&f, "work");
	add(&f, yaml, true);
	assert_int_equal(settings_int(&f.s, "memorySearch.query.maxResults"), 2);
	assert_int_equal(settings_value(&f.s, "memorySearch.extraPaths")->count,
			 2);
	arena_release(&f.a);
	set_up(&f, NULL);
	add(&f, yaml, true);
	assert_int_equal(settings_int(&f.s, "memorySearch.query.maxResults"), 4);
	arena_release(&f.a);
}

static void test_settings__flags_before_variables_before_files(void **state)
{
	static const char *const set[] = { "query.minScore=0.3",
					   "memorySearch.sources=[memory, x]",
					   "embedding.queryPrefix=query: ",
					   NULL };
	struct fixture f;

	(void)state;
	set_up(&f, NULL);
	add(&f, "memorySearch: {query: {maxResults: 2, minScore: 0.9}}", true);
	assert_int_equal(settings_add_env(&f.s, NULL), 0);
	assert_int_equal(settings_int(&f.s, "memorySearch.query.maxResults"), 9);
	assert_true(settings_num(&f.s, "memorySearch.query.minScore") == 0.2);
	assert_string_equal(settings_str(&f.s, "project"), "雪山");
	assert_true(settings_bool(&f.s, "readOnly"));
	assert_int_equal(settings_add_flags(&f.s, set, NULL), 0);
	assert_true(settings_num(&f.s, "memorySearch.query.minScore") == 0.3);
	assert_int_equal(settings_value(&f.s, "memorySearch.sources")->count, 2);
	assert_string_equal(settings_str(&f.s,
					 "memorySearch.embedding.queryPrefix"),
			    "query: ");
	/* The workspace's file is read last and still counts less. */
	add(&f, "memorySearch: {query: {maxResults: 1}}", false);
	assert_int_equal(settings_int(&f.s, "memorySearch.query.maxResults"), 9);
	arena_release(&f.a);
}

static void test_settings__a_wrong_type_names_file_line_and_type(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, NULL);
	add(&f, "memorySearch:\n  query:\n    maxResults: 六\n"
		"    minScore: [1]\n  sync: {watch: maybe}\n  chunking: 7\n"
		"  query2: x\nproject: ok\n", true);
	assert_int_equal(f.s.warning_count, 5);
	assert_string_equal(warning(&f, 0), "c.yaml:3: memorySearch.query."
			    "maxResults should be a whole number from 1 to 100, "
			    "not '六'");
	assert_says(warning(&f, 1), "c.yaml:4");
	assert_says(warning(&f, 2), "true or false");
	assert_says(warning(&f, 3), "should be a map");
	assert_says(warning(&f, 4), "did you mean 'memorySearch.query'");
	/* The rest works. */
	assert_string_equal(settings_str(&f.s, "project"), "ok");
	assert_int_equal(settings_int(&f.s, "memorySearch.query.maxResults"), 6);
	arena_release(&f.a);
}

static void test_settings__unknown_keys_name_the_nearest(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, NULL);
	add(&f, "memorysearch: {provider: none}\nquery: {maxResults: 3}\n"
		"memorySearch: {provdier: none}\n完全不同: 1\n", true);
	assert_int_equal(f.s.warning_count, 4);
	assert_says(warning(&f, 0), "did you mean 'memorySearch'?");
	assert_says(warning(&f, 1), "did you mean 'memorySearch.query'?");
	assert_says(warning(&f, 2), "did you mean 'memorySearch.provider'?");
	assert_null(strstr(warning(&f, 3), "did you mean"));
	assert_string_equal(settings_str(&f.s, "memorySearch.provider"), "auto");
	arena_release(&f.a);
}

static void test_settings__numbers_out_of_bounds_are_clamped(void **state)
{
	static const char *const wrong[] = { "query.maxResults=many", NULL };
	static const char *const unknown[] = { "query.maxResult=3", NULL };
	struct remem_err err = { 0 };
	struct fixture f;

	(void)state;
	set_up(&f, NULL);
	add(&f, "memorySearch: {query: {minScore: 7, maxResults: 0}}", true);
	assert_int_equal(f.s.warning_count, 2);
	assert_true(settings_num(&f.s, "memorySearch.query.minScore") == 1);
	assert_int_equal(settings_int(&f.s, "memorySearch.query.maxResults"), 1);
	assert_int_equal(settings_add_flags(&f.s, wrong, &err), REMEM_EINVAL);
	assert_says(err.message, "whole number");
	assert_int_equal(settings_add_flags(&f.s, unknown, &err), REMEM_EINVAL);
	assert_says(err.message, "did you mean");
	arena_release(&f.a);
}

static void test_settings__an_untrusted_file_sets_safe_keys_only(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, NULL);
	add(&f, "memorySearch:\n  provider: openai\n  query: {maxResults: 2}\n"
		"  remote: {baseUrl: http://evil, apiKey: {command: [id]}}\n"
		"  extraPaths: [/etc]\n", false);
	assert_int_equal(f.s.warning_count, 4);
	assert_says(warning(&f, 0), "remem trust on");
	assert_string_equal(settings_str(&f.s, "memorySearch.provider"), "auto");
	assert_string_equal(settings_str(&f.s, "memorySearch.remote.baseUrl"),
			    "");
	assert_int_equal(settings_value(&f.s, "memorySearch.extraPaths")->count,
			 0);
	assert_null(settings_value(&f.s, "memorySearch.remote.apiKey")->ref);
	assert_int_equal(settings_int(&f.s, "memorySearch.query.maxResults"), 2);
	arena_release(&f.a);
}

static void test_settings__what_is_refused_names_what_replaces_it(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, NULL);
	add(&f, "memory: {backend: qmd, qmd: {paths: []}}\nmemorySearch:\n"
		"  store: {path: /x, fts: {tokenizer: trigram},\n"
		"    vector: {extensionPath: /y}}\n"
		"  query: {rerank: {enabled: true}}\n", true);
	assert_int_equal(settings_check(&f.s, NULL), 0);
	assert_int_equal(f.s.warning_count, 6);
	assert_says(warning(&f, 0), "memory.backend should be one of builtin");
	assert_says(warning(&f, 2), "XDG_CACHE_HOME");
	assert_says(warning(&f, 5), "has no effect in this version");
	arena_release(&f.a);
}

static void test_settings__bad_yaml_is_one_warning(void **state)
{
	static const char *const bad[] = { "a: [", "\t", "- 1\n- 2\n", "text",
					   "a: \xff\xfe", "{1: 2" };
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		set_up(&f, NULL);
		add(&f, bad[i], true);
		assert_int_equal(f.s.warning_count, 1);
		arena_release(&f.a);
	}
	set_up(&f, NULL);
	add(&f, "# nothing\n", true);
	add(&f, "memorySearch:\nagents: {defaults: , list: }\n", true);
	assert_int_equal(f.s.warning_count, 0);
	arena_release(&f.a);
}

static void show(struct buf *b, struct fixture *f, const char *name)
{
	struct json j;

	buf_reset(b);
	json_begin(&j, b);
	settings_put_value(&j, &f->s, setting_find(name));
}

static void test_settings__secrets_are_never_shown(void **state)
{
	struct buf b = BUF_INIT(0);
	struct fixture f;

	(void)state;
	set_up(&f, NULL);
	add(&f, "memorySearch: {remote: {apiKey: sk-abc, headers: {X-K: v1}}}",
	    true);
	show(&b, &f, "remote.apiKey");
	assert_string_equal(buf_str(&b), "\"(set)\"");
	show(&b, &f, "remote.headers");
	assert_string_equal(buf_str(&b), "{\"X-K\":\"(set)\"}");
	add(&f, "memorySearch: {remote: {apiKey: '${OPENAI_API_KEY}'}}", true);
	show(&b, &f, "remote.apiKey");
	assert_string_equal(buf_str(&b), "\"${OPENAI_API_KEY}\"");
	add(&f, "memorySearch: {remote: {apiKey: [sk-def]}}", true);
	assert_null(strstr(warning(&f, 0), "sk-def"));
	buf_release(&b);
	arena_release(&f.a);
}

static void test_settings__keys_come_by_reference(void **state)
{
	static const char name[] = "memorySearch.remote.apiKey";
	struct remem_err err = { 0 };
	struct fixture f;
	struct tmp t;
	char yaml[1200];
	const char *key;

	(void)state;
	tmp_begin(&t);
	set_up(&f, NULL);
	assert_int_equal(secret_resolve(&key, &f.s, name, &err), 0);
	assert_null(key);
	add(&f, "memorySearch: {remote: {apiKey: 'x${OPENAI_API_KEY}y'}}", true);
	assert_int_equal(secret_resolve(&key, &f.s, name, &err), 0);
	assert_string_equal(key, "xsk-secret-1y");
	add(&f, "memorySearch: {remote: {apiKey: '${NOT_THERE}'}}", true);
	assert_int_equal(secret_resolve(&key, &f.s, name, &err), REMEM_EINVAL);
	assert_says(err.message, "NOT_THERE");
	tmp_put(&t, "key", "钥匙-2\nmore\n");
	snprintf(yaml, sizeof(yaml),
		 "memorySearch: {remote: {apiKey: {file: %s}}}",
		 tmp_path(&t, "key"));
	add(&f, yaml, true);
	assert_int_equal(secret_resolve(&key, &f.s, name, &err), 0);
	assert_string_equal(key, "钥匙-2");
	add(&f, "memorySearch: {remote: {apiKey: {command: [echo, k3]}}}", true);
	assert_int_equal(secret_resolve(&key, &f.s, name, &err), 0);
	assert_string_equal(key, "k3");
	add(&f, "memorySearch: {remote: {apiKey: {command: ['false']}}}", true);
	assert_int_equal(secret_resolve(&key, &f.s, name, &err), REMEM_EIO);
	add(&f, "memorySearch: {remote: {headers: {A: 'b\n\n  c: d'}}}", true);
	arena_release(&f.a);
	tmp_end(&t);
}

static void test_settings__headers_become_lines(void **state)
{
	static const char name[] = "memorySearch.remote.headers";
	struct remem_err err = { 0 };
	const char *const *lines;
	struct fixture f;

	(void)state;
	set_up(&f, NULL);
	add(&f, "memorySearch: {remote: {headers: {A: 1, B: '${HOME}'}}}", true);
	assert_int_equal(secret_headers(&lines, &f.s, name, &err), 0);
	assert_string_equal(lines[0], "A: 1");
	assert_string_equal(lines[1], "B: /home/nobody");
	assert_null(lines[2]);
	add(&f, "memorySearch: {remote: {headers: {A: \"x\\r\\nEvil: y\"}}}",
	    true);
	assert_int_equal(secret_headers(&lines, &f.s, name, &err),
			 REMEM_EINVAL);
	arena_release(&f.a);
}

static int load_all(void)
{
	static const char *const set[] = { "sources=[a, b]", NULL };
	static const char yaml[] =
		"agents: {defaults: {memorySearch: {extraPaths: [a, {path: b}],"
		" unknown: 1, query: {maxResults: x}}}}";
	struct remem_err err = { 0 };
	struct arena a = ARENA_INIT;
	struct settings s;
	struct env env;
	int rc;

	if (!(rc = env_init(&env, &a, vars, &err)) &&
	    !(rc = settings_init(&s, &a, &env, "work", &err)) &&
	    !(rc = settings_add_file(&s, yaml, sizeof(yaml) - 1, "f", FROM_USER,
				     true, &err)) &&
	    !(rc = settings_add_env(&s, &err)) &&
	    !(rc = settings_add_flags(&s, set, &err)))
		rc = settings_check(&s, &err);
	arena_release(&a);
	return rc;
}

static void test_settings__every_allocation_may_fail(void **state)
{
	long n = 1;

	(void)state;
	for (;; n++) {
		int rc;

		alloc_fail_at(n);
		rc = load_all();
		if (alloc_count() < n) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, REMEM_ENOMEM);
	}
	alloc_fail_at(0);
	assert_true(n > 3);
}
