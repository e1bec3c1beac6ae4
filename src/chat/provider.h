/* What a provider of chat is: one file and one row in chat.def. */
#ifndef CHAT_PROVIDER_H
#define CHAT_PROVIDER_H

#include "base/http.h"
#include "base/json.h"
#include "chat/chat.h"

struct chat_reply {
	/* As the provider counted, 0: it did not say; and those of them that
	 * are the answer's. */
	int64_t tokens, answer_tokens;
	bool cut; /* the answer ended at its limit */
	bool final; /* a refusal: asked again it would be the same */
};

struct chat_provider {
	const char *name;
	/* Asked for beside the answer, for what the model thinks. */
	int thought_tokens;

	/* A provider that cannot work says why in err. */
	int (*open)(void **self, const struct chat_config *c,
		    struct remem_err *err);
	void (*close)(void *self);

	/* A request as HTTP; its strings live in body until parse returned. */
	int (*build)(void *self, const struct chat_request *r,
		     struct http_request *http, struct buf *body,
		     struct remem_err *err);
	/* Appends the text of a reply with a status of 2xx and without an
	 * "error" member; what is no answer is REMEM_EREMOTE. */
	int (*parse)(yyjson_val *root, struct chat_reply *reply,
		     struct buf *out, struct remem_err *err);
	/* Called when a request was refused: leaves out or renames a part that
	 * not every server knows. False: nothing is left. May be NULL. */
	bool (*simplify)(void *self);
};

#endif
