/*
 * memory_store, as OpenClaw's LanceDB plugin has it: a category stands before
 * the text, [SCOPE:slug] at its beginning names the project.
 */
#include <math.h>
#include <string.h>

#include "mcp/add.h"

#define TEXT_MAX 20000
#define SCOPE "[SCOPE:"

static const struct param params[] = {
	{ "text", PARAM_TEXT, true, 0, TEXT_MAX, NULL, "What to remember." },
	{ "importance", PARAM_NUM, false, 0, 1, NULL,
	  "0 to 1; 0.7 if left out." },
	{ "category", PARAM_CHOICE, false, 0, 0,
	  "preference fact decision entity other", "What kind it is." },
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

static bool is_slug(const char *s, size_t len)
{
	static const char ok[] = "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	for (size_t i = 0; i < len; i++)
		if (!s[i] || !strchr(ok, s[i]))
			return false;
	return len > 0 && len <= 64;
}

/* Takes the scope off the beginning of the text. */
static int take_scope(const char **project, const char **text, size_t *len,
		      struct arena *a, struct remem_err *err)
{
	size_t n = sizeof(SCOPE) - 1, end;
	const char *s = *text, *close;

	if (*len < n || memcmp(s, SCOPE, n))
		return 0;
	close = memchr(s, ']', *len);
	if (!close || !is_slug(s + n, (size_t)(close - s) - n))
		return fail(err, REMEM_EINVAL, "'[SCOPE:…]' should name a "
			    "scope of letters, digits, _ and -");
	*project = arena_strndup(a, s + n, (size_t)(close - s) - n);
	end = (size_t)(close - s) + 1;
	end += strspn(s + end, " \t\r\n");
	if (end >= *len)
		return fail(err, REMEM_EINVAL, "there is no text behind the "
			    "scope");
	*text += end;
	*len -= end;
	return *project ? 0 : fail_nomem(err);
}

static int answer(struct call *c, const char *json, struct remem_err *err)
{
	yyjson_doc *doc;
	yyjson_val *root;
	bool known;
	int rc = json_read_verbatim(&doc, json, strlen(json), "answer", err);

	if (rc)
		return rc;
	root = yyjson_doc_get_root(doc);
	known = json_bool(root, "duplicate", false);
	json_obj(&c->j);
	json_kstr(&c->j, "action", known ? "duplicate" : "created");
	json_kstr(&c->j, "id", json_str(root, "citation", ""));
	json_kstr(&c->j, "text", json_str(root, "text", ""));
	json_end(&c->j);
	yyjson_doc_free(doc);
	return 0;
}

static int run(struct call *c, struct remem_err *err)
{
	const char *category = arg_word(c, "category");
	struct remem_append_opts o;
	struct buf b = BUF_INIT(0);
	size_t len;
	const char *text = arg_text(c, "text", &len);
	char *json = NULL;
	int rc;

	add_begin(c, &o);
	o.importance = (int)lround(arg_num(c, "importance", .7) * 10);
	if (o.importance < 1)
		o.importance = 1;
	if ((rc = take_scope(&o.project, &text, &len, &c->a, err)))
		return rc;
	if (category && strcmp(category, "other"))
		buf_addf(&b, "[%s] ", category);
	buf_add(&b, text, len);
	if (!(rc = buf_check(&b, err)))
		rc = remem_append(c->r, buf_str(&b), b.len, &o, &json, err);
	if (!rc)
		rc = answer(c, json, err);
	buf_release(&b);
	remem_free(json);
	return rc;
}

const struct tool tool_lancedb_store = {
	.name = "memory_store",
	.title = "Store",
	.help = "Keep something in long-term memory: a preference, a fact, a "
		"decision. Never for secrets.",
	.params = params,
	.writes = true,
	.run = run,
};
