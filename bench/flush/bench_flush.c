/*
 * A flush without a model over a transcript of 2 MB: reading, cleaning,
 * masking and extracting, against reading the file and parsing its lines as
 * JSON and nothing more. Best of twenty each, in turns.
 *
 * Bar: at most 50 ms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "memory/flush.h"

#define BYTES ((size_t)2 << 20)
#define TURNS 20
#define BAR_MS 50.0

/* One in four is worth keeping, half of it Chinese: more than in real talks. */
static const char *const said[] = {
	"We decided to keep service %d on Postgres 16 because the move costs "
	"too much. The rest of the list can wait until the numbers are in.",
	"I looked at part %d of the report and it reads well so far. The third "
	"table has odd widths on small screens, which nobody minds much.",
	"第 %d 个模块的日志我看过了，内容不多，主要是启动和关闭的记录。其他部分没有变化。",
	"以后第 %d 号接口一律加版本前缀，旧的保留三个月。别忘了给小王发邮件确认。",
	"Here is what the function does in step %d: it reads the header, walks "
	"over the rows, and writes each of them to the buffer that it was given "
	"by its caller. Nothing is kept between two calls.",
};

static void write_talk(FILE *f)
{
	size_t bytes = 0;

	for (int i = 0; bytes < BYTES; i++) {
		bool user = i % 2 == 0;
		char text[600];
		int n;

		snprintf(text, sizeof(text), said[i % 5], i);
		n = fprintf(f, "{\"parentUuid\":\"u-%d\",\"isSidechain\":false,"
			    "\"cwd\":\"/home/ada/src\",\"sessionId\":\"s-1\","
			    "\"version\":\"2.1.239\",\"type\":\"%s\",\"message\":"
			    "{\"role\":\"%s\",\"content\":[{\"type\":\"text\","
			    "\"text\":\"%s\"}]},\"uuid\":\"u-%d\",\"timestamp\":"
			    "\"2026-11-28T08:00:00.000Z\"}\n", i,
			    user ? "user" : "assistant",
			    user ? "user" : "assistant", text, i + 1);
		bytes += n > 0 ? (size_t)n : 0;
	}
}

static double plain(const char *path)
{
	int64_t start = clock_mono_ns();
	struct buf b = BUF_INIT(0);
	const char *s, *end;

	if (file_read(&b, path, NULL))
		exit(1);
	for (s = buf_str(&b), end = s + b.len; s < end;) {
		const char *stop = memchr(s, '\n', (size_t)(end - s));
		yyjson_doc *doc;

		if (!stop)
			stop = end;
		if (!json_read(&doc, s, (size_t)(stop - s), false, "x", NULL))
			yyjson_doc_free(doc);
		s = stop + 1;
	}
	buf_release(&b);
	return (double)(clock_mono_ns() - start) / 1e6;
}

static double flush(const char *path, size_t *entries, size_t *sentences)
{
	int64_t start = clock_mono_ns();
	struct arena a = ARENA_INIT;
	struct talk_opts o = { .path = path, .raw = true };
	struct talk t;
	struct flush f = { .a = &a, .talk = &t, .root = "/nowhere",
			   .today = 20787, .ceiling = REMEM_ORIGIN_AGENT };
	double ms;

	if (talk_read(&t, &a, &o, NULL) || flush_by_rules(&f, NULL))
		exit(1);
	ms = (double)(clock_mono_ns() - start) / 1e6;
	*entries = f.n;
	*sentences = f.stats.sentences;
	arena_release(&a);
	return ms;
}

int main(void)
{
	char path[] = "/tmp/remem-bench-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	double best = 1e9, base = 1e9, ms;
	size_t entries = 0, sentences = 0;

	if (!f)
		return 1;
	write_talk(f);
	if (fclose(f))
		return 1;
	for (int i = 0; i < TURNS; i++) {
		ms = plain(path);
		base = ms < base ? ms : base;
		ms = flush(path, &entries, &sentences);
		best = ms < best ? ms : best;
	}
	unlink(path);
	printf("flush of 2 MB, %zu sentences, %zu entries: %.1f ms (bar %.0f); "
	       "read and parsed alone %.1f ms, ratio %.1f\n", sentences,
	       entries, best, BAR_MS, base, best / base);
	return best <= BAR_MS ? 0 : 2;
}
