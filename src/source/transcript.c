/*
 * Opening transcripts by their contents, reading them, and marks. See
 * transcript.h.
 */
#include "source/transcript.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "source/transcript_format.h"

#define DETECT_RECORDS 32 /* some begin with lines that say little */
#define WHOLE_MAX_BYTES (256u << 20) /* files that are one JSON value */

#define TRANSCRIPT(name) \
	extern const struct transcript_format transcript_##name;
#include "source/transcripts.def"
#undef TRANSCRIPT

static const struct transcript_format *const formats[] = {
#define TRANSCRIPT(name) &transcript_##name,
#include "source/transcripts.def"
#undef TRANSCRIPT
};

const struct transcript_format *transcript_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const struct transcript_format *transcript_row(int i)
{
	if (i < 0 || (size_t)i >= ARRAY_LEN(formats))
		return NULL;
	return formats[i];
}

const char *transcript_format_at(int i)
{
	const struct transcript_format *f = transcript_row(i);

	return f ? f->name : NULL;
}

const char *transcript_role_name(enum transcript_role role)
{
	static const char *const names[] = { "user", "assistant", "tool",
					     "system" };

	return names[role];
}

const char *transcript_origin_name(enum transcript_origin origin)
{
	static const char *const names[] = { "owner", "agent", "untrusted",
					     "system" };

	return names[origin];
}

void transcript_bad(struct transcript *t, int64_t line, const char *reason)
{
	if (!t->info.bad_lines++) {
		t->info.bad_line = line;
		t->info.bad_reason = arena_strdup(&t->a, reason);
	}
}

/* ---- which format ----------------------------------------------------- */

struct judge {
	const struct transcript_format *best;
	int sure;
};

static void judge_record(struct judge *g, yyjson_val *v)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		int sure = formats[i]->knows ? formats[i]->knows(v) : 0;

		if (sure > g->sure) {
			g->sure = sure;
			g->best = formats[i];
		}
	}
}

static int detect_lines(struct transcript *t, struct remem_err *err)
{
	struct judge g = { 0 };
	int rc;

	for (int i = 0; i < DETECT_RECORDS && g.sure < TRANSCRIPT_SURE; i++) {
		enum jsonl_result res;
		const char *reason;
		yyjson_val *v;
		char *line;
		size_t len;

		if ((rc = jsonl_next(&t->lines, &res, &line, &len, err)))
			return rc;
		if (res == JSONL_END)
			break;
		if (res == JSONL_LONG)
			continue;
		v = jsonl_parse(&t->lines, line, len, &reason);
		if (yyjson_is_obj(v))
			judge_record(&g, v);
		if (res == JSONL_PARTIAL)
			break;
	}
	t->format = g.best;
	jsonl_seek(&t->lines, 0, 0);
	return 0;
}

static yyjson_val *parse_whole(struct transcript *t, struct buf *b)
{
	const char *reason;
	int fd = fcntl(t->lines.fd, F_DUPFD_CLOEXEC, 0);
	yyjson_val *v = NULL;

	if (fd < 0)
		return NULL;
	b->limit = WHOLE_MAX_BYTES;
	if (lseek(fd, 0, SEEK_SET) == 0 &&
	    !file_read_fd(b, fd, t->path, NULL) && buf_reserve(b, 16))
		v = jsonl_parse(&t->lines, b->ptr, b->len, &reason);
	close(fd);
	return v;
}

/* Files of one JSON value are read at once, their messages kept. */
static void judge_whole(struct transcript *t)
{
	struct buf b = BUF_INIT(0);
	struct judge g = { 0 };
	yyjson_val *v;

	v = t->info.bytes <= (int64_t)WHOLE_MAX_BYTES ? parse_whole(t, &b) :
							NULL;
	if (yyjson_is_arr(yyjson_obj_get(v, "messages")))
		judge_record(&g, v);
	if (g.best && g.best->whole && (!t->format || t->format == g.best)) {
		t->format = g.best;
		t->is_whole = true;
		memset(&t->next, 0, sizeof(t->next));
		t->format->whole(t, v);
	}
	jsonl_seek(&t->lines, 0, 0);
	buf_release(&b);
}

static bool has_ext(const char *path, const char *ext)
{
	size_t n = strlen(path), m = strlen(ext);

	return n > m && !strcmp(path + n - m, ext);
}

static int detect(struct transcript *t, const char *path, const char *name,
		  struct remem_err *err)
{
	int rc;

