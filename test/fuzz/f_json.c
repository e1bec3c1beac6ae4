/*
 * JSON: what is read and written again is read as the same; bytes written as
 * a string always make a document. The first byte chooses relaxed or strict.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must_read(const struct buf *b)
{
	yyjson_doc *doc;

	if (!utf8_valid(buf_str(b), b->len) ||
	    json_read(&doc, buf_str(b), b->len, false, "own", NULL))
		abort();
	yyjson_doc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf b = BUF_INIT(0);
	struct remem_err err;
	struct json j;
	yyjson_doc *doc;
	const char *text = (const char *)data;

	json_begin(&j, &b);
	json_put_strn(&j, text, len);
	must_read(&b);
	buf_reset(&b);
	if (len && !json_read(&doc, text + 1, len - 1, text[0] & 1, "fuzz",
			      &err)) {
		json_begin(&j, &b);
		j.pretty = text[0] & 2;
		json_put_val(&j, yyjson_doc_get_root(doc));
		if (!b.failed)
			must_read(&b);
		yyjson_doc_free(doc);
	}
	buf_release(&b);
	return 0;
}
