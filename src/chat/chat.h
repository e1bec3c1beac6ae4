/*
 * Chat models, for the few jobs that want one: what is worth keeping of a
 * conversation, a name for a note, a summary. Off by default; nothing is ever
 * asked that the settings do not name. A provider is a struct of functions
 * (chat.def, one file each); what they have in common (time-out, retries,
 * budget, ledger, checks) is done here.
 */
#ifndef CHAT_CHAT_H
#define CHAT_CHAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/spend.h"

struct http_reply;
struct http_request;

/* What the settings say; all strings borrowed for the life of the chat. */
struct chat_config {
	const char *provider; /* row of chat.def; NULL, "" and "none": off */
	const char *model;
	const char *base_url;
	const char *api_key; /* resolved from its reference; never logged */
	const char *ca_file; /* certificates to trust; NULL: the system's */
	const char *const *headers; /* "Name: value", NULL-terminated, or NULL */
	int timeout_ms; /* of a whole call with its retries; 0: 60 s */
	struct spender spend; /* of each request */
	/*
	 * Tests only. Waits before a retry are multiplied by wait_scale (0: 1).
	 * transport takes the place of the network.
	 */
	double wait_scale;
	void (*transport)(void *ctx, const struct http_request *req,
			  struct http_reply *reply);
	void *transport_ctx;
};

struct chat_message {
	const char *role; /* "system", "user", "assistant" */
	const char *text;
	size_t len;
};

struct chat_request {
	const struct chat_message *messages;
	size_t n;
	bool json; /* the answer must be one JSON object */
	/* Its members, texts all of them, NULL-terminated; NULL: it may have
	 * any. The messages have to say so too. */
	const char *const *fields;
	int max_tokens; /* of the answer, 0: 2,048 */
	int timeout_ms; /* 0: the config's */
	bool (*cancel)(void *ctx);
	void *ctx;
};

struct chat;

/* Nothing is sent. REMEM_EINVAL for settings that make no sense. */
int chat_open(struct chat **out, const struct chat_config *c,
	      struct remem_err *err);
void chat_free(struct chat *c);
/* NULL, or why no model is asked ("no chat provider is set"). */
const char *chat_off(const struct chat *c);
const char *chat_model(const struct chat *c);

/*
 * Asks and appends the answer to out: valid UTF-8, trimmed, what a model
 * thought aloud and what stands around JSON taken off, not empty. Retries within
 * the time, once where the provider answered what was not asked for, never
 * after a refusal. REMEM_EREMOTE when the provider failed or its answer was
 * cut off or is not what was asked for, REMEM_ETIMEOUT, REMEM_ELIMIT when the
 * budget is used up, REMEM_ECANCELLED, REMEM_ENOTSUP when it is off.
 */
int chat_ask(struct chat *c, const struct chat_request *r, struct buf *out,
	     struct remem_err *err);

/* Rows of chat.def by index, NULL behind the last. */
const char *chat_provider_at(int i);

#endif
