/*
 * Which id a folder has. The path decides where it is known; else a record of
 * the same device, inode and time of birth whose own path no longer leads
 * there: the folder was moved. A copy has another inode and gets a new id.
 * Inodes are used again after a folder was deleted, so the time of birth
 * counts where the system tells it.
 */
#define _GNU_SOURCE /* statx, getrandom */
#include "store/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/path.h"

#define RECORD_MAX 16384
#define LOCK_WAIT_MS 10000

struct identity {
	uint64_t dev, inode, birth;
};

struct record {
	char uuid[UUID_CHARS];
	struct identity id;
	const char *path; /* in the arena */
	const char *name; /* of the record's file */
};

static bool identity_of(struct identity *id, const char *path)
{
	struct stat st;

	memset(id, 0, sizeof(*id));
#ifdef STATX_BTIME
	{
		struct statx x;

		if (!statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &x)) {
			id->dev = makedev(x.stx_dev_major, x.stx_dev_minor);
			id->inode = x.stx_ino;
			if (x.stx_mask & STATX_BTIME)
				id->birth = (uint64_t)x.stx_btime.tv_sec *
					    1000000000u +
					    x.stx_btime.tv_nsec;
			return true;
		}
	}
#endif
	if (stat(path, &st))
		return false;
	id->dev = st.st_dev;
	id->inode = st.st_ino;
	return true;
}

static bool same_folder(const struct identity *a, const struct identity *b)
{
	return a->dev == b->dev && a->inode == b->inode &&
	       (!a->birth || !b->birth || a->birth == b->birth);
}

static const char *record_name(struct arena *a, const char *path)
{
	unsigned char hash[SHA256_BYTES];
	char hex[33];

	sha256_of(hash, path, strlen(path));
	hex_encode(hex, hash, 16);
	return arena_strdup(a, hex);
}

static bool valid_uuid(const char *s)
{
	for (int i = 0; i < UUID_CHARS - 1; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? s[i] != '-' : !strchr("0123456789abcdef", s[i]) ||
		    !s[i])
			return false;
	}
	return true;
}

static bool parse(struct record *r, struct arena *a, char *text)
{
	char *end;

	if (strlen(text) < UUID_CHARS || !valid_uuid(text) ||
	    text[UUID_CHARS - 1] != '\n')
		return false;
	memcpy(r->uuid, text, UUID_CHARS - 1);
	r->uuid[UUID_CHARS - 1] = '\0';
	r->id.dev = strtoull(text + UUID_CHARS, &end, 10);
	if (*end++ != '\n')
		return false;
	r->id.inode = strtoull(end, &end, 10);
	if (*end++ != '\n')
		return false;
	r->id.birth = strtoull(end, &end, 10);
	if (*end++ != '\n' || strlen(end) < 2 || end[strlen(end) - 1] != '\n')
		return false;
	r->path = arena_strndup(a, end, strlen(end) - 1);
	return r->path != NULL;
}

/* False when there is no such record, or a broken one. */
static bool read_record(struct record *r, struct arena *a, const char *dir,
			const char *name)
{
	struct buf text = BUF_INIT(RECORD_MAX);
	const char *file = path_join(a, dir, name);
	char *copy;
	bool ok = false;

	memset(r, 0, sizeof(*r));
	if (file && !file_read(&text, file, NULL) &&
	    (copy = arena_strndup(a, buf_str(&text), text.len)))
		ok = parse(r, a, copy);
	r->name = arena_strdup(a, name);
	buf_release(&text);
	return ok && r->name;
}

static int write_record(const struct record *r, struct arena *a,
			const char *dir, struct remem_err *err)
{
	const char *file = path_join(a, dir, r->name);
	struct buf text = BUF_INIT(RECORD_MAX);
	int rc;

	buf_addf(&text, "%s\n%" PRIu64 "\n%" PRIu64 "\n%" PRIu64 "\n%s\n",
		 r->uuid, r->id.dev, r->id.inode, r->id.birth, r->path);
	if (!file)
		rc = fail_nomem(err);
	else if (!(rc = buf_check(&text, err)))
		rc = file_write_atomic(file, buf_str(&text), text.len, 0600,
				       err);
	buf_release(&text);
	return rc;
}

