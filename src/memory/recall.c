/* Cues of questions about before, and triggers of curated entries. */
#include "memory/recall.h"

#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/utf8.h"
#include "text/suspect.h"
#include "text/term.h"

#define PROMPT_BYTES 8192 /* of a paste the head tells enough */
#define NOTE_BYTES (1u << 20)
#define TRIGGERS_MAX 3 /* of an entry; OpenClaw's bounds */
#define TRIGGER_BYTES 256 /* 64 characters */
/* OpenClaw's active memory: a lone word, several words, and their share of the
 * score. */
#define ONE_WORD 0.85
#define OVERLAP_SHARE 0.8
#define OVERLAP_BONUS 0.2
#define TRIGGER_SHARE 0.8

/* Cues of a question about what was before, folded as term_fold() does. */
static const char *const cues[] = {
	"do you remember", "remember when", "remember what", "remember how",
	"last time", "last week", "last month", "yesterday", "the other day",
	"earlier", "previously", "before that", "did we", "did i", "have we",
	"have i", "had we", "we decided", "we agreed", "we discussed",
	"we talked", "we used", "what was", "what were", "when did", "when was",
	"who is", "who was", "whose", "where did", "where is our",
	"why did we", "how did we", "how do we", "how do i usually", "our usual",
	"as usual", "like before", "again", "my favourite", "my favorite",
	"my preferred", "do i prefer", "do i like", "what do i", "remind me",
	"look up in memory", "in my notes", "according to my",
	"记得吗", "还记得", "记不记得", "上次", "上回", "上周", "上个月", "昨天", "前天", "之前",
	"以前", "先前", "刚才", "曾经", "我们决定", "我们说过", "说过", "聊过", "讨论过", "提到过",
	"定的是", "约定", "是谁", "谁负责", "什么时候", "哪天", "哪一天", "我喜欢", "我的习惯",
	"我习惯", "我偏好", "老样子", "照旧", "提醒我", "查一下记忆", "笔记里", "我们用的", "怎么解决的",
	"怎么处理的", "为什么当时", "当时",
	"前回", "この前", "以前に", "昨日", "覚えて", "決めた", "誰が", "いつ", "先週",
	"지난번", "지난주", "어제", "예전에", "전에", "기억", "누구", "언제",
};

/* Whole prompts after which nobody waits for memory. */
static const char *const small_talk[] = {
	"ok", "okay", "yes", "no", "y", "n", "thanks", "thank you", "thx", "hi",
	"hello", "hey", "go", "go on", "go ahead", "continue", "next", "stop",
	"done", "good", "great", "nice", "perfect", "lgtm", "sure", "please",
	"do it", "proceed", "good morning", "good night", "bye",
	"好", "好的", "是", "是的", "对", "不", "不是", "可以", "继续", "谢谢", "你好", "嗯", "行",
	"没问题", "收到", "开始", "停", "再见", "早", "早上好", "はい", "いいえ", "ありがとう",
	"네", "아니요", "감사합니다",
};

