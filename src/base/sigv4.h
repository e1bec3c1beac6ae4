/*
 * Signatures of AWS, version 4. Ours and not libcurl's: that of 7.88 signs a
 * path with a colon, which the names of many models have, in another form than
 * the service does.
 */
#ifndef BASE_SIGV4_H
#define BASE_SIGV4_H

#include <stdint.h>

#include "base/buf.h"

struct sigv4 {
	const char *access_key, *secret;
	const char *token; /* of temporary keys; NULL: none */
	const char *region, *service;
	const char *method;
	const char *host; /* with its port, as it is sent */
	const char *path; /* as it is sent; there is no query */
	const void *body;
	size_t body_len;
	int64_t now_s; /* since 1970 */
};

#define SIGV4_DATE 17 /* "20150830T123600Z" */

/* The value of Authorization to out, and that of X-Amz-Date. X-Amz-Security-
 * Token is sent beside them if there is a token. */
void sigv4_sign(struct buf *out, char date[SIGV4_DATE], const struct sigv4 *s);

#endif
