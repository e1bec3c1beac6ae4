/*
 * Claude Code. Injected text of more than about 10,000 characters is put into
 * a file by some versions, so ours stays below.
 */
#include "hosts/hosts.h"

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
};