	if (name) {
		t->format = transcript_format_find(name);
		if (t->format && t->format->whole && has_ext(path, ".json"))
			judge_whole(t);
		if (t->format)
			return 0;
		return fail(err, REMEM_EINVAL,
			    "there is no transcript format '%s'", name);
	}
	for (size_t i = 0; i < ARRAY_LEN(formats) && !t->format; i++)
		if (formats[i]->is_store && formats[i]->is_store(path))
			t->format = formats[i];
	if (t->format)
		return 0;
	if ((rc = detect_lines(t, err)))
		return rc;
	if (!t->format || (has_ext(path, ".json") && t->format->whole))
		judge_whole(t);
	if (t->format)
		return 0;
	fail(err, REMEM_EFORMAT, "'%s' is no transcript that is known", path);
	fail_action(err, "see doc/transcripts.md for the formats that are read");
	return REMEM_EFORMAT;
}

/* ---- records that follow one another ---------------------------------- */

void transcript_tree_add(struct transcript *t, const char *id,
			 const char *parent, int64_t line)
{
	struct arena *a = &t->a;
	size_t want = t->id_count + 1;

	if (!*id)
		return;
	t->ids = arena_grow(a, t->ids, &t->id_cap, want, sizeof(*t->ids));
	t->parents = arena_grow(a, t->parents, &t->parent_cap, want,
				sizeof(*t->parents));
	t->id_lines = arena_grow(a, t->id_lines, &t->line_cap, want,
				 sizeof(*t->id_lines));
	if (a->failed)
		return;
	t->ids[t->id_count] = hash64(id, strlen(id), 0);
	t->parents[t->id_count] = *parent ? hash64(parent, strlen(parent), 0) :
					    0;
	t->id_lines[t->id_count++] = line;
}

void transcript_survey_tree(struct transcript *t, yyjson_val *record,
			    const char *id_key, const char *parent_key)
{
	transcript_tree_add(t, json_str(record, id_key, ""),
			    json_str(record, parent_key, ""), t->lines.line);
}

static bool is_chain(const struct transcript *t, uint64_t before)
{
	for (size_t i = 0; i < t->id_count; i++) {
		if (t->parents[i] && before && t->parents[i] != before)
			return false;
		before = t->ids[i];
	}
	return true;
}

/* From the last record up to the root; what is not on the way is dead. A
 * parent stands before its child: others are not looked for. */
int transcript_resolve_tree(struct transcript *t, struct remem_err *err)
{
	const char *last = t->from.last_id;
	uint64_t before = *last ? hash64(last, strlen(last), 0) : 0;
	uint64_t want;

	if (t->a.failed)
		return fail_nomem(err);
	if (is_chain(t, before))
		return 0;
	if (t->from.offset) {
		t->info.rewritten = true;
		return 0;
	}
	t->dead = ARENA_ARRAY(&t->a, int64_t, t->id_count + 1);
	if (!t->dead)
		return fail_nomem(err);
	want = t->ids[t->id_count - 1];
	for (size_t i = t->id_count; i-- > 0;) {
		if (want && t->ids[i] != want)
			t->dead[t->dead_count++] = t->id_lines[i];
		else
			want = t->parents[i];
		/* A root in the middle: what lies before belongs to it. */
		if (!want)
			break;
	}
	for (size_t i = 0; i < t->dead_count / 2; i++) {
		int64_t swap = t->dead[i];

		t->dead[i] = t->dead[t->dead_count - 1 - i];
		t->dead[t->dead_count - 1 - i] = swap;
	}
	return 0;
}

static int by_number(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

void transcript_kill(struct transcript *t, int64_t line)
{
	t->dead = arena_grow(&t->a, t->dead, &t->dead_cap, t->dead_count + 1,
			     sizeof(*t->dead));
	if (t->dead)
		t->dead[t->dead_count++] = line;
}

int transcript_sort_dead(struct transcript *t, struct remem_err *err)
{
	if (t->a.failed)
		return fail_nomem(err);
	if (t->dead_count)
		qsort(t->dead, t->dead_count, sizeof(*t->dead), by_number);
	return 0;
}

bool transcript_is_dead(const struct transcript *t, int64_t line)
{
	return t->dead_count && bsearch(&line, t->dead, t->dead_count,
					sizeof(*t->dead), by_number);
}

/* ---- reading lines ---------------------------------------------------- */

static int survey(struct transcript *t, struct remem_err *err)
{
	int64_t offset = t->from.offset, line = t->from.line;
	int rc;

	t->id_count = t->dead_count = 0;
	jsonl_seek(&t->lines, offset, line);
	for (;;) {
		enum jsonl_result res;
		const char *reason;
		yyjson_val *v;
		char *s;
		size_t len;

		if ((rc = jsonl_next(&t->lines, &res, &s, &len, err)))
			return rc;
		if (res == JSONL_END || res == JSONL_PARTIAL)
			break;
		if (res == JSONL_LONG)
			continue;
		v = jsonl_parse(&t->lines, s, len, &reason);
		if (yyjson_is_obj(v))
			t->format->survey(t, v);
	}
	t->surveyed = t->lines.start;
	jsonl_seek(&t->lines, offset, line);
	return t->format->resolve(t, err);
}

static void start_over(struct transcript *t)
{
	memset(&t->from, 0, sizeof(t->from));
	t->last_id[0] = 0;
	t->tainted = false;
	t->info.rewritten = true;
	t->info.lines = 0;
}

static int survey_all(struct transcript *t, struct remem_err *err)
{
	bool had = t->info.rewritten;
	int rc;

	if (!t->format->survey)
		return 0;
	t->info.rewritten = false;
	rc = survey(t, err);
	if (!rc && t->info.rewritten && t->from.offset) {
		start_over(t);
		rc = survey(t, err);
	}
	t->info.rewritten |= had;
	return rc;
}

static bool is_space_only(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(" \t\r", s[i]) || !s[i])
			return false;
	return true;
}

