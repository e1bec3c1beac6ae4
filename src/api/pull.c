/*
 * remem_models_pull(): a model file from a folder or by HTTP, in pieces of
 * 8 MiB asked for by Range, so that what was fetched survives a stop. The
 * unfinished file is hidden, is named after the checksum that is expected,
 * and becomes the model by a rename when the checksum is right; when it is
 * wrong, it is removed. Redirects are followed as http_may_follow() says,
 * since stores of models keep their files on other hosts; nothing secret is
 * sent, and the checksum decides what is kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/file.h"
#include "base/http.h"
#include "base/path.h"
#include "base/progress.h"
#include "embed/known_model.h"

#define PIECE_BYTES ((int64_t)8 << 20)
#define PIECE_TIMEOUT_MS 300000
#define TRIES 4 /* of a piece */
#define PAUSE_MS 100 /* before the second one, then twice as long each time */
#define PAUSE_MAX_MS 30000 /* where the server says how long */
#define HOPS 5 /* redirects of one request; two are common */
#define SUM_HEX (2 * (size_t)SHA256_BYTES)
/* llama.cpp, its vocabulary and a window, beside the file itself. */
#define BESIDE_BYTES ((int64_t)200 << 20)

struct pull {
	struct arena a;
	struct remem *r;
	const struct remem_fetch_opts *o;
	struct http *http; /* NULL: from a folder */
	const char *name, *source, *folder, *target, *part;
	const struct known_model *known; /* NULL: not by its name */
	const char *at; /* where the source's server sent us to, or NULL */
	char etag[100]; /* of the file, "" if not known */
	int pause_ms; /* as the server asked for */
	char sum[SUM_HEX + 1];
	int fd;
	int64_t have, total; /* total 0: not known yet */
	struct buf piece;
	struct progress progress;
};

static bool is_address(const char *s)
{
	return !strncmp(s, "http://", 7) || !strncmp(s, "https://", 8);
}

/* ---- where from, where to --------------------------------------------- */

static int no_source(const char *name, struct remem_err *err)
{
	const struct known_model *k = known_model_find(name);

	if (k)
		fail(err, REMEM_EINVAL, "say where '%.100s' comes from: about "
		     "%lld MB, %lld MB of memory, %d dimensions, %s, licence "
		     "%s", name, (long long)(k->bytes / 1000000),
		     (long long)(known_model_memory(k) / 1000000), k->dims,
		     k->languages, k->licence);
	else
		fail(err, REMEM_EINVAL, "say where '%.100s' comes from", name);
	fail_action(err, "remem models pull %.100s --from FOLDER or ADDRESS, "
		    "with --sha256 of the file", name);
	return REMEM_EINVAL;
}

static int name_source(struct pull *p, const char *name,
		       struct remem_err *err)
{
	const char *base = path_base(name), *from = p->o->from;
	size_t n = strcspn(base, "?#");

	if (!from && !is_address(name))
		return no_source(name, err);
	if (from && strchr(name, '/'))
		return fail(err, REMEM_EINVAL, "'%.100s' is no name of a file",
			    name);
	p->name = arena_printf(&p->a, "%.*s%s", (int)n, base,
			       n > 5 && !strncmp(base + n - 5, ".gguf", 5) ?
			       "" : ".gguf");
	if (!n || base[0] == '.' || n > 200)
		return fail(err, REMEM_EINVAL, "'%.100s' is no name of a file",
			    name);
	if (p->name)
		p->source = from ? arena_printf(&p->a, "%s/%s", from,
						p->name) : name;
	p->known = known_model_find(base);
	return p->source ? 0 : fail_nomem(err);
}

static int take_sum(struct pull *p, const char *s, size_t len,
		    const char *where, struct remem_err *err)
{
	unsigned char bytes[SHA256_BYTES];

	if (len < SUM_HEX || hex_decode(bytes, s, SHA256_BYTES))
		return fail(err, REMEM_EFORMAT, "%s is no SHA-256", where);
	hex_encode(p->sum, bytes, SHA256_BYTES);
	return 0;
}

