/* Folders, sources and the open index of a handle. */
#include "api/batch.h"

#include <string.h>

#include "base/path.h"
#include "source/sessions.h"
#include "store/state.h"
#include "text/term.h"

int handle_id(struct remem *r, bool create, struct remem_err *err)
{
	int rc;

	create = create && !r->read_only;
	/* Writing it down once is also what notes that the folder has moved. */
	if (r->state_base && (!r->id[0] || (create && !r->id_written))) {
		struct remem_err why = { 0 };

		r->id_written = create;
		rc = state_find(r->id, r->state_base, r->workspace,
				create, &why);
		if (rc) {
			r->id[0] = '\0';
			if (rc != REMEM_ENOTFOUND || create) {
				if (err)
					*err = why;
				return rc;
			}
		}
	}
	if (!r->id[0] || r->index_dir)
		return 0;
	if (!r->cache_base) {
		fail(err, REMEM_ENOTFOUND, "there is no home folder for the "
		     "index");
		fail_action(err, "set HOME or XDG_CACHE_HOME");
		return REMEM_ENOTFOUND;
	}
	r->index_dir = r->agent[0] ?
		arena_printf(&r->a, "%s/%s/agent-%s", r->cache_base, r->id,
			     r->agent) :
		arena_printf(&r->a, "%s/%s", r->cache_base, r->id);
	return r->index_dir ? 0 : fail_nomem(err);
}

static int fill_extra(struct remem *r, struct source_extra **out,
		      int *count, const struct setting_value *v,
		      struct remem_err *err)
{
	struct source_extra *extra;

	if (!v->count)
		return 0;
	extra = ARENA_ARRAY(&r->a, struct source_extra, (size_t)v->count);
	if (!extra)
		return fail_nomem(err);
	for (int i = 0; i < v->count; i++) {
		extra[i].path = path_expand(&r->a, v->items[i].text,
					    r->env.home);
		extra[i].pattern = v->items[i].name;
	}
	*out = extra;
	*count = v->count;
	return r->a.failed ? fail_nomem(err) : 0;
}

static int fill_hidden(struct remem *r, const struct setting_value *v,
		       struct remem_err *err)
{
	const char **names;

	if (!v->count)
		return 0;
	names = ARENA_ARRAY(&r->a, const char *, (size_t)v->count + 1);
	for (int i = 0; names && i < v->count; i++)
		names[i] = v->items[i].text;
	r->source.allow_hidden = names;
	return names ? 0 : fail_nomem(err);
}

static const char *session_env(void *ctx, const char *name)
{
	struct remem *r = ctx;

	return env_get(&r->env, name);
}

/* A workspace that is of one person and no project. */
static bool is_personal(const struct remem *r)
{
	static const char *const homes[] = { "/.remem", "/.openclaw/" };
	size_t n = r->env.home ? strlen(r->env.home) : 0;

	for (size_t i = 0; n && i < ARRAY_LEN(homes); i++)
		if (!strncmp(r->workspace, r->env.home, n) &&
		    !strncmp(r->workspace + n, homes[i], strlen(homes[i])))
			return true;
	return false;
}

static bool wants_sessions(const struct settings *s)
{
	const struct setting_value *v =
		settings_value(s, "memorySearch.sources");

	for (int i = 0; i < v->count; i++)
		if (!strcmp(v->items[i].text, "sessions"))
			return true;
	return false;
}

static void fill_wants(struct session_opts *o, const struct settings *s)
{
	o->want = TRANSCRIPT_WANT_TEXT;
	if (settings_bool(s, "memorySearch.sessions.toolOutput"))
		o->want |= TRANSCRIPT_WANT_CALLS | TRANSCRIPT_WANT_RESULTS;
	if (settings_bool(s, "memorySearch.sessions.systemPrompts"))
		o->want |= TRANSCRIPT_WANT_SYSTEM | TRANSCRIPT_WANT_COMPACTION;
	o->personal = settings_bool(s, "memorySearch.sessions.maskPersonal");
}

static int fill_sessions(struct remem *r, struct remem_err *err)
{
	const struct settings *s = &r->settings;
	const char *scope = settings_str(s, "memorySearch.sessions.scope");
	struct session_opts *o = ARENA_NEW(&r->a, struct session_opts);
	struct source_extra *extra = NULL;
	int rc;

	if (!o)
		return fail_nomem(err);
	if (!wants_sessions(s))
		return 0;
	o->home = r->env.home;
	o->env = session_env;
	o->env_ctx = r;
	o->agent = r->agent;
	fill_wants(o, s);
	if (!strcmp(scope, "project") ||
	    (!strcmp(scope, "auto") && !is_personal(r)))
		o->project = r->workspace;
	r->source.sessions = o;
	if ((rc = fill_extra(r, &extra, &o->extra_count,
			     settings_value(s, "memorySearch.sessions.paths"),
			     err)))
		return rc;
	for (int i = 0; i < o->extra_count; i++)
		if (extra[i].path[0] != '/')
			extra[i].path = path_join(&r->a, r->workspace,
						  extra[i].path);
	o->extra = extra;
	return r->a.failed ? fail_nomem(err) : 0;
}

