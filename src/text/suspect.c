/*
 * Cue phrases with points, in English and Chinese. A text is suspect at
 * POINTS_NEEDED: one phrase that only an injected text uses, or an address to
 * an assistant together with an order. Matching ignores ASCII case and runs of
 * blanks. The lists name kinds of wording, not single attacks.
 */
#include "text/suspect.h"

#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/utf8.h"

#define POINTS_NEEDED 3
#define LOOKED_AT 4096 /* bytes; passages are far shorter */

struct cue {
	const char *text;
	int points;
	int kind; /* of one kind only the strongest counts */
};

enum { ADDRESS, OVERRIDE, ORDER, ROLE };

static const struct cue cues[] = {
	/* speaks to an assistant */
	{ "ai assistants", 2, ADDRESS }, { "ai assistant", 2, ADDRESS },
	{ "assistants reading", 3, ADDRESS }, { "ai agents", 2, ADDRESS },
	{ "coding agents", 2, ADDRESS }, { "llm agents", 2, ADDRESS },
	{ "language models reading", 3, ADDRESS },
	{ "assistant:", 1, ADDRESS }, { "agents:", 1, ADDRESS },
	{ "note to the assistant", 3, ADDRESS },
	{ "to the ai", 1, ADDRESS }, { "dear ai", 2, ADDRESS },
	{ "<system>", 2, ADDRESS }, { "[system]", 2, ADDRESS },
	{ "system prompt", 1, ADDRESS }, { "system override", 3, ADDRESS },
	{ "[inst]", 3, ADDRESS }, { "<|im_start|>", 3, ADDRESS },
	{ "写给助手", 3, ADDRESS }, { "致助手", 2, ADDRESS },
	{ "给助手", 1, ADDRESS }, { "系统提示", 2, ADDRESS },
	{ "系統提示", 2, ADDRESS }, { "智能助手请", 2, ADDRESS },
	{ "ai助手", 1, ADDRESS }, { "ai 助手", 1, ADDRESS },
	/* takes earlier rules away */
	{ "ignore all previous", 3, OVERRIDE },
	{ "ignore previous instructions", 3, OVERRIDE },
	{ "ignore the previous", 2, OVERRIDE },
	{ "ignore all earlier", 3, OVERRIDE },
	{ "ignore your instructions", 3, OVERRIDE },
	{ "ignore any instructions", 3, OVERRIDE },
	{ "disregard all", 2, OVERRIDE },
	{ "disregard previous", 3, OVERRIDE },
	{ "disregard your", 2, OVERRIDE },
	{ "forget your instructions", 3, OVERRIDE },
	{ "forget all previous", 3, OVERRIDE },
	{ "忽略之前", 3, OVERRIDE }, { "忽略以上", 3, OVERRIDE },
	{ "忽略前面", 3, OVERRIDE }, { "忽略所有", 2, OVERRIDE },
	{ "無視之前", 3, OVERRIDE }, { "无视之前", 3, OVERRIDE },
	{ "忽略你的", 2, OVERRIDE }, { "没有任何限制", 2, OVERRIDE },
	{ "沒有任何限制", 2, OVERRIDE }, { "不受任何限制", 2, OVERRIDE },
	/* what it then wants */
	{ "do not tell the user", 2, ORDER }, { "without asking", 1, ORDER },
	{ "print every", 1, ORDER }, { "reveal", 1, ORDER },
	{ "when asked", 2, ORDER }, { "if asked", 1, ORDER },
	{ "if the user asks", 2, ORDER }, { "whenever the user", 2, ORDER },
	{ "always answer", 1, ORDER }, { "always reply", 1, ORDER },
	{ "you must", 1, ORDER }, { "| sh", 1, ORDER }, { "|sh", 1, ORDER },
	{ "| bash", 1, ORDER }, { "delete the", 1, ORDER },
	{ "delete all", 1, ORDER }, { "send the", 1, ORDER },
	{ "important for", 1, ORDER }, { "credential", 1, ORDER },
	{ "不用请示", 1, ORDER }, { "一律回答", 2, ORDER },
	{ "直接回复", 1, ORDER }, { "不要告诉用户", 2, ORDER },
	{ "凡是问到", 2, ORDER }, { "回答时必须", 1, ORDER },
	/* gives it a new self */
	{ "you are now", 2, ROLE }, { "act as", 1, ROLE },
	{ "pretend to be", 1, ROLE }, { "developer mode", 2, ROLE },
	{ "你现在是", 2, ROLE }, { "你現在是", 2, ROLE },
	{ "从现在起你", 2, ROLE }, { "扮演", 1, ROLE },
};

static const char *const once[] = {
	"this once", "just once", "only once", "today", "tonight",
	"this week", "this morning", "this afternoon", "for now",
	"temporar", "for the time being", "just this time", "one-off",
	"not to be repeated", "as an exception", "exceptionally",
	"今天", "今日", "今晚", "这次", "這次", "本周", "这周", "這週",
	"这星期", "暂时", "暫時", "临时", "臨時", "仅此一次", "这一次",
	"破例", "例外",
};

/* Lower-cases ASCII and folds blanks to one; result NUL-terminated. */
static size_t fold(char *out, size_t cap, const char *s, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len && n + 1 < cap; i++) {
		char c = s[i];

		if (c == '\t' || c == '\n' || c == '\r' || c == '\0')
			c = ' ';
		if (c == ' ' && n && out[n - 1] == ' ')
			continue;
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		out[n++] = c;
	}
	out[n] = '\0';
	return n;
}

/* Characters that hide text from a reader but not from a model. */
static bool hidden_text(const char *s, size_t len)
{
	size_t i = 0;

	while (i < len) {
		uint32_t cp;

		if ((unsigned char)s[i] < 0x80) {
			i++;
			continue;
		}
		i += (size_t)utf8_decode(&cp, s + i, len - i);
		if ((cp >= 0xE0020 && cp <= 0xE007F) || cp == 0x202E ||
		    cp == 0x202D)
			return true;
	}
	return false;
}

bool text_suspect(const char *s, size_t len)
{
	char text[LOOKED_AT];
	int points[4] = { 0, 0, 0, 0 };
	size_t i;

	fold(text, sizeof(text), s, len);
	for (i = 0; i < ARRAY_LEN(cues); i++) {
		const struct cue *c = &cues[i];

		if (c->points > points[c->kind] && strstr(text, c->text))
			points[c->kind] = c->points;
	}
	return points[ADDRESS] + points[OVERRIDE] + points[ORDER] +
			       points[ROLE] >= POINTS_NEEDED ||
	       hidden_text(s, len);
}

bool text_one_off(const char *s, size_t len)
{
	char text[LOOKED_AT];
	size_t i;

	fold(text, sizeof(text), s, len);
	for (i = 0; i < ARRAY_LEN(once); i++)
		if (strstr(text, once[i]))
			return true;
	return false;
}
