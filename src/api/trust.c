/*
 * Trust in a workspace's remem.yaml: the SHA-256 of the file as it was when
 * the user said so, kept with the workspace's durable data. Another text is
 * another file, which nobody has looked at.
 */
#include <string.h>
#include <unistd.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/file.h"
#include "base/path.h"

#define FILE_MAX_BYTES ((size_t)1 << 20)

static const char *trust_path(struct remem *r, struct arena *a)
{
	if (!r->id[0] || !r->state_base)
		return NULL;
	return arena_printf(a, "%s/%s/trust", r->state_base, r->id);
}

static void fingerprint(char out[2 * SHA256_BYTES + 1], const void *text,
			size_t len)
{
	unsigned char sum[SHA256_BYTES];

	sha256_of(sum, text, len);
	hex_encode(out, sum, sizeof(sum));
}

bool trust_holds(struct remem *r, const void *text, size_t len)
{
	char sum[2 * SHA256_BYTES + 1];
	struct buf b = BUF_INIT(4096);
	const char *path = trust_path(r, &r->a);
	bool same;

	fingerprint(sum, text, len);
	same = path && !file_read(&b, path, NULL) &&
	       !strncmp(buf_str(&b), sum, sizeof(sum) - 1);
	buf_release(&b);
	return same;
}

static int give(char **out, const struct remem *r, const char *file,
		bool there, bool trusted, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "workspace", r->workspace);
	json_kstr(&j, "file", there ? file : NULL);
	json_kbool(&j, "trusted", trusted);
	json_end(&j);
	rc = json_give(out, &b, err);
	buf_release(&b);
	return rc;
}

static int trust(struct remem *r, struct arena *a, const struct buf *text,
		 const char *file, struct remem_err *err)
{
	char sum[2 * SHA256_BYTES + 1];
	const char *path;
	int rc;

	if (!text) {
		fail(err, REMEM_ENOTFOUND, "there is no '%s' to trust", file);
		fail_action(err, "an untrusted workspace may set the keys that "
			    "are marked safe");
		return REMEM_ENOTFOUND;
	}
	if ((rc = handle_id(r, true, err)))
		return rc;
	path = trust_path(r, a);
	if (!path)
		return fail(err, REMEM_ENOTFOUND, "there is no home folder");
	if ((rc = dir_make(path_dir(a, path), 0700, err)))
		return rc;
	fingerprint(sum, buf_str(text), text->len);
	return file_write_atomic(path, sum, strlen(sum), 0600, err);
}

static int distrust(struct remem *r, struct arena *a, struct remem_err *err)
{
	const char *path = trust_path(r, a);

	if (!path || !unlink(path) || !file_exists(path))
		return 0;
	return fail(err, REMEM_EIO, "cannot remove '%s'", path);
}

PUBLIC int remem_trust(struct remem *r, int on, char **json,
		       struct remem_err *err)
{
	struct buf text = BUF_INIT(FILE_MAX_BYTES);
	struct arena a = ARENA_INIT;
	const char *file = path_join(&a, r->workspace, "remem.yaml");
	bool there, trusted;
	int rc;

	*json = NULL;
	rc = file ? file_read(&text, file, err) : fail_nomem(err);
	there = !rc;
	if (rc == REMEM_ENOTFOUND)
		rc = 0;
	if (!rc && on >= 0 && r->read_only)
		rc = fail(err, REMEM_EPERM, "nothing is written: read-only");
	if (!rc && on > 0)
		rc = trust(r, &a, there ? &text : NULL, file, err);
	else if (!rc && !on)
		rc = distrust(r, &a, err);
	trusted = !rc && there && trust_holds(r, buf_str(&text), text.len);
	if (!rc)
		rc = give(json, r, file, there, trusted, err);
	buf_release(&text);
	arena_release(&a);
	return rc;
}
