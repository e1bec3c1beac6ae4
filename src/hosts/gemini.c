/* Gemini CLI: standard output must be one JSON object. */
#include "base/attr.h"
#include "hosts/setup.h"

#define HOOK_SECONDS 10 /* ours end long before */

static void answer(struct buf *out, const struct host *h, enum hook_event e,
		   const char *text)
{
	if (text[0])
		answer_hook_specific(out, h, e, text);
	else
		buf_adds(out, "{}\n");
}

static void plan(struct setup *s)
{
	static const char *const server[] = { "mcpServers", "remem", NULL };
	static const enum hook_event events[] = {
		HOOK_SESSION_START, HOOK_PROMPT, HOOK_STOP, HOOK_PRE_COMPACT,
		HOOK_SESSION_END,
	};
	const char *file = ".gemini/settings.json";

	setup_member(s, file, server, setup_server(s, false));
	setup_hooks(s, file, events, ARRAY_LEN(events), HOOK_SECONDS * 1000,
		    "remem");
}

const struct host host_gemini = {
	.name = "gemini",
	.title = "Gemini CLI",
	.transcripts = "gemini",
	.max_chars = 9000,
	.events = {
		[HOOK_SESSION_START] = "SessionStart",
		[HOOK_PROMPT] = "BeforeAgent",
		[HOOK_STOP] = "AfterAgent",
		[HOOK_PRE_COMPACT] = "PreCompress",
		[HOOK_SESSION_END] = "SessionEnd",
		[HOOK_TOOL_USE] = "AfterTool",
	},
	.answer = answer,
	.plan = plan,
};