static void read_record(struct transcript *t, char *s, size_t len)
{
	struct jsonl *j = &t->lines;
	const char *reason;
	yyjson_val *v;

	if (is_space_only(s, len))
		return;
	v = jsonl_parse(j, s, len, &reason);
	if (!v) {
		transcript_bad(t, j->line, reason);
		return;
	}
	if (!yyjson_is_obj(v)) {
		transcript_bad(t, j->line, "it is no JSON object");
		return;
	}
	memset(&t->next, 0, sizeof(t->next));
	t->next.line = j->line;
	t->next.offset = j->start;
	t->next.end = j->end;
	t->format->line(t, v);
	if (t->format->survey && t->next.id)
		snprintf(t->last_id, sizeof(t->last_id), "%.79s", t->next.id);
}

/* Fills the queue by one line; *more false at the end. */
static int fill_line(struct transcript *t, bool *more, struct remem_err *err)
{
	struct jsonl *j = &t->lines;
	enum jsonl_result res;
	char *s;
	size_t len;
	int rc;

	*more = false;
	/* What came after the survey is for the next reader. */
	if (t->surveyed && j->end >= t->surveyed && !t->last_line)
		return 0;
	if ((rc = jsonl_next(j, &res, &s, &len, err)))
		return rc;
	*more = res == JSONL_LINE || res == JSONL_LONG;
	if (res == JSONL_LONG) {
		transcript_bad(t, j->line, "the line is too long");
	} else if (res == JSONL_PARTIAL) {
		t->info.partial = !is_space_only(s, len);
		if (t->info.partial && t->last_line) {
			j->line++; /* shown as the line it will be */
			read_record(t, s, len);
			j->line--;
		}
	} else if (res == JSONL_LINE && !transcript_is_dead(t, j->line)) {
		read_record(t, s, len);
	}
	t->info.lines = j->line;
	return 0;
}

static int fill(struct transcript *t, bool *more, struct remem_err *err)
{
	int rc;

	if (t->is_whole) {
		*more = false;
		return 0;
	}
	arena_reset(&t->line_arena);
	t->queue = NULL;
	t->count = t->cap = t->at = 0;
	rc = t->format->store ? t->format->fill(t, more, err) :
				fill_line(t, more, err);
	if (!rc && (t->line_arena.failed || t->a.failed))
		rc = fail_nomem(err);
	return rc;
}

int transcript_next(struct transcript *t,
		    const struct transcript_message **out,
		    struct remem_err *err)
{
	bool more = true;
	int rc;

	*out = NULL;
	while (t->at >= t->count && more)
		if ((rc = fill(t, &more, err)))
			return rc;
	if (t->at >= t->count)
		return 0;
	*out = &t->queue[t->at++];
	t->info.messages++;
	if ((*out)->time_ms) {
		if (!t->info.started_ms)
			t->info.started_ms = (*out)->time_ms;
		t->info.last_ms = (*out)->time_ms;
	}
	return 0;
}

/* ---- opening ---------------------------------------------------------- */

static int take_file(struct transcript *t, const char *path, int *fd,
		     struct remem_err *err)
{
	struct transcript_info *i = &t->info;
	struct stat st;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0)
		return file_fail(err, errno, "open", path);
	if (fstat(*fd, &st))
		return file_fail(err, errno, "read", path);
	if (!S_ISREG(st.st_mode))
		return fail(err, REMEM_EINVAL, "'%s' is not a file", path);
	if (st.st_uid != geteuid())
		return fail(err, REMEM_EPERM, "'%s' belongs to another user",
			    path);
	i->dev = (uint64_t)st.st_dev;
	i->inode = (uint64_t)st.st_ino;
	i->bytes = st.st_size;
	i->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 +
		      st.st_mtim.tv_nsec;
	i->ctime_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 +
		      st.st_ctim.tv_nsec;
	return 0;
}

