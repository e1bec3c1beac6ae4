/*
 * What the formats share: messages are queued here, made valid text, and
 * judged by what went before in their turn. A turn begins with what the user
 * says. It is tainted when a tool brought in what others wrote; an answer is
 * `recalled` when nearly all of its words stood in what a memory tool gave in
 * that turn, so that memory does not feed on itself.
 */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/utf8.h"
#include "source/transcript_format.h"

#define BAD_CHAR "\xef\xbf\xbd"
#define RECALL_BITS (1u << 16)
#define RECALL_MIN_WORDS 6 /* fewer say nothing about where they come from */
#define RECALL_SHARE 0.8 /* of the words: an echo with a few of its own */

/* ---- text ------------------------------------------------------------- */

/* Valid, without NUL, in the line's arena. */
static const char *clean(struct transcript *t, const char *s, size_t *len)
{
	struct buf b = BUF_INIT(0);
	const char *out;
	size_t i = 0;

	if (utf8_valid(s, *len) && !memchr(s, 0, *len))
		return arena_strndup(&t->line_arena, s, *len);
	while (i < *len) {
		uint32_t cp;
		size_t n = (size_t)utf8_decode(&cp, s + i, *len - i);

		if (!cp || cp == 0xfffd)
			buf_adds(&b, BAD_CHAR);
		else
			buf_add(&b, s + i, n);
		i += n;
	}
	out = arena_strndup(&t->line_arena, buf_str(&b), b.len);
	*len = b.len;
	t->line_arena.failed |= b.failed != 0;
	buf_release(&b);
	return out;
}

static bool counts_as_text(const char *type)
{
	return !strcmp(type, "text") || !strcmp(type, "input_text") ||
	       !strcmp(type, "output_text");
}

const char *transcript_text(struct transcript *t, yyjson_val *v,
			    const char *type, size_t *len)
{
	struct buf b = BUF_INIT(0);
	yyjson_arr_iter it;
	const char *out;
	yyjson_val *e;

	*len = 0;
	if (yyjson_is_str(v)) {
		*len = yyjson_get_len(v);
		return yyjson_get_str(v);
	}
	if (!yyjson_is_arr(v))
		return "";
	it = yyjson_arr_iter_with(v);
	while ((e = yyjson_arr_iter_next(&it))) {
		const char *kind = json_str(e, "type", "text");
		yyjson_val *text = yyjson_is_str(e) ? e :
				   yyjson_obj_get(e, "text");

		if (!yyjson_is_str(text) || (type ? strcmp(kind, type) :
					     !counts_as_text(kind)))
			continue;
		if (b.len)
			buf_addc(&b, '\n');
		buf_add(&b, yyjson_get_str(text), yyjson_get_len(text));
	}
	*len = b.len;
	out = arena_strndup(&t->line_arena, buf_str(&b), b.len);
	t->line_arena.failed |= b.failed != 0;
	buf_release(&b);
	return out ? out : "";
}

/* ---- tools of a turn -------------------------------------------------- */

void transcript_called(struct transcript *t, const char *id, const char *name)
{
	unsigned i = t->tool_count++ % TRANSCRIPT_TOOLS;
	size_t n = name ? utf8_cut(name, strlen(name),
				   sizeof(t->tools[i].name) - 1) : 0;

	t->tools[i].id = id && *id ? hash64(id, strlen(id), 0) : 0;
	memcpy(t->tools[i].name, name ? name : "", n);
	t->tools[i].name[n] = 0;
}

const char *transcript_tool_of(struct transcript *t, const char *id)
{
	uint64_t h = id && *id ? hash64(id, strlen(id), 0) : 0;

	for (unsigned i = 0; h && i < TRANSCRIPT_TOOLS; i++)
		if (t->tools[i].id == h && t->tools[i].name[0])
			return t->tools[i].name;
	return NULL;
}