static unsigned modality(const char *name)
{
	if (!strcmp(name, "all"))
		return SOURCE_IMAGE | SOURCE_SOUND;
	if (!strcmp(name, "image"))
		return SOURCE_IMAGE;
	return !strcmp(name, "audio") ? SOURCE_SOUND : 0;
}

static unsigned media_bits(const struct remem *r)
{
	const struct setting_value *v = settings_value(
		&r->settings, "memorySearch.multimodal.modalities");
	unsigned bits = 0;

	for (int i = 0; i < v->count; i++)
		bits |= modality(v->items[i].text);
	return bits;
}

/* Images and sound leave the machine: only where the user has asked for it,
 * and for the one provider alone. */
static void fill_media(struct remem *r)
{
	const struct settings *s = &r->settings;
	struct source_opts *o = &r->source;
	const char *model = settings_str(s, "memorySearch.model");
	const char *const *types = embed_media_of(
		settings_str(s, "memorySearch.provider"), model);
	int64_t max = settings_int(s, "memorySearch.multimodal.maxFileBytes");

	o->media = 0;
	o->media_why = NULL;
	if (!settings_bool(s, "memorySearch.multimodal.enabled"))
		return;
	o->media_types = types;
	o->media_max_bytes = max < EMBED_MEDIA_MAX ? max : EMBED_MEDIA_MAX;
	if (!types)
		o->media_why = "the provider takes no images and no sound: "
			       "gemini with the model gemini-embedding-2 does";
	else if (strcmp(settings_str(s, "memorySearch.fallback"), "none") != 0)
		o->media_why = "with memorySearch.fallback images and sound "
			       "are left out: another provider could not "
			       "answer for them";
	else
		o->media = media_bits(r);
	if (types && !o->media && !o->media_why)
		o->media_why = "memorySearch.multimodal.modalities names "
			       "neither image nor audio";
}

int handle_source(struct remem *r, struct remem_err *err)
{
	const struct settings *s = &r->settings;
	struct source_extra *extra = NULL;
	int rc;

	r->source.workspace = r->workspace;
	r->source.follow_links = settings_bool(s, "memorySearch.links.follow");
	r->source.max_file_bytes = settings_int(s, "memorySearch.maxFileBytes");
	if ((rc = fill_extra(r, &extra, &r->source.extra_count,
			     settings_value(s, "memorySearch.extraPaths"),
			     err)))
		return rc;
	r->source.extra = extra;
	fill_media(r);
	if ((rc = fill_sessions(r, err)))
		return rc;
	return fill_hidden(r, settings_value(s, "memorySearch.hidden"), err);
}

void handle_note(struct remem *r)
{
	const struct settings *s = &r->settings;

	r->note.chunk_tokens =
		(int)settings_int(s, "memorySearch.chunking.tokens");
	r->note.overlap_tokens =
		(int)settings_int(s, "memorySearch.chunking.overlap");
	r->note.passage_tokens =
		(int)settings_int(s, "memorySearch.chunking.passageTokens");
}

void handle_index_opts(struct index_opts *o, struct remem *r)
{
	const struct settings *s = &r->settings;

	memset(o, 0, sizeof(*o));
	o->dir = r->index_dir;
	o->backend = "sqlite";
	o->source = &r->source;
	o->origins = handle_origins(r);
	o->note = r->note;
	o->unit_chunk = !strcmp(settings_str(s, "memorySearch.embedding.unit"),
				"chunk");
	/* 0 would be the default of the index: one is as good as none. */
	o->cache_entries = settings_bool(s, "memorySearch.cache.enabled") ?
		settings_int(s, "memorySearch.cache.maxEntries") : 1;
	batch_connect(o, r);
}

void handle_close_reader(struct remem *r)
{
	if (r->store)
		r->ops->close(r->store);
	r->store = NULL;
}

int handle_reader(struct remem *r, struct remem_err *err)
{
	struct store_opts o = { .mode = STORE_READ,
				.term_version = TERM_VERSION,
				.note_version = NOTE_VERSION };
	int rc;

	if ((rc = handle_id(r, false, err)))
		return rc;
	if (!r->id[0])
		return fail(err, REMEM_ENOTFOUND,
			    "'%s' has not been indexed yet", r->workspace);
	if (r->store && r->ops->outdated(r->store))
		handle_close_reader(r);
	if (r->store)
		return 0;
	o.dir = r->index_dir;
	rc = r->ops->open(&r->store, &o, err);
	if (rc)
		r->store = NULL;
	return rc;
}
