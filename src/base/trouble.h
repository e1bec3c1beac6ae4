/*
 * What a provider says when it does not answer: status, code, message, how
 * long to wait. Every vendor words it in its own way, so all known places are
 * looked at and nothing depends on the language of the message.
 */
#ifndef BASE_TROUBLE_H
#define BASE_TROUBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/http.h"

struct trouble {
	int status; /* of HTTP, or the one in the body of a 200 */
	bool in_body; /* the body has an "error" */
	int retry_after_ms; /* -1: not said */
	bool quota; /* account exhausted, waiting does not help */
	bool rate; /* too fast */
	bool size; /* words that speak of size */
	char code[64]; /* "" or letters, digits, "_.-" */
	char message[1024]; /* as it came; see trouble_clean() */
};

void trouble_read(struct trouble *t, const struct http_reply *http);

/* Largest number in the message from 2 up to, not including, below; 0: none. */
size_t trouble_number(const struct trouble *t, size_t below);

/*
 * The message for people, in out: one line, at most 200 bytes, secrets
 * (NULL-terminated) left out, and "" when it repeats one of the n texts.
 */
#define TROUBLE_SAID 256
void trouble_clean(char out[TROUBLE_SAID], const struct trouble *t,
		   const char *const *secrets, const char *const *texts,
		   const size_t *lens, size_t n);

/*
 * Milliseconds before retry number attempt (from 0): what the provider said,
 * else 0.5, 1, 2, 4, 8 s; up to a fifth longer, so that many do not come back
 * at once. -1 when the provider asks for more than a minute.
 */
int trouble_wait_ms(int attempt, int retry_after_ms, double scale,
		    uint64_t *random);

#endif
