/* See leak.h. */
#include "memory/leak.h"

#include "source/secret.h"
#include "text/line.h"

int64_t leak_in_text(const char *path, const char *text, size_t len,
		     int64_t most, leak_fn fn, void *ctx)
{
	struct secret_span at;
	size_t from = 0, counted = 0;
	int line = 1;
	int64_t n = 0;

	while (secret_next(&at, text, len, from, 0)) {
		line += line_feeds(text, counted, at.start);
		counted = at.start;
		if (n++ < most)
			fn(ctx, path, line, at.kind);
		from = at.end;
	}
	return n;
}

int64_t leak_each(struct source_list *list, int64_t most, leak_fn fn,
		  void *ctx)
{
	int64_t n = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct source_file *f = &list->files[i];
		struct buf b = BUF_INIT(SOURCE_MAX_FILE_BYTES);

		if (!f->skip && f->kind == SOURCE_MEMORY &&
		    !source_read(&b, list, f, f->linked, NULL))
			n += leak_in_text(f->path, buf_str(&b), b.len,
					  n < most ? most - n : 0, fn, ctx);
		buf_release(&b);
	}
	return n;
}
