/* Any bytes as a note: what holds for all notes holds, memory is bounded. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../note_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct note_opts opts = NOTE_OPTS_DEFAULT;
	struct arena a = ARENA_INIT;
	struct note n;
	const char *flaw;

	if (!size)
		return 0;
	/* The first byte chooses options. */
	if (data[0] & 1)
		opts = (struct note_opts){ 32, 31, 4, false };
	if (data[0] & 2)
		opts = (struct note_opts){ 80, 20, 60, false };
	opts.curated = data[0] & 4;
	if (note_parse(&n, &a, (const char *)data + 1, size - 1, &opts, NULL))
		abort();
	flaw = note_flaw(&n, &opts);
	if (flaw) {
		fprintf(stderr, "%s\n", flaw);
		abort();
	}
	if (a.used > 100 * size + (1u << 16))
		abort();
	for (int i = 0; i < n.heading_count; i++)
		note_heading_path(&a, &n, i);
	arena_release(&a);
	return 0;
}
