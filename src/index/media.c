/* Labels of images and sound, and the bytes that belong to them. */
#include "index/media.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/utf8.h"
#include "source/names.h"
#include "text/media.h"

#define SUM_HEX 32 /* digits of the sum in a label */
#define PATH_MAX_BYTES 300 /* of a path in a label: its end says most */
#define LABEL_TOKENS 400
/* Of Gemini: a picture, and a second of sound at 16 kB. */
#define IMAGE_TOKENS 258
#define SOUND_TOKENS 32
#define SOUND_BYTES 16000

static const char image[] = "Image file: ", sound[] = "Audio file: ";

/* Printable, on one line, and no markup of notes. */
static const char *clean_path(struct arena *a, const char *path)
{
	size_t n = strlen(path);
	char *out;

	if (n > PATH_MAX_BYTES)
		path += n - PATH_MAX_BYTES;
	while ((*path & 0xc0) == 0x80)
		path++;
	out = arena_strdup(a, path);
	for (char *p = out; p && *p; p++)
		if ((unsigned char)*p < ' ' || *p == '<' || *p == 0x7f)
			*p = ' ';
	return out;
}

static void sum_of(char hex[2 * SHA256_BYTES + 1], const void *bytes,
		   size_t len)
{
	unsigned char sum[SHA256_BYTES];

	sha256_of(sum, bytes, len);
	hex_encode(hex, sum, SHA256_BYTES);
	hex[SUM_HEX] = '\0';
}

static bool is_taken(const struct source_opts *o, const char *type)
{
	for (const char *const *t = o->media_types; t && *t; t++)
		if (!strcmp(*t, type))
			return true;
	return false;
}

int media_note(struct note *n, struct arena *a, const struct source_opts *o,
	       const struct source_file *f, const char *bytes, size_t len,
	       const char **why, struct remem_err *err)
{
	const struct note_opts opts = { LABEL_TOKENS, 0, LABEL_TOKENS, false };
	const char *type = media_sniff(why, bytes, len), *path, *label;
	char hex[2 * SHA256_BYTES + 1];

	if (!type)
		return 0;
	if (!is_taken(o, type)) {
		*why = arena_printf(a, "is %s, which the provider does not "
				    "take", type);
		return *why ? 0 : fail_nomem(err);
	}
	sum_of(hex, bytes, len);
	path = clean_path(a, f->path);
	label = arena_printf(a, "%s%s\n%s, %zu bytes, sha256 %s\n",
			     media_is_image(type) ? image : sound,
			     path ? path : "", type, len, hex);
	return a->failed ? fail_nomem(err) :
	       note_parse(n, a, label, strlen(label), &opts, err);
}

void media_hash(unsigned char out[SHA256_BYTES], const struct source_file *f,
		const void *bytes, size_t len)
{
	struct buf b = BUF_INIT(0);

	sha256_of(out, bytes, len);
	buf_add(&b, out, SHA256_BYTES);
	buf_adds(&b, f->path);
	/* Without memory that of the bytes alone: it is cut once more. */
	if (!b.failed)
		sha256_of(out, buf_str(&b), b.len);
	buf_release(&b);
}

static bool is_label(const char *text, size_t len)
{
	size_t n = sizeof(image) - 1;

	return len > n && (!memcmp(text, image, n) || !memcmp(text, sound, n));
}

int media_find(struct store *s, struct arena *a, const struct store_passage *p,
	       const char *text, const char **path, struct remem_err *err)
{
	struct store_file f;
	bool found;
	int rc;

	*path = NULL;
	if (!is_label(text, p->len))
		return 0;
	rc = s->ops->file_get(s, a, p->file, &f, &found, err);
	if (!rc && found && f.source == STORE_MEMORY && name_media(f.path))
		*path = f.path;
	return rc;
}

/* What stands behind the first line: "TYPE, N bytes, sha256 SUM". */
static bool read_label(char type[32], long long *bytes,
		       char sum[SUM_HEX + 1], const char *label, size_t len)
{
	const char *line = memchr(label, '\n', len);
	char text[128];
	size_t n = line ? len - (size_t)(line + 1 - label) : sizeof(text);

	if (n >= sizeof(text))
		return false;
	memcpy(text, line + 1, n);
	text[n] = '\0';
	return sscanf(text, "%31[a-z0-9/], %lld bytes, sha256 %32[0-9a-f]",
		      type, bytes, sum) == 3 && *bytes >= 0;
}

static int64_t tokens_of(const char *type, long long bytes)
{
	return media_is_image(type) ? IMAGE_TOKENS :
	       SOUND_TOKENS * (1 + bytes / SOUND_BYTES);
}

int64_t media_tokens(const char *label, size_t len)
{
	char type[32], sum[SUM_HEX + 1];
	long long bytes;

	return is_label(label, len) &&
	       read_label(type, &bytes, sum, label, len) ?
		       tokens_of(type, bytes) : 0;
}

/* Opened as any listed file is: beneath its root, no link. */
static int read_file(struct buf *data, struct arena *a,
		     const struct source_opts *o, const char *path)
{
	struct source_opts open = *o;
	const char *shown;
	int fd, rc;

	/* It may have grown since it was listed. */
	data->limit = (size_t)o->media_max_bytes;
	open.media_listable = true;
	if ((rc = source_open_path(&fd, a, &open, path, &shown, NULL)))
		return rc;
	rc = file_read_fd(data, fd, path, NULL);
	close(fd);
	return rc;
}

bool media_load(struct embed_media *m, struct buf *data, struct arena *a,
		const struct source_opts *o, const char *path,
		const char *label, size_t len)
{
	char type[32], sum[SUM_HEX + 1], now[2 * SHA256_BYTES + 1];
	const char *is, *why;
	long long bytes;

	memset(m, 0, sizeof(*m));
	if (!o->media || !read_label(type, &bytes, sum, label, len) ||
	    read_file(data, a, o, path))
		return false;
	is = media_sniff(&why, buf_str(data), data->len);
	if (!is || strcmp(is, type) != 0 || !is_taken(o, is))
		return false;
	sum_of(now, buf_str(data), data->len);
	if (strcmp(now, sum) != 0)
		return false;
	m->type = is;
	m->data = buf_str(data);
	m->len = data->len;
	m->tokens = tokens_of(is, bytes);
	return true;
}
