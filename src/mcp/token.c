/* The token of the HTTP server; see token.h. */
#include "mcp/token.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"

#define TOKEN_BYTES 32
#define TOKEN_MIN_CHARS 16

static const char *lookup(const char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; env && env[i]; i++)
		if (!strncmp(env[i], name, n) && env[i][n] == '=')
			return env[i][n + 1] ? env[i] + n + 1 : NULL;
	return NULL;
}

static int find_path(struct buf *path, const char *file,
		     const char *const *env, struct remem_err *err)
{
	const char *state = lookup(env, "XDG_STATE_HOME");
	const char *home = lookup(env, "HOME");

	if (file)
		buf_adds(path, file);
	else if (state && state[0] == '/')
		buf_addf(path, "%s/remem/mcp-token", state);
	else if (home)
		buf_addf(path, "%s/.local/state/remem/mcp-token", home);
	else
		return fail(err, REMEM_ENOTFOUND, "there is no home folder "
			    "for the token; say --token-file FILE");
	return buf_check(path, err);
}

static int make(struct buf *token, const char *path, struct remem_err *err)
{
	unsigned char random[TOKEN_BYTES];
	char hex[2 * TOKEN_BYTES + 2];
	struct buf dir = BUF_INIT(0);
	const char *slash = strrchr(path, '/');
	int rc = 0;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return fail_errno(err, REMEM_EIO, errno, "no random numbers");
	hex_encode(hex, random, sizeof(random));
	buf_adds(token, hex);
	hex[2 * TOKEN_BYTES] = '\n';
	if (slash && slash != path) {
		buf_add(&dir, path, (size_t)(slash - path));
		rc = buf_check(&dir, err);
		if (!rc)
			rc = dir_make(buf_str(&dir), 0700, err);
	}
	if (!rc)
		rc = file_write_atomic(path, hex, 2 * TOKEN_BYTES + 1, 0600,
				       err);
	buf_release(&dir);
	return rc;
}

static int check(struct buf *token, const char *path, struct remem_err *err)
{
	struct stat st;

	while (token->len && strchr(" \t\r\n", token->ptr[token->len - 1]))
		buf_truncate(token, token->len - 1);
	if (stat(path, &st))
		return fail_errno(err, REMEM_EIO, errno, "cannot read '%s'",
				  path);
	if (st.st_mode & 077) {
		fail(err, REMEM_EPERM, "others may read the token in '%s'",
		     path);
		fail_action(err, "remove it, or: chmod 600 '%s'", path);
		return REMEM_EPERM;
	}
	if (token->len < TOKEN_MIN_CHARS ||
	    strlen(buf_str(token)) != token->len) {
		fail(err, REMEM_EFORMAT, "'%s' holds no token of at least %d "
		     "characters", path, TOKEN_MIN_CHARS);
		fail_action(err, "remove it: a new one is made");
		return REMEM_EFORMAT;
	}
	return 0;
}

int token_get(struct buf *token, struct buf *path, const char *file,
	      const char *const *env, bool read_only, struct remem_err *err)
{
	struct remem_err why = { 0 };
	int rc = find_path(path, file, env, err);

	if (rc)
		return rc;
	token->limit = 4096;
	rc = file_read(token, buf_str(path), &why);
	if (!rc)
		return check(token, buf_str(path), err);
	if (rc == REMEM_ENOTFOUND && !read_only)
		return make(token, buf_str(path), err);
	if (err)
		*err = why;
	return rc;
}

bool token_equal(const char *token, const char *given)
{
	size_t n = strlen(token), m = strlen(given);
	unsigned char differs = n != m;

	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(token[i] ^ given[m ? i % m : 0]);
	return n && !differs;
}
