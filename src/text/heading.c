/*
 * Headings. A heading says nothing if it consists of dates, times, numbers
 * and signs alone: such headings ("Morning", "2026-03-01 周一") stand above
 * all kinds of things and make unlike passages alike when put before them.
 */
#include "text/heading.h"

#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "text/line.h"

#define EMPTY_MAX_BYTES 80 /* longer headings are sentences */

/* Whole words, in any case. */
static const char *const words[] = {
	"am",	     "pm",	 "a.m",	      "p.m",	  "utc",
	"gmt",	     "o'clock",	 "at",	      "on",	  "of",
	"the",	     "to",	 "early",     "late",	  "mid",
	"this",	     "today",	 "yesterday", "tomorrow", "tonight",
	"morning",   "forenoon", "noon",      "midday",	  "afternoon",
	"evening",   "night",	 "midnight",  "dawn",	  "dusk",
	"monday",    "tuesday",	 "wednesday", "thursday", "friday",
	"saturday",  "sunday",	 "mon",	      "tue",	  "tues",
	"wed",	     "thu",	 "thur",      "thurs",	  "fri",
	"sat",	     "sun",	 "january",   "february", "march",
	"april",     "may",	 "june",      "july",	  "august",
	"september", "october",	 "november",  "december", "jan",
	"feb",	     "mar",	 "apr",	      "jun",	  "jul",
	"aug",	     "sep",	 "sept",      "oct",	  "nov",
	"dec",	     "st",	 "nd",	      "rd",	  "th",
};

/* Units: only right behind a number. */
static const char *const units[] = {
	"年", "月", "日", "号",	  "號", "点", "點", "时", "時", "分",
	"秒", "半", "整", "年度", "刻", "년", "월", "일", "시", "분",
};

/* Words of scripts without spaces, wherever they stand. */
static const char *const runs[] = {
	"早上",	  "早晨",   "清晨",   "清早",	"凌晨",	  "上午",   "中午",
	"正午",	  "午前",   "午后",   "午後",	"下午",	  "傍晚",   "晚上",
	"晚间",	  "晚間",   "夜里",   "夜裡",	"夜间",	  "夜間",   "深夜",
	"半夜",	  "午夜",   "今天",   "今日",	"昨天",	  "昨日",   "明天",
	"今晚",	  "昨晚",   "今早",   "星期",	"礼拜",	  "禮拜",   "曜日",
	"朝",	  "昼",	    "夕方",   "夜",	"오전",	  "오후",   "아침",
	"저녁",	  "밤",	    "정오",   "월요일", "화요일", "수요일", "목요일",
	"금요일", "토요일", "일요일",
};

static const char *const numerals[] = {
	"一", "二", "三", "四", "五", "六", "七", "八", "九", "十",
	"〇", "零", "廿", "两", "兩", "百", "千", "初", "第",
};

/* Days as they follow 周, 週, 星期; and those of the Japanese week. */
static const char *const days[] = {
	"一", "二", "三", "四", "五", "六", "日", "天", "末",
};

/* Bytes of the longest of the words that begins at s, 0 if none does. */
static size_t longest(const char *s, size_t len, const char *const *list,
		      size_t count)
{
	size_t best = 0;

	if (len < 3 || s[0] >= 0) /* the lists have no ASCII */
		return 0;
	for (size_t i = 0; i < count; i++) {
		size_t n;

		if (list[i][0] != s[0] || list[i][1] != s[1] ||
		    list[i][2] != s[2])
			continue;
		n = strlen(list[i]);
		if (n > best && n <= len && !memcmp(s, list[i], n))
			best = n;
	}
	return best;
}

#define LONGEST(s, len, list) longest(s, len, list, ARRAY_LEN(list))

/* 周一, 週日, 星期天, 金曜日. */
static size_t weekday_at(const char *s, size_t len)
{
	static const char *const week[] = { "周", "週", "星期", "礼拜",
					    "禮拜" };
	static const char *const stars[] = { "月", "火", "水", "木",
					     "金", "土", "日" };
	size_t n = LONGEST(s, len, week), m;

	if (n) {
		m = LONGEST(s + n, len - n, days);
		return m ? n + m : 0;
	}
	n = LONGEST(s, len, stars);
	if (n && bytes_at(s, n, len, "曜", 3))
		return n + (bytes_at(s, n, len, "曜日", 6) ? 6 : 3);
	/* (日) and the like, as Japanese dates have it. */
	if (n && bytes_at(s, n, len, "）", 3))
		return n + 3;
	return n && n < len && s[n] == ')' ? n + 1 : 0;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A word of ASCII letters that means a time; number: one stands before it. */
static size_t word_at(const char *s, size_t len, bool number)
{
	size_t n = 0;

	while (n < len &&
	       (is_letter(s[n]) || ((s[n] == '\'' || s[n] == '.') &&
				    n + 1 < len && is_letter(s[n + 1]))))
		n++;
	if (n == 1 && number && strchr("hHtTzZ", s[0]))
		return 1;
	if (n == 1 && (s[0] == 'T' || s[0] == 'W') && len > 1 &&
	    byte_digit(s[1]))
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strlen(words[i]) == n && !strncasecmp(words[i], s, n))
			return n;
	}
	return 0;
}

