/* Settings of hosts, changed as text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/json.h"
#include "hosts/jsontext.h"

static struct arena a;
static struct buf result;

static struct jsontext *read_text(const char *text)
{
	struct remem_err err = { 0 };
	struct jsontext *t;

	arena_release(&a);
	arena_init(&a, 0);
	if (jsontext_read(&t, &a, text, strlen(text), "f.json", &err))
		fail_msg("%s", err.message);
	return t;
}

static const char *apply(const char *text, const struct jsontext_edit *e)
{
	buf_release(&result);
	buf_init(&result, 0);
	assert_true(e->at + e->remove <= strlen(text));
	buf_add(&result, text, e->at);
	buf_adds(&result, e->insert);
	buf_adds(&result, text + e->at + e->remove);
	return buf_str(&result);
}

static const char *const path[] = { "mcpServers", "remem", NULL };
#define VALUE "{\"command\": \"/bin/remem\"}"

static void check_set(const char *text, const char *want)
{
	struct jsontext *t = read_text(text);
	struct jsontext_edit e;

	assert_int_equal(jsontext_set(&e, t, &a, path, VALUE, NULL), 0);
	assert_string_equal(apply(text, &e), want);
}

static void test_jsontext__a_member_is_put_where_it_belongs(void **state)
{
	(void)state;
	check_set("", "{\n  \"mcpServers\": {\n    \"remem\": " VALUE
		  "\n  }\n}\n");
	check_set("{}\n", "{\n  \"mcpServers\": {\n    \"remem\": " VALUE
		  "\n  }\n}\n");
	check_set("{\n\t\"a\": 1 // one\n}\n",
		  "{\n\t\"mcpServers\": {\n\t\t\"remem\": " VALUE
		  "\n\t},\n\t\"a\": 1 // one\n}\n");
	check_set("{\r\n    mcpServers: { // all\r\n        'x': {},\r\n    },\r\n}",
		  "{\r\n    mcpServers: {\r\n        \"remem\": " VALUE
		  ", // all\r\n        'x': {},\r\n    },\r\n}");
	check_set("{\"mcpServers\": {\"x\": 1}}",
		  "{\"mcpServers\": { \"remem\": " VALUE ",\"x\": 1}}");
	check_set("{\"mcpServers\": {\"remem\": [1, 2], \"x\": 1}}",
		  "{\"mcpServers\": {\"remem\": " VALUE ", \"x\": 1}}");
}

static void test_jsontext__what_was_put_in_is_taken_out_again(void **state)
{
	static const char *const texts[] = {
		"{}", "{\n}\n", "{\"a\":1}", "{ \"mcpServers\": {} }",
		"{\n  \"mcpServers\": {\n    \"x\": {} /* y */,\n  },\n}\n",
		"\xef\xbb\xbf{\r\n  \"a\": [1, {\"b\": \"}\"}]\r\n}\r\n",
		"// head\n{\n  // nothing yet\n}\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct jsontext *t = read_text(texts[i]);
		struct jsontext_edit e;
		const char *with, *at, *again;
		char *text;

		assert_int_equal(jsontext_set(&e, t, &a, path, VALUE, NULL), 0);
		with = apply(texts[i], &e);
		at = strstr(with, e.insert);
		assert_non_null(at);
		text = strdup(with);
		memmove(text + (at - with), text + (at - with) +
			strlen(e.insert), strlen(at) - strlen(e.insert) + 1);
		assert_string_equal(text, texts[i]);
		free(text);
		/* And once it is there, it is found. */
		text = strdup(with);
		t = read_text(text);
		size_t len;
		assert_true(jsontext_get(t, path, &again, &len));
		assert_int_equal(len, strlen(VALUE));
		free(text);
	}
}

static void check_take(const char *text, const char *want)
{
	struct jsontext *t = read_text(text);
	struct jsontext_edit e;
	const char *value;
	size_t len;

	assert_true(jsontext_get(t, path, &value, &len));
	jsontext_take(&e, t, value);
	assert_string_equal(apply(text, &e), want);
	read_text(want);
}

