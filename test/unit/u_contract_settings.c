/* What holds for every row of settings.def. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "api/setting_value.h"
#include "api/settings.h"

static void test_contract_settings__names_are_unique_and_found(void **state)
{
	char full[200];

	(void)state;
	for (int i = 0; setting_at(i); i++) {
		const struct setting *row = setting_at(i);

		for (int k = 0; k < i; k++)
			assert_string_not_equal(row->name, setting_at(k)->name);
		if (row->type == SET_ALIAS)
			continue;
		assert_int_equal(setting_find(row->name), i);
		snprintf(full, sizeof(full), "agents.defaults.%s", row->name);
		assert_int_equal(setting_find(full), i);
	}
}

static void test_contract_settings__aliases_lead_to_a_row(void **state)
{
	(void)state;
	for (int i = 0; setting_at(i); i++) {
		int to;

		if (setting_at(i)->type != SET_ALIAS)
			continue;
		to = setting_find(setting_at(i)->name);
		assert_true(to >= 0);
		assert_string_equal(setting_at(to)->name, setting_at(i)->def);
	}
}

static void test_contract_settings__defaults_read_as_their_type(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	for (int i = 0; setting_at(i); i++) {
		const struct setting *row = setting_at(i);
		struct setting_value v = { 0 };
		struct yaml node = { .kind = YAML_SCALAR, .quoted = 1 };
		char why[160];
		bool clamped;

		if (row->type == SET_MAP || row->type >= SET_TREE)
			continue;
		node.str = setting_default(&a, row);
		node.len = strlen(node.str);
		if (!node.len)
			continue;
		if (setting_parse(&v, &a, row, &node, why, &clamped))
			fail_msg("%s: its default should be %s", row->name, why);
		assert_false(clamped);
	}
	arena_release(&a);
}

static void test_contract_settings__every_row_explains_itself(void **state)
{
	(void)state;
	for (int i = 0; setting_at(i); i++) {
		const struct setting *row = setting_at(i);

		if (row->type == SET_ALIAS)
			continue;
		assert_true(strlen(row->help) >= 8);
		assert_true(row->help[strlen(row->help) - 1] != '.');
	}
}

/* Nothing that reads elsewhere, sends elsewhere or runs a program. */
static void test_contract_settings__dangerous_keys_are_not_safe(void **state)
{
	static const char *const no[] = {
		"memorySearch.provider", "memorySearch.remote.baseUrl",
		"memorySearch.remote.apiKey", "memorySearch.remote.headers",
		"memorySearch.extraPaths", "memorySearch.builtin.modelPath",
		"memorySearch.local.modelPath", "memorySearch.links.follow",
		"memorySearch.sources", "memorySearch.sessions.paths",
		"memorySearch.allowEnvKeys", "workspace", "trust",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		assert_false(setting_at(setting_find(no[i]))->flags & SET_SAFE);
}
