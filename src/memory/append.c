/*
 * See append.h. The record of the journal, the classes of the lines and the
 * bytes to be written are committed first; then the note is written and
 * synced; then the rest is put down. Whoever comes after a kill in between
 * finds what was begun, looks at the note and settles it (settle.c).
 */
#define _GNU_SOURCE /* memmem */
#include "memory/append.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "memory/guard.h"
#include "memory/journal.h"
#include "memory/origin.h"
#include "memory/review.h"
#include "memory/target.h"
#include "text/line.h"

#define TRIES 5 /* when others replace the file under our hands */

struct work {
	struct memory *m;
	const struct append *w;
	struct arena *a;
	struct append_done *out;
	struct target t;
	struct note_row row;
	struct buf bytes; /* as they are written */
	size_t lead; /* of them the line end that was missing */
	unsigned char before[SHA256_BYTES], after[SHA256_BYTES];
	struct sha256 mid;
	unsigned char words[LINE_HASH_BYTES];
	bool has_words, again;
	enum remem_origin origin;
};

/* ---- before ---- */

/* The end of what is there: 0 it is whole, else the bytes that end its line. */
static int look_at_end(const char **ending, const struct target *t,
		       struct remem_err *err)
{
	unsigned char head[2], tail[2];
	off_t size = t->st.st_size;

	*ending = "";
	if (t->absent || !size)
		return 0;
	if (pread(t->fd, head, 2, 0) < 0 ||
	    pread(t->fd, tail + (size < 2), size < 2 ? 1 : 2,
		  size < 2 ? 0 : size - 2) < 0)
		return file_fail(err, errno, "read", t->path);
	if (size >= 2 && ((head[0] == 0xff && head[1] == 0xfe) ||
			  (head[0] == 0xfe && head[1] == 0xff))) {
		fail(err, REMEM_EFORMAT, "'%s' is UTF-16, and UTF-8 cannot be "
		     "added to it", t->path);
		fail_action(err, "save it as UTF-8");
		return REMEM_EFORMAT;
	}
	if (tail[1] != '\n')
		*ending = "\n";
	return 0;
}

static int fill_bytes(struct work *k, struct remem_err *err)
{
	const char *ending;
	struct sha256 end;
	int rc = look_at_end(&ending, &k->t, err);

	if (rc)
		return rc;
	buf_reset(&k->bytes);
	buf_adds(&k->bytes, ending);
	k->lead = k->bytes.len;
	buf_add(&k->bytes, k->w->text, k->w->len);
	if (k->w->text[k->w->len - 1] != '\n')
		buf_addc(&k->bytes, '\n');
	if ((rc = buf_check(&k->bytes, err)))
		return rc;
	if ((int64_t)k->t.st.st_size + (int64_t)k->bytes.len >
	    k->m->max_file_bytes) {
		fail(err, REMEM_ELIMIT, "'%s' would be larger than %lld bytes",
		     k->t.path, (long long)k->m->max_file_bytes);
		fail_action(err, "such a file is not indexed: begin another "
			    "note, or set memorySearch.maxFileBytes");
		return REMEM_ELIMIT;
	}
	k->mid = k->row.mid;
	end = k->mid;
	sha256_done(&end, k->before);
	sha256_add(&k->mid, k->bytes.ptr, k->bytes.len);
	end = k->mid;
	sha256_done(&end, k->after);
	return 0;
}

static void set_lines(struct work *k)
{
	struct append_done *out = k->out;
	const char *text = k->bytes.ptr + k->lead;
	size_t len = k->bytes.len - k->lead;

	out->line_first = (int)(k->row.lines + (k->lead > 0) + 1);
	out->line_last = out->line_first + line_feeds(text, 0, len) - 1;
	out->bytes = (int64_t)k->bytes.len;
	out->created = k->t.absent;
	out->citation = out->line_last > out->line_first ?
		arena_printf(k->a, "%s#L%d-L%d", out->path, out->line_first,
			     out->line_last) :
		arena_printf(k->a, "%s#L%d", out->path, out->line_first);
}

