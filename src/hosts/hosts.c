/* The table of hosts. */
#include "hosts/hosts.h"

#include <string.h>

#include "base/attr.h"

#define HOST(symbol) extern const struct host host_##symbol;
#include "hosts/hosts.def"
#undef HOST

static const struct host *const hosts[] = {
#define HOST(symbol) &host_##symbol,
#include "hosts/hosts.def"
#undef HOST
};

static const char *const event_names[HOOK_EVENTS] = {
	[HOOK_SESSION_START] = "session-start",
	[HOOK_PROMPT] = "prompt",
	[HOOK_STOP] = "stop",
	[HOOK_PRE_COMPACT] = "pre-compact",
	[HOOK_SESSION_END] = "session-end",
	[HOOK_TOOL_USE] = "tool-use",
};

const char *hook_event_name(enum hook_event e)
{
	return event_names[e];
}

int hook_event_find(const char *name)
{
	for (int i = 0; i < HOOK_EVENTS; i++)
		if (!strcmp(event_names[i], name))
			return i;
	return -1;
}

const struct host *host_at(int i)
{
	return i >= 0 && i < (int)ARRAY_LEN(hosts) ? hosts[i] : NULL;
}

const struct host *host_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
		if (!strcmp(hosts[i]->name, name))
			return hosts[i];
	return NULL;
}

void answer_hook_specific(struct buf *out, const struct host *h,
			  enum hook_event e, const char *text)
{
	struct json j;

	if (!text[0])
		return;
	json_begin(&j, out);
	json_obj(&j);
	json_key(&j, "hookSpecificOutput");
	json_obj(&j);
	json_kstr(&j, "hookEventName", h->events[e]);
	json_kstr(&j, "additionalContext", text);
	json_end(&j);
	json_end(&j);
	buf_addc(out, '\n');
}
