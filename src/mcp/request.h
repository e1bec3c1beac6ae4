/* A request under way, and what handlers of methods and tools are given. */
#ifndef MCP_REQUEST_H
#define MCP_REQUEST_H

#include "mcp/era.h"
#include "mcp/server.h"

#define TEXT_OF(x) #x
#define NUMBER_TEXT(x) TEXT_OF(x)
#define REMEM_VERSION_TEXT                                               \
	NUMBER_TEXT(REMEM_VERSION_MAJOR) "." NUMBER_TEXT(REMEM_VERSION_MINOR) \
	"." NUMBER_TEXT(REMEM_VERSION_PATCH)

struct message { /* a document that several requests of a batch share */
	atomic_int refs;
	yyjson_doc *doc;
};

struct batch { /* answers of one array, sent together */
	struct sink *sink;
	struct buf out;
	int left; /* requests without an answer; under the server's lock */
	bool any;
};

struct request {
	struct server *server;
	struct session *session;
	struct sink *sink;
	struct batch *batch; /* NULL: answered alone */
	struct message *message;
	const struct method *method;
	char *id; /* JSON */
	yyjson_val *params;
	const struct era *era;
	char client[CLIENT_BYTES]; /* who asks, "" when it is not known */
	char *progress_token; /* JSON, NULL: no progress is wanted */
	double progress, progress_base; /* as told, and of earlier phases */
	char phase[32];
	atomic_bool cancelled;
	bool queued;
	size_t bytes; /* of its message */
	struct request *next; /* in the queue */
	struct request *next_live, *prev_live;
};

struct worker { /* a thread with a handle of its own */
	struct server *server;
	struct remem *r; /* opened at its first request */
};

struct answer { /* the members of a result, or an error */
	struct buf body;
	struct json j; /* stands inside the result's object */
	int code; /* 0: a result */
	char message[512];
	struct buf data; /* JSON, empty: none */
};

struct method {
	const char *name;
	/* In the versions of its time. w: NULL where heavy is false. */
	void (*run)(struct request *q, struct answer *a, struct worker *w);
	bool legacy, modern;
	bool heavy; /* touches the workspace: a worker does it */
	bool cached; /* the result says how long it may be kept */
};

/* NULL: there is none of that name at that time. */
const struct method *method_find(const char *name, const struct era *era);
const char *method_name(void *ctx, int i);

void answer_fail(struct answer *a, int code, const char *fmt, ...)
	ATTR_PRINTF(3, 4);

/* Tells how far the work is; other than 0 when it was cancelled. A
 * remem_progress_fn with a request as ctx. */
int request_progress(void *ctx, const char *phase, int64_t done,
		     int64_t total, double rate, double left_s);

const struct mcp_opts *server_opts(const struct server *s);
/* The workspace of a worker, opened if need be. */
int worker_open(struct worker *w, struct request *q, struct remem **out,
		struct remem_err *err);
/* The name in a "clientInfo"; out stays as it is where there is none. */
void client_take(char out[CLIENT_BYTES], yyjson_val *info);
void worker_close(struct worker *w); /* it is opened anew next time */

/* Whether memory failed a short while ago: then *err says how. */
bool server_resting(struct server *s, struct remem_err *err, int *left_ms);
void server_rest(struct server *s, const struct remem_err *err);

/* Text for the client's model about how to use all this. */
void server_guidance(struct server *s, struct buf *out);

#endif
