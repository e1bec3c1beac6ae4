/*
 * Claude Code. Injected text of more than about 10,000 characters is put into
 * a file by some versions, so ours stays below.
 */
#include <string.h>

#include "base/attr.h"
#include "base/path.h"
#include "hosts/setup.h"

#define HOOK_SECONDS 10 /* ours end long before */

static void plan(struct setup *s)
{
	static const char *const server[] = { "mcpServers", "remem", NULL };
	static const enum hook_event events[] = {
		HOOK_SESSION_START, HOOK_PROMPT, HOOK_STOP, HOOK_PRE_COMPACT,
		HOOK_SESSION_END,
	};
	const char *dir = setup_folder(s, "CLAUDE_CONFIG_DIR", ".claude");
	const char *servers = s->project ? ".mcp.json" : ".claude.json";

	if (!dir)
		return;
	/* Beside the folder, or in it where the variable moves it. */
	if (!s->project && strcmp(dir, path_join(s->a, s->root, ".claude")))
		servers = path_join(s->a, dir, servers);
	setup_member(s, servers, server, setup_server(s, true));
	setup_hooks(s, path_join(s->a, dir, "settings.json"), events,
		    ARRAY_LEN(events), HOOK_SECONDS, NULL);
}

const struct host host_claude_code = {
	.name = "claude-code",
	.title = "Claude Code",
	.transcripts = "claude",
	.max_chars = 9000,
	.events = {
		[HOOK_SESSION_START] = "SessionStart",
		[HOOK_PROMPT] = "UserPromptSubmit",
		[HOOK_STOP] = "Stop",
		[HOOK_PRE_COMPACT] = "PreCompact",
		[HOOK_SESSION_END] = "SessionEnd",
		[HOOK_TOOL_USE] = "PostToolUse",
	},
	.answer = answer_hook_specific,
	.plan = plan,
};