/* ---- the record of it ---- */

static int add_lines(struct work *k, int64_t journal, struct remem_err *err)
{
	const char *text = k->bytes.ptr + k->lead;
	size_t len = k->bytes.len - k->lead;
	bool first = true;
	int rc = 0;

	for (size_t i = 0, end; i < len && !rc; i = end + 1) {
		struct line_row row = { .path = k->out->path,
					.source = k->w->source,
					.origin = k->origin,
					.at_ms = memory_now(k->m),
					.journal = journal };

		end = line_end(text, i, len);
		if (skip_blank(text, i, end) == end)
			continue;
		origin_line_hash(row.line, text + i, end - i);
		if (first)
			memcpy(row.words, k->words, LINE_HASH_BYTES);
		first = false;
		rc = state_line_add(k->m->state, &row, err);
	}
	return rc;
}

/* Where the bytes stand and their hash, so that they can be taken back. */
static const char *detail_of(struct work *k)
{
	unsigned char sum[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1];
	const char *more = k->w->detail, *source = "";
	struct buf b = BUF_INIT(0);
	struct json j;

	sha256_of(sum, k->bytes.ptr, k->bytes.len);
	hex_encode(hex, sum, SHA256_BYTES);
	if (k->w->source && k->w->source[0]) {
		json_begin(&j, &b);
		json_put_str(&j, k->w->source);
		if (!b.failed)
			source = arena_printf(k->a, ",\"source\":%s",
					      buf_str(&b));
		buf_release(&b);
	}
	return arena_printf(k->a, "{\"at\":%lld,\"lines\":[%d,%d],"
			    "\"sha256\":\"%s\"%s%s%s}",
			    (long long)k->t.st.st_size, k->out->line_first,
			    k->out->line_last, hex, source ? source : "",
			    more && more[0] ? "," : "", more ? more : "");
}

static int write_records(struct work *k, struct remem_err *err)
{
	struct pending_row p = { .path = k->out->path,
				 .size = k->t.st.st_size,
				 .bytes = k->bytes.ptr,
				 .len = k->bytes.len };
	const char *detail = detail_of(k);
	int rc;

	if (!detail)
		return fail_nomem(err);
	memcpy(p.before, k->before, SHA256_BYTES);
	memcpy(p.after, k->after, SHA256_BYTES);
	if ((rc = guard_rate(k->m, &k->w->actor, k->origin, k->bytes.len,
			     err)) ||
	    (rc = journal_add(&p.journal, k->m, &k->w->actor,
			      k->w->op ? k->w->op : "append", k->out->path,
			      k->t.absent ? NULL : k->before, k->after,
			      (int64_t)k->bytes.len, k->origin, detail, err)))
		return rc;
	k->out->journal = p.journal;
	if ((rc = add_lines(k, p.journal, err)))
		return rc;
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

/* ---- the write ---- */

static int write_once(struct work *k, struct remem_err *err)
{
	const struct target *t = &k->t;
	ssize_t n;
	int e;

	file_fault_step();
	do
		n = write(t->fd, k->bytes.ptr, k->bytes.len);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)k->bytes.len)
		return 0;
	e = n < 0 ? errno : ENOSPC;
	/* What got there is no whole text: take it back. settle.c does when
	 * this fails too. */
	file_fault_step();
	if (n > 0 && ftruncate(t->fd, t->st.st_size))
		log_msg(LOG_WARN, "memory", "cannot shorten '%s'", t->path);
	fail_errno(err, REMEM_EIO, e, "cannot write '%s'", t->path);
	if (e == ENOSPC || e == EDQUOT)
		fail_action(err, "make room on the disk; nothing was added");
	return REMEM_EIO;
}

