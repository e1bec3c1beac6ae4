/* Any line to the background process: it is answered, and nothing is opened
 * for a client of another version. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/ask.h"
#include "daemon/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(const char *text, size_t len)
{
	struct remem_open_opts open;
	struct remem_search_opts search;
	struct arena a = ARENA_INIT;
	yyjson_doc *doc;

	if (json_read(&doc, text, len, false, "x", NULL))
		return;
	ask_take_open(&open, &a, yyjson_doc_get_root(doc));
	ask_take_search(&search, yyjson_doc_get_root(doc));
	yyjson_doc_free(doc);
	arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct server s = { .version = "99.9.9", .program = "", .zone = "" };
	struct wire w;
	int fds[2];

	take((const char *)data, size);
	if (pipe(s.wake))
		return 0;
	if (!socketpair(AF_UNIX, SOCK_STREAM, 0, fds)) {
		fcntl(fds[0], F_SETFL, O_NONBLOCK);
		wire_init(&w, fds[0], WIRE_REQUEST_BYTES);
		request_answer(&s, &w, (const char *)data, size);
		wire_release(&w);
		close(fds[1]);
	}
	close(s.wake[0]);
	close(s.wake[1]);
	return 0;
}
