/* Gemini CLI: standard output must be one JSON object. */
#include "hosts/hosts.h"

static void answer(struct buf *out, const struct host *h, enum hook_event e,
		   const char *text)
{
	if (text[0])
		answer_hook_specific(out, h, e, text);
	else
		buf_adds(out, "{}\n");
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
};
