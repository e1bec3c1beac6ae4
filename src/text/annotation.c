/* Annotations in trailing comments: key: value; key: value | key: value. */
#include "text/annotation.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "text/line.h"

enum key {
	KEY_NONE,
	KEY_TRIGGER,
	KEY_IMPORTANCE,
	KEY_PROJECT,
	KEY_OBSERVED,
	KEY_STATUS,
	KEY_SOURCE,
	KEY_ORIGIN
};

static const struct {
	const char *name;
	enum key key;
} keys[] = {
	{ "trigger", KEY_TRIGGER },	  { "triggers", KEY_TRIGGER },
	{ "importance", KEY_IMPORTANCE }, { "project", KEY_PROJECT },
	{ "observed", KEY_OBSERVED },	  { "status", KEY_STATUS },
	{ "origin", KEY_ORIGIN },	  { "source", KEY_SOURCE },
};

/* Bytes of the separator at i: the sign, or its full-width form. */
static size_t sign_at(const char *t, size_t i, size_t end, char sign,
		      const char *wide)
{
	if (t[i] == sign)
		return 1;
	return bytes_at(t, i, end, wide, 3) ? 3 : 0;
}

/* Between parts: ours, and the one OpenClaw writes. */
static size_t separator_at(const char *t, size_t i, size_t end)
{
	size_t n = sign_at(t, i, end, ';', "；");

	return n ? n : sign_at(t, i, end, '|', "｜");
}

/* Key that a part begins with; *value where its value begins. */
static enum key read_key(const char *t, size_t start, size_t end, size_t *value)
{
	size_t from = skip_blank(t, start, end), i = from, n = 0, to;

	while (i < end && !(n = sign_at(t, i, end, ':', "：")))
		i++;
	to = trim_blank(t, from, i);
	for (size_t k = 0; n && k < ARRAY_LEN(keys); k++) {
		if (strlen(keys[k].name) == to - from &&
		    !strncasecmp(keys[k].name, t + from, to - from)) {
			*value = i + n;
			return keys[k].key;
		}
	}
	*value = start;
	return KEY_NONE;
}

static int read_importance(const char *s, size_t len)
{
	if (len == 2 && s[0] == '1' && s[1] == '0')
		return 10;
	return len == 1 && s[0] >= '1' && s[0] <= '9' ? s[0] - '0' : 0;
}

/* Sets a string, or puts ", more" behind what is there. */
static void add_string(const char **out, struct arena *a, const char *s,
		       size_t len)
{
	if (!*out)
		*out = arena_strndup(a, s, len);
	else
		*out = arena_printf(a, "%s, %.*s", *out, (int)len, s);
}

static void take_part(struct annotations *ann, struct arena *a, enum key key,
		      const char *s, size_t len)
{
	int32_t date;

	if (!len)
		return;
	switch (key) {
	case KEY_TRIGGER:
		add_string(&ann->triggers, a, s, len);
		break;
	case KEY_PROJECT:
		add_string(&ann->project, a, s, len);
		break;
	case KEY_STATUS:
		ann->status = arena_strndup(a, s, len);
		break;
	case KEY_SOURCE:
		ann->source = arena_strndup(a, s, len);
		break;
	case KEY_IMPORTANCE:
		ann->importance = read_importance(s, len);
		break;
	case KEY_OBSERVED:
		if (len >= 10 && date_parse(&date, s, 10))
			ann->observed = date;
		break;
	case KEY_ORIGIN: /* known apart from the text */
	case KEY_NONE:
		break;
	}
}

/* Reads the inside of one comment; false if it has no known key in front. */
static bool read_comment(struct annotations *ann, struct arena *a,
			 const char *t, size_t start, size_t end)
{
	size_t value;
	enum key key = read_key(t, start, end, &value);

	if (key == KEY_NONE)
		return false;
	while (start < end) {
		size_t i = start, n = 0, from;
		enum key next;

		while (i < end && !(n = separator_at(t, i, end)))
			i++;
		next = read_key(t, start, i, &value);
		if (next != KEY_NONE)
			key = next;
		from = skip_blank(t, value, i);
		take_part(ann, a, key, t + from, trim_blank(t, from, i) - from);
		start = i + n;
	}
	return true;
}

/* Where the comment that ends at end begins, or end. */
static size_t comment_start(const char *t, size_t start, size_t end)
{
	size_t low = start, i = end - 3;

	if (end - start > ANNOTATION_MAX_BYTES)
		low = end - ANNOTATION_MAX_BYTES;
	while (i >= low + 4) {
		i--;
		if (t[i] == '>' && bytes_at(t, i - 2, end, "-->", 3))
			return end;
		if (t[i - 3] == '<' && bytes_at(t, i - 3, end, "<!--", 4))
			return i - 3;
	}
	return end;
}

const struct annotations *annotation_take(struct arena *a, const char *text,
					  size_t start, size_t *end)
{
	struct annotations *ann = NULL, one;
	size_t e = trim_blank(text, start, *end);

	while (e - start >= 7 && text[e - 1] == '>' &&
	       bytes_at(text, e - 3, e, "-->", 3)) {
		size_t from = comment_start(text, start, e);

		if (from == e)
			break;
		one = ann ? *ann
			  : (struct annotations){ .observed = DATE_NONE };
		if (!read_comment(&one, a, text, from + 4, e - 3))
			break;
		if (!ann)
			ann = ARENA_NEW(a, struct annotations);
		if (!ann)
			return NULL;
		*ann = one;
		e = *end = trim_blank(text, start, from);
	}
	return ann;
}
