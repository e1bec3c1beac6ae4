/*
 * remem_get(): lines of a file, read as a stream, so that neither a huge file
 * nor a huge line costs memory. Bytes become text as for the index: a byte
 * order mark is dropped, UTF-16 with one is understood, CR before LF is not
 * part of a line, and bad bytes become U+FFFD.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/as_of.h"
#include "api/lines.h"
#include "api/public.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "source/sessions.h"
#include "text/window.h"

#define BAD_CHAR "\xef\xbf\xbd"

struct get {
	struct remem *r;
	struct arena a;
	const char *path; /* as asked for, then as shown */
	int fd;
	struct lines lines;
	struct buf text;
	bool not_found;
	const char *real; /* the last name that is shown as path */
	int matches;
	bool counted; /* the caller said how many lines */
};

/* The address's own range, unless the options say otherwise. */
static int take_range(struct get *g, const char *address,
		      const struct remem_get_opts *o, struct remem_err *err)
{
	const struct settings *s = &g->r->settings;
	int first, last;

	if (o->from < 0 || o->lines < 0 || o->max_chars < 0 || o->offset < 0)
		return fail(err, REMEM_EINVAL,
			    "line numbers and limits should not be negative");
	citation_parse(&g->a, address, &g->path, &first, &last);
	if (g->a.failed)
		return fail_nomem(err);
	if (!g->path || !g->path[0])
		return fail(err, REMEM_EINVAL, "the path is empty");
	/* A citation of one line means that line, "path:from" what follows. */
	if (first && !last && address[strlen(g->path)] == '#')
		last = first;
	g->lines.from = o->from ? o->from : first ? first : 1;
	g->lines.count = o->lines ? o->lines :
		(int)settings_int(s, "contextLimits.memoryGetDefaultLines");
	g->counted = o->lines || (first && last >= first && !o->from);
	if (!o->lines && g->counted)
		g->lines.count = last - first + 1;
	g->lines.offset = o->offset;
	g->lines.max_chars = o->max_chars ? o->max_chars :
		(int)settings_int(s, "contextLimits.memoryGetMaxChars");
	return 0;
}

/* Whether answers show the name as what was asked for: their bad bytes are
 * U+FFFD. */
static bool shown_as(const char *name, const char *asked)
{
	size_t n = strlen(name), m = strlen(asked);

	while (n && m) {
		uint32_t x, y;
		size_t a = (size_t)utf8_decode(&x, name, n);
		size_t b = (size_t)utf8_decode(&y, asked, m);

		if (x != y)
			return false;
		name += a;
		n -= a;
		asked += b;
		m -= b;
	}
	return !n && !m;
}

static int match_name(void *ctx, const struct store_file *f)
{
	struct get *g = ctx;

	if (!shown_as(f->path, g->path))
		return 0;
	g->matches++;
	g->real = arena_strdup(&g->a, f->path);
	return g->real ? 0 : REMEM_ENOMEM;
}

/* A citation of a file whose name is not UTF-8 leads to it, if to no other.
 * The path to open, NULL if there is none. */
static const char *real_name(struct get *g)
{
	struct remem *r = g->r;

	if (!strstr(g->path, BAD_CHAR) || handle_reader(r, NULL) ||
	    r->ops->files_each(r->store, match_name, g, NULL))
		return NULL;
	return g->matches == 1 ? g->real : NULL;
}

/* A transcript by its stable name: the very lines of its file. Only what is
 * found where transcripts are looked for, and held in this project. */
static int open_talk(struct get *g, int not_found)
{
	const struct session_opts *o = g->r->source.sessions;
	const struct session_file *f;
	struct session_list l;
	const char *session;
	size_t at = 0;
	int rc;

	if (!o || !session_is_name(g->path) || sessions_find(&l, &g->a, o,
							     NULL))
		return not_found;
	while ((f = session_by_name(&l, g->path, &session, &at))) {
		struct transcript_opts to = { .format = f->format,
					      .session = session };
		struct transcript *t;

		rc = transcript_open(&t, f->path, &to, NULL);
		if (rc == REMEM_ENOTFOUND)
			continue; /* a store without it */
		if (rc)
			return rc;
		rc = session_in_scope(o, f, transcript_info(t)) ?
			transcript_raw(&g->fd, t, NULL) : REMEM_ENOTFOUND;
		transcript_close(t);
		return rc;
	}
	return REMEM_ENOTFOUND;
}

