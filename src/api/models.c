/* remem_models(): local models, what they are and whether they are whole. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/file.h"
#include "base/path.h"
#include "embed/known_model.h"
#include "embed/local_model.h"
#include "encoder/encoder.h"

#define BLOCK 65536
#define MODELS_MAX 200

struct models {
	struct arena a;
	struct remem *r;
	const char *paths[MODELS_MAX];
	int count;
	const char *used; /* path of the one that auto takes, or NULL */
	bool verify;
	bool broken; /* one of them cannot be run */
	struct json j;
};

static bool is_model(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && name[0] != '.' && !strcmp(name + n - 5, ".gguf");
}

static void add_folder(struct models *m, const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d && (e = readdir(d)) && m->count < MODELS_MAX) {
		char *real, *path;

		if (!is_model(e->d_name))
			continue;
		path = path_join(&m->a, folder, e->d_name);
		if (!path || path_real(&real, &m->a, path, NULL))
			continue;
		for (int i = 0; i < m->count; i++)
			if (!strcmp(m->paths[i], real))
				real = NULL, i = m->count;
		if (real)
			m->paths[m->count++] = real;
	}
	if (d)
		closedir(d);
}

static void collect(struct models *m)
{
	const char *const *folders = model_folders(&m->a, m->r);
	const char *path;
	char *real;

	if (!model_local(&path, m->r,
			 settings_str(&m->r->settings,
				      "memorySearch.local.modelPath"), NULL) &&
	    path &&
	    !path_real(&real, &m->a, path, NULL)) {
		m->used = real;
		m->paths[m->count++] = real;
	}
	if (!model_find(&path, m->r, NULL) &&
	    !path_real(&real, &m->a, path, NULL) &&
	    (!m->count || strcmp(real, m->used) != 0)) {
		m->used = m->used ? m->used : real;
		m->paths[m->count++] = real;
	}
	for (size_t i = 0; folders && folders[i]; i++)
		add_folder(m, folders[i]);
}

