/* remem_open(): settings, workspace, and nothing else. */
#include "api/handle.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/public.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/utf8.h"

#define SETTINGS_MAX_BYTES ((size_t)1 << 20)
#define CWD_MAX_BYTES 4096

/* Agent ids become a folder's name. */
static bool is_agent_id(const char *s)
{
	size_t n = strlen(s);

	return n && n <= 64 && s[0] != '.' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789._-") == n;
}

/* Reads a file of settings; *found false when it is not there. */
static int read_settings(struct buf *b, bool *found, const char *path,
			 struct remem_err *err)
{
	int rc = file_read(b, path, err);

	*found = rc == 0;
	return rc == REMEM_ENOTFOUND ? 0 : rc;
}

static int add_user_file(struct remem *r, bool required, struct remem_err *err)
{
	struct buf b = BUF_INIT(SETTINGS_MAX_BYTES);
	struct remem_err why = { 0 };
	bool found = false;
	int rc;

	if (!r->config_file)
		return 0;
	rc = read_settings(&b, &found, r->config_file, &why);
	if (required && (rc || !found)) {
		rc = rc ? fail(err, rc, "%s", why.message) :
			  fail(err, REMEM_ENOTFOUND, "there is no '%s'",
			       r->config_file);
	} else if (rc) {
		/* An unreadable file costs its settings, not the answer. */
		settings_warn(&r->settings, "%s", why.message);
		rc = 0;
	} else if (found) {
		rc = settings_add_file(&r->settings, buf_str(&b), b.len,
				       r->config_file, FROM_USER, true, err);
	}
	buf_release(&b);
	return rc;
}

static int add_workspace_file(struct remem *r, struct remem_err *err)
{
	struct buf b = BUF_INIT(SETTINGS_MAX_BYTES);
	struct remem_err why = { 0 };
	const char *path = path_join(&r->a, r->workspace, "remem.yaml");
	int rc;

	if (!path)
		return fail_nomem(err);
	rc = read_settings(&b, &r->has_workspace_file, path, &why);
	if (rc) {
		settings_warn(&r->settings, "%s", why.message);
		rc = 0;
	} else if (r->has_workspace_file) {
		r->trusted = trust_holds(r, buf_str(&b), b.len);
		rc = settings_add_file(&r->settings, buf_str(&b), b.len, path,
				       FROM_WORKSPACE, r->trusted, err);
	}
	buf_release(&b);
	return rc;
}

static int find_workspace(struct remem *r, const char *given,
			  struct remem_err *err)
{
	const char *set = settings_str(&r->settings, "workspace");
	char *space = arena_alloc(&r->a, CWD_MAX_BYTES);
	const char *cwd = space ? getcwd(space, CWD_MAX_BYTES) : NULL;

	if (!given && set[0])
		given = path_expand(&r->a, set, r->env.home);
	if (r->a.failed)
		return fail_nomem(err);
	return source_find_workspace(&r->workspace, &r->a, given, cwd,
				     r->env.home, err);
}

static int find_folders(struct remem *r, const char *config_file,
			struct remem_err *err)
{
	const char *config = env_dir(&r->env, &r->a, "XDG_CONFIG_HOME",
				     "/.config");

	r->cache_base = env_dir(&r->env, &r->a, "XDG_CACHE_HOME", "/.cache");
	r->state_base = env_dir(&r->env, &r->a, "XDG_STATE_HOME",
				"/.local/state");
	if (config_file)
		r->config_file = arena_strdup(&r->a, config_file);
	else if (config)
		r->config_file = path_join(&r->a, config, "config.yaml");
	return r->a.failed ? fail_nomem(err) : 0;
}

/* Without its state a workspace still has notes to read. */
static int find_id(struct remem *r, struct remem_err *err)
{
	struct remem_err why = { 0 };
	int rc = handle_id(r, false, &why);

	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (rc)
		settings_warn(&r->settings, "%s", why.message);
	return 0;
}

/* What is asked for has nothing to do with notes: the home folder stands in,
 * and nothing in it is looked at. */
static int load_nowhere(struct remem *r, struct remem_err *err)
{
	if (err)
		memset(err, 0, sizeof(*err));
	r->workspace = r->env.home ? r->env.home : "/";
	handle_note(r);
	return settings_check(&r->settings, err);
}