static int open_file(struct get *g, struct remem_err *err)
{
	struct remem_err why = { 0 };
	struct stat st;
	const char *shown = NULL;
	int rc = source_open_path(&g->fd, &g->a, &g->r->source, g->path, &shown,
				  &why);

	if (rc == REMEM_ENOTFOUND || rc == REMEM_EPERM)
		rc = open_talk(g, rc);
	if (rc == REMEM_ENOTFOUND && real_name(g))
		rc = source_open_path(&g->fd, &g->a, &g->r->source, g->real,
				      &shown, &why);
	if (shown)
		g->path = shown;
	if (rc == REMEM_ENOTFOUND) {
		g->not_found = true;
		return 0;
	}
	if (rc) {
		if (err)
			*err = why;
		return rc;
	}
	if (fstat(g->fd, &st))
		return fail_errno(err, REMEM_EIO, errno, "cannot read '%s'",
				  g->path);
	if (!S_ISREG(st.st_mode))
		return fail(err, REMEM_EINVAL, "'%s' is not a file", g->path);
	return 0;
}

static const char *message(struct get *g)
{
	const struct lines *l = &g->lines;

	if (g->not_found)
		return arena_printf(&g->a, "there is no '%s'", g->path);
	if (l->at_end && !l->total)
		return "the file is empty";
	if (l->at_end && l->from > l->total)
		return arena_printf(&g->a, "the file ends with line %lld",
				    (long long)l->total);
	if (l->truncated && l->next_offset)
		return arena_printf(&g->a, "cut inside line %lld; go on with "
				    "from %lld, offset %lld",
				    (long long)l->next_from,
				    (long long)l->next_from,
				    (long long)l->next_offset);
	/* Who asked for some lines and got them knows that there are more. */
	if (l->truncated && !(g->counted && l->given == l->count))
		return arena_printf(&g->a, "there are more lines; go on with "
				    "from %lld", (long long)l->next_from);
	return NULL;
}

static void put_int_or_null(struct json *j, const char *key, bool known,
			    int64_t v)
{
	if (known)
		json_kint(j, key, v);
	else
		json_knull(j, key);
}

static int give(char **out, struct get *g, struct remem_err *err)
{
	const struct lines *l = &g->lines;
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "status", g->not_found ? "not_found" : "ok");
	json_kstr(&j, "path", g->path);
	json_kint(&j, "from", l->from);
	put_int_or_null(&j, "to", l->given > 0, l->from + l->given - 1);
	json_kint(&j, "lines", l->given);
	json_key(&j, "text");
	json_put_strn(&j, buf_str(&g->text), g->text.len);
	json_kbool(&j, "truncated", l->truncated);
	put_int_or_null(&j, "nextFrom", l->truncated, l->next_from);
	put_int_or_null(&j, "nextOffset", l->truncated && l->next_offset,
			l->next_offset);
	put_int_or_null(&j, "totalLines", l->at_end && !g->not_found,
			l->total);
	json_kstr(&j, "message", message(g));
	json_end(&j);
	rc = g->a.failed ? fail_nomem(err) : json_give(out, &b, err);
	buf_release(&b);
	return rc;
}

static int get_as_of(struct remem *r, const char *address,
		     struct remem_get_opts *o, char **json,
		     struct remem_err *err)
{
	struct remem *then;
	int rc = as_of_open(&then, r, o->as_of, err);

	if (rc)
		return rc;
	o->as_of = NULL;
	o->size = sizeof(*o);
	rc = remem_get(then, address, o, json, err);
	remem_close(then);
	return rc;
}

PUBLIC int remem_get(struct remem *r, const char *address,
		     const struct remem_get_opts *opts, char **json,
		     struct remem_err *err)
{
	struct get g = { .r = r, .a = ARENA_INIT, .fd = -1,
			 .text = BUF_INIT(0) };
	struct remem_get_opts o;
	int rc;

	*json = NULL;
	if ((rc = opts_take(&o, sizeof(o), opts, err)))
		return rc;
	if (o.as_of)
		return get_as_of(r, address, &o, json, err);
	if (!(rc = take_range(&g, address ? address : "", &o, err)) &&
	    !(rc = open_file(&g, err)) && !g.not_found)
		rc = lines_read(&g.lines, &g.text, g.fd, g.path, err);
	if (!rc)
		rc = give(json, &g, err);
	if (g.fd >= 0)
		close(g.fd);
	buf_release(&g.text);
	arena_release(&g.a);
	return rc;
}
