/* Codex CLI: hooks as Claude Code has them; transcript_path may be null. */
#include "base/attr.h"
#include "base/path.h"
#include "hosts/setup.h"
#include "hosts/tomltext.h"

#define HOOK_SECONDS 10 /* ours end long before */

static void plan(struct setup *s)
{
	/* Builds that do not know an event refuse the whole file, so the end
	 * of a conversation, which only new ones have, is left out. */
	static const enum hook_event events[] = {
		HOOK_SESSION_START, HOOK_PROMPT, HOOK_STOP, HOOK_PRE_COMPACT,
	};
	const char *dir = setup_folder(s, "CODEX_HOME", ".codex");
	const char *more = s->workspace ? arena_printf(
		s->a, ", \"--workspace\", %s",
		tomltext_string(s->a, s->workspace)) : "";

	if (!dir || !more)
		return;
	setup_table(s, path_join(s->a, dir, "config.toml"),
		    "mcp_servers.remem",
		    arena_printf(s->a, "[mcp_servers.remem]\ncommand = %s\n"
				 "args = [\"mcp\"%s]\n",
				 tomltext_string(s->a, s->program), more));
	setup_hooks(s, path_join(s->a, dir, "hooks.json"), events,
		    ARRAY_LEN(events), HOOK_SECONDS, NULL);
	if (s->hooks)
		s->note = "Codex asks once whether the hooks are trusted: "
			  "open /hooks in it";
}

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
	.plan = plan,
};
