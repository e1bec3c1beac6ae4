/* See snapshot.h. */
#define _GNU_SOURCE /* memmem */
#include "memory/snapshot.h"

#include <string.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "memory/flush_prompt.h"
#include "memory/talk_clean.h"
#include "source/secret.h"
#include "text/suspect.h"

#define BODY "## Conversation\n"
#define MESSAGE_BYTES 4000 /* of one message: a note is to be read */
#define ASKED_TOKENS 2000
#define SUMMARY_BYTES 2000

static const char task[] =
	TALK_PROMPT_MARK " Name and sum up a conversation.\n"
	"Answer with one JSON object: {\"name\": …, \"summary\": …}.\n"
	"name: one or two words for its subject, lower case, joined by a "
	"hyphen, in the language of the user.\n"
	"summary: at most four sentences in that language: what was wanted, "
	"what was decided, what is still open. Only what was said. No keys, "
	"passwords or tokens.\n";

/* JSON leaves these as they are, and some readers take them for line ends. */
static void escape_ends(struct buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (len - i >= 2 && !memcmp(s + i, "\xc2\x85", 2)) {
			buf_adds(out, "\\u0085");
			i++;
		} else if (len - i >= 3 && !memcmp(s + i, "\xe2\x80", 2) &&
			   (s[i + 2] == '\xa8' || s[i + 2] == '\xa9')) {
			buf_adds(out, s[i + 2] == '\xa8' ? "\\u2028" :
							   "\\u2029");
			i += 2;
		} else {
			buf_addc(out, s[i]);
		}
	}
}

void snapshot_lines(struct buf *out, const struct talk *t)
{
	struct buf line = BUF_INIT(0);

	for (size_t i = 0; i < t->n; i++) {
		const struct talk_line *l = &t->lines[i];
		size_t len = utf8_cut(l->text, l->len, MESSAGE_BYTES);
		struct json j;

		buf_reset(&line);
		json_begin(&j, &line);
		json_put_strn(&j, l->text, len);
		buf_adds(out, l->user ? "user: " : "assistant: ");
		escape_ends(out, buf_str(&line), line.len);
		if (len < l->len)
			buf_addf(out, " (%zu more bytes)", l->len - len);
		buf_addc(out, '\n');
	}
	if (line.failed)
		out->failed = line.failed;
	buf_release(&line);
}

/* A value that a transcript chose, on one line and short. */
static void put_field(struct buf *out, const char *name, const char *value)
{
	size_t n = 0;

	if (!value || !value[0])
		return;
	buf_addf(out, "- %s: ", name);
	for (; value[n] && n < 128; n++) {
		char c = value[n];
		bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			     (c >= 'A' && c <= 'Z') || strchr("-_.:", c);

		buf_addc(out, plain ? c : '_');
	}
	buf_addc(out, '\n');
}

void snapshot_note(struct buf *out, const struct talk *t,
		   const struct snapshot_head *h)
{
	char when[40];

	clock_zone_format(when, sizeof(when), "%Y-%m-%d %H:%M (%z)", h->zone,
			  h->at_ms);
	buf_addf(out, "# Session %s\n\n", when);
	put_field(out, "session", t->session);
	put_field(out, "host", t->host);
	put_field(out, "reason", h->reason);
	if (h->summary && h->summary[0])
		buf_addf(out, "\n## Summary\n\n%s\n", h->summary);
	buf_adds(out, "\n" BODY "\n");
	snapshot_lines(out, t);
}

const char *snapshot_body(const char *note, size_t len, size_t *body_len)
{
	const char *body = memmem(note, len, BODY, strlen(BODY));

	*body_len = body ? len - (size_t)(body - note) : 0;
	return body;
}

/* One paragraph that is no heading, no list and no order. */
static void take_summary(struct buf *out, const char *s)
{
	struct buf clean = BUF_INIT(0), masked = BUF_INIT(0);
	size_t n;

	talk_clean(&clean, s, strlen(s));
	secret_mask(&masked, buf_str(&clean), clean.len, 0);
	n = utf8_cut(buf_str(&masked), masked.len, SUMMARY_BYTES);
	if (!text_suspect(buf_str(&masked), n)) {
		for (size_t i = 0; i < n; i++)
			buf_addc(out, (unsigned char)masked.ptr[i] < ' ' ?
					      ' ' : masked.ptr[i]);
	}
	while (out->len && !out->failed && strchr("# ", out->ptr[0])) {
		memmove(out->ptr, out->ptr + 1, out->len - 1);
		buf_truncate(out, out->len - 1);
	}
	buf_release(&clean);
	buf_release(&masked);
}

int snapshot_ask(char slug[SLUG_BYTES], struct buf *summary, struct chat *c,
		 const struct talk *t, struct remem_err *err)
{
	struct buf user = BUF_INIT(0), answer = BUF_INIT(65536);
	struct chat_message messages[2] = { { "system", task,
					      sizeof(task) - 1 },
					    { .role = "user" } };
	static const char *const fields[] = { "name", "summary", NULL };
	struct chat_request r = { .messages = messages, .n = 2, .json = true,
				  .fields = fields, .max_tokens = 600,
				  .timeout_ms = SNAPSHOT_CHAT_MS };
	yyjson_doc *doc = NULL;
	yyjson_val *root;
	const char *name;
	int rc;

	slug[0] = '\0';
	flush_prompt_talk(&user, t, ASKED_TOKENS);
	messages[1].text = buf_str(&user);
	messages[1].len = user.len;
	if ((rc = buf_check(&user, err)) ||
	    (rc = chat_ask(c, &r, &answer, err)) ||
	    (rc = json_read(&doc, buf_str(&answer), answer.len, false,
			    "answer", err)))
		goto out;
	root = yyjson_doc_get_root(doc);
	name = json_str(root, "name", "");
	slug_of_answer(slug, name, strlen(name));
	take_summary(summary, json_str(root, "summary", ""));
	rc = buf_check(summary, err);
out:
	yyjson_doc_free(doc);
	buf_release(&user);
	buf_release(&answer);
	return rc;
}
