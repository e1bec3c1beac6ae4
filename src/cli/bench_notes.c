/*
 * Notes for measuring: the same text each time, half of it Chinese, words by a
 * rough Zipf's law. bench/gen-notes.py makes the large workspace of the
 * documentation; this is enough for ratios in a few seconds.
 */
#include <string.h>

#include "base/path.h"
#include "base/utf8.h"
#include "cli/bench_machine.h"

#define WORDS 4000u
#define HAN_FIRST 0x4e00u
#define HAN_COUNT 3000u

static uint32_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/* Small numbers often, large ones rarely. */
static uint32_t rare(uint64_t *seed, uint32_t most)
{
	uint32_t n = next(seed) % most, m = next(seed) % most;

	return n < m ? n * (m + 1) / most : m * (n + 1) / most;
}

static void add_word(struct buf *b, uint64_t *seed)
{
	static const char letters[] = "etaoinshrdlcumwfgypbvk";
	uint64_t own = rare(seed, WORDS) * 7919u + 17;
	uint32_t n = 2 + next(&own) % 8;

	while (n--)
		buf_addc(b, letters[next(&own) % (sizeof(letters) - 1)]);
	buf_addc(b, ' ');
}

static void add_han(struct buf *b, uint64_t *seed)
{
	uint32_t n = 8 + next(seed) % 30;
	char text[4];

	while (n--)
		buf_add(b, text, (size_t)utf8_encode(
			text, HAN_FIRST + rare(seed, HAN_COUNT)));
	buf_adds(b, "。");
}

void bench_note(struct buf *b, unsigned number, enum bench_language language)
{
	uint64_t seed = number * 2654435761u + 1;

	buf_addf(b, "# Note %u\n\n", number);
	for (int i = 0; i < 20; i++) {
		buf_adds(b, "- ");
		if (language == BENCH_HAN || (language == BENCH_MIXED && i % 2))
			add_han(b, &seed);
		else
			for (int w = 0; w < 17; w++)
				add_word(b, &seed);
		buf_addc(b, '\n');
	}
}

void bench_query(struct buf *b)
{
	struct buf note = BUF_INIT(0);
	const char *from;

	bench_note(&note, 7, BENCH_MIXED);
	from = strchr(buf_str(&note), '-') + 2;
	/* Some words of the first item and some characters of the second. */
	buf_add(b, from, 40);
	from = strstr(from, "- ") + 2;
	buf_add(b, from, utf8_cut(from, strlen(from), 18));
	buf_release(&note);
}

int bench_workspace(const char *dir, unsigned count, size_t *bytes,
		    struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	struct buf b = BUF_INIT(0);
	const char *memory = path_join(&a, dir, "memory");
	int rc = memory ? dir_make(memory, 0700, err) : fail_nomem(err);

	*bytes = 0;
	for (unsigned i = 0; !rc && i < count; i++) {
		char *path = arena_printf(&a, "%s/memory/note-%05u.md", dir, i);
		FILE *f = path ? fopen(path, "w") : NULL;

		buf_reset(&b);
		bench_note(&b, i, BENCH_MIXED);
		if (!f || fwrite(buf_str(&b), 1, b.len, f) != b.len)
			rc = fail(err, REMEM_EIO, "cannot write below '%s'",
				  dir);
		if (f && fclose(f) && !rc)
			rc = fail(err, REMEM_EIO, "cannot write '%s'", path);
		*bytes += b.len;
	}
	buf_release(&b);
	arena_release(&a);
	return rc;
}