/* A record of this very folder under another path. */
static bool find_folder(struct record *out, struct arena *a, const char *dir,
			const struct identity *id)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	bool found = false;

	if (!d)
		return false;
	while (!found && (e = readdir(d)))
		found = strlen(e->d_name) == 32 &&
			read_record(out, a, dir, e->d_name) &&
			same_folder(&out->id, id);
	closedir(d);
	return found;
}

static int new_uuid(char uuid[UUID_CHARS], struct remem_err *err)
{
	unsigned char b[16];
	char hex[33];

	if (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b))
		return fail_errno(err, REMEM_EIO, errno,
				  "cannot get random bytes");
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* version 4 */
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	hex_encode(hex, b, sizeof(b));
	snprintf(uuid, UUID_CHARS, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8,
		 hex + 12, hex + 16, hex + 20);
	return 0;
}

/* What is known of the folder; *found false if nothing. *stale is the record
 * of the place it has left, its name NULL if there is none. */
static void look_up(struct record *r, struct record *stale, bool *found,
		    struct arena *a, const char *dir, const char *path,
		    const struct identity *id)
{
	struct identity there;
	const char *name = record_name(a, path);

	memset(stale, 0, sizeof(*stale));
	*found = name && read_record(r, a, dir, name) &&
		 !strcmp(r->path, path);
	if (*found)
		return;
	*found = find_folder(r, a, dir, id);
	if (!*found)
		memset(r, 0, sizeof(*r));
	else if (!identity_of(&there, r->path) || !same_folder(&there, id))
		*stale = *r;
	r->name = name;
	r->path = path;
}

static int write_down(struct record *r, const struct record *stale,
		      struct arena *a, const char *state_dir, const char *dir,
		      struct remem_err *err)
{
	struct state *s;
	const char *old;
	int rc = state_open(&s, state_dir, r->uuid, false, err);

	if (rc)
		return rc;
	rc = state_set_workspace(s, r->path, r->id.dev, r->id.inode, err);
	state_close(s);
	if (rc || (rc = write_record(r, a, dir, err)) || !stale->name)
		return rc;
	old = path_join(a, dir, stale->name);
	if (!old)
		return fail_nomem(err);
	file_fault_step();
	unlink(old);
	return 0;
}

static int find_locked(char uuid[UUID_CHARS], struct arena *a,
		       const char *state_dir, const char *dir,
		       const char *path, const struct identity *id,
		       struct remem_err *err)
{
	struct lock lock = LOCK_INIT;
	struct record r, stale;
	const char *file;
	bool found;
	int rc = dir_make(dir, 0700, err);

	if (rc)
		return rc;
	if (!(file = path_join(a, dir, "lock")))
		return fail_nomem(err);
	if ((rc = lock_take(&lock, file, LOCK_WAIT_MS, err)))
		return rc;
	look_up(&r, &stale, &found, a, dir, path, id);
	if (!found)
		rc = new_uuid(r.uuid, err);
	r.id = *id;
	if (!rc && a->failed)
		rc = fail_nomem(err);
	if (!rc)
		rc = write_down(&r, &stale, a, state_dir, dir, err);
	lock_release(&lock);
	memcpy(uuid, r.uuid, UUID_CHARS);
	return rc;
}

int state_find(char uuid[UUID_CHARS], const char *state_dir,
	       const char *real_path, bool create, struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	struct record r, stale;
	struct identity id;
	const char *dir;
	bool found;
	int rc = 0;

	uuid[0] = '\0';
	if (!identity_of(&id, real_path))
		return file_fail(err, errno, "find", real_path);
	if (!(dir = path_join(&a, state_dir, "by-path"))) {
		rc = fail_nomem(err);
		goto out;
	}
	look_up(&r, &stale, &found, &a, dir, real_path, &id);
	if (a.failed)
		rc = fail_nomem(err);
	else if (found && (!create || (same_folder(&r.id, &id) && !stale.name)))
		memcpy(uuid, r.uuid, UUID_CHARS);
	else if (create)
		rc = find_locked(uuid, &a, state_dir, dir, real_path, &id, err);
	else
		rc = fail(err, REMEM_ENOTFOUND, "'%s' has no state yet",
			  real_path);
out:
	arena_release(&a);
	return rc;
}
