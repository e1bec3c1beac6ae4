/* Ignore files: one array of rules a folder, tried from its end. */
#include "source/ignore.h"

#include <string.h>

#include "base/path.h"

struct rule {
	const char *pattern, *from;
	bool takes_back, folders_only;
	bool tied; /* matched against the path below the base, else the name */
	bool literal; /* no *, ?, [ or \ in it */
};

struct ignore {
	const struct ignore *above;
	size_t base_len;
	struct rule *rules;
	size_t count, cap;
};

struct ignore *ignore_new(struct arena *a, const struct ignore *above,
			  const char *base)
{
	struct ignore *ig = ARENA_NEW(a, struct ignore);

	if (ig) {
		ig->above = above;
		ig->base_len = strlen(base);
	}
	return ig;
}

/* Blanks at the end do not count unless a backslash stands before them. */
static size_t without_blanks(const char *s, size_t len)
{
	while (len && (s[len - 1] == ' ' || s[len - 1] == '\t')) {
		size_t slashes = 0;

		while (slashes + 1 < len && s[len - 2 - slashes] == '\\')
			slashes++;
		if (slashes % 2)
			break;
		len--;
	}
	return len;
}

static bool parse_rule(struct rule *r, struct arena *a, const char *s,
		       size_t len)
{
	*r = (struct rule){ NULL, NULL, false, false, false, false };
	if (len && s[len - 1] == '\r')
		len--;
	len = without_blanks(s, len);
	if (!len || s[0] == '#' || memchr(s, '\0', len))
		return false;
	if (s[0] == '!') {
		r->takes_back = true;
		s++, len--;
	}
	while (len && s[len - 1] == '/') {
		r->folders_only = true;
		len--;
	}
	r->tied = len && memchr(s, '/', len);
	while (len && s[0] == '/')
		s++, len--;
	if (!len)
		return false;
	r->pattern = arena_strndup(a, s, len);
	if (!r->pattern)
		return false;
	r->literal = !strpbrk(r->pattern, "*?[\\");
	return true;
}

void ignore_add(struct ignore *ig, struct arena *a, const char *name,
		const char *text, size_t len)
{
	const char *end = text + len;

	if (!ig)
		return;
	name = arena_strdup(a, name);
	if (len >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3))
		text += 3;
	while (text < end && ig->count < IGNORE_MAX_RULES && !a->failed) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		const char *stop = nl ? nl : end;
		struct rule r;

		if (parse_rule(&r, a, text, (size_t)(stop - text))) {
			ig->rules = arena_grow(a, ig->rules, &ig->cap,
					       ig->count + 1, sizeof(r));
			if (!ig->rules) {
				ig->count = 0;
				return;
			}
			r.from = name;
			ig->rules[ig->count++] = r;
		}
		text = stop + (nl != NULL);
	}
}

static bool rule_matches(const struct rule *r, const char *path,
			 const char *name, bool is_folder)
{
	const char *subject = r->tied ? path : name;

	if (r->folders_only && !is_folder)
		return false;
	return r->literal ? !strcmp(r->pattern, subject) :
			    path_glob(r->pattern, subject);
}

const char *ignore_match(const struct ignore *ig, const char *path,
			 bool is_folder)
{
	const char *name = path_base(path);

	for (; ig; ig = ig->above)
		for (size_t i = ig->count; i-- > 0;)
			if (rule_matches(&ig->rules[i], path + ig->base_len,
					 name, is_folder))
				return ig->rules[i].takes_back ?
				       NULL : ig->rules[i].from;
	return NULL;
}
