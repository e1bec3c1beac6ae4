/*
 * remem_models_runtime(): llama.cpp's libraries. The package is fetched by the
 * npm client under its pinned version and checked against the pinned SHA-512
 * before anything is taken out of it; the folder appears under its name in one
 * step.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/proc.h"
#include "embed/runtime.h"

#define PACKAGE_BYTES ((size_t)64 << 20)
#define NPM_TIMEOUT_MS 600000
#define TAR_TIMEOUT_MS 120000

static int run(const char *const *argv, const char *dir, int timeout_ms,
	       struct remem_err *err)
{
	struct buf out = BUF_INIT(65536), errors = BUF_INIT(400);
	struct proc_opts o = { .dir = dir, .timeout_ms = timeout_ms,
			       .errors = &errors };
	int status = 0, rc = proc_run_opts(&out, argv, &o, &status, err);

	if (!rc && status)
		rc = fail(err, REMEM_EREMOTE, "'%s' ended with code %d",
			  argv[0], status);
	buf_release(&out);
	buf_release(&errors);
	return rc;
}

/* What npm calls the file of a package: the scope's mark goes, its slash
 * becomes a dash. */
static const char *package_file(struct arena *a,
				const struct runtime_release *rt)
{
	char *s = arena_printf(a, "%s-%s.tgz", rt->package + 1, rt->version);
	char *slash = s ? strchr(s, '/') : NULL;

	if (slash)
		*slash = '-';
	return s;
}

static int check_package(const char *path, const struct runtime_release *rt,
			 struct remem_err *err)
{
	struct buf b = BUF_INIT(PACKAGE_BYTES);
	unsigned char sum[SHA512_BYTES];
	char hex[2 * SHA512_BYTES + 1];
	int rc = file_read(&b, path, err);

	if (!rc) {
		sha512_of(sum, b.ptr, b.len);
		hex_encode(hex, sum, sizeof(sum));
		if (strcmp(hex, rt->sha512) != 0)
			rc = fail(err, REMEM_EFORMAT, "'%s' is not the package "
				  "that is pinned: its checksum is another "
				  "one", path);
	}
	buf_release(&b);
	return rc;
}

static int fetch(const char **path, struct arena *a, const char *from,
		 const char *work, const struct runtime_release *rt,
		 struct remem_err *err)
{
	const char *spec = arena_printf(a, "%s@%s", rt->package, rt->version);
	const char *argv[] = { "npm", "pack", "--silent", spec, NULL };
	const char *file = package_file(a, rt);
	int rc = 0;

	if (!file || !spec)
		return fail_nomem(err);
	if (!from && (rc = run(argv, work, NPM_TIMEOUT_MS, err))) {
		fail_action(err, "install npm and see that its registry is "
			    "reachable, or give a folder with %s by --from",
			    file);
		return rc;
	}
	*path = path_join(a, from ? from : work, file);
	return *path ? 0 : fail_nomem(err);
}

static int install(struct arena *a, const char *from, const char *base,
		   const char *target, const struct runtime_release *rt,
		   struct remem_err *err)
{
	char *work = arena_printf(a, "%s/" FILE_TEMP_PREFIX "runtime-%ld", base,
				  (long)getpid());
	const char *path = NULL, *inside;
	int rc;

	if (!work)
		return fail_nomem(err);
	if ((rc = dir_remove(work, err)) || (rc = dir_make(work, 0755, err)) ||
	    (rc = fetch(&path, a, from, work, rt, err)) ||
	    (rc = check_package(path, rt, err)))
		goto out;
	inside = path_join(a, work, rt->member);
	rc = inside ? run((const char *[]){ "tar", "xzf", path, rt->member,
					    NULL },
			  work, TAR_TIMEOUT_MS, err) : fail_nomem(err);
	if (!rc && !runtime_library(a, inside))
		rc = fail(err, REMEM_EFORMAT, "the package has no libraries");
	if (!rc && !(rc = dir_remove(target, err)) && rename(inside, target))
		rc = file_fail(err, errno, "write", target);
out:
	dir_remove(work, NULL);
	return rc;
}

static int report(char **json, const char *target, bool fetched,
		  const struct runtime_release *rt, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "path", target);
	json_kstr(&j, "release", rt->release);
	json_kstr(&j, "package", rt->package);
	json_kstr(&j, "packageVersion", rt->version);
	json_kbool(&j, "fetched", fetched);
	json_end(&j);
	rc = json_give(json, &b, err);
	buf_release(&b);
	return rc;
}

static int runtime(struct remem *r, struct arena *a,
		   const struct remem_fetch_opts *o, char **json,
		   struct remem_err *err)
{
	const struct runtime_release *rt = runtime_here();
	const char *home = env_dir(&r->env, a, "XDG_DATA_HOME",
				   "/.local/share");
	char *base = home ? arena_printf(a, "%s/runtime", home) : NULL;
	const char *target;
	bool there;
	int rc;

	if (!rt)
		return fail(err, REMEM_ENOTSUP, "there is no package of "
			    "llama.cpp for this kind of machine: build release "
			    "%s and set memorySearch.local.runtimeDir",
			    runtime_at(0)->release);
	if (!base)
		return fail(err, REMEM_ENOTFOUND,
			    "no folder for the libraries: HOME is not set");
	target = arena_printf(a, "%s/llama-%s", base, rt->release);
	if (!target)
		return fail_nomem(err);
	there = !o->force && runtime_library(a, target);
	if (!there && (rc = install(a, o->from, base, target, rt, err)))
		return rc;
	return report(json, target, !there, rt, err);
}

PUBLIC int remem_models_runtime(struct remem *r,
				const struct remem_fetch_opts *o, char **json,
				struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	int rc;

	*json = NULL;
	if (r->read_only)
		return fail(err, REMEM_EPERM, "nothing is fetched: read-only");
	rc = runtime(r, &a, o, json, err);
	arena_release(&a);
	return rc;
}