static int get_once(struct pull *p, const char *url, const char *range,
		    struct http_reply *reply, struct remem_err *err)
{
	const char *same = range && p->etag[0] && p->have ?
		arena_printf(&p->a, "If-Range: %s", p->etag) : NULL;
	const char *const headers[] = { "Accept-Encoding: identity", range,
					same, NULL };
	struct http_request req = { .method = "GET", .url = url,
				    .headers = headers, .redirects = true,
				    .timeout_ms = PIECE_TIMEOUT_MS };

	memset(reply, 0, sizeof(*reply));
	return http_perform(p->http, &req, reply, 1, NULL, NULL, err);
}

static int not_followed(const char *from, const char *to,
			struct remem_err *err)
{
	fail(err, REMEM_EPERM, "'%.150s' sends us on to '%.150s', which is "
	     "not followed: another host has to be asked by https", from, to);
	fail_action(err, "fetch the file by other means and use --from FOLDER");
	return REMEM_EPERM;
}

/* *url becomes the address that answered. */
static int get(struct pull *p, const char **url, const char *range,
	       struct http_reply *reply, struct remem_err *err)
{
	for (int hop = 0;; hop++) {
		const char *to;
		int rc = get_once(p, *url, range, reply, err);

		if (rc || reply->rc || !reply->location)
			return rc;
		to = arena_strdup(&p->a, reply->location);
		http_reply_release(reply);
		if (!to)
			return fail_nomem(err);
		if (hop == HOPS)
			return fail(err, REMEM_EREMOTE, "'%.150s' sends us on "
				    "more than %d times", p->source, HOPS);
		if (!http_may_follow(*url, to))
			return not_followed(*url, to, err);
		*url = to;
	}
}

static bool is_page(const struct http_reply *r)
{
	return !strncmp(r->content_type, "text/html", 9);
}

static int no_sum(const struct pull *p, struct remem_err *err)
{
	fail(err, REMEM_ENOTFOUND, "nothing says which checksum '%s' must "
	     "have", p->name);
	fail_action(err, "give it with --sha256, or put %s.sha256 beside it",
		    p->name);
	return REMEM_ENOTFOUND;
}

/* The checksum: as given, else as FILE.sha256 beside it says. */
static int find_sum(struct pull *p, struct remem_err *err)
{
	const char *beside = arena_printf(&p->a, "%s.sha256", p->source);
	struct http_reply reply = { 0 };
	struct buf b = BUF_INIT(4096);
	int rc;

	if (p->o->sha256)
		return take_sum(p, p->o->sha256, strlen(p->o->sha256),
				"--sha256", err);
	if (!beside)
		return fail_nomem(err);
	if (!p->http) {
		rc = file_read(&b, beside, NULL) ? no_sum(p, err) :
			     take_sum(p, buf_str(&b), b.len, beside, err);
		goto out;
	}
	if ((rc = get(p, &beside, NULL, &reply, err)))
		goto out;
	if (reply.rc)
		rc = fail(err, reply.rc, "%s", reply.error);
	else if (reply.status != 200 || is_page(&reply))
		rc = no_sum(p, err);
	else
		rc = take_sum(p, buf_str(&reply.body), reply.body.len, beside,
			      err);
out:
	http_reply_release(&reply);
	buf_release(&b);
	return rc;
}