/* Also as one of a server: "mcp__remem__memory_search", "remem.memory_get". */
static bool is_memory_tool(const char *name)
{
	static const char *const names[] = {
		"memory_search", "memory_get", "memory_context",
		"memory_recall",
	};

	for (size_t i = 0; name && i < ARRAY_LEN(names); i++) {
		size_t n = strlen(name), m = strlen(names[i]);

		if (n >= m && !strcmp(name + n - m, names[i]) &&
		    (n == m || !isalnum((unsigned char)name[n - m - 1])))
			return true;
	}
	return false;
}

/* What such a tool gives was made by the agent or says nothing foreign. */
static bool is_own_tool(const char *name)
{
	static const char *const names[] = {
		"todowrite", "todo_write", "todoread", "update_plan",
		"exitplanmode", "askuserquestion", "memory_add",
		"memory_status", "write_todos",
	};
	char low[48];
	size_t n = name ? strlen(name) : 0;

	if (!n || n >= sizeof(low))
		return false;
	for (size_t i = 0; i <= n; i++)
		low[i] = (char)tolower((unsigned char)name[i]);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(low, names[i]))
			return true;
	return false;
}

/* ---- echoes of memory ------------------------------------------------- */

/* Calls fn for each word, or each character outside of ASCII. */
static void each_word(const char *s, size_t len,
		      void (*fn)(void *ctx, uint64_t hash), void *ctx)
{
	char word[64];
	size_t n = 0, i = 0;

	while (i <= len) {
		unsigned char c = i < len ? (unsigned char)s[i] : 0;
		uint32_t cp;

		if (c < 0x80 && isalnum(c)) {
			if (n < sizeof(word))
				word[n++] = (char)tolower(c);
			i++;
			continue;
		}
		if (n)
			fn(ctx, hash64(word, n, 1));
		n = 0;
		if (c < 0x80) {
			i++;
			continue;
		}
		i += (size_t)utf8_decode(&cp, s + i, len - i);
		/* Punctuation of CJK says nothing. */
		if (cp >= 0x3040 && (cp < 0xff00 || cp > 0xff65))
			fn(ctx, hash64(&cp, sizeof(cp), 2));
	}
}

static void recall_set(void *ctx, uint64_t h)
{
	uint64_t *bits = ctx;

	bits[(h % RECALL_BITS) / 64] |= 1ull << (h % 64);
}

struct echo {
	const uint64_t *bits;
	size_t words, known;
};

static void recall_test(void *ctx, uint64_t h)
{
	struct echo *e = ctx;

	e->words++;
	e->known += e->bits[(h % RECALL_BITS) / 64] >> (h % 64) & 1;
}

static void recall_add(struct transcript *t, const char *text, size_t len)
{
	if (!t->recall)
		t->recall = ARENA_ARRAY(&t->a, uint64_t, RECALL_BITS / 64);
	if (!t->recall)
		return;
	if (!t->recalling)
		memset(t->recall, 0, RECALL_BITS / 8);
	t->recalling = true;
	each_word(text, len, recall_set, t->recall);
}

static bool is_echo(struct transcript *t, const char *text, size_t len)
{
	struct echo e = { .bits = t->recall };

	if (!t->recalling || !t->recall)
		return false;
	each_word(text, len, recall_test, &e);
	return e.words >= RECALL_MIN_WORDS &&
	       (double)e.known >= RECALL_SHARE * (double)e.words;
}

/* ---- pushing ---------------------------------------------------------- */

static unsigned want_of(enum transcript_role role, enum transcript_kind kind)
{
	switch (kind) {
	case TRANSCRIPT_THINKING:
		return TRANSCRIPT_WANT_THINKING;
	case TRANSCRIPT_CALL:
		return TRANSCRIPT_WANT_CALLS;
	case TRANSCRIPT_RESULT:
		return TRANSCRIPT_WANT_RESULTS;
	case TRANSCRIPT_COMPACTION:
		return TRANSCRIPT_WANT_COMPACTION;
	case TRANSCRIPT_TEXT:
		break;
	}
	return role == TRANSCRIPT_SYSTEM ? TRANSCRIPT_WANT_SYSTEM :
	       role == TRANSCRIPT_TOOL ? TRANSCRIPT_WANT_RESULTS :
					 TRANSCRIPT_WANT_TEXT;
}

