/*
 * OpenClaw has no hooks by shell; a thin plugin hands its events over as JSON
 * and puts what we answer in front of the prompt.
 */
#include "base/path.h"
#include "hosts/setup.h"

static void answer(struct buf *out, const struct host *h, enum hook_event e,
		   const char *text)
{
	struct json j;

	(void)h, (void)e;
	json_begin(&j, out);
	json_obj(&j);
	if (text[0])
		json_kstr(&j, "prependContext", text);
	json_end(&j);
	buf_addc(out, '\n');
}

static void plan(struct setup *s)
{
	static const char *const server[] = { "mcp", "servers", "remem",
					      NULL };
	const char *dir = setup_folder(s, "OPENCLAW_STATE_DIR", ".openclaw");

	if (dir)
		setup_member(s, path_join(s->a, dir, "openclaw.json"), server,
			     setup_server(s, false));
}

const struct host host_openclaw = {
	.name = "openclaw",
	.title = "OpenClaw",
	.transcripts = "openclaw",
	.max_chars = 20000,
	.events = {
		[HOOK_SESSION_START] = "session_start",
		[HOOK_PROMPT] = "before_prompt_build",
		[HOOK_STOP] = "agent_end",
		[HOOK_PRE_COMPACT] = "before_compaction",
		[HOOK_SESSION_END] = "session_end",
		[HOOK_TOOL_USE] = NULL,
	},
	.answer = answer,
	.plan = plan,
	.no_project = true,
};
