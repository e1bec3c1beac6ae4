/*
 * Who may ask by HTTP. A page of the web that the user looks at can send
 * requests to this machine too: so the name under which we are called has to
 * be one of ours (a foreign name may point here), an origin has to be local,
 * and the token is needed in any case.
 */
#include <nettle/base64.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "mcp/era.h"
#include "mcp/http_call.h"
#include "mcp/token.h"

#define PATH "/mcp"

const char *http_header(struct http_call *k, const char *name)
{
	return k->http->mhd->lookup_connection_value(k->c, MHD_HEADER_KIND,
						     name);
}

/* "name", "name:80", "[::1]:80": whether the name is this one. */
static bool names_host(const char *s, const char *host)
{
	size_t n = strlen(host);

	if (strncasecmp(s, host, n))
		return false;
	s += n;
	return !*s || (*s == ':' && s[1] && !s[1 + strspn(s + 1, "0123456789")]);
}

static bool is_local(const char *s)
{
	return names_host(s, "127.0.0.1") || names_host(s, "localhost") ||
	       names_host(s, "[::1]");
}

static bool right_host(struct http_call *k)
{
	const char *given = http_header(k, "Host"), *own = k->http->host;

	if (!given)
		return false;
	/* All addresses of this machine: any name may be the right one. */
	if (own && (!strcmp(own, "0.0.0.0") || !strcmp(own, "[::]")))
		return true;
	return is_local(given) || (own && names_host(given, own));
}

static bool right_origin(struct http_call *k)
{
	const char *s = http_header(k, "Origin"), *own = k->http->host;

	if (!s)
		return true;
	if (!strncmp(s, "http://", 7))
		s += 7;
	else if (!strncmp(s, "https://", 8))
		s += 8;
	else
		return false;
	return is_local(s) || (own && names_host(s, own));
}

static bool right_token(struct http_call *k)
{
	const char *s = http_header(k, "Authorization");

	if (!s || strncasecmp(s, "Bearer ", 7))
		return false;
	return token_equal(k->http->token, s + 7 + strspn(s + 7, " "));
}

/* Whether a list of media types has this one. */
static bool accepts(const char *list, const char *type)
{
	return strstr(list, type) || strstr(list, "*/*");
}

static int check_post(struct http_call *k, const char **why)
{
	const char *type = http_header(k, "Content-Type");
	const char *accept = http_header(k, "Accept");

	if (!type || strncasecmp(type, "application/json", 16)) {
		*why = "Content-Type should be application/json";
		return MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
	}
	if (accept && !accepts(accept, "application/json") &&
	    !accepts(accept, "text/event-stream")) {
		*why = "Accept should have application/json and "
		       "text/event-stream";
		return MHD_HTTP_NOT_ACCEPTABLE;
	}
	return 0;
}

int http_check_caller(struct http_call *k, const char *url, const char **why)
{
	if (!right_host(k)) {
		*why = "this Host is not one of this server";
		return MHD_HTTP_FORBIDDEN;
	}
	if (!right_origin(k)) {
		*why = "this Origin may not ask here";
		return MHD_HTTP_FORBIDDEN;
	}
	if (!right_token(k)) {
		*why = "the token is missing or wrong: Authorization: Bearer …";
		return MHD_HTTP_UNAUTHORIZED;
	}
	if (strcmp(url, PATH)) {
		*why = "there is only " PATH;
		return MHD_HTTP_NOT_FOUND;
	}
	if (!strcmp(k->method, "POST"))
		return check_post(k, why);
	if (!strcmp(k->method, "DELETE"))
		return 0;
	*why = "only POST, and DELETE to end a session";
	return MHD_HTTP_METHOD_NOT_ALLOWED;
}

/* What does not fit into a header comes as =?base64?…?=. */
static bool header_equals(const char *header, const char *value)
{
	static const char begin[] = "=?base64?";
	size_t n = strlen(header), len;
	struct base64_decode_ctx d;
	struct buf b = BUF_INIT(65536);
	bool same = false;

	if (strncmp(header, begin, sizeof(begin) - 1) || n < sizeof(begin) + 1 ||
	    strcmp(header + n - 2, "?="))
		return !strcmp(header, value);
	header += sizeof(begin) - 1;
	n -= sizeof(begin) - 1 + 2;
	len = BASE64_DECODE_LENGTH(n);
	base64_decode_init(&d);
	if (buf_reserve(&b, len) &&
	    base64_decode_update(&d, &len, (uint8_t *)b.ptr, n, header) &&
	    base64_decode_final(&d))
		same = len == strlen(value) && !memcmp(b.ptr, value, len);
	buf_release(&b);
	return same;
}

static int mismatch(const char **why, const char *text)
{
	*why = text;
	return MHD_HTTP_BAD_REQUEST;
}

int http_check_mirror(struct http_call *k, yyjson_val *root, const char **why)
{
	yyjson_val *params = yyjson_obj_get(root, "params");
	const char *version = http_header(k, "MCP-Protocol-Version");
	const char *method = http_header(k, "Mcp-Method");
	const char *name = http_header(k, "Mcp-Name");
	const char *called = json_str(root, "method", "");
	const char *asked, *target;
	bool named = !strcmp(called, "tools/call") ||
		     !strcmp(called, "prompts/get");

	era_of(params, &asked);
	if (!version || !asked || strcmp(version, asked))
		return mismatch(why, "the header MCP-Protocol-Version is not "
				"the version of the body");
	if (!method || strcmp(method, called))
		return mismatch(why, "the header Mcp-Method is not the method "
				"of the body");
	if (!named && strcmp(called, "resources/read"))
		return 0;
	target = json_str(params, named ? "name" : "uri", NULL);
	if (target && (!name || !header_equals(name, target)))
		return mismatch(why, "the header Mcp-Name is not the name in "
				"the body");
	return 0;
}
