/* Address, key, messages and reply of a chat provider. */
#include "chat/form.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

#define REPLY_MAX ((size_t)4 << 20) /* an answer has some thousand tokens */
#define ANSWER_TOKENS 2048
#define TOKENS_MAX 1000000000 /* more than any request has */

/* ---- opening ---------------------------------------------------------- */

static int missing(const struct chat_config *c, const char *setting,
		   struct remem_err *err)
{
	fail(err, REMEM_EINVAL, "the chat provider %s needs '%s'", c->provider,
	     setting);
	fail_action(err, "remem config set %s VALUE", setting);
	return REMEM_EINVAL;
}

static int check(const struct chat_config *c, const char *base,
		 const char *key_env, struct remem_err *err)
{
	if (!base)
		return missing(c, "chat.baseUrl", err);
	if (!c->model || !c->model[0])
		return missing(c, "chat.model", err);
	if (strncasecmp(base, "http://", 7) && strncasecmp(base, "https://", 8)) {
		fail(err, REMEM_EINVAL,
		     "'chat.baseUrl' is no http or https address");
		fail_action(err, "an example: https://api.openai.com/v1");
		return REMEM_EINVAL;
	}
	/* A server of one's own, or a proxy, may want none or another. */
	if (!key_env || (c->api_key && c->api_key[0]) || c->headers ||
	    http_is_loopback(base))
		return 0;
	fail(err, REMEM_EINVAL, "the chat provider %s needs a key "
	     "('chat.apiKey')", c->provider);
	fail_action(err, "remem config set chat.apiKey '${%s}'", key_env);
	return REMEM_EINVAL;
}

int chat_form_open(void **self, size_t size, const struct chat_config *c,
		   const char *base, const char *key_header,
		   const char *key_env, struct remem_err *err)
{
	struct chat_form *f;
	int rc;

	*self = NULL;
	if (c->base_url && c->base_url[0])
		base = c->base_url;
	if ((rc = check(c, base, key_env, err)))
		return rc;
	f = mem_zalloc(size);
	if (!f)
		return fail_nomem(err);
	f->base = base;
	f->model = c->model;
	f->headers = http_json_headers(&f->a, key_header, c->api_key,
				       c->headers);
	*self = f;
	return 0;
}

int chat_form_done(void **self, struct remem_err *err)
{
	struct chat_form *f = *self;

	if (!f->a.failed)
		return 0;
	arena_free_owner(f);
	*self = NULL;
	return fail_nomem(err);
}

/* ---- requests --------------------------------------------------------- */

bool chat_is_system(const struct chat_message *m)
{
	return !strcmp(m->role, "system");
}

bool chat_has_system(const struct chat_request *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (chat_is_system(&r->messages[i]))
			return true;
	return false;
}

void chat_put_system(struct json *j, const struct chat_request *r)
{
	struct buf all = BUF_INIT(0);

	for (size_t i = 0; i < r->n; i++) {
		if (!chat_is_system(&r->messages[i]))
			continue;
		if (all.len)
			buf_adds(&all, "\n\n");
		buf_add(&all, r->messages[i].text, r->messages[i].len);
	}
	if (all.failed)
		j->out->failed = all.failed;
	else
		json_put_strn(j, buf_str(&all), all.len);
	buf_release(&all);
}

void chat_put_messages(struct json *j, const struct chat_request *r,
		       bool with_system)
{
	json_key(j, "messages");
	json_arr(j);
	for (size_t i = 0; i < r->n; i++) {
		const struct chat_message *m = &r->messages[i];

		if (!with_system && chat_is_system(m))
			continue;
		json_obj(j);
		json_kstr(j, "role", m->role);
		json_key(j, "content");
		json_put_strn(j, m->text, m->len);
		json_end(j);
	}
	json_arr_end(j);
}

void chat_put_schema(struct json *j, const struct chat_request *r, bool upper)
{
	json_obj(j);
	json_kstr(j, "type", upper ? "OBJECT" : "object");
	if (r->fields) {
		json_key(j, "properties");
		json_obj(j);
		for (const char *const *f = r->fields; *f; f++) {
			json_key(j, *f);
			json_obj(j);
			json_kstr(j, "type", upper ? "STRING" : "string");
			json_end(j);
		}
		json_end(j);
		json_key(j, "required");
		json_arr(j);
		for (const char *const *f = r->fields; *f; f++)
			json_put_str(j, *f);
		json_arr_end(j);
	}
	json_end(j);
}

int chat_answer_tokens(const struct chat_request *r)
{
	return r->max_tokens > 0 ? r->max_tokens : ANSWER_TOKENS;
}

int chat_form_send(struct chat_form *f, const struct chat_request *r,
		   struct http_request *http, const struct buf *body,
		   struct remem_err *err)
{
	f->json = r->json;
	http->url = f->url;
	http->headers = f->headers;
	http->body = buf_str(body);
	http->body_len = body->len;
	http->max_reply = REPLY_MAX;
	return buf_check(body, err);
}

bool chat_form_simplify(void *self)
{
	struct chat_form *f = self;

	if (!f->json || f->plain)
		return false;
	if (!f->free_form)
		return f->free_form = true;
	return f->plain = true;
}

/* ---- replies ---------------------------------------------------------- */

int chat_form_read(yyjson_doc **doc, const struct http_reply *http,
		   struct remem_err *err)
{
	const char *s = buf_str(&http->body);
	int rc;

	*doc = NULL;
	if (!http->body.len)
		return fail(err, REMEM_EREMOTE, "the provider answered nothing");
	rc = json_read(doc, s, http->body.len, false, "reply", NULL);
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (rc)
		return fail(err, REMEM_EREMOTE, "the provider answered %s",
			    s[strspn(s, " \r\n\t")] == '<' ?
				    "with a web page instead of an answer" :
				    "with something that is not JSON");
	return 0;
}

int64_t chat_count(yyjson_val *usage, const char *key)
{
	int64_t n = json_int(usage, key, 0);

	return n < 0 ? 0 : n < TOKENS_MAX ? n : TOKENS_MAX;
}

int chat_refusal(struct chat_reply *reply, struct remem_err *err,
		 const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	reply->final = true;
	return fail(err, REMEM_EREMOTE, "%s", text);
}

void chat_take_parts(struct buf *out, yyjson_val *parts)
{
	size_t i, n;
	yyjson_val *part, *text;

	if (!yyjson_is_arr(parts))
		return;
	yyjson_arr_foreach(parts, i, n, part) {
		text = yyjson_obj_get(part, "text");
		if (!json_bool(part, "thought", false) && yyjson_is_str(text))
			buf_add(out, yyjson_get_str(text),
				yyjson_get_len(text));
	}
}
