/* See rewrite.h. Kept together as an append is: record, pre-image and what is
 * about to happen first, then the file, then the rest. */
#include "memory/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "memory/guard.h"
#include "memory/journal.h"
#include "memory/origin.h"
#include "memory/target.h"

#define NEW_FILE 0600

struct work {
	struct memory *m;
	const struct rewrite *w;
	struct arena a;
	struct target t;
	struct buf old;
	unsigned char before[SHA256_BYTES], after[SHA256_BYTES];
	enum remem_origin origin;
	int64_t journal;
};

int rewrite_read(struct buf *out, unsigned char hash[SHA256_BYTES], bool *found,
		 struct memory *m, const char *path, struct remem_err *err)
{
	struct target t;
	int rc = target_open(&t, m, path, false, err);

	buf_init(out, 0);
	memset(hash, 0, SHA256_BYTES);
	*found = !rc && !t.absent;
	if (*found && !(rc = target_read(out, &t, m, err)))
		sha256_of(hash, buf_str(out), out->len);
	target_close(&t);
	return rc;
}

static int changed(const char *path, struct remem_err *err)
{
	fail(err, REMEM_EBUSY, "'%s' was changed by somebody else meanwhile",
	     path);
	fail_action(err, "nothing was written: try again");
	return REMEM_EBUSY;
}

static int read_old(struct work *k, struct remem_err *err)
{
	const struct rewrite *w = k->w;
	int rc = target_open(&k->t, k->m, w->path, w->bytes != NULL, err);

	if (rc)
		return rc;
	if (k->t.absent)
		return w->expect ? changed(w->path, err) : 0;
	if ((rc = target_read(&k->old, &k->t, k->m, err)))
		return rc;
	sha256_of(k->before, buf_str(&k->old), k->old.len);
	return w->expect && !memcmp(w->expect, k->before, SHA256_BYTES) ? 0 :
	       changed(w->path, err);
}

/* Called when all but the rename is done. */
static int still_the_same(void *ctx, struct remem_err *err)
{
	struct work *k = ctx;
	struct stat st;
	struct note_row then = { 0 }, now = { 0 };

	if (k->t.absent)
		return faccessat(k->t.dir_fd, k->t.base, F_OK,
				 AT_SYMLINK_NOFOLLOW) ? 0 :
		       changed(k->w->path, err);
	if (!target_holds(&k->t) || fstat(k->t.fd, &st))
		return changed(k->w->path, err);
	target_stamp(&then, &k->t.st);
	target_stamp(&now, &st);
	return then.size == now.size && then.mtime_ns == now.mtime_ns &&
	       then.ctime_ns == now.ctime_ns ? 0 : changed(k->w->path, err);
}

/* ---- the record of it ---- */

static int keep_old(struct work *k, struct remem_err *err)
{
	struct preimage_row p = { .journal = k->journal,
				  .at_ms = memory_now(k->m),
				  .path = k->w->path,
				  .mode = k->t.absent ? NEW_FILE :
					  (unsigned)k->t.st.st_mode & 07777,
				  .absent = k->t.absent,
				  .bytes = buf_str(&k->old),
				  .len = k->old.len };

	return k->w->no_preimage ? 0 :
	       state_preimage_add(k->m->state, &p, k->m->preimages,
				  k->m->preimage_bytes, err);
}

static int write_records(struct work *k, struct remem_err *err)
{
	const struct rewrite *w = k->w;
	struct pending_row p = { .path = w->path, .rewrite = true,
				 .size = (int64_t)k->old.len };
	const char *detail = w->detail && w->detail[0] ?
		arena_printf(&k->a, "{%s}", w->detail) : NULL;
	int rc;

	if (k->a.failed)
		return fail_nomem(err);
	if ((rc = journal_add(&k->journal, k->m, &w->actor, w->op, w->path,
			      k->t.absent ? NULL : k->before,
			      w->bytes ? k->after : NULL, (int64_t)w->len,
			      k->origin, detail, err)) ||
	    (rc = keep_old(k, err)))
		return rc;
	p.journal = k->journal;
	memcpy(p.before, k->before, SHA256_BYTES);
	memcpy(p.after, k->after, SHA256_BYTES);
	return state_pending_add(k->m->state, &p, err);
}

