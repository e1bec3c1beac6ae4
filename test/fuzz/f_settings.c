/* Any bytes as a settings file, trusted and not, as flags and variables. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/config_edit.h"
#include "api/settings.h"
#include "base/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show_all(struct settings *s)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	json_begin(&j, &b);
	json_arr(&j);
	for (int i = 0; setting_at(i); i++)
		settings_put_value(&j, s, i);
	json_arr_end(&j);
	buf_release(&b);
}

static void edit(struct arena *a, const char *text, size_t len)
{
	static const char *const paths[] = { "memorySearch.query.maxResults",
					     NULL };
	struct buf b = BUF_INIT(0);
	bool changed;

	config_edit(&b, &changed, a, text, len, paths, "3", NULL);
	buf_reset(&b);
	config_edit(&b, &changed, a, text, len, paths, NULL, NULL);
	buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_memdup0(data, size);
	const char *flags[2] = { text, NULL }, *vars[3] = { "HOME=/h", text };
	struct arena a = ARENA_INIT;
	struct settings s;
	struct env env;

	if (!text || size > 65536) {
		mem_free(text);
		return 0;
	}
	if (env_init(&env, &a, vars, NULL) ||
	    settings_init(&s, &a, &env, "work", NULL))
		abort();
	settings_add_file(&s, text, size, "f", FROM_USER, true, NULL);
	settings_add_file(&s, text, size, "g", FROM_WORKSPACE, false, NULL);
	settings_add_env(&s, NULL);
	settings_add_flags(&s, flags, NULL);
	settings_check(&s, NULL);
	show_all(&s);
	if (size < 4096)
		edit(&a, text, size);
	arena_release(&a);
	mem_free(text);
	return 0;
}