static bool is_word(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* A phrase at the borders of words, where it has any. */
static bool holds(const char *text, const char *phrase)
{
	size_t n = strlen(phrase);

	if (!n)
		return false;
	for (const char *s = text; (s = strstr(s, phrase)); s++) {
		bool head = s > text && is_word((unsigned char)s[-1]) &&
			    is_word((unsigned char)phrase[0]);
		bool tail = is_word((unsigned char)s[n]) &&
			    is_word((unsigned char)phrase[n - 1]);

		if (!head && !tail)
			return true;
	}
	return false;
}

/* Folded, without blanks and marks at its ends. */
static size_t fold_prompt(char out[PROMPT_BYTES * 2], const char *prompt,
			  size_t len)
{
	size_t n;
	char *s = out;

	n = term_fold(out, PROMPT_BYTES * 2 - 1, prompt,
		      utf8_cut(prompt, len, PROMPT_BYTES));
	for (size_t i = 0; i < n; i++)
		if (!out[i] || out[i] == '\n' || out[i] == '\t' ||
		    out[i] == '\r')
			out[i] = ' ';
	while (n && strchr(" .!?,~", s[0])) {
		s++;
		n--;
	}
	while (n && strchr(" .!?,~", s[n - 1]))
		n--;
	memmove(out, s, n);
	out[n] = '\0';
	while (n >= 3 && (!memcmp(out + n - 3, "。", 3) ||
			  !memcmp(out + n - 3, "，", 3)))
		out[n -= 3] = '\0';
	return n;
}

enum recall_intent recall_intent(const char *prompt, size_t len)
{
	char text[PROMPT_BYTES * 2];
	size_t n = fold_prompt(text, prompt, len);

	if (!n || text[0] == '/')
		return RECALL_NOT;
	for (size_t i = 0; i < ARRAY_LEN(small_talk); i++)
		if (!strcmp(text, small_talk[i]))
			return RECALL_NOT;
	for (size_t i = 0; i < ARRAY_LEN(cues); i++)
		if (holds(text, cues[i]))
			return RECALL_ASKED;
	/* A word or two names nothing that could be looked for. */
	return utf8_count(text, n) < 5 ? RECALL_NOT : RECALL_MAYBE;
}

/* ---- triggers --------------------------------------------------------- */

static double score_of(const char *prompt, char *trigger)
{
	int words = 0, found = 0;
	char *rest = trigger;

	if (holds(prompt, trigger))
		return strchr(trigger, ' ') ? 1 : ONE_WORD;
	if (!strchr(trigger, ' '))
		return 0;
	for (char *word; (word = strtok_r(rest, " ", &rest));) {
		words++;
		found += holds(prompt, word);
	}
	if (!words)
		return 0;
	return OVERLAP_SHARE * found / words +
	       OVERLAP_BONUS * (found >= 2 ? 1 : found / 2.0);
}

static double best_trigger(const char *prompt, const char *triggers)
{
	double best = 0;

	for (int i = 0; i < TRIGGERS_MAX && *triggers; i++) {
		size_t n = strcspn(triggers, ",");
		size_t lead = strspn(triggers, " ");
		char folded[TRIGGER_BYTES * 2];
		size_t m = 0;

		if (lead < n && n - lead <= TRIGGER_BYTES)
			m = term_fold(folded, sizeof(folded) - 1,
				      triggers + lead, n - lead);
		while (m && folded[m - 1] == ' ')
			m--;
		folded[m] = '\0';
		if (m) {
			double s = score_of(prompt, folded);

			best = s > best ? s : best;
		}
		triggers += n + (triggers[n] == ',');
	}
	return best * TRIGGER_SHARE;
}

struct recall {
	struct recall_entry *out;
	int max, count;
	struct arena *a;
	const char *prompt; /* folded */
};

static void keep(struct recall *r, const struct recall_entry *e)
{
	int at = r->count;

	while (at && r->out[at - 1].score < e->score)
		at--;
	if (at >= r->max)
		return;
	if (r->count < r->max)
		r->count++;
	memmove(r->out + at + 1, r->out + at,
		(size_t)(r->count - 1 - at) * sizeof(*e));
	r->out[at] = *e;
}

static void look_at(struct recall *r, const char *path, const struct note *n,
		    const struct chunk *k)
{
	const struct passage *first = &n->passages[k->passage_first];
	const struct passage *last = first + k->passage_count - 1;
	const struct annotations *ann = NULL;
	struct recall_entry e = { .path = path };

	for (const struct passage *p = first; p <= last; p++)
		ann = p->ann ? p->ann : ann;
	if (!ann || !ann->triggers ||
	    (ann->status && !strcmp(ann->status, "superseded")))
		return;
	e.text = n->text + first->start;
	e.len = last->end - first->start;
	e.lines = note_lines(n, first->start, last->end, &e.lines_len);
	e.line_first = first->line_first;
	e.line_last = last->line_last;
	e.score = best_trigger(r->prompt, ann->triggers);
	if (e.score >= RECALL_STRONG && !text_suspect(e.text, e.len))
		keep(r, &e);
}

static void look_into(struct recall *r, const char *path,
		      const struct source_opts *source,
		      const struct note_opts *note)
{
	struct buf b = BUF_INIT(NOTE_BYTES);
	struct note_opts opts = *note;
	const char *shown;
	struct note n;
	int fd;

	if (source_open_path(&fd, r->a, source, path, &shown, NULL))
		return;
	opts.curated = true;
	if (!file_read_fd(&b, fd, shown, NULL) &&
	    !note_parse(&n, r->a, buf_str(&b), b.len, &opts, NULL))
		for (int i = 0; i < n.chunk_count; i++)
			if (n.chunks[i].passage_count)
				look_at(r, shown, &n, &n.chunks[i]);
	close(fd);
	buf_release(&b);
}

int recall_triggers(struct recall_entry *out, int max, int *count,
		    struct arena *a, const struct source_opts *source,
		    const struct note_opts *note, const char *prompt,
		    size_t len, struct remem_err *err)
{
	char text[PROMPT_BYTES * 2];
	struct recall r = { out, max, 0, a, text };

	fold_prompt(text, prompt, len);
	look_into(&r, "MEMORY.md", source, note);
	look_into(&r, "USER.md", source, note);
	*count = r.count;
	return a->failed ? fail_nomem(err) : 0;
}
