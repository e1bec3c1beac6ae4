/* YAML: the tree keeps its bounds whatever the text; lines are inside it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static size_t walk(const struct yaml *y, int depth, int lines)
{
	size_t n = 0;

	if (depth > 64)
		abort();
	for (; y; y = y->next) {
		if (y->line < 1 || y->line > lines ||
		    strlen(y->str) > y->len ||
		    (y->child && y->kind == YAML_SCALAR) ||
		    !utf8_valid(y->str, y->len))
			abort();
		n += 1 + walk(y->child, depth + 1, lines);
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct arena a = ARENA_INIT;
	struct remem_err err;
	struct yaml *y;
	int lines = 2;

	/* libyaml breaks lines at CR, NEL, LS and PS as well. */
	for (size_t i = 0; i < len; i++)
		lines += data[i] == '\n' || data[i] == '\r' || data[i] >= 0x80;
	if (!yaml_read(&y, &a, (const char *)data, len, "fuzz", &err) &&
	    walk(y, 1, lines) > 100000)
		abort();
	yaml_get(y, "a");
	arena_release(&a);
	return 0;
}
