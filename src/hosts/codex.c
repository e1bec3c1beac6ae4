/* Codex CLI: hooks as Claude Code has them; transcript_path may be null. */
#include "hosts/hosts.h"

const struct host host_codex = {
	.name = "codex",
	.title = "Codex CLI",
	.transcripts = "codex",
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
