/*
 * remem_traits(): one digest over everything that decides what a handle
 * answers. Values are taken as they were written, with what they refer to in
 * the environment; secrets go into the digest and nowhere else.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/hash.h"
#include "source/transcript_format.h"

static void add(struct buf *b, const char *text)
{
	buf_adds(b, text ? text : "\1");
	buf_addc(b, '\n');
}

static bool add_value(struct buf *b, const struct settings *s, int row)
{
	const struct setting_value *v = &s->values[row];
	bool refers = v->text && strstr(v->text, "${");

	if (v->source == FROM_DEFAULT)
		return false;
	buf_addf(b, "%d %d %d\n", row, (int)v->source, (int)v->expand);
	add(b, v->text);
	for (int i = 0; i < v->count; i++) {
		const char *text = v->items[i].text;

		add(b, text);
		add(b, v->items[i].name);
		refers = refers || (text && strstr(text, "${"));
	}
	return refers;
}

/* Of the files of settings: what {file: …} and the like say is not taken in. */
static void add_stamp(struct buf *b, const char *path)
{
	struct stat st = { 0 };

	if (path && !stat(path, &st))
		buf_addf(b, "%llu %lld %lld %ld\n",
			 (unsigned long long)st.st_ino, (long long)st.st_size,
			 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	else
		add(b, NULL);
}

/* Where a host keeps its transcripts. */
static bool moves_a_host(const char *var)
{
	for (int i = 0; transcript_row(i); i++) {
		const struct transcript_place *p = transcript_row(i)->places;

		for (; p && p->home_sub; p++) {
			size_t n = p->env ? strlen(p->env) : 0;

			if (n && !strncmp(var, p->env, n) && var[n] == '=')
				return true;
		}
	}
	return false;
}

/* Variables that count whatever the settings say. */
static bool is_ours(const char *var)
{
	static const char *const names[] = { "REMEM_", "XDG_", "HOME=", "TZ=" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strncmp(var, names[i], strlen(names[i])))
			return true;
	return moves_a_host(var);
}

/* Whether something is looked up from the current folder: another process
 * stands elsewhere. */
static bool needs_folder(const struct settings *s)
{
	const char *model = settings_str(s, "memorySearch.builtin.modelPath");

	for (int i = 0; i < setting_count(); i++)
		if (s->values[i].ref)
			return true;
	return model[0] && model[0] != '/' && model[0] != '~';
}

static void add_folder(struct buf *b)
{
	char space[4096];

	add(b, getcwd(space, sizeof(space)));
}

static void add_all(struct buf *b, const struct remem *r)
{
	bool refers = false;
	int rows = setting_count();
	struct buf own = BUF_INIT(0);

	add(b, r->workspace);
	add(b, r->agent);
	add(b, r->program);
	add(b, r->config_file);
	add_stamp(b, r->config_file);
	buf_addf(&own, "%s/remem.yaml", r->workspace);
	add_stamp(b, buf_str(&own));
	buf_release(&own);
	buf_addf(b, "%d %d %lld\n", r->read_only, r->trusted,
		 (long long)r->now_ms);
	for (int i = 0; i < rows; i++)
		refers |= add_value(b, &r->settings, i);
	if (needs_folder(&r->settings))
		add_folder(b);
	for (size_t i = 0; r->env.vars && r->env.vars[i]; i++)
		if (refers || is_ours(r->env.vars[i]))
			add(b, r->env.vars[i]);
}

PUBLIC int remem_traits(struct remem *r, struct remem_traits *traits,
			struct remem_err *err)
{
	const struct settings *s = &r->settings;
	struct remem_traits t = { .size = traits->size };
	unsigned char hash[SHA256_BYTES];
	struct buf b = BUF_INIT(0);
	int rc;

	if (traits->size < sizeof(size_t) || traits->size > sizeof(t))
		return fail(err, REMEM_EINVAL, "traits of no known size");
	add_all(&b, r);
	rc = buf_check(&b, err);
	sha256_of(hash, buf_str(&b), b.len);
	buf_release(&b);
	hex_encode(t.identity, hash, sizeof(hash));
	t.read_only = r->read_only;
	t.text_only = handle_text_only(r);
	t.auto_start = settings_bool(s, "daemon.autoStart");
	t.idle_minutes = (int)settings_int(s, "daemon.idleMinutes");
	if (!rc)
		memcpy(traits, &t, t.size);
	return rc;
}
