/* See guard.h. */
#include "memory/guard.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "store/state_note.h"
#include "base/utf8.h"
#include "text/line.h"

#define MINUTE_MS 60000
#define PATH_BYTES 1024
#define NAME_BYTES 255

int guard_writable(const struct memory *m, struct remem_err *err)
{
	struct statvfs st;

	if (m->read_only) {
		fail(err, REMEM_EPERM, "nothing is written: %s", m->read_only);
		fail_action(err, "unset readOnly, REMEM_READ_ONLY and "
			    "--read-only to write");
		return REMEM_EPERM;
	}
	if (fstatvfs(m->root_fd, &st) == 0 && (st.f_flag & ST_RDONLY))
		return fail(err, REMEM_EPERM, "nothing is written: '%s' is on "
			    "a read-only file system", m->root);
	return 0;
}

/* ---- places ---- */

static int bad_place(const char *to, const char *why, struct remem_err *err)
{
	fail(err, REMEM_EPERM, "'%.200s' is no place for notes: %s", to, why);
	fail_action(err, "MEMORY, USER, today, or a path like "
		    "memory/topic.md");
	return REMEM_EPERM;
}

/* What is wrong with one name of a path, NULL if nothing. */
static const char *bad_name(const char *s, size_t len)
{
	if (!len)
		return "a name in it is empty";
	if (s[0] == '.')
		return "hidden files and '..' are not";
	if (len > NAME_BYTES)
		return "a name in it is too long";
	if (byte_blank(s[0]) || byte_blank(s[len - 1]))
		return "a name in it begins or ends with a blank";
	return NULL;
}

static const char *bad_path(const char *p)
{
	size_t len = strlen(p), n;
	const char *why;

	if (len > PATH_BYTES)
		return "it is too long";
	if (!utf8_valid(p, len))
		return "it is not UTF-8";
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)p[i] < 0x20 || p[i] == 0x7f || p[i] == '\\')
			return "it has characters that names should not have";
	if (len < 4 || strcmp(p + len - 3, ".md"))
		return "notes end in .md";
	for (;; p += n + 1) {
		n = strcspn(p, "/");
		if ((why = bad_name(p, n)) || !p[n])
			return why;
	}
}

static bool is_top(const char *p)
{
	return !strcmp(p, "MEMORY.md") || !strcmp(p, "USER.md") ||
	       !strcmp(p, "DREAMS.md");
}

int guard_place(const char **path, struct arena *a, const struct memory *m,
		const char *to, struct remem_err *err)
{
	const char *why;
	char day[16];

	if (!to || !to[0] || !strcmp(to, "today")) {
		date_format(day, memory_today(m));
		*path = arena_printf(a, "memory/%s.md", day);
	} else if (!strcmp(to, "MEMORY") || !strcmp(to, "USER")) {
		*path = arena_printf(a, "%s.md", to);
	} else {
		if (!is_top(to) && strncmp(to, "memory/", 7))
			return bad_place(to, "it is neither MEMORY.md, "
					 "USER.md nor below memory/", err);
		if ((why = bad_path(to)))
			return bad_place(to, why, err);
		*path = arena_strdup(a, to);
	}
	return a->failed ? fail_nomem(err) : 0;
}

/* ---- texts ---- */

/* Offset of the first character that no note should hold, or len. */
static size_t find_control(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
			return i;
		/* U+0080 to U+009F */
		if (c == 0xc2 && i + 1 < len && (unsigned char)s[i + 1] < 0xa0)
			return i;
	}
	return len;
}

static int check_lines(const struct memory *m, const char *text, size_t len,
		       struct remem_err *err)
{
	for (size_t i = 0, end; i < len; i = end + 1) {
		end = line_end(text, i, len);
		if (end - i > (size_t)m->line_bytes) {
			fail(err, REMEM_ELIMIT, "a line of %zu bytes is too "
			     "long for a note: %d at most", end - i,
			     m->line_bytes);
			fail_action(err, "break it up, or set "
				    "trust.limits.lineBytes");
			return REMEM_ELIMIT;
		}
	}
	return 0;
}

int guard_text(const struct memory *m, const char *text, size_t len,
	       struct remem_err *err)
{
	size_t good, at;

	if (len > (size_t)m->text_bytes) {
		fail(err, REMEM_ELIMIT, "a text of %zu bytes is too long to "
		     "be added at once: %d at most", len, m->text_bytes);
		fail_action(err, "add what matters of it, or put the file "
			    "below memory/ yourself");
		return REMEM_ELIMIT;
	}
	if (skip_blank(text, 0, len) >= len)
		return fail(err, REMEM_EINVAL, "there is no text to add");
	good = utf8_valid_prefix(text, len);
	if (good < len)
		return fail(err, REMEM_EFORMAT, "the text is not UTF-8 at "
			    "byte %zu", good);
	at = find_control(text, len);
	if (at < len) {
		fail(err, REMEM_EFORMAT, "the text has the control character "
		     "0x%02x at byte %zu", (unsigned char)text[at], at);
		fail_action(err, "take it out: notes are plain text");
		return REMEM_EFORMAT;
	}
	return check_lines(m, text, len, err);
}

/* ---- limits ---- */

static int too_much(struct remem_err *err, int64_t most, const char *what,
		    const char *key)
{
	fail(err, REMEM_ELIMIT, "more than %lld %s", (long long)most, what);
	fail_action(err, "wait, or set %s", key);
	return REMEM_ELIMIT;
}

int guard_rate(struct memory *m, const struct remem_actor *actor,
	       enum remem_origin origin, size_t bytes, struct remem_err *err)
{
	int64_t sum;
	char key[200];
	int rc;

	if (origin == REMEM_ORIGIN_OWNER)
		return 0;
	if (m->entries_per_minute > 0 && actor->session) {
		snprintf(key, sizeof(key), "entries %s", actor->session);
		if ((rc = state_rate_add(m->state, key,
					 memory_now(m) / MINUTE_MS, 1, &sum,
					 err)))
			return rc;
		if (sum > m->entries_per_minute)
			return too_much(err, m->entries_per_minute,
					"entries a minute from one "
					"conversation",
					"trust.limits.entriesPerMinute");
	}
	if (m->bytes_per_day <= 0)
		return 0;
	if ((rc = state_rate_add(m->state, "bytes", memory_today(m),
				 (int64_t)bytes, &sum, err)))
		return rc;
	return sum <= m->bytes_per_day ? 0 :
	       too_much(err, m->bytes_per_day, "bytes of notes a day from "
			"agents", "trust.limits.bytesPerDay");
}