static int open_part(struct pull *p, struct remem_err *err)
{
	struct stat st;
	int rc;

	p->folder = model_folders(&p->a, p->r)[0];
	if (!p->folder)
		return fail(err, REMEM_ENOTFOUND, "no folder for models: HOME "
			    "is not set");
	if ((rc = dir_make(p->folder, 0755, err)))
		return rc;
	p->target = path_join(&p->a, p->folder, p->name);
	p->part = arena_printf(&p->a, "%s/.%s.%.16s.part", p->folder, p->name,
			       p->sum);
	if (!p->target || !p->part)
		return fail_nomem(err);
	p->fd = open(p->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (p->fd < 0 || fstat(p->fd, &st))
		return file_fail(err, errno, "write", p->part);
	if (flock(p->fd, LOCK_EX | LOCK_NB))
		return fail(err, REMEM_EBUSY, "'%s' is being fetched already",
			    p->name);
	p->have = (int64_t)st.st_size;
	return 0;
}

/* ---- before ----------------------------------------------------------- */

static int check_memory(struct pull *p, int64_t need, struct remem_err *err)
{
	int64_t left = local_memory_free("");

	if (left < 0 || p->o->force || need <= left)
		return 0;
	fail(err, REMEM_ELIMIT, "'%s' will need about %lld MB of memory, and "
	     "%lld MB are free", p->name, (long long)(need >> 20),
	     (long long)(left >> 20));
	fail_action(err, "choose a smaller one, or fetch it all the same with "
		    "--force");
	return REMEM_ELIMIT;
}

/* What the model needs beside its file. */
static int64_t beside(const struct pull *p)
{
	return p->known ? known_model_memory(p->known) - p->known->bytes :
			  BESIDE_BYTES;
}

static int check_space(struct pull *p, struct remem_err *err)
{
	struct statvfs v;
	int64_t room;

	if (!fstatvfs(p->fd, &v)) {
		room = (int64_t)v.f_bavail * (int64_t)v.f_frsize;
		if (room < p->total - p->have)
			return fail(err, REMEM_ELIMIT, "'%s' needs %lld MB of "
				    "disk, and %lld MB are free in '%s'",
				    p->name,
				    (long long)((p->total - p->have) >> 20),
				    (long long)(room >> 20), p->folder);
	}
	return check_memory(p, p->total + beside(p), err);
}

/* What is there belongs to another file: the next try begins anew. */
static int changed(struct pull *p, struct remem_err *err)
{
	if (ftruncate(p->fd, 0))
		return file_fail(err, errno, "write", p->part);
	fail(err, REMEM_EFORMAT, "'%s' was changed on the server while it was "
	     "fetched", p->name);
	fail_action(err, "the same command begins anew; the checksum may be "
		    "another one too");
	return REMEM_EFORMAT;
}

static int on_total(struct pull *p, int64_t total, struct remem_err *err)
{
	if (p->total && total && total != p->total)
		return changed(p, err);
	if (p->total || !total)
		return 0;
	p->total = total;
	progress_phase(&p->progress, "download", total);
	progress_step(&p->progress, p->have);
	return check_space(p, err);
}

/* ---- pieces ----------------------------------------------------------- */

static int no_model(const struct pull *p, struct remem_err *err)
{
	fail(err, REMEM_EFORMAT, "what comes from '%.200s' is no model: it does "
	     "not begin as a GGUF file", p->source);
	fail_action(err, "see what the address shows in a browser: a licence "
		    "may have to be accepted, or the name is another one");
	return REMEM_EFORMAT;
}

static int keep(struct pull *p, const char *data, size_t len,
		struct remem_err *err)
{
	int rc;

	if (!p->have && (len < 4 || memcmp(data, "GGUF", 4) != 0))
		return no_model(p, err);
	rc = lseek(p->fd, (off_t)p->have, SEEK_SET) < 0 ?
		     file_fail(err, errno, "write", p->part) :
		     file_write_all(p->fd, data, len, p->part, err);
	if (rc)
		return rc;
	p->have += (int64_t)len;
	if (progress_step(&p->progress, (int64_t)len))
		return fail(err, REMEM_ECANCELLED, "stopped; the same command "
			    "goes on where it was");
	return 0;
}

/* What is wrong with a reply; 0: it is a piece. *whole: it is all of it. */
static int judge(const struct pull *p, const struct http_reply *r, bool *whole,
		 struct remem_err *err)
{
	*whole = r->status == 200;
	if (r->rc == REMEM_ELIMIT)
		return fail(err, REMEM_ENOTSUP, "the server does not give parts "
			    "of files: fetch '%s' by other means and use "
			    "--from FOLDER", p->name);
	if (r->rc)
		return fail(err, r->rc, "%s", r->error);
	if (r->status == 404)
		return fail(err, REMEM_ENOTFOUND, "'%s' is not there",
			    p->name);
	if (r->status == 401 || r->status == 403) {
		fail(err, REMEM_EPERM, "the server refuses '%s' (status %d): "
		     "it may want a licence accepted or an account", p->name,
		     r->status);
		fail_action(err, "fetch it in a browser and use --from "
			    "FOLDER");
		return REMEM_EPERM;
	}
	if (r->status != 206 && r->status != 200 && r->status != 416)
		return fail(err, REMEM_EREMOTE,
			    "the server answered with status %d", r->status);
	return is_page(r) ? no_model(p, err) : 0;
}

/* An address that we were sent to may be good for a while only. */
static bool is_stale(struct pull *p, const struct http_reply *r)
{
	bool stale = p->at && (r->status == 401 || r->status == 403 ||
			       r->status == 404 || r->status == 410);

	if (stale)
		p->at = NULL;
	return stale;
}

static int ask_piece(struct pull *p, struct http_reply *r,
		     struct remem_err *err)
{
	const char *range = arena_printf(&p->a, "Range: bytes=%lld-%lld",
					 (long long)p->have,
					 (long long)(p->have + PIECE_BYTES -
						     1));
	int rc;

	do {
		const char *url = p->at ? p->at : p->source;

		if (!range)
			return fail_nomem(err);
		http_reply_release(r);
		rc = get(p, &url, range, r, err);
		if (!rc && !r->rc && r->status < 300 && url != p->source)
			p->at = url;
	} while (!rc && is_stale(p, r));
	p->pause_ms = rc ? 0 : r->retry_after_ms;
	return rc;
}

static int start_over(struct pull *p, struct http_reply *r,
		      struct remem_err *err)
{
	p->have = 0;
	p->total = 0;
	r->total = (int64_t)r->body.len;
	return ftruncate(p->fd, 0) ? file_fail(err, errno, "write", p->part) :
				     0;
}

static int piece_of_http(struct pull *p, bool *last, struct remem_err *err)
{
	struct http_reply r = { 0 };
	bool whole;
	int rc = ask_piece(p, &r, err);

	if (!rc && r.rc == REMEM_ELIMIT && p->etag[0] && p->have)
		rc = changed(p, err);
	if (rc || (rc = judge(p, &r, &whole, err)))
		goto out;
	if (whole)
		rc = start_over(p, &r, err);
	else if (p->etag[0] && r.etag[0] && strcmp(p->etag, r.etag) != 0)
		rc = changed(p, err);
	memcpy(p->etag, r.etag, sizeof(p->etag));
	if (!rc && r.status != 416 && !(rc = on_total(p, r.total, err)))
		rc = keep(p, r.body.ptr, r.body.len, err);
	*last = whole || r.status == 416 || !r.body.len ||
		(p->total ? p->have >= p->total :
			    (int64_t)r.body.len < PIECE_BYTES);
out:
	http_reply_release(&r);
	return rc;
}

static void pause_before(const struct pull *p, int tries)
{
	int asked = p->pause_ms < PAUSE_MAX_MS ? p->pause_ms : PAUSE_MAX_MS;
	int ms = asked > 0 ? asked : PAUSE_MS << (tries - 1);
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static int from_http(struct pull *p, struct remem_err *err)
{
	bool last = false;
	int rc = 0, tries = 0;

	while (!rc && !last) {
		int64_t before = p->have;

		rc = piece_of_http(p, &last, err);
		if (p->have > before)
			tries = 0;
		if ((rc == REMEM_EREMOTE || rc == REMEM_ETIMEOUT) &&
		    ++tries < TRIES) {
			pause_before(p, tries);
			rc = 0;
		}
	}
	return rc;
}

static int copy(struct pull *p, int from, struct remem_err *err)
{
	char block[65536];
	ssize_t n;
	int rc = 0;

	while (!rc && (n = pread(from, block, sizeof(block),
				 (off_t)p->have)) > 0)
		rc = keep(p, block, (size_t)n, err);
	return rc ? rc : n < 0 ? file_fail(err, errno, "read", p->source) : 0;
}

static int from_folder(struct pull *p, struct remem_err *err)
{
	int rc, from = open(p->source, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (from < 0)
		return file_fail(err, errno, "read", p->source);
	if (fstat(from, &st) || !S_ISREG(st.st_mode))
		rc = fail(err, REMEM_EINVAL, "'%s' is not a file", p->source);
	else
		rc = on_total(p, (int64_t)st.st_size, err);
	if (!rc)
		rc = copy(p, from, err);
	close(from);
	return rc;
}

/* ---- after ------------------------------------------------------------ */

static int check_sum(struct pull *p, struct remem_err *err)
{
	char hex[SUM_HEX + 1];
	int rc = model_sum(hex, p->part, err);

	if (rc || !strcmp(hex, p->sum))
		return rc;
	unlink(p->part);
	fail(err, REMEM_EFORMAT, "'%s' has the checksum %s and not %s: it was "
	     "removed", p->name, hex, p->sum);
	fail_action(err, "fetch it again, or from elsewhere");
	return REMEM_EFORMAT;
}

static int finish(struct pull *p, struct remem_err *err)
{
	const char *beside = arena_printf(&p->a, "%s.sha256", p->target);
	const char *line = arena_printf(&p->a, "%s  %s\n", p->sum, p->name);
	int rc;

	if ((rc = check_sum(p, err)) ||
	    (rc = file_fsync(p->fd, p->part, err)))
		return rc;
	if (!beside || !line)
		return fail_nomem(err);
	if (rename(p->part, p->target))
		return file_fail(err, errno, "write", p->target);
	if ((rc = dir_fsync(p->folder, err)))
		return rc;
	return file_write_atomic(beside, line, strlen(line), 0644, err);
}

static int report(struct pull *p, char **json, struct remem_err *err)
{
	struct local_model m;
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "name", p->name);
	json_kstr(&j, "path", p->target);
	json_kint(&j, "bytes", p->have);
	json_kstr(&j, "sha256", p->sum);
	if (!local_model_read(&m, p->target, NULL)) {
		json_kint(&j, "memoryBytes", local_model_memory(&m));
		json_kint(&j, "tokensPerSecond", local_model_speed(&m));
	}
	json_end(&j);
	rc = json_give(json, &b, err);
	buf_release(&b);
	return rc;
}

static int pull(struct pull *p, const char *name, struct remem_err *err)
{
	int rc = name_source(p, name, err);

	/* The file may be half as large as the usual one, with 4 bits. */
	if (!rc && p->known)
		rc = check_memory(p, p->known->bytes / 2 + beside(p), err);
	if (rc)
		return rc;
	if (is_address(p->source) && (rc = http_new(&p->http, err)))
		return rc;
	if ((rc = find_sum(p, err)) || (rc = open_part(p, err)) ||
	    (rc = p->http ? from_http(p, err) : from_folder(p, err)))
		return rc;
	return finish(p, err);
}

PUBLIC int remem_models_pull(struct remem *r, const char *name,
			     const struct remem_fetch_opts *o, char **json,
			     struct remem_err *err)
{
	struct pull p = { .a = ARENA_INIT, .r = r, .o = o, .fd = -1 };
	int rc;

	*json = NULL;
	if (r->read_only)
		return fail(err, REMEM_EPERM, "nothing is fetched: read-only");
	progress_init(&p.progress, o->progress, o->progress_ctx);
	rc = pull(&p, name, err);
	if (!rc)
		rc = report(&p, json, err);
	if (p.fd >= 0)
		close(p.fd);
	http_free(p.http);
	arena_release(&p.a);
	return rc;
}
