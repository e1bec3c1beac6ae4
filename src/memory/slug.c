/*
 * See slug.h. Words of the user count by how often they are said, those of the
 * first messages more; Chinese is cut at function words, since it has no
 * blanks. Three parts at most.
 */
#include "memory/slug.h"

#include <string.h>

#include "base/attr.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "text/script.h"
#include "text/stop.h"

#define PARTS 3
#define WORDS 256 /* different ones that are counted */
#define WORD_BYTES 48
#define LOOKED_AT 4000 /* bytes of a message */
#define EARLY 2 /* messages of the user that say what it is about */
#define HAN_CHARS 6 /* of a part */

struct word {
	const char *s;
	unsigned len, chars;
	int weight;
	size_t at; /* order of appearance */
	uint64_t hash;
};

struct words {
	struct word w[WORDS];
	size_t n, seen;
};

/* Common in talk with an agent, and no subject. */
static const char *const idle[] = {
	"please", "help", "file", "files", "code", "thanks", "thank", "hello",
	"need", "want", "make", "use", "using", "get", "look", "show", "run",
	"let", "add", "fix", "check", "see", "way", "new", "also", "now",
	"just", "like", "good", "time", "work", "works", "something", "thing",
	"things", "can", "could", "would", "should", "will", "okay", "yes",
	"know", "think", "really", "still", "well", "try", "one", "two",
	"first", "decided", "remember", "remind", "prefer", "always", "never",
	"since", "because", "http", "https", "www", "com", "masked", "today",
	"tomorrow", "yesterday",
};

/* Chinese verbs and fillers that cut as function words do. */
static const char *const han_idle[] = {
	"帮我", "请", "一下", "看看", "看", "什么", "怎么", "为什么", "如何",
	"可以", "能不能", "需要", "应该", "这个", "那个", "这段", "那段",
	"问题", "哪里", "我们", "你们", "他们", "决定", "喜欢", "以后", "谢谢",
	"你好", "好的", "现在", "今天", "明天", "昨天", "然后", "因为", "所以",
	"但是", "如果", "换成", "改成", "变成", "记得", "提醒", "别忘",
	"一个", "一些", "有没有", "是不是", "出现", "进行", "使用", "觉得",
	"再", "先", "了", "都", "也", "很", "太", "才", "知道", "还是", "就是", "已经", "没有", "不要", "不能", "把", "被",
	"从", "到", "给", "对", "向", "用", "做", "写", "说", "想", "要",
	"幫我", "請", "甚麼", "什麼", "怎麼", "這個", "那個", "問題", "我們",
	"決定", "喜歡", "謝謝", "現在", "沒有", "應該",
};

static bool in_list(const char *const *list, size_t n, const char *s,
		    size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == len && !memcmp(list[i], s, len))
			return true;
	return false;
}

static void count(struct words *all, const char *s, size_t len, unsigned chars,
		  int weight)
{
	uint64_t h = hash64(s, len, 0);

	all->seen++;
	for (size_t i = 0; i < all->n; i++)
		if (all->w[i].hash == h) {
			all->w[i].weight += weight;
			return;
		}
	if (all->n < WORDS)
		all->w[all->n++] = (struct word){ s, (unsigned)len, chars,
						  weight, all->seen, h };
}

/* ---- words --------------------------------------------------------------- */

static bool is_word_char(uint32_t cp)
{
	return (cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z') ||
	       (cp >= '0' && cp <= '9') ||
	       (cp >= 0xc0 && cp < 0x2000 && script_of(cp) != SCRIPT_NONE);
}

static void lower(char *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		out[i] = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] + 32) : s[i];
}

static void take_word(struct words *all, const char *s, size_t len, int weight)
{
	char low[WORD_BYTES];
	size_t digits = 0;

	if (len < 3 || len >= sizeof(low))
		return;
	lower(low, s, len);
	for (size_t i = 0; i < len; i++)
		digits += low[i] >= '0' && low[i] <= '9';
	if (digits * 2 > len || stop_word(STOP_EN, low, len) ||
	    in_list(idle, ARRAY_LEN(idle), low, len))
		return;
	count(all, s, len, (unsigned)utf8_count(s, len), weight * 2);
}

/* Bytes that cut a run of Chinese at s, 0: it goes on. */
static size_t cut_at(const char *s, size_t len)
{
	bool stop;
	size_t n = stop_han(s, len, &stop), best = n && stop ? n : 0;

	for (size_t i = 0; i < ARRAY_LEN(han_idle); i++) {
		size_t k = strlen(han_idle[i]);

		if (k > best && k <= len && !memcmp(han_idle[i], s, k))
			best = k;
	}
	return best;
}

