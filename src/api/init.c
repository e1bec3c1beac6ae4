/* remem_init(): a folder becomes a workspace; nothing that exists changes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/env.h"
#include "api/public.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"

static const char memory_md[] =
	"# Memory\n"
	"\n"
	"<!-- What is worth knowing in every conversation: people, decisions,\n"
	"     preferences, rules. One entry a line, the newest below. What\n"
	"     happened on a day belongs into memory/YYYY-MM-DD.md. -->\n";

struct made {
	const char *names[4];
	int count;
};

/* Only a new file: O_EXCL, and never through a link. */
static int make_file(struct made *m, const char *path, const char *name,
		     struct remem_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC |
		      O_NOFOLLOW, 0644), rc;

	if (fd < 0 && errno == EEXIST)
		return 0;
	if (fd < 0)
		return fail_errno(err, REMEM_EIO, errno, "cannot make '%s'",
				  path);
	rc = file_write_all(fd, memory_md, sizeof(memory_md) - 1, path, err);
	if (!rc && fsync(fd))
		rc = fail_errno(err, REMEM_EIO, errno, "cannot write '%s'",
				path);
	close(fd);
	if (rc)
		unlink(path);
	else
		m->names[m->count++] = name;
	return rc;
}

static int make_folder(struct made *m, const char *path, const char *name,
		       struct remem_err *err)
{
	if (!mkdir(path, 0755)) {
		m->names[m->count++] = name;
		return 0;
	}
	if (errno == EEXIST)
		return 0;
	return fail_errno(err, REMEM_EIO, errno, "cannot make '%s'", path);
}

static int give(char **out, const char *dir, const struct made *m,
		struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "workspace", dir);
	json_key(&j, "created");
	json_arr(&j);
	for (int i = 0; i < m->count; i++)
		json_put_str(&j, m->names[i]);
	json_arr_end(&j);
	json_end(&j);
	rc = buf_check(&b, err);
	*out = rc ? NULL : buf_detach(&b);
	buf_release(&b);
	return rc ? rc : *out ? 0 : fail_nomem(err);
}

static int init(char **json, struct arena *a, const char *dir,
		struct remem_err *err)
{
	struct made m = { { NULL }, 0 };
	const char *file, *folder;
	char *real;
	int rc;

	if ((rc = dir_make(dir, 0755, err)) ||
	    (rc = path_real(&real, a, dir, err)))
		return rc;
	file = path_join(a, real, "MEMORY.md");
	folder = path_join(a, real, "memory");
	if (!file || !folder)
		return fail_nomem(err);
	if ((rc = make_folder(&m, folder, "memory/", err)) ||
	    (rc = make_file(&m, file, "MEMORY.md", err)))
		return rc;
	return give(json, real, &m, err);
}

PUBLIC int remem_init(char **json, const struct remem_open_opts *opts,
		      const char *dir, struct remem_err *err)
{
	struct remem_open_opts o;
	struct arena a = ARENA_INIT;
	struct env env;
	int rc;

	*json = NULL;
	if ((rc = opts_take(&o, sizeof(o), opts, err)))
		return rc;
	if ((rc = env_init(&env, &a, o.env, err)))
		goto out;
	if (o.read_only || env_get(&env, "REMEM_READ_ONLY")) {
		rc = fail(err, REMEM_EPERM, "nothing is written: read-only");
		goto out;
	}
	if (!dir)
		dir = o.workspace;
	if (!dir)
		dir = env_get(&env, "REMEM_WORKSPACE");
	dir = path_expand(&a, dir ? dir : ".", env.home);
	rc = dir ? init(json, &a, dir, err) : fail_nomem(err);
out:
	arena_release(&a);
	return rc;
}