static int record(struct work *k, struct remem_err *err)
{
	int rc = state_begin(k->m->state, true, err);

	if (rc)
		return rc;
	rc = write_records(k, err);
	if (!rc)
		return state_commit(k->m->state, err);
	state_rollback(k->m->state);
	return rc;
}

/* ---- the file ---- */

static int remove_file(struct work *k, struct remem_err *err)
{
	int rc = still_the_same(k, err);

	if (rc)
		return rc;
	file_fault_step();
	if (unlinkat(k->t.dir_fd, k->t.base, 0))
		return file_fail(err, errno, "remove", k->w->path);
	return file_fsync(k->t.dir_fd, k->w->path, err);
}

static int put(struct work *k, struct remem_err *err)
{
	const struct rewrite *w = k->w;

	if (!w->bytes)
		return k->t.absent ? 0 : remove_file(k, err);
	return file_write_checked(k->t.dir_fd, k->t.base, w->path, w->bytes,
				  w->len, NEW_FILE, still_the_same, k, err);
}

static int put_row(struct work *k, struct remem_err *err)
{
	struct state *s = k->m->state;
	const struct rewrite *w = k->w;
	struct note_row row = { .path = w->path };
	struct stat st;
	int rc;

	if (!w->bytes) {
		rc = state_line_remove(s, w->path, 0, err);
		return rc ? rc : state_note_remove(s, w->path, err);
	}
	rc = origin_resync(&row, &k->a, k->m, w->path, w->bytes, w->len,
			   k->origin, k->journal, err);
	row.journal = k->journal;
	row.size = -1;
	if (!rc && !fstatat(k->t.dir_fd, k->t.base, &st, AT_SYMLINK_NOFOLLOW) &&
	    st.st_size == (off_t)w->len)
		target_stamp(&row, &st);
	return rc ? rc : state_note_put(s, &row, err);
}

static void confirm(struct work *k)
{
	struct state *s = k->m->state;
	struct remem_err why = { 0 };
	int rc = state_begin(s, false, &why);

	if (rc)
		goto failed;
	if ((rc = put_row(k, &why)) ||
	    (rc = state_pending_remove(s, k->journal, &why))) {
		state_rollback(s);
		goto failed;
	}
	if (!state_commit(s, &why))
		return;
failed:
	log_msg(LOG_WARN, "memory", "%s", why.message);
}

static int rewrite(struct work *k, struct remem_err *err)
{
	const struct rewrite *w = k->w;
	const char *path;
	struct note_row row;
	int rc;

	if ((rc = guard_place(&path, &k->a, k->m, w->path, err)) ||
	    (rc = read_old(k, err)))
		return rc;
	/* Lines of others get their class before ours are among them. */
	if ((rc = target_sync(&row, &k->a, k->m, &k->t, err)))
		return rc;
	if (w->bytes)
		sha256_of(k->after, w->bytes, w->len);
	k->origin = origin_min(w->origin, origin_of_path(w->path));
	if ((rc = record(k, err)))
		return rc;
	rc = put(k, err);
	if (rc)
		memory_settle(k->m, NULL);
	else
		confirm(k);
	return rc;
}

int rewrite_file(int64_t *journal, struct memory *m, const struct rewrite *w,
		 struct remem_err *err)
{
	struct work k = { .m = m, .w = w, .a = ARENA_INIT };
	int rc;

	if ((int64_t)w->len > m->max_file_bytes)
		return fail(err, REMEM_ELIMIT, "'%s' would be larger than "
			    "%lld bytes", w->path,
			    (long long)m->max_file_bytes);
	if ((rc = memory_begin(m, err)))
		return rc;
	k.t.fd = k.t.dir_fd = -1;
	buf_init(&k.old, 0);
	rc = rewrite(&k, err);
	if (journal)
		*journal = k.journal;
	target_close(&k.t);
	buf_release(&k.old);
	arena_release(&k.a);
	memory_end(m);
	return rc;
}
