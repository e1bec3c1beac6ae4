/*
 * What is said over the socket: lines of JSON, bounded in length and time.
 *
 *   client   {"protocol":1,"version":"0.1.0","program":…,"op":"search",…}
 *   helper   {"ok":true}                    at once: it is one of us
 *            {"ok":true,…}                  what there is to say about the
 *            {"version":1,"results":[…]}    answer, and the answer itself
 *   or       {"ok":false,"why":"…"}         the client does it by itself
 */
#ifndef DAEMON_WIRE_H
#define DAEMON_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"

#define WIRE_PROTOCOL 1
#define WIRE_REQUEST_BYTES ((size_t)1 << 20)
#define WIRE_ANSWER_BYTES ((size_t)16 << 20)

struct wire {
	int fd; /* does not block */
	struct buf in; /* limited at birth */
	size_t at; /* where the next line begins */
};

void wire_init(struct wire *w, int fd, size_t limit);
void wire_release(struct wire *w); /* closes fd */
/* A line without its end, until the next call. REMEM_ENOTFOUND: the other end
 * has closed; REMEM_ETIMEOUT; REMEM_ELIMIT: too long; REMEM_EIO. */
int wire_line(struct wire *w, const char **line, size_t *len, int timeout_ms,
	      struct remem_err *err);
/* Sends text and a line's end. */
int wire_send(struct wire *w, const char *text, size_t len, int timeout_ms,
	      struct remem_err *err);

/* Which program speaks: another build under the same path is another one. */
void wire_stamp(char out[96], const char *program);
/* -1, 0, 1 as a is older than b, the same, newer: "0.1.0". */
int wire_compare(const char *a, const char *b);

#endif
