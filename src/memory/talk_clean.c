/* See talk_clean.h. */
#include "memory/talk_clean.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "memory/render.h"

/* Elements whose contents go with them. */
static const char *const elements[] = {
	"system-reminder", "system_reminder", "command-name", "command-message",
	"command-args", "command-contents", "local-command-stdout",
	"local-command-stderr", "local-command-caveat", "bash-input",
	"bash-stdout", "bash-stderr", "environment_context",
	"environment_details", "user_instructions", "permissions",
	"user_info", "attached_files", "open_and_recently_viewed_files",
	"additional_data", "project_layout", "function_calls",
	"function_call", "function_results", "function_result", "tool_call",
	"tool_calls", "tool_use", "tool_result", "tool_results",
	"tool_response", "tool_outputs", "tool_output", "invoke", "parameter",
	"antml:function_calls", "antml:invoke", "antml:thinking", "think",
	"thinking", "relevant-memories", "relevant_memories", "memory-context",
	"memory_context", "memory", "memories", "remem", "remem-context",
	"remem-recall", "active_memory", "active_memory_plugin",
	"ide_opened_file", "ide_selection", "task-notification",
	"session-start-hook", "user-prompt-submit-hook",
	"skills_instructions", "context_summary",
};

/* Those of roles, when they begin a line: elsewhere they may be markup that is
 * talked about, and only the tags go. */
static const char *const roles[] = {
	"system", "assistant", "user", "human", "developer", "tool", "function",
	"model", "instructions",
};

/* Tokens of chat templates, other than <|…|>. */
static const char *const tokens[] = {
	"[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<bos>",
	"<eos>", "<pad>", "<unk>", "<start_of_turn>", "<end_of_turn>",
	"[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]",
	"[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[SYSTEM_PROMPT]",
	"[/SYSTEM_PROMPT]",
};

static size_t name_len(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && ((s[n] >= 'a' && s[n] <= 'z') ||
			   (s[n] >= 'A' && s[n] <= 'Z') || s[n] == '-' ||
			   s[n] == '_' || s[n] == ':'))
		n++;
	return n;
}

static const char *in_list(const char *const *list, size_t n, const char *name,
			   size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == len && !strncasecmp(list[i], name, len))
			return list[i];
	return NULL;
}

/* Bytes of the tag at s: up to its '>', 0 if none is near. */
static size_t tag_len(const char *s, size_t len)
{
	size_t most = len < 400 ? len : 400;
	const char *end = memchr(s, '>', most);

	return end ? (size_t)(end - s) + 1 : 0;
}

/* Behind the end tag of name, from s on; 0 if there is none. */
static size_t find_end(const char *s, size_t len, const char *name, size_t n)
{
	const char *at = s, *end = s + len;

	while (at < end && (at = memchr(at, '<', (size_t)(end - at)))) {
		size_t left = (size_t)(end - at);

		if (left > n + 2 && at[1] == '/' &&
		    !strncasecmp(at + 2, name, n) &&
		    name_len(at + 2, left - 2) == n) {
			size_t tag = tag_len(at, left);

			return (size_t)(at - s) + (tag ? tag : n + 2);
		}
		at++;
	}
	return 0;
}

struct work {
	const char *s;
	size_t len;
	/* Names whose end is known not to come any more, so that many opening
	 * tags without one cost one search. */
	unsigned char ended[ARRAY_LEN(elements) + ARRAY_LEN(roles)];
};

static size_t whole(struct work *w, size_t at, const char *name, size_t slot)
{
	size_t n;

	if (w->ended[slot])
		return 0;
	n = find_end(w->s + at, w->len - at, name, strlen(name));
	w->ended[slot] = !n;
	return n;
}

static size_t slot_of(const char *const *list, size_t n, const char *name)
{
	size_t i = 0;

	while (i < n && list[i] != name)
		i++;
	return i;
}

static bool begins_line(const struct work *w, size_t at)
{
	while (at && (w->s[at - 1] == ' ' || w->s[at - 1] == '\t'))
		at--;
	return !at || w->s[at - 1] == '\n';
}

/* Bytes to leave out at a '<': an element, a tag, a token; 0: none of them. */
static size_t skip_tag(struct work *w, size_t at)
{
	const char *s = w->s + at, *name = s + 1, *found;
	size_t left = w->len - at, n, slot, all;
	bool closing = left > 1 && name[0] == '/';

	name += closing;
	n = name_len(name, left - 1 - closing);
	if (!n)
		return 0;
	found = in_list(elements, ARRAY_LEN(elements), name, n);
	slot = found ? slot_of(elements, ARRAY_LEN(elements), found) : 0;
	if (!found) {
		found = in_list(roles, ARRAY_LEN(roles), name, n);
		slot = ARRAY_LEN(elements) +
		       slot_of(roles, ARRAY_LEN(roles), found);
		if (!found)
			return 0;
		if (!begins_line(w, at))
			return tag_len(s, left);
	}
	all = closing ? 0 : whole(w, at, found, slot);
	return all ? all : tag_len(s, left);
}