/* Facts that the file begins with, before any message is asked for. */
static int read_facts(struct transcript *t, struct remem_err *err)
{
	unsigned want = t->want;
	struct transcript_info *i = &t->info;
	int rc = 0;

	t->want = 0;
	jsonl_seek(&t->lines, 0, 0);
	for (int n = 0; n < DETECT_RECORDS && !rc; n++) {
		bool more;

		if ((rc = fill_line(t, &more, err)) || !more ||
		    (i->session && i->cwd))
			break;
	}
	t->want = want;
	t->tainted = t->recalling = false;
	t->after_boundary = false;
	i->lines = i->compactions = i->bad_lines = i->bad_line = 0;
	i->context_tokens = i->output_tokens = 0;
	i->bad_reason = NULL;
	i->partial = false;
	return rc;
}

static bool mark_holds(struct transcript *t)
{
	unsigned char sum[SHA256_BYTES];
	const struct transcript_mark *m = &t->from;

	return m->offset >= 0 && m->offset <= t->info.bytes && m->line >= 0 &&
	       jsonl_sum(sum, t->lines.fd, m->offset) &&
	       !memcmp(sum, m->sum, SHA256_BYTES) && !t->format->updates;
}

/* The file's name, where its lines do not say whose they are. */
static const char *file_session(struct transcript *t)
{
	const char *base = strrchr(t->path, '/');
	const char *dot;

	base = base ? base + 1 : t->path;
	dot = strchr(base, '.');
	return arena_strndup(&t->a, base, dot && dot > base ?
			     (size_t)(dot - base) : strlen(base));
}

static int open_lines(struct transcript *t, struct remem_err *err)
{
	int rc = read_facts(t, err);

	if (rc)
		return rc;
	if (!t->info.session)
		t->info.session = file_session(t);
	if (t->from.offset && !mark_holds(t))
		start_over(t);
	t->tainted = t->from.tainted;
	memcpy(t->last_id, t->from.last_id, sizeof(t->last_id));
	if ((rc = survey_all(t, err)))
		return rc;
	t->info.lines = t->from.line;
	jsonl_seek(&t->lines, t->from.offset, t->from.line);
	return 0;
}

static void take_opts(struct transcript *t, const struct transcript_opts *o)
{
	t->want = o && o->want ? o->want : TRANSCRIPT_WANT_TEXT;
	t->last_line = o && o->last_line;
	if (o && o->session)
		t->wanted_session = arena_strdup(&t->a, o->session);
	if (o && o->from)
		t->from = *o->from;
}

int transcript_open(struct transcript **out, const char *path,
		    const struct transcript_opts *o, struct remem_err *err)
{
	struct transcript *t = mem_zalloc(sizeof(*t));
	int fd = -1, rc;

	*out = NULL;
	if (!t)
		return fail_nomem(err);
	t->lines.fd = -1;
	rc = take_file(t, path, &fd, err);
	t->path = arena_strdup(&t->a, path);
	jsonl_init(&t->lines, fd, t->path ? t->path : "", 0, 0,
		   o ? o->max_line : 0);
	take_opts(t, o);
	if (!rc && t->a.failed)
		rc = fail_nomem(err);
	if (rc || (rc = detect(t, path, o ? o->format : NULL, err)))
		goto out;
	t->info.format = t->format->name;
	t->info.host = t->format->host;
	if (t->is_whole)
		t->info.rewritten = o && o->from;
	else
		rc = t->format->store ? t->format->open(t, err) :
					open_lines(t, err);
	if (!rc && t->a.failed)
		rc = fail_nomem(err);
out:
	if (rc)
		transcript_close(t);
	else
		*out = t;
	return rc;
}

void transcript_close(struct transcript *t)
{
	if (!t)
		return;
	if (t->format && t->format->close)
		t->format->close(t);
	jsonl_release(&t->lines);
	arena_release(&t->line_arena);
	arena_release(&t->a);
	mem_free(t);
}

const struct transcript_info *transcript_info(const struct transcript *t)
{
	return &t->info;
}

int transcript_talks(struct transcript_talk **out, size_t *count,
		     struct arena *a, const char *path, const char *format,
		     struct remem_err *err)
{
	const struct transcript_format *f = transcript_format_find(format);

