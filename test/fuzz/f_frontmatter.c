/* Front matter of any content: read or kept as text, never a failure. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/note.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct note_opts opts = NOTE_OPTS_DEFAULT;
	struct arena a = ARENA_INIT;
	struct note n;
	char *text = malloc(size + 32);

	memcpy(text, "---\n", 4);
	memcpy(text + 4, data, size);
	memcpy(text + 4 + size, "\n---\nbody\n", 10);
	if (note_parse(&n, &a, text, size + 14, &opts, NULL))
		abort();
	if (!n.passage_count || n.body > n.len)
		abort();
	for (int i = 0; i < n.tag_count; i++)
		if (!n.tags[i][0])
			abort();
	free(text);
	arena_release(&a);
	return 0;
}
