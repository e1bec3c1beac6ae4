/* The chat model that the settings ask for; none unless they do. */
#include <string.h>

#include "api/handle.h"
#include "api/secret.h"

static const char *or_null(const char *s)
{
	return s && s[0] ? s : NULL;
}

int handle_chat(struct chat **out, struct remem *r, struct remem_err *err)
{
	const struct settings *s = &r->settings;
	struct chat_config c = { 0 };
	int rc;

	c.provider = settings_str(s, "chat.provider");
	c.model = or_null(settings_str(s, "chat.model"));
	c.base_url = or_null(settings_str(s, "chat.baseUrl"));
	c.ca_file = or_null(settings_str(s, "chat.caFile"));
	c.timeout_ms = (int)settings_int(s, "chat.timeoutMs");
	*out = NULL;
	/* No key is looked up for a model that nobody asks. */
	if (c.provider[0] && strcmp(c.provider, "none") &&
	    ((rc = secret_resolve(&c.api_key, s, "chat.apiKey", err)) ||
	     (rc = secret_headers(&c.headers, s, "chat.headers", err))))
		return rc;
	ledger_connect_chat(&c, r);
	return chat_open(out, &c, err);
}