static enum transcript_origin origin_of(const struct transcript *t,
					enum transcript_role role)
{
	switch (role) {
	case TRANSCRIPT_USER:
		return t->info.shared ? TRANSCRIPT_UNTRUSTED : TRANSCRIPT_OWNER;
	case TRANSCRIPT_ASSISTANT:
		return TRANSCRIPT_AGENT;
	case TRANSCRIPT_TOOL:
		return TRANSCRIPT_UNTRUSTED;
	case TRANSCRIPT_SYSTEM:
		break;
	}
	return TRANSCRIPT_INJECTED;
}

/* What a message means for those after it in its turn. */
static void turn(struct transcript *t, enum transcript_role role,
		 enum transcript_kind kind, const char *text, size_t len)
{
	const char *tool = t->next.tool;

	if (kind == TRANSCRIPT_TEXT && role == TRANSCRIPT_USER) {
		t->tainted = t->recalling = false;
	} else if (kind == TRANSCRIPT_RESULT) {
		if (is_memory_tool(tool))
			recall_add(t, text, len);
		else if (!is_own_tool(tool))
			t->tainted = true;
	}
}

static bool is_blank(const char *s, size_t len)
{
	while (len && isspace((unsigned char)*s)) {
		s++;
		len--;
	}
	return !len;
}

void transcript_push(struct transcript *t, enum transcript_role role,
		     enum transcript_kind kind, const char *text, size_t len)
{
	struct transcript_message *m;

	if (is_blank(text, len) && kind != TRANSCRIPT_COMPACTION)
		return;
	/* What a timer or another agent asks, no person said. */
	if (role == TRANSCRIPT_USER && t->info.automatic)
		role = TRANSCRIPT_SYSTEM;
	turn(t, role, kind, text, len);
	if (kind == TRANSCRIPT_COMPACTION)
		t->info.compactions++;
	if (!(t->want & want_of(role, kind)))
		return;
	t->queue = arena_grow(&t->line_arena, t->queue, &t->cap, t->count + 1,
			      sizeof(*t->queue));
	if (!t->queue)
		return;
	m = &t->queue[t->count];
	*m = t->next;
	m->role = role;
	m->kind = kind;
	m->part = (int)t->count++;
	m->text = clean(t, text, &len);
	m->len = len;
	m->shared = t->info.shared;
	m->origin = origin_of(t, role);
	m->tainted = t->tainted && role != TRANSCRIPT_USER;
	m->recalled = role == TRANSCRIPT_ASSISTANT &&
		      kind == TRANSCRIPT_TEXT && is_echo(t, text, len);
	if (m->id)
		m->id = arena_strdup(&t->line_arena, m->id);
	if (m->tool)
		m->tool = arena_strdup(&t->line_arena, m->tool);
}

void transcript_push_json(struct transcript *t, enum transcript_role role,
			  enum transcript_kind kind, yyjson_val *v)
{
	size_t len = 0;
	char *s;

	/* A result means something for its turn also where it is not wanted,
	 * and what a memory gave is looked at. */
	if (!(t->want & want_of(role, kind)) &&
	    !(kind == TRANSCRIPT_RESULT && is_memory_tool(t->next.tool))) {
		if (kind == TRANSCRIPT_RESULT)
			turn(t, role, kind, "", 0);
		return;
	}
	if (yyjson_is_str(v)) {
		transcript_push(t, role, kind, yyjson_get_str(v),
				yyjson_get_len(v));
		return;
	}
	s = yyjson_val_write_opts(v, YYJSON_WRITE_ALLOW_INVALID_UNICODE,
				  json_alc(), &len, NULL);
	if (s)
		transcript_push(t, role, kind, s, len);
	mem_free(s);
}