static int load(struct remem *r, const struct remem_open_opts *o,
		struct remem_err *err)
{
	const char *agent = o->agent;
	int rc;

	if ((rc = env_init(&r->env, &r->a, o->env, err)) ||
	    (rc = find_folders(r, o->config_file, err)))
		return rc;
	if (!agent)
		agent = env_get(&r->env, "REMEM_AGENT");
	if (agent && agent[0] && !is_agent_id(agent))
		return fail(err, REMEM_EINVAL, "'%.80s' cannot be an agent's "
			    "name: letters, digits, '.', '_' and '-'", agent);
	r->agent = arena_strdup(&r->a, agent ? agent : "");
	r->program = o->program ? arena_strdup(&r->a, o->program) : NULL;
	if (r->a.failed)
		return fail_nomem(err);
	if ((rc = settings_init(&r->settings, &r->a, &r->env, r->agent, err)) ||
	    (rc = add_user_file(r, o->config_file != NULL, err)) ||
	    (rc = settings_add_env(&r->settings, err)) ||
	    (rc = settings_add_flags(&r->settings, o->set, err)))
		return rc;
	r->read_only = o->read_only || settings_bool(&r->settings, "readOnly");
	rc = find_workspace(r, o->workspace, err);
	if (rc == REMEM_ENOTFOUND && o->anywhere && !o->workspace)
		return load_nowhere(r, err);
	if (rc || (rc = find_id(r, err)) ||
	    (rc = add_workspace_file(r, err)) ||
	    (rc = settings_check(&r->settings, err)))
		return rc;
	r->read_only = r->read_only || settings_bool(&r->settings, "readOnly");
	handle_note(r);
	return handle_source(r, err);
}

static void log_warnings(const struct remem *r)
{
	for (size_t i = 0; i < r->settings.warning_count; i++)
		log_msg(LOG_WARN, "settings", "%s", r->settings.warnings[i]);
}

PUBLIC int remem_open(struct remem **out, const struct remem_open_opts *opts,
		      struct remem_err *err)
{
	struct remem_open_opts o;
	struct remem *r;
	int rc;

	*out = NULL;
	if ((rc = opts_take(&o, sizeof(o), opts, err)))
		return rc;
	if (!(r = mem_zalloc(sizeof(*r))))
		return fail_nomem(err);
	arena_init(&r->a, 0);
	r->now_ms = o.now_ms;
	r->ops = store_backend("sqlite");
	if ((rc = load(r, &o, err))) {
		remem_close(r);
		return rc;
	}
	log_warnings(r);
	*out = r;
	return 0;
}

PUBLIC void remem_close(struct remem *r)
{
	if (!r)
		return;
	handle_close_reader(r);
	ledger_learn(r, r->embedder);
	ledger_learn(r, r->fallback.e);
	embedder_free(r->embedder);
	embedder_free(r->fallback.e);
	embedder_free(r->former.e);
	origin_index_release(&r->origins);
	state_close(r->state);
	arena_release(&r->a);
	mem_free(r);
}

PUBLIC void remem_client(struct remem *r, const char *name)
{
	size_t n = name ? utf8_cut(name, strlen(name), sizeof(r->client) - 1) :
			  0;

	memcpy(r->client, name ? name : "", n);
	r->client[n] = '\0';
}

PUBLIC const char *remem_workspace(const struct remem *r)
{
	return r->workspace;
}

int64_t handle_now_ms(const struct remem *r)
{
	return r->now_ms ? r->now_ms : clock_now_ms();
}

const char *handle_zone(const struct remem *r)
{
	return settings_str(&r->settings, "userTimezone");
}

int32_t handle_today(const struct remem *r)
{
	return clock_zone_day(handle_zone(r), handle_now_ms(r));
}

int json_give(char **out, struct buf *b, struct remem_err *err)
{
	int rc = buf_check(b, err);

	*out = rc ? NULL : buf_detach(b);
	return rc ? rc : *out ? 0 : fail_nomem(err);
}

void json_ktime(struct json *j, const char *key, int64_t ms)
{
	time_t t = (time_t)(ms / 1000);
	char text[40];
	struct tm tm;

	if (!ms || !localtime_r(&t, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", &tm))
		json_knull(j, key);
	else
		json_kstr(j, key, text);
}

PUBLIC void remem_free(void *p)
{
	mem_free(p);
}
