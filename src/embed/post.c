/* Address, model, key and body of a request in JSON. */
#include "embed/post.h"

#include <string.h>
#include <strings.h>

#define REPLY_BASE ((size_t)1 << 20)
#define REPLY_ITEM ((size_t)512 << 10) /* 16,384 numbers of 30 bytes */
#define REPLY_MAX ((size_t)256 << 20)

static const char *name_of(const struct embed_config *c)
{
	return c->provider ? c->provider : "named";
}

static int missing(const struct embed_config *c, const char *setting,
		   struct remem_err *err)
{
	fail(err, REMEM_EINVAL, "the provider %s needs '%s.%s'", name_of(c),
	     embed_section(c), setting);
	fail_action(err, "remem config set %s.%s VALUE", embed_section(c),
		    setting);
	return REMEM_EINVAL;
}

int post_base(const char **out, const struct embed_config *c, const char *def,
	      struct remem_err *err)
{
	const char *url = c->base_url && c->base_url[0] ? c->base_url : def;

	*out = url;
	if (!url)
		return missing(c, "remote.baseUrl", err);
	if (!strncasecmp(url, "http://", 7) || !strncasecmp(url, "https://", 8))
		return 0;
	fail(err, REMEM_EINVAL,
	     "'%s.remote.baseUrl' is no http or https address",
	     embed_section(c));
	fail_action(err, "an example: https://api.openai.com/v1");
	return REMEM_EINVAL;
}

int post_model(const char **out, const struct embed_config *c, const char *def,
	       struct remem_err *err)
{
	const char *model = c->model && c->model[0] ? c->model : def;
	size_t n = strlen(name_of(c));

	*out = model;
	if (!model)
		return missing(c, "model", err);
	if (!strncmp(model, name_of(c), n) && model[n] == '/')
		*out = model + n + 1;
	return 0;
}

int post_need_key(const struct embed_config *c, const char *env,
		  struct remem_err *err)
{
	if (c->api_key && c->api_key[0])
		return 0;
	fail(err, REMEM_EINVAL, "the provider %s needs a key "
	     "('%s.remote.apiKey')", name_of(c), embed_section(c));
	fail_action(err, "remem config set %s.remote.apiKey '${%s}', "
		    "or set memorySearch.allowEnvKeys", embed_section(c), env);
	return REMEM_EINVAL;
}

const char *const *post_headers(struct arena *a, const char *name,
				const struct embed_config *c)
{
	return http_json_headers(a, name, c->api_key, c->headers);
}

/* NUL is legal in JSON and refused by databases behind some servers. */
void post_text(struct json *j, const char *s, size_t len)
{
	struct buf room = BUF_INIT(0);

	if (!len || !memchr(s, '\0', len)) {
		json_put_strn(j, s, len);
		return;
	}
	buf_add(&room, s, len);
	for (size_t i = 0; i < room.len; i++)
		if (!room.ptr[i])
			room.ptr[i] = ' ';
	if (room.failed)
		j->out->failed = room.failed;
	else
		json_put_strn(j, room.ptr, room.len);
	buf_release(&room);
}

void post_texts(struct json *j, const struct embed_request *r)
{
	json_arr(j);
	for (size_t i = 0; i < r->n; i++)
		post_text(j, r->texts[i], r->lens[i]);
	json_arr_end(j);
}

int post_done(struct http_request *http, const char *url,
	      const char *const *headers, const struct buf *body, size_t n,
	      struct remem_err *err)
{
	http->url = url;
	http->headers = headers;
	http->body = buf_str(body);
	http->body_len = body->len;
	http->max_reply = n < REPLY_MAX / REPLY_ITEM ?
		REPLY_BASE + n * REPLY_ITEM : REPLY_MAX;
	return buf_check(body, err);
}