static int put(struct work *k, bool *again, struct remem_err *err)
{
	bool raced = false;
	int rc;

	*again = false;
	if (k->t.absent) {
		if ((rc = target_create(&k->t, &raced, err)))
			return rc;
		if (raced) {
			*again = true;
			return 0;
		}
	}
	if ((rc = write_once(k, err)) ||
	    (rc = file_fsync(k->t.fd, k->t.path, err)))
		return rc;
	if (k->out->created && (rc = file_fsync(k->t.dir_fd, k->t.path, err)))
		return rc;
	/* An editor may have put another file in its place meanwhile. */
	*again = !target_holds(&k->t);
	return 0;
}

/* The write is done; what fails here is settled by the next one. */
static void confirm(struct work *k)
{
	struct state *s = k->m->state;
	struct note_row *row = &k->row;
	struct remem_err why = { 0 };
	int64_t want = (int64_t)k->t.st.st_size + (int64_t)k->bytes.len;
	struct stat st;

	if (state_begin(s, false, &why))
		goto failed;
	row->path = k->out->path;
	row->mid = k->mid;
	memcpy(row->hash, k->after, SHA256_BYTES);
	row->lines = k->out->line_last;
	row->origin = origin_min((enum remem_origin)row->origin, k->origin);
	row->journal = k->out->journal;
	if (!fstat(k->t.fd, &st))
		target_stamp(row, &st);
	if (row->size != want) /* somebody wrote without the lock */
		row->size = -1;
	if (state_note_seq(s, &row->seq, &why) ||
	    state_note_put(s, row, &why) ||
	    state_pending_remove(s, row->journal, &why)) {
		state_rollback(s);
		goto failed;
	}
	if (!state_commit(s, &why))
		return;
failed:
	log_msg(LOG_WARN, "memory", "%s", why.message);
}

/* ---- one try ---- */

/* What recall puts behind a line: " (memory/x.md#L3-L5)". */
static size_t without_citation(const char *s, size_t len)
{
	size_t end = trim_blank(s, 0, len), i = end;

	if (!end || s[end - 1] != ')')
		return len;
	while (i && s[i - 1] != '(' && s[i - 1] != '\n')
		i--;
	if (i < 2 || s[i - 1] != '(' || s[i - 2] != ' ' ||
	    !memmem(s + i, end - i, "#L", 2))
		return len;
	return trim_blank(s, 0, i - 1);
}

int append_is_echo(bool *echo, struct memory *m, const char *text, size_t len,
		   struct remem_err *err)
{
	unsigned char words[LINE_HASH_BYTES];

	*echo = false;
	if (!origin_words_hash(words, text, without_citation(text, len)))
		return 0;
	return state_given_has(m->state, NULL, words, echo, err);
}

/* Into a curated note it may go, for that is a choice; and the owner means
 * what he says. */
static int is_echo(struct work *k, struct remem_err *err)
{
	if (k->w->origin == REMEM_ORIGIN_OWNER || !strchr(k->out->path, '/'))
		return 0;
	return append_is_echo(&k->out->duplicate, k->m, k->w->text, k->w->len,
			      err);
}

static int is_known(struct work *k, struct line_row *row,
		    struct remem_err *err)
{
	int rc;

	k->has_words = origin_words_hash(k->words, k->w->text, k->w->len);
	if (!k->has_words || k->w->again)
		return 0;
	/* The owner may say again what was to be forgotten. */
	if (k->w->origin != REMEM_ORIGIN_OWNER) {
		rc = state_tombstone_has(k->m->state, "words", k->words,
					 &k->out->forgotten, err);
		k->out->duplicate = k->out->forgotten;
		if (rc || k->out->forgotten)
			return rc;
	}
	rc = is_echo(k, err);
	if (rc || k->out->duplicate)
		return rc;
	return state_line_known(k->m->state, k->out->path, k->words,
				k->w->source, &k->out->duplicate, row, err);
}