int model_sum(char *hex, const char *path, struct remem_err *err)
{
	unsigned char block[BLOCK], sum[SHA256_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct sha256 h;
	ssize_t n = 0;

	if (fd < 0)
		return file_fail(err, errno, "read", path);
	sha256_init(&h);
	while ((n = read(fd, block, sizeof(block))) > 0)
		sha256_add(&h, block, (size_t)n);
	close(fd);
	if (n < 0)
		return fail(err, REMEM_EIO, "cannot read '%s'", path);
	sha256_done(&h, sum);
	hex_encode(hex, sum, sizeof(sum));
	return 0;
}

/*
 * The checksum stands beside the file, as sha256sum writes it: NAME.sha256.
 * NULL when there is none.
 */
static const char *expected_sum(struct models *m, const char *path)
{
	const char *name = arena_printf(&m->a, "%s.sha256", path);
	struct buf b = BUF_INIT(4096);
	const char *sum = NULL;

	if (name && !file_read(&b, name, NULL) && b.len >= 2 * SHA256_BYTES)
		sum = arena_strndup(&m->a, buf_str(&b), 2 * SHA256_BYTES);
	buf_release(&b);
	return sum;
}

static void verify(struct models *m, const char *path, struct encoder *e)
{
	static const char text[] = "The quick brown fox 你好";
	const char *texts[] = { text }, *want = expected_sum(m, path);
	size_t lens[] = { sizeof(text) - 1 };
	float *vec = ARENA_ARRAY(&m->a, float, e ? encoder_dims(e) : 1);
	char sum[2 * SHA256_BYTES + 1] = "";
	struct remem_err err = { 0 };
	bool runs = e && vec && !encoder_embed(e, texts, lens, 1, vec, 1, NULL,
					       NULL, &err);
	bool whole = !model_sum(sum, path, &err) &&
		     (!want || !strcmp(want, sum));

	json_kstr(&m->j, "sha256", sum[0] ? sum : NULL);
	json_kstr(&m->j, "expected", want);
	json_kbool(&m->j, "verified", runs && whole);
	if (!whole && sum[0])
		json_kstr(&m->j, "problem", "the checksum is another one");
	else if (!runs && e)
		json_kstr(&m->j, "problem", err.message);
	m->broken = m->broken || !runs || !whole;
}

/* Whether the local model answers: through its worker, as a search would. */
static bool runs_local(struct models *m, const char *path,
		       struct remem_err *err)
{
	struct embed_config c;
	struct embedder *e = NULL;
	int64_t took_ms;
	bool runs;

	if (embed_config_from(&c, m->r, "local", err))
		return false;
	c.local_path = path;
	c.dims = 0;
	runs = !embedder_open(&e, &c, err) &&
	       !embedder_probe(e, &took_ms, err);
	embedder_free(e);
	return runs;
}

static void verify_local(struct models *m, const char *path)
{
	const char *want = expected_sum(m, path), *problem = NULL;
	char sum[2 * SHA256_BYTES + 1] = "";
	struct remem_err err = { 0 };

	if (model_sum(sum, path, &err))
		problem = err.message;
	else if (want && strcmp(want, sum))
		problem = "the checksum is another one";
	else if (!runs_local(m, path, &err))
		problem = err.message;
	json_kstr(&m->j, "sha256", sum[0] ? sum : NULL);
	json_kstr(&m->j, "expected", want);
	json_kbool(&m->j, "verified", !problem);
	if (problem)
		json_kstr(&m->j, "problem", problem);
	m->broken = m->broken || problem;
}

static void put_local(struct models *m, const char *path,
		      const struct local_model *f)
{
	struct json *j = &m->j;
	const char *name = path_base(path);

	json_obj(j);
	json_key(j, "name");
	json_put_strn(j, name, strlen(name) - (is_model(name) ? 5 : 0));
	json_kstr(j, "path", path);
	json_kint(j, "bytes", f->bytes);
	json_kstr(j, "model", f->name);
	json_kint(j, "dims", f->dims);
	json_kint(j, "maxTokens", f->max_tokens);
	json_kstr(j, "id", f->id);
	json_kbool(j, "used", m->used && !strcmp(m->used, path));
	json_kstr(j, "architecture", f->arch);
	json_kstr(j, "pooling", local_pooling_name(f->pooling));
	json_kint(j, "memoryBytes", local_model_memory(f));
	json_kint(j, "tokensPerSecond", local_model_speed(f));
	if (m->verify)
		verify_local(m, path);
	json_end(j);
}

static void put_model(struct models *m, const char *path)
{
	struct local_model facts;
	struct json *j = &m->j;
	struct remem_err why = { 0 };
	struct encoder *e = NULL;
	struct stat st = { 0 };
	const char *name = path_base(path);
	int rc = encoder_open(&e, path, &why);

	if (rc && !local_model_read(&facts, path, NULL)) {
		put_local(m, path, &facts);
		return;
	}
	stat(path, &st);
	json_obj(j);
	json_key(j, "name");
	json_put_strn(j, name, strlen(name) - (is_model(name) ? 5 : 0));
	json_kstr(j, "path", path);
	json_kint(j, "bytes", (int64_t)st.st_size);
	json_kstr(j, "model", rc ? NULL : encoder_model(e));
	json_kint(j, "dims", rc ? 0 : encoder_dims(e));
	json_kint(j, "maxTokens", rc ? 0 : encoder_max_tokens(e));
	json_kstr(j, "id", rc ? NULL : encoder_id(e));
	json_kbool(j, "used", m->used && !strcmp(m->used, path));
	if (m->verify)
		verify(m, path, e);
	if (rc)
		json_kstr(j, "problem", why.message);
	json_end(j);
	encoder_free(e);
}

static bool is_named(const char *path, const char *name)
{
	const char *base = path_base(path);
	size_t n = strlen(name);

	return !strcmp(path, name) || !strcmp(base, name) ||
	       (!strncmp(base, name, n) && !strcmp(base + n, ".gguf"));
}

static int put_all(struct models *m, const char *name, struct remem_err *err)
{
	int shown = 0;

	json_key(&m->j, "models");
	json_arr(&m->j);
	for (int i = 0; i < m->count; i++) {
		if (name && !is_named(m->paths[i], name))
			continue;
		put_model(m, m->paths[i]);
		shown++;
	}
	json_arr_end(&m->j);
	if (name && !shown) {
		fail(err, REMEM_ENOTFOUND, "there is no model '%.120s'", name);
		fail_action(err, "remem models list shows what is there");
		return REMEM_ENOTFOUND;
	}
	return 0;
}

static void put_folders(struct models *m)
{
	const char *const *folders = model_folders(&m->a, m->r);

	json_key(&m->j, "folders");
	json_arr(&m->j);
	for (size_t i = 0; folders && folders[i]; i++)
		json_put_str(&m->j, folders[i]);
	json_arr_end(&m->j);
}

/* What could be fetched, and what it would cost this machine. */
static void put_known(struct json *j)
{
	int64_t left = local_memory_free("");
	const struct known_model *k;

	json_key(j, "known");
	json_arr(j);
	for (int i = 0; (k = known_model_at(i)); i++) {
		int64_t need = known_model_memory(k);

		json_obj(j);
		json_kstr(j, "name", k->name);
		json_kint(j, "bytes", k->bytes);
		json_kint(j, "dims", k->dims);
		json_kint(j, "maxTokens", k->tokens);
		json_kint(j, "memoryBytes", need);
		json_kint(j, "tokensPerSecond", known_model_speed(k));
		json_kstr(j, "languages", k->languages);
		json_kstr(j, "licence", k->licence);
		json_kbool(j, "fits", left < 0 || need <= left);
		json_end(j);
	}
	json_arr_end(j);
}

/* Too little memory is said now, and not when it is too late. */
static int use_local(char **json, struct models *m, const char *path,
		     struct remem_err *err)
{
	struct local_model facts;
	int rc = local_model_read(&facts, path, err);
	int64_t left = local_memory_free("");

	if (rc)
		return rc;
	if (left >= 0 && local_model_memory(&facts) > left) {
		fail(err, REMEM_ELIMIT, "'%s' needs about %lld MB of memory, "
		     "and %lld MB are free", path,
		     (long long)(local_model_memory(&facts) >> 20),
		     (long long)(left >> 20));
		fail_action(err, "choose a smaller one");
		return REMEM_ELIMIT;
	}
	return remem_config_set(m->r, "memorySearch.local.modelPath", path,
				json, err);
}

/* auto would take a local model that is set before it. */
static int use_builtin(char **json, struct models *m, const char *path,
		       struct remem_err *err)
{
	char *cleared = NULL;
	int rc = 0;

	if (settings_is_set(&m->r->settings, "memorySearch.local.modelPath"))
		rc = remem_config_set(m->r, "memorySearch.local.modelPath",
				      NULL, &cleared, err);
	remem_free(cleared);
	return rc ? rc : remem_config_set(m->r,
					  "memorySearch.builtin.modelPath",
					  path, json, err);
}

/* The model's path becomes the setting; one that cannot run is refused. */
static int use(char **json, struct models *m, const char *name,
	       struct remem_err *err)
{
	struct encoder *e = NULL;
	char *path = NULL;
	int rc;

	for (int i = 0; i < m->count && !path; i++)
		if (is_named(m->paths[i], name))
			path = (char *)m->paths[i];
	if (!path && file_exists(name) &&
	    (rc = path_real(&path, &m->a, name, err)))
		return rc;
	if (!path) {
		fail(err, REMEM_ENOTFOUND, "there is no model '%.120s'", name);
		fail_action(err, "remem models list shows what is there");
		return REMEM_ENOTFOUND;
	}
	rc = encoder_open(&e, path, NULL);
	encoder_free(e);
	return rc ? use_local(json, m, path, err) :
		    use_builtin(json, m, path, err);
}

static int show(char **json, struct models *m, const char *name,
		struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	int rc;

	json_begin(&m->j, &b);
	json_obj(&m->j);
	json_kint(&m->j, "version", 1);
	rc = put_all(m, name, err);
	put_folders(m);
	if (!m->verify && !name)
		put_known(&m->j);
	json_kbool(&m->j, "ok", !m->broken);
	json_end(&m->j);
	if (!rc)
		rc = m->a.failed ? fail_nomem(err) : json_give(json, &b, err);
	buf_release(&b);
	return rc;
}

PUBLIC int remem_models(struct remem *r, const char *action, const char *name,
			char **json, struct remem_err *err)
{
	static const char *const actions[] = { "list", "verify", "use" };
	struct models m = { .a = ARENA_INIT, .r = r };
	size_t what = 0;
	int rc;

	*json = NULL;
	while (what < ARRAY_LEN(actions) &&
	       strcmp(actions[what], action ? action : "list"))
		what++;
	if (what == ARRAY_LEN(actions))
		return fail(err, REMEM_EINVAL, "models can list, verify and "
			    "use, not '%.40s'", action);
	if (what == 2 && !name)
		return fail(err, REMEM_EINVAL, "say which model to use");
	m.verify = what == 1;
	collect(&m);
	if (m.a.failed)
		rc = fail_nomem(err);
	else if (what == 2)
		rc = use(json, &m, name, err);
	else
		rc = show(json, &m, name, err);
	arena_release(&m.a);
	return rc;
}