static void test_jsontext__a_member_goes_with_its_comma(void **state)
{
	(void)state;
	check_take("{\"mcpServers\": {\"remem\": 1, \"x\": 2}}",
		   "{\"mcpServers\": { \"x\": 2}}");
	check_take("{\"mcpServers\": {\"x\": 2, \"remem\": 1}}",
		   "{\"mcpServers\": {\"x\": 2}}");
	check_take("{\n  \"mcpServers\": {\n    \"remem\": {\n    }\n  }\n}",
		   "{\n  \"mcpServers\": {}\n}");
	check_take("{mcpServers: {'y': 1,\n 'remem': 1, // z\n}}",
		   "{mcpServers: {'y': 1, // z\n}}");
}

static void test_jsontext__elements_are_added_and_found(void **state)
{
	static const char *const hooks[] = { "hooks", "Stop", NULL };
	const char *text = "{\n  \"hooks\": {\n    \"Stop\": [\n"
			   "      {\"command\": \"other\"}\n    ]\n  }\n}\n";
	struct jsontext *t = read_text(text);
	struct jsontext_edit e;
	const char *value;
	size_t len;

	(void)state;
	assert_false(jsontext_find(t, hooks, "remem hook", &value, &len));
	assert_int_equal(jsontext_add(&e, t, &a, hooks,
				      "{\"command\": \"remem hook\"}", NULL), 0);
	text = apply(text, &e);
	assert_string_equal(text, "{\n  \"hooks\": {\n    \"Stop\": [\n"
		"      {\"command\": \"remem hook\"},\n"
		"      {\"command\": \"other\"}\n    ]\n  }\n}\n");
	t = read_text(text);
	assert_int_equal(jsontext_count(t, hooks), 2);
	assert_true(jsontext_find(t, hooks, "remem hook", &value, &len));
	jsontext_take(&e, t, value);
	text = "{}";
	t = read_text(text);
	assert_int_equal(jsontext_add(&e, t, &a, hooks, "1", NULL), 0);
	assert_string_equal(apply(text, &e), "{\n  \"hooks\": {\n"
			    "    \"Stop\": [1]\n  }\n}");
}

static void test_jsontext__what_is_no_settings_file_is_refused(void **state)
{
	static const char *const bad[] = {
		"[]", "1", "{", "{\"a\"}", "{\"a\": }", "{\"a\": 1 \"b\": 2}",
		"{} {}", "{\"a\": \"\n\"}", "{/* }", "{\"a\": [1, 2}",
		"<xml/>", "{,}", "{\"a\":1,,}",
	};
	struct remem_err err = { 0 };
	struct jsontext *t;
	char deep[400];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (jsontext_read(&t, &a, bad[i], strlen(bad[i]), "f", &err) !=
		    REMEM_EFORMAT)
			fail_msg("'%s' is taken", bad[i]);
		assert_non_null(strstr(err.message, "'f' line "));
	}
	memset(deep, '[', sizeof(deep));
	memcpy(deep, "{\"a\":", 5);
	assert_int_equal(jsontext_read(&t, &a, deep, sizeof(deep), "f", NULL),
			 REMEM_EFORMAT);
	assert_int_equal(jsontext_read(&t, &a, "", JSONTEXT_MAX_BYTES + 1, "f",
				       NULL), REMEM_ELIMIT);
	t = read_text("{\"mcpServers\": 7}");
	{
		struct jsontext_edit e;

		assert_int_equal(jsontext_set(&e, t, &a, path, VALUE, NULL),
				 REMEM_EFORMAT);
	}
}

static void test_jsontext__json5_becomes_plain(void **state)
{
	struct jsontext *t = read_text(
		"// c\n{a: 'x \"y\" \\'z\\' \\x41', \"b\": [+1, .5, 0xFF, 5.,\n"
		"-.5, true, null, NaN,], $c_1: {},\n'd': 'l\\\nm',}");
	struct buf b = BUF_INIT(0);
	yyjson_doc *doc;

	(void)state;
	jsontext_plain(&b, t);
	assert_string_equal(buf_str(&b),
		"{\"a\":\"x \\\"y\\\" 'z' \\u0041\",\"b\":[1,0.5,255,5.0,-0.5,"
		"true,null,null],\"$c_1\":{},\"d\":\"lm\"}");
	assert_int_equal(json_read(&doc, buf_str(&b), b.len, false, "x", NULL),
			 0);
	yyjson_doc_free(doc);
	buf_release(&b);
}
