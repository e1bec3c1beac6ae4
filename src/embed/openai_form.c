/*
 * Requests and replies of OpenAI's form. Vectors are asked for in base64, a
 * quarter of the bytes of numbers; a server that answers numbers, or does not
 * know the field, does as well.
 */
#include "embed/openai_form.h"

#include <string.h>

#include "base/alloc.h"
#include "embed/post.h"
#include "embed/reply.h"

struct openai {
	struct arena a; /* first: it ends with it */
	const struct openai_form *form;
	const char *url, *model;
	const char *const *headers;
	const char *query_type, *document_type;
	int dims; /* asked for, 0: not */
	bool base64;
};

static const char *either(const char *set, const char *own)
{
	return set && set[0] ? set : own;
}

/* An address that is whole already stays as it is. */
static const char *make_url(struct arena *a, const struct openai_form *form,
			    const char *base, const char *model)
{
	const char *path = form->path ? form->path : "/embeddings";
	const char *hole = strstr(path, "{model}"), *query;

	if (!hole)
		return http_endpoint(a, base, path);
	if (strstr(base, "/embeddings"))
		return base;
	query = strchr(base, '?');
	if (query) /* its own instead of that of the path */
		path = arena_printf(a, "%.*s", (int)strcspn(path, "?"), path);
	if (!path)
		return NULL;
	hole = strstr(path, "{model}");
	path = arena_printf(a, "%.*s%s%s", (int)(hole - path), path, model,
			    hole + strlen("{model}"));
	return path ? http_endpoint(a, base, path) : NULL;
}

static int check_settings(const char **base, const char **model,
			  const struct embed_config *c,
			  const struct openai_form *form,
			  struct remem_err *err)
{
	int rc;

	if ((rc = post_base(base, c, form->base_url, err)) ||
	    (rc = post_model(model, c, form->model, err)))
		return rc;
	/* A server of one's own under a vendor's name may have no key. */
	return form->key_env && !http_is_loopback(*base) ?
		       post_need_key(c, form->key_env, err) : 0;
}

int openai_open(void **self, struct embed_info *info,
		const struct embed_config *c, const struct openai_form *form,
		struct remem_err *err)
{
	const char *base, *model;
	struct openai *o;
	int rc = check_settings(&base, &model, c, form, err);

	if (rc)
		return rc;
	o = mem_zalloc(sizeof(*o));
	if (!o)
		return fail_nomem(err);
	o->form = form;
	o->url = make_url(&o->a, form, base, model);
	o->headers = post_headers(&o->a, form->key_header, c);
	o->model = model;
	o->query_type = either(c->query_input_type, form->query_type);
	o->document_type = either(c->document_input_type, form->document_type);
	o->dims = form->dims_field ? c->dims : 0;
	o->base64 = form->base64;
	if (o->a.failed) {
		arena_free_owner(o);
		return fail_nomem(err);
	}
	info->model = model;
	info->dims = c->dims;
	info->calibration = 0.5;
	*self = o;
	return 0;
}

int openai_build(void *self, const struct embed_request *r,
		 struct http_request *http, struct buf *body,
		 struct remem_err *err)
{
	const struct openai *o = self;
	const char *type = r->kind == EMBED_QUERY ? o->query_type :
						    o->document_type;
	struct json j;

	json_begin(&j, body);
	json_obj(&j);
	json_kstr(&j, "model", o->model);
	json_key(&j, "input");
	post_texts(&j, r);
	if (o->base64)
		json_kstr(&j, "encoding_format", "base64");
	if (o->dims > 0)
		json_kint(&j, o->form->dims_field, o->dims);
	if (o->form->type_field && type && type[0])
		json_kstr(&j, o->form->type_field, type);
	json_end(&j);
	return post_done(http, o->url, o->headers, body, r->n, err);
}

int openai_parse(void *self, const struct embed_request *r,
		 const struct http_reply *http, struct embed_reply *out,
		 struct remem_err *err)
{
	(void)self;
	return openai_reply(out, r->n, buf_str(&http->body), http->body.len,
			    err);
}

/* Floats are what every server knows; after that, its own dimensions, which
 * must then be those that were asked for. */
bool openai_simplify(void *self)
{
	struct openai *o = self;

	if (o->base64) {
		o->base64 = false;
		return true;
	}
	if (!o->dims)
		return false;
	o->dims = 0;
	return true;
}
