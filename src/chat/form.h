/* What providers of chat have in common: they are asked by a POST of JSON. */
#ifndef CHAT_FORM_H
#define CHAT_FORM_H

#include "base/arena.h"
#include "base/json.h"
#include "chat/provider.h"

/* Of each provider, at the front of its own struct. */
struct chat_form {
	struct arena a; /* first: close() is arena_free_owner() */
	const char *base; /* of the settings, else the provider's own */
	const char *model;
	const char *url; /* the provider's to make */
	const char *const *headers;
	bool json; /* of the request that was built last */
	/* What a server does not know: a schema of the answer; JSON at all. */
	bool free_form, plain;
};

/*
 * Makes size bytes that begin with a form filled from the settings.
 * REMEM_EINVAL when an address (there is no base to take) or the model is
 * missing, or the key of a service that needs one: key_env names the variable
 * that holds it by custom, NULL: none is needed. key_header as for
 * http_json_headers().
 */
int chat_form_open(void **self, size_t size, const struct chat_config *c,
		   const char *base, const char *key_header,
		   const char *key_env, struct remem_err *err);
/* The end of open(): frees *self when the arena has failed. */
int chat_form_done(void **self, struct remem_err *err);

/* Whether a message is the system's; all of these, one after the other, as a
 * JSON string. */
bool chat_is_system(const struct chat_message *m);
bool chat_has_system(const struct chat_request *r);
void chat_put_system(struct json *j, const struct chat_request *r);
/* "messages": [{"role", "content"}]; without those of the system if they are
 * put elsewhere. */
void chat_put_messages(struct json *j, const struct chat_request *r,
		       bool with_system);
/* The schema of the answer: an object of the texts that r->fields names, or of
 * anything. upper: types in capitals. */
void chat_put_schema(struct json *j, const struct chat_request *r, bool upper);
/* Most tokens of the answer. */
int chat_answer_tokens(const struct chat_request *r);

/* The request, when body is complete. */
int chat_form_send(struct chat_form *f, const struct chat_request *r,
		   struct http_request *http, const struct buf *body,
		   struct remem_err *err);
/* simplify() of providers that take a schema, or JSON without one. */
bool chat_form_simplify(void *self);
/* The reply as JSON, to be freed with yyjson_doc_free(). REMEM_EREMOTE for a
 * web page and whatever else it may be. */
int chat_form_read(yyjson_doc **doc, const struct http_reply *http,
		   struct remem_err *err);
/* A count of tokens as the provider says it, within reason; 0: it does not. */
int64_t chat_count(yyjson_val *usage, const char *key);
/* An answer that would be the same again: REMEM_EREMOTE, worded. */
int chat_refusal(struct chat_reply *reply, struct remem_err *err,
		 const char *fmt, ...) ATTR_PRINTF(3, 4);
/* Appends the "text" of each part of a list that is no thought. */
void chat_take_parts(struct buf *out, yyjson_val *parts);

#endif