/* <|…|>, <｜…｜> */
static size_t skip_bars(const char *s, size_t len)
{
	size_t most = len < 80 ? len : 80;
	const char *bar = NULL;

	if (len > 4 && s[1] == '|')
		bar = "|>";
	else if (len > 6 && !memcmp(s + 1, "｜", 3))
		bar = "｜>";
	if (!bar)
		return 0;
	for (size_t i = 2; i + strlen(bar) <= most && s[i] != '\n'; i++)
		if (!memcmp(s + i, bar, strlen(bar)))
			return i + strlen(bar);
	return 0;
}

static size_t skip_token(const char *s, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
		size_t n = strlen(tokens[i]);

		if (n <= len && !strncasecmp(s, tokens[i], n))
			return n;
	}
	return 0;
}

static size_t skip(struct work *w, size_t at)
{
	const char *s = w->s + at;
	size_t left = w->len - at, n;

	if (s[0] == '[')
		return skip_token(s, left);
	if (s[0] != '<')
		return 0;
	if ((n = skip_bars(s, left)) || (n = skip_token(s, left)))
		return n;
	return skip_tag(w, at);
}

static void trim(struct buf *b, size_t from)
{
	size_t start = from;

	if (b->failed)
		return;
	while (start < b->len && (unsigned char)b->ptr[start] <= ' ')
		start++;
	if (start > from) {
		memmove(b->ptr + from, b->ptr + start, b->len - start);
		buf_truncate(b, b->len - (start - from));
	}
	while (b->len > from && (unsigned char)b->ptr[b->len - 1] <= ' ')
		buf_truncate(b, b->len - 1);
}

/* One pass; whether anything was left out. */
static bool pass(struct buf *out, const char *s, size_t len)
{
	struct work w = { .s = s, .len = len };
	size_t from = 0, at = 0;
	bool any = false;

	while (at < len) {
		size_t n = strcspn(s + at, "<["), cut;

		at += n;
		if (at >= len)
			break;
		if (s[at] == '\0' || !(cut = skip(&w, at))) {
			at++;
			continue;
		}
		buf_add(out, s + from, at - from);
		at += cut;
		from = at;
		any = true;
	}
	buf_add(out, s + from, len - from);
	return any;
}

/* Nothing that could be left out: ASCII without '<' and '[', Han, and the
 * punctuation that goes with it. Most messages are such. */
static bool is_plain(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	for (size_t i = 0; i < len; i++) {
		if (s[i] < 0x80) {
			if (s[i] == '<' || s[i] == '[' || s[i] == 0x7f ||
			    (s[i] < ' ' && s[i] != '\n' && s[i] != '\t'))
				return false;
			continue;
		}
		if (len - i < 3 || (s[i + 1] & 0xc0) != 0x80 ||
		    (s[i + 2] & 0xc0) != 0x80)
			return false;
		if (!(s[i] >= 0xe4 && s[i] <= 0xe9) &&
		    !(s[i] == 0xe3 && s[i + 1] == 0x80) &&
		    !(s[i] == 0xef && s[i + 1] == 0xbc && s[i + 2] != 0x9c))
			return false;
		i += 2;
	}
	return true;
}

void talk_clean(struct buf *out, const char *text, size_t len)
{
	struct buf a = BUF_INIT(0), b = BUF_INIT(0);
	size_t from = out->len;

	if (is_plain(text, len)) {
		buf_add(out, text, len);
		trim(out, from);
		return;
	}
	/* What is left may form a token of its own: <<|x|>|y|>. */
	if (pass(&a, text, len)) {
		pass(&b, buf_str(&a), a.len);
		render_data(out, buf_str(&b), b.len);
	} else {
		render_data(out, buf_str(&a), a.len);
	}
	if (a.failed || b.failed)
		out->failed = REMEM_ENOMEM;
	buf_release(&a);
	buf_release(&b);
	trim(out, from);
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !strncasecmp(text, word, len);
}

bool talk_is_command(const char *text, size_t len)
{
	size_t n;

	while (len && (unsigned char)text[len - 1] <= ' ')
		len--;
	while (len && (unsigned char)*text <= ' ')
		text++, len--;
	if (len > 1 && text[0] == '/' && !memchr(text, '\n', len)) {
		n = name_len(text + 1, len - 1);
		/* /etc/hosts is a path. */
		if (n && (n + 1 == len || text[n + 1] == ' '))
			return true;
	}
	return talk_no_reply(text, len) || is_word(text, len, "HEARTBEAT_OK");
}

bool talk_no_reply(const char *text, size_t len)
{
	char flat[64];
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] <= ' ')
			continue;
		if (n == sizeof(flat))
			return false;
		flat[n++] = text[i];
	}
	while (n && strchr(".`*", flat[n - 1]))
		n--;
	return !n || is_word(flat, n, "NO_REPLY") ||
	       is_word(flat, n, "\"NO_REPLY\"") ||
	       is_word(flat, n, "{\"action\":\"NO_REPLY\"}");
}
