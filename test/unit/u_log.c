/* Log messages: levels, trace components, cutting. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/log.h"
#include "base/utf8.h"

struct seen {
	int calls;
	enum log_level level;
	char component[32];
	char message[2048];
};

static void receive(void *ctx, enum log_level level, const char *component,
		    const char *message)
{
	struct seen *s = ctx;

	s->calls++;
	s->level = level;
	strncpy(s->component, component, sizeof(s->component) - 1);
	strncpy(s->message, message, sizeof(s->message) - 1);
}

static void test_log__is_silent_without_receiver(void **state)
{
	(void)state;
	log_set(NULL, NULL);
	log_trace_spec("all");
	assert_false(log_wanted(LOG_ERROR, "store"));
	log_msg(LOG_ERROR, "store", "nobody hears this");
	log_trace_spec(NULL);
}

static void test_log__passes_messages_on(void **state)
{
	struct seen s = { 0 };

	(void)state;
	log_set(receive, &s);
	log_msg(LOG_WARN, "embed", "%d 段记忆", 3);
	log_msg(LOG_TRACE, "embed", "not wanted");
	log_set(NULL, NULL);
	assert_int_equal(s.calls, 1);
	assert_int_equal(s.level, LOG_WARN);
	assert_string_equal(s.component, "embed");
	assert_string_equal(s.message, "3 段记忆");
}

static void check(const char *spec, const char *component, bool want)
{
	log_trace_spec(spec);
	if (log_wanted(LOG_TRACE, component) != want)
		fail_msg("'%s' and '%s'", spec, component);
	assert_true(log_wanted(LOG_INFO, component));
}

static void test_log__trace_spec_chooses_components(void **state)
{
	struct seen s = { 0 };

	(void)state;
	log_set(receive, &s);
	check(NULL, "embed", false);
	check("", "embed", false);
	check("embed", "embed", true);
	check("embed", "embedding", false);
	check("embedding", "embed", false);
	check("store,embed", "embed", true);
	check(" store , embed ", "embed", true);
	check("all", "http", true);
	check("all,-http", "http", false);
	check("all,-http", "store", true);
	check("-http,all", "http", true);
	check("-all,http", "http", true);
	check(",,-,", "http", false);
	log_trace_spec(NULL);
	log_set(NULL, NULL);
}

static void test_log__long_messages_are_cut_between_characters(void **state)
{
	struct seen s = { 0 };
	char many[3001];

	(void)state;
	for (int i = 0; i < 1000; i++)
		memcpy(many + 3 * i, "汉", 4);
	log_set(receive, &s);
	for (int shift = 0; shift < 3; shift++) {
		log_msg(LOG_INFO, "x", "%.*s%s", shift, "ab", many);
		assert_true(utf8_valid(s.message, strlen(s.message)));
		assert_true(strlen(s.message) > 1000);
	}
	log_set(NULL, NULL);
}