static bool is_wide_digit(uint32_t cp)
{
	return cp >= 0xff10 && cp <= 0xff19;
}

bool heading_says_nothing(const char *s, size_t len)
{
	bool number = false;

	if (len > EMPTY_MAX_BYTES)
		return false;
	for (size_t i = 0, n; i < len; i += n) {
		uint32_t cp;

		if (is_letter(s[i])) {
			n = word_at(s + i, len - i, number);
			number = false;
			if (!n)
				return false;
			continue;
		}
		if ((n = weekday_at(s + i, len - i)) ||
		    (n = LONGEST(s + i, len - i, runs))) {
			number = false;
			continue;
		}
		if (number && (n = LONGEST(s + i, len - i, units)))
			continue;
		if ((n = LONGEST(s + i, len - i, numerals))) {
			number = true;
			continue;
		}
		n = (size_t)utf8_decode(&cp, s + i, len - i);
		if (byte_digit(s[i]) || is_wide_digit(cp)) {
			number = true;
			continue;
		}
		if (script_of(cp) != SCRIPT_NONE)
			return false;
		if (!byte_blank(s[i]))
			number = false;
	}
	return true;
}

/*
 * Inline marks: what is dropped at i, and for links what is kept of them.
 * Writes to out and returns the bytes read, 0 if there is no mark at i.
 */
static size_t take_mark(char *out, size_t *n, const char *s, size_t i,
			size_t len)
{
	size_t j, k;

	if (strchr("*`", s[i]) && s[i])
		return 1;
	if (bytes_at(s, i, len, "~~", 2) || bytes_at(s, i, len, "==", 2) ||
	    bytes_at(s, i, len, "__", 2))
		return 2;
	if (bytes_at(s, i, len, "<!--", 4)) {
		for (j = i + 4; j < len; j++) {
			if (bytes_at(s, j, len, "-->", 3))
				return j + 3 - i;
		}
		return 0;
	}
	if (bytes_at(s, i, len, "[[", 2)) {
		size_t from = i + 2;

		for (j = from; j < len && s[j] != ']'; j++) {
			if (s[j] == '|')
				from = j + 1;
		}
		if (!bytes_at(s, j, len, "]]", 2))
			return 0;
		memcpy(out + *n, s + from, j - from);
		*n += j - from;
		return j + 2 - i;
	}
	if (s[i] != '[')
		return 0;
	for (j = i + 1; j < len && s[j] != ']' && s[j] != '['; j++)
		;
	if (!bytes_at(s, j, len, "](", 2))
		return 0;
	for (k = j + 2; k < len && s[k] != ')'; k++)
		;
	if (k == len)
		return 0;
	memcpy(out + *n, s + i + 1, j - i - 1);
	*n += j - i - 1;
	return k + 1 - i;
}

static bool has_marks(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] && strchr("*`~=_<[", s[i]))
			return true;
	}
	return false;
}

void heading_set(struct heading *h, struct arena *a, const char *raw,
		 size_t len)
{
	size_t n = 0, from;
	char *out;

	len = utf8_cut(raw, len, HEADING_MAX_BYTES);
	if (has_marks(raw, len)) {
		out = arena_alloc(a, len + 1);
		if (!out)
			return;
		for (size_t i = 0; i < len;) {
			size_t m = take_mark(out, &n, raw, i, len);

			if (!m)
				out[n++] = raw[i++];
			i += m;
		}
		raw = out;
		len = n;
	}
	from = skip_blank(raw, 0, len);
	h->text = raw + from;
	h->len = trim_blank(raw, from, len) - from;
	h->empty_word = heading_says_nothing(h->text, h->len);
}

const char *note_heading_path(struct arena *a, const struct note *n,
			      int heading)
{
	const char *path = "";
	int steps = 0;

	for (int i = heading; i >= 0 && steps < 6; i = n->headings[i].parent) {
		const struct heading *h = &n->headings[i];

		path = arena_printf(a, steps ? "%.*s > %s" : "%.*s%s",
				    (int)h->len, h->text, path);
		if (!path)
			return NULL;
		steps++;
	}
	return path;
}