/* A run of CJK characters, cut where a function word stands. */
static void take_run(struct words *all, const char *s, size_t len, int weight)
{
	size_t from = 0, at = 0;
	unsigned chars = 0;

	while (at <= len) {
		size_t cut = at < len ? cut_at(s + at, len - at) : 1;
		uint32_t cp;

		if (cut || chars == HAN_CHARS) {
			if (chars >= 2)
				count(all, s + from, at - from, chars,
				      weight * (int)chars);
			at += cut;
			from = at;
			chars = 0;
			continue;
		}
		at += (size_t)utf8_decode(&cp, s + at, len - at);
		chars++;
	}
}

static bool is_run_char(uint32_t cp)
{
	enum script s = script_of(cp);

	return s == SCRIPT_HAN || s == SCRIPT_KANA || s == SCRIPT_HANGUL;
}

static void take_text(struct words *all, const char *s, size_t len, int weight)
{
	size_t at = 0;

	if (len > LOOKED_AT)
		len = utf8_cut(s, len, LOOKED_AT);
	while (at < len) {
		size_t from = at, next;
		uint32_t cp;
		bool run;

		next = at + (size_t)utf8_decode(&cp, s + at, len - at);
		run = is_run_char(cp);
		if (!run && !is_word_char(cp)) {
			at = next;
			continue;
		}
		while (at < len) {
			next = at + (size_t)utf8_decode(&cp, s + at, len - at);
			if (run ? !is_run_char(cp) : !is_word_char(cp))
				break;
			at = next;
		}
		if (run)
			take_run(all, s + from, at - from, weight);
		else
			take_word(all, s + from, at - from, weight);
	}
}

/* ---- the name ------------------------------------------------------------ */

static size_t best_word(const struct words *all, const size_t *taken, size_t n)
{
	size_t best = all->n;

	for (size_t i = 0; i < all->n; i++) {
		bool used = false;

		for (size_t k = 0; k < n; k++)
			used |= taken[k] == i;
		if (!used && (best == all->n ||
			      all->w[i].weight > all->w[best].weight))
			best = i;
	}
	return best;
}

static void join(char out[SLUG_BYTES], const struct words *all, size_t *taken,
		 size_t n)
{
	size_t len = 0, chars = 0;

	/* In the order they were said. */
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (all->w[taken[k]].at < all->w[taken[i]].at) {
				size_t swap = taken[i];

				taken[i] = taken[k];
				taken[k] = swap;
			}
	for (size_t i = 0; i < n; i++) {
		const struct word *w = &all->w[taken[i]];

		if (chars + w->chars + (chars > 0) > SLUG_CHARS)
			continue;
		if (chars)
			out[len++] = '-';
		lower(out + len, w->s, w->len);
		len += w->len;
		chars += w->chars + (chars > 0);
	}
	out[len] = '\0';
}

void slug_by_rules(char out[SLUG_BYTES], const struct talk *t)
{
	struct words all = { .n = 0 };
	size_t taken[PARTS], n = 0, early = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct talk_line *l = &t->lines[i];

		/* What was fetched gives no file its name. */
		if (!l->user || l->origin <= REMEM_ORIGIN_UNTRUSTED)
			continue;
		take_text(&all, l->text, l->len, early < EARLY ? 3 : 1);
		early++;
	}
	while (n < PARTS) {
		size_t i = best_word(&all, taken, n);

		if (i == all.n)
			break;
		taken[n++] = i;
	}
	join(out, &all, taken, n);
}

/* ---- of a model ---------------------------------------------------------- */

static bool is_excuse(const char *s, size_t len)
{
	static const char *const words[] = { "error", "sorry", "cannot",
					     "unable", "can't", "as an ai",
					     "抱歉", "无法", "無法", "错误" };
	char low[256];

	if (len >= sizeof(low))
		return true;
	lower(low, s, len);
	low[len] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(low, words[i]))
			return true;
	return memchr(s, '\n', len) != NULL;
}

void slug_of_answer(char out[SLUG_BYTES], const char *answer, size_t len)
{
	size_t n = 0, chars = 0, words = 1;

	out[0] = '\0';
	if (is_excuse(answer, len))
		return;
	for (size_t at = 0; at < len && chars < SLUG_CHARS;) {
		uint32_t cp;
		size_t bytes = (size_t)utf8_decode(&cp, answer + at, len - at);

		if (is_run_char(cp) || is_word_char(cp)) {
			lower(out + n, answer + at, bytes);
			n += bytes;
			chars++;
		} else if (n && out[n - 1] != '-') {
			out[n++] = '-';
			chars++;
			words++;
		}
		at += bytes;
	}
	while (n && out[n - 1] == '-')
		n--;
	/* Two words were asked for; this is a sentence. */
	if (words > 4)
		n = 0;
	out[n] = '\0';
}