/* Where the line stands that is there; the whole note if it is not found. */
static int cite_known(struct work *k, const struct line_row *row,
		      struct remem_err *err)
{
	unsigned char line[LINE_HASH_BYTES];
	struct buf note = BUF_INIT(0);
	int number = 0, rc = 0;

	k->out->journal = row->journal;
	k->out->citation = k->out->path;
	if (k->out->forgotten || k->t.absent ||
	    (rc = target_read(&note, &k->t, k->m, err)))
		goto out;
	for (size_t i = 0, end; i < note.len; i = end + 1) {
		number++;
		end = line_end(note.ptr, i, note.len);
		origin_line_hash(line, note.ptr + i, end - i);
		if (memcmp(line, row->line, LINE_HASH_BYTES))
			continue;
		k->out->citation = arena_printf(k->a, "%s#L%d", k->out->path,
						number);
		break;
	}
out:
	buf_release(&note);
	return rc;
}

/* A curated note takes only what may stand there; see review.h. */
static int check_review(struct work *k, struct remem_err *err)
{
	struct append_done *out = k->out;
	struct review_put p = { out->path, NULL, k->w, k->origin,
				k->has_words ? k->words : NULL };
	struct review_done d;
	int rc;

	if (k->w->approved)
		return 0;
	p.reason = out->review_why = review_reason(out->path, k->w->text,
						   k->w->len, k->origin);
	if (!p.reason)
		return 0;
	rc = review_propose(&d, k->m, &p, err);
	out->review = d.id;
	out->rejected = d.rejected;
	out->journal = d.journal;
	out->citation = out->path;
	return rc;
}

static int prepare(struct work *k, struct remem_err *err)
{
	struct line_row known = { 0 };
	int rc;

	memset(k->out, 0, sizeof(*k->out));
	if ((rc = guard_place(&k->out->path, k->a, k->m, k->w->to, err)) ||
	    (rc = target_open(&k->t, k->m, k->out->path, !k->w->dry_run,
			      err)) ||
	    (rc = target_sync(&k->row, k->a, k->m, &k->t, err)) ||
	    (rc = is_known(k, &known, err)))
		return rc;
	if (k->out->duplicate)
		return cite_known(k, &known, err);
	k->origin = origin_min(k->w->origin, origin_of_path(k->out->path));
	if ((rc = check_review(k, err)) || k->out->review_why ||
	    (rc = fill_bytes(k, err)))
		return rc;
	set_lines(k);
	return k->a->failed ? fail_nomem(err) : 0;
}

static int once(struct work *k, bool *again, struct remem_err *err)
{
	int rc = prepare(k, err);

	*again = false;
	if (rc || k->out->duplicate || k->out->review_why || k->w->dry_run)
		return rc;
	if ((rc = record(k, err)))
		return rc;
	rc = put(k, again, err);
	if (!rc && !*again)
		confirm(k);
	else /* takes the record back, or what the file has of the text */
		memory_settle(k->m, NULL);
	return rc;
}

int append_lines(struct append_done *out, struct arena *a, struct memory *m,
		 const struct append *w, struct remem_err *err)
{
	struct work k = { .m = m, .w = w, .a = a, .out = out };
	bool again = true;
	int rc;

	if (!w->len)
		return fail(err, REMEM_EINVAL, "there is no text to add");
	if ((rc = guard_text(m, w->text, w->len, err)) ||
	    (rc = memory_begin(m, err)))
		return rc;
	buf_init(&k.bytes, 0);
	k.t.fd = k.t.dir_fd = -1;
	for (int i = 0; i < TRIES && again && !rc; i++) {
		rc = once(&k, &again, err);
		target_close(&k.t);
	}
	if (!rc && again)
		rc = fail(err, REMEM_EBUSY, "'%s' is replaced again and again "
			  "by another program", out->path);
	buf_release(&k.bytes);
	memory_end(m);
	return rc;
}
