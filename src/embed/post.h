/* What providers that are asked by a POST of JSON have in common. */
#ifndef EMBED_POST_H
#define EMBED_POST_H

#include "base/arena.h"
#include "base/json.h"
#include "embed/provider.h"

/* The address of the settings, else def. REMEM_EINVAL when there is none, or
 * it is no http or https address. */
int post_base(const char **out, const struct embed_config *c, const char *def,
	      struct remem_err *err);
/* The model of the settings, without "PROVIDER/" before it, else def.
 * REMEM_EINVAL when there is none. */
int post_model(const char **out, const struct embed_config *c, const char *def,
	       struct remem_err *err);
/* REMEM_EINVAL with the ways to give one, when there is no key; env: the
 * variable that allowEnvKeys looks at. */
int post_need_key(const struct embed_config *c, const char *env,
		  struct remem_err *err);
/* "NAME: key" (NULL: "Authorization: Bearer key") before the headers of the
 * settings, which take its place. */
const char *const *post_headers(struct arena *a, const char *name,
				const struct embed_config *c);

/* One text as a JSON string; all texts as a list of them. */
void post_text(struct json *j, const char *s, size_t len);
void post_texts(struct json *j, const struct embed_request *r);
/* The request, when body is complete. n: vectors that are expected. */
int post_done(struct http_request *http, const char *url,
	      const char *const *headers, const struct buf *body, size_t n,
	      struct remem_err *err);

#endif
