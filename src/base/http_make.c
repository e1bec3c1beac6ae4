/* The address and the headers of a request to a JSON interface. */
#include <string.h>
#include <strings.h>

#include "base/http.h"

const char *http_endpoint(struct arena *a, const char *base, const char *path)
{
	size_t n = strcspn(base, "?#"), m = strlen(path);
	const char *query = base[n] == '?' ? base + n : "";

	while (n && base[n - 1] == '/')
		n--;
	if (n > m && !memcmp(base + n - m, path, m))
		n -= m;
	return arena_printf(a, "%.*s%s%s", (int)n, base, path, query);
}

const char *http_bare(struct arena *a, const char *base,
		      const char *const *tails)
{
	size_t n = strlen(base);

	while (n && base[n - 1] == '/')
		n--;
	for (; *tails; tails++) {
		size_t m = strlen(*tails);

		if (n <= m || memcmp(base + n - m, *tails, m) != 0)
			continue;
		n -= m;
		break;
	}
	return arena_strndup(a, base, n);
}

static bool has_header(const char *const *headers, const char *name)
{
	size_t n = strlen(name);

	for (; headers && *headers; headers++)
		if (!strncasecmp(*headers, name, n) && (*headers)[n] == ':')
			return true;
	return false;
}

const char *const *http_json_headers(struct arena *a, const char *name,
				     const char *key,
				     const char *const *headers)
{
	size_t n = 0, k = 0;
	const char **out;

	while (headers && headers[n])
		n++;
	out = ARENA_ARRAY(a, const char *, n + 3);
	if (!out)
		return NULL;
	if (!has_header(headers, "Content-Type"))
		out[k++] = "Content-Type: application/json";
	if (key && key[0] && !has_header(headers, name ? name : "Authorization"))
		out[k++] = name ? arena_printf(a, "%s: %s", name, key) :
			   arena_printf(a, "Authorization: Bearer %s", key);
	for (size_t i = 0; i < n; i++)
		out[k++] = headers[i];
	return out;
}
