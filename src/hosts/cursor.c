/*
 * Cursor: context goes into additional_context, which newer builds read; a
 * prompt needs "continue" to go on in all of them.
 */
#include "hosts/hosts.h"

static void answer(struct buf *out, const struct host *h, enum hook_event e,
		   const char *text)
{
	struct json j;

	(void)h;
	json_begin(&j, out);
	json_obj(&j);
	if (e == HOOK_PROMPT)
		json_kbool(&j, "continue", true);
	if (text[0])
		json_kstr(&j, "additional_context", text);
	json_end(&j);
	buf_addc(out, '\n');
}

const struct host host_cursor = {
	.name = "cursor",
	.title = "Cursor",
	.transcripts = "cursor",
	.max_chars = 9000,
	.events = {
		[HOOK_SESSION_START] = "sessionStart",
		[HOOK_PROMPT] = "beforeSubmitPrompt",
		[HOOK_STOP] = "stop",
		[HOOK_PRE_COMPACT] = "preCompact",
		[HOOK_SESSION_END] = "sessionEnd",
		[HOOK_TOOL_USE] = "afterMCPExecution",
	},
	.answer = answer,
};
