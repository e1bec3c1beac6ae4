/*
 * Transcripts: any bytes, read as every format of lines, give valid text in
 * rising lines; a mark taken at the end holds and gives nothing more; what is
 * masked stays valid. The first byte says what is wanted.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"
#include "source/secret.h"
#include "source/transcript.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const struct transcript_message *m, unsigned flags)
{
	struct buf b = BUF_INIT(0);

	if (!utf8_valid(m->text, m->len) || strlen(m->text) != m->len ||
	    m->line < 1)
		abort();
	secret_mask(&b, m->text, m->len, flags);
	if (!utf8_valid(buf_str(&b), b.len))
		abort();
	buf_release(&b);
}

/* Messages read. */
static int read_as(const char *path, const struct transcript_opts *o,
		   struct transcript_mark *mark)
{
	const struct transcript_message *m;
	struct transcript *t;
	int64_t line = 0;
	int n = 0;

	if (transcript_open(&t, path, o, NULL))
		return -1;
	while (!transcript_next(t, &m, NULL) && m) {
		check(m, o->want & 1);
		if (m->line < line)
			abort();
		line = m->line;
		n++;
	}
	if (transcript_mark(t, mark, NULL))
		abort();
	if (o->from && transcript_info(t)->rewritten)
		n = -1;
	transcript_close(t);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char path[] = "/tmp/remem-fuzz-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || !len)
		return 0;
	if (file_write_all(fd, data + 1, len - 1, "fuzz", NULL))
		abort();
	close(fd);
	for (int i = 0; transcript_format_at(i); i++) {
		struct transcript_opts o = { .format = transcript_format_at(i),
					     .want = data[0] & 63u,
					     .max_line = 4096 };
		struct transcript_mark mark, again;

		if (read_as(path, &o, &mark) < 0)
			continue;
		o.from = &mark;
		if (mark.offset && read_as(path, &o, &again) > 0)
			abort();
	}
	unlink(path);
	return 0;
}
