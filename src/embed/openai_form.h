/*
 * The form of POST {base}/embeddings that OpenAI made and most vendors took
 * over. A provider of this form is a struct openai_form: what it calls things
 * and what it starts from.
 */
#ifndef EMBED_OPENAI_FORM_H
#define EMBED_OPENAI_FORM_H

#include "base/arena.h"
#include "embed/provider.h"

struct openai_form {
	const char *base_url, *model; /* NULL: the settings must say */
	const char *path; /* NULL: /embeddings; {model} is the model */
	const char *key_env; /* NULL: no key is needed */
	const char *key_header; /* NULL: Authorization: Bearer */
	const char *dims_field; /* NULL: dimensions cannot be asked for */
	const char *type_field; /* NULL: texts have no type */
	const char *query_type, *document_type; /* NULL: as the settings say */
	bool base64; /* vectors in base64 may be asked for */
};

int openai_open(void **self, struct embed_info *info,
		const struct embed_config *c, const struct openai_form *form,
		struct remem_err *err);
int openai_build(void *self, const struct embed_request *r,
		 struct http_request *http, struct buf *body,
		 struct remem_err *err);
int openai_parse(void *self, const struct embed_request *r,
		 const struct http_reply *http, struct embed_reply *out,
		 struct remem_err *err);
bool openai_simplify(void *self);

/* The functions of id_form as those of a provider. */
#define OPENAI_FORM_OPEN(id)                                                  \
	static int id##_open(void **self, struct embed_info *info,            \
			     const struct embed_config *c,                    \
			     struct remem_err *err)                           \
	{                                                                     \
		return openai_open(self, info, c, &id##_form, err);           \
	}
#define OPENAI_FORM_OPS(id)                                                   \
	.remote = true, .open = id##_open, .close = arena_free_owner,            \
	.build = openai_build, .parse = openai_parse,                         \
	.simplify = openai_simplify

#endif
