/*
 * A client's bytes: whatever comes, what goes out is whole JSON, one message
 * each, and the server is there for the next. The first byte says in pieces of
 * which size the rest comes. The workspace is not there, so tools answer that.
 */
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/frame.h"
#include "mcp/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define LINE_MAX_BYTES 4096

struct talk {
	struct server *s;
	struct session session;
	struct sink sink;
};

static void must_be_json(struct sink *sink, const char *json, size_t len)
{
	yyjson_doc *doc;

	(void)sink;
	if (!len || memchr(json, '\n', len) ||
	    json_read_verbatim(&doc, json, len, "own", NULL))
		abort();
	yyjson_doc_free(doc);
}

static void on_line(void *ctx, const char *line, size_t len, bool too_long)
{
	struct talk *t = ctx;

	server_message(t->s, &t->session, &t->sink, line, len, too_long);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const env[] = { "HOME=/nowhere", NULL };
	struct mcp_opts o = { .tools = "full" };
	struct talk t = { .sink = { .send = must_be_json } };
	struct frame f;
	size_t piece = len ? data[0] + 1u : 1;

	o.open = (struct remem_open_opts)REMEM_OPTS_INIT(o.open);
	o.open.env = env;
	o.open.workspace = "/nowhere/at/all";
	o.open.read_only = 1;
	if (server_new(&t.s, &o, NULL))
		abort();
	frame_init(&f, LINE_MAX_BYTES);
	for (size_t i = 1; i < len; i += piece)
		frame_feed(&f, (const char *)data + i,
			   len - i < piece ? len - i : piece, on_line, &t,
			   NULL);
	frame_end(&f, on_line, &t);
	while (server_pending(t.s))
		sched_yield();
	if (!server_stop(t.s, 10000))
		abort();
	server_free(t.s);
	frame_release(&f);
	return 0;
}