	*out = NULL;
	*count = 0;
	if (!f || !f->talks)
		return fail(err, REMEM_EINVAL, "'%s' is no store of talks",
			    format);
	return f->talks(out, count, a, path, err);
}

/* ---- marks ------------------------------------------------------------ */

/* Each message of the list on a line of its own. */
static int raw_whole(int *fd, struct transcript *t, struct remem_err *err)
{
	struct buf b = BUF_INIT(0), out = BUF_INIT(WHOLE_MAX_BYTES);
	yyjson_val *list = yyjson_obj_get(parse_whole(t, &b), "messages"), *v;
	yyjson_arr_iter it;
	int rc;

	if (yyjson_is_arr(list)) {
		it = yyjson_arr_iter_with(list);
		while ((v = yyjson_arr_iter_next(&it))) {
			size_t len = 0;
			char *s = yyjson_val_write_opts(v, 0, json_alc(), &len,
							NULL);

			buf_add(&out, s ? s : "", len);
			buf_addc(&out, '\n');
			mem_free(s);
		}
	}
	if (!(rc = buf_check(&out, err)))
		rc = transcript_give_raw(fd, &out, err);
	buf_release(&out);
	buf_release(&b);
	return rc;
}

int transcript_give_raw(int *fd, const struct buf *b, struct remem_err *err)
{
	int rc;

	*fd = file_temp(err);
	if (*fd < 0)
		return *fd;
	rc = file_write_all(*fd, buf_str(b), b->len, "a file for a while",
			    err);
	if (!rc && lseek(*fd, 0, SEEK_SET) < 0)
		rc = fail_errno(err, REMEM_EIO, errno, "cannot read back");
	if (rc) {
		close(*fd);
		*fd = -1;
	}
	return rc;
}

int transcript_raw(int *fd, struct transcript *t, struct remem_err *err)
{
	if (t->is_whole)
		return raw_whole(fd, t, err);
	if (t->format->raw)
		return t->format->raw(fd, t, err);
	*fd = fcntl(t->lines.fd, F_DUPFD_CLOEXEC, 0);
	if (*fd < 0 || lseek(*fd, 0, SEEK_SET) < 0)
		return fail_errno(err, REMEM_EIO, errno, "cannot read '%s'",
				  t->path);
	return 0;
}

bool transcript_rests(const struct transcript *t)
{
	return t->at >= t->count;
}

int transcript_mark(struct transcript *t, struct transcript_mark *out,
		    struct remem_err *err)
{
	memset(out, 0, sizeof(*out));
	out->tainted = t->tainted;
	if (t->format->mark)
		return t->format->mark(t, out, err);
	out->offset = t->lines.end;
	out->line = t->lines.line;
	memcpy(out->last_id, t->last_id, sizeof(out->last_id));
	/* It shrank meanwhile: the next reader starts again. */
	if (!jsonl_sum(out->sum, t->lines.fd, out->offset))
		memset(out, 0, sizeof(*out));
	return 0;
}

void transcript_mark_write(struct buf *b, const struct transcript_mark *m)
{
	char sum[2 * SHA256_BYTES + 1];

	hex_encode(sum, m->sum, SHA256_BYTES);
	buf_addf(b, "1\t%" PRId64 "\t%" PRId64 "\t%d\t%s\t%s\t%s", m->offset,
		 m->line, m->tainted, sum, m->last_id, m->generation);
}

static bool field(char *out, size_t cap, const char **at)
{
	size_t n = strcspn(*at, "\t");

	if (n >= cap)
		return false;
	memcpy(out, *at, n);
	out[n] = 0;
	*at += n + ((*at)[n] == '\t');
	return true;
}

bool transcript_mark_read(struct transcript_mark *m, const char *text)
{
	char version[4], offset[24], line[24], tainted[4];
	char sum[2 * SHA256_BYTES + 1];

	memset(m, 0, sizeof(*m));
	if (!field(version, sizeof(version), &text) || strcmp(version, "1") ||
	    !field(offset, sizeof(offset), &text) ||
	    !field(line, sizeof(line), &text) ||
	    !field(tainted, sizeof(tainted), &text) ||
	    !field(sum, sizeof(sum), &text) ||
	    !field(m->last_id, sizeof(m->last_id), &text) ||
	    !field(m->generation, sizeof(m->generation), &text) ||
	    strlen(sum) != 2 * SHA256_BYTES ||
	    hex_decode(m->sum, sum, SHA256_BYTES))
		return false;
	m->offset = strtoll(offset, NULL, 10);
	m->line = strtoll(line, NULL, 10);
	m->tainted = tainted[0] == '1';
	return true;
}
