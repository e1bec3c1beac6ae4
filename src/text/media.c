/*
 * Signatures and ends of files, from the formats' specifications: PNG (chunks
 * up to IEND), JPEG (up to EOI), GIF (up to its trailer), RIFF (WebP, WAVE: the
 * size in the head), ISO media (brands of HEIF and M4A), MPEG audio (a frame's
 * head, behind an ID3 tag), ADTS, FLAC, Ogg.
 */
#include "text/media.h"

#include <stdint.h>
#include <string.h>

#include "base/attr.h"

#define PNG_SIGNATURE "\x89PNG\r\n\x1a\n"
#define PADDING 16 /* zeros that writers leave behind the end */

static const char cut[] = "is cut off";
static const char more[] = "has something else behind its end";

struct bytes {
	const unsigned char *p;
	size_t len;
};

static bool at(struct bytes b, size_t i, const char *what, size_t n)
{
	return i <= b.len && n <= b.len - i && !memcmp(b.p + i, what, n);
}

static uint32_t big32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static uint32_t little32(const unsigned char *p)
{
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[1] << 8 | p[0];
}

/* What may stand behind the end. */
static const char *tail(struct bytes b, size_t end)
{
	if (b.len - end > PADDING)
		return more;
	for (size_t i = end; i < b.len; i++)
		if (b.p[i])
			return more;
	return NULL;
}

static const char *check_png(struct bytes b)
{
	size_t i = 8;

	if (!at(b, 12, "IHDR", 4))
		return cut;
	while (b.len - i >= 12) {
		size_t n = big32(b.p + i);
		bool last = at(b, i + 4, "IEND", 4);

		if (n > b.len - i - 12)
			return cut;
		i += n + 12;
		if (last)
			return tail(b, i);
	}
	return cut;
}

/* Where the picture that begins at i ends, 0: nowhere. */
static size_t jpeg_end(struct bytes b, size_t i)
{
	for (i += 2; i + 4 <= b.len && b.p[i] == 0xff;) {
		unsigned char marker = b.p[i + 1];
		size_t n = (size_t)b.p[i + 2] << 8 | b.p[i + 3];

		if (marker == 0xd9)
			return i + 2;
		if (n < 2 || n > b.len - i - 2)
			return 0;
		i += n + 2;
		if (marker != 0xda)
			continue;
		/* The picture itself, up to a marker that is no restart. */
		while (i + 1 < b.len && (b.p[i] != 0xff || !b.p[i + 1] ||
					 (b.p[i + 1] & 0xf8) == 0xd0))
			i++;
		if (i + 2 <= b.len && b.p[i + 1] == 0xd9)
			return i + 2;
	}
	return i + 2 <= b.len && at(b, i, "\xff\xd9", 2) ? i + 2 : 0;
}

/* Cameras put a smaller picture behind the picture. */
static const char *check_jpeg(struct bytes b)
{
	size_t i = 0;

	do {
		i = jpeg_end(b, i);
		if (!i)
			return cut;
	} while (at(b, i, "\xff\xd8\xff", 3));
	return tail(b, i);
}

static const char *check_gif(struct bytes b)
{
	size_t n = b.len;

	while (n > 13 && !b.p[n - 1])
		n--;
	return n > 13 && b.p[n - 1] == 0x3b ? NULL : cut;
}

static const char *check_riff(struct bytes b)
{
	size_t n = (size_t)little32(b.p + 4) + 8;

	n += n & 1;
	return n > b.len + 1 ? cut : n < b.len ? tail(b, n) : NULL;
}

/* MPEG audio, layer 1 to 3. */
static bool is_frame(struct bytes b, size_t i)
{
	return i + 4 <= b.len && b.p[i] == 0xff && (b.p[i + 1] & 0xe0) == 0xe0 &&
	       (b.p[i + 1] & 0x18) != 0x08 && (b.p[i + 1] & 0x06) &&
	       (b.p[i + 2] & 0xf0) != 0xf0 && (b.p[i + 2] & 0x0c) != 0x0c;
}

static const char *check_mpeg(struct bytes b)
{
	size_t i = 0;

	if (at(b, 0, "ID3", 3)) {
		if (b.len < 10)
			return cut;
		i = 10 + ((size_t)(b.p[6] & 0x7f) << 21 |
			  (size_t)(b.p[7] & 0x7f) << 14 |
			  (size_t)(b.p[8] & 0x7f) << 7 | (b.p[9] & 0x7f));
	}
	if (i >= b.len)
		return cut;
	for (size_t end = i + 4096; i < b.len && i < end && !b.p[i];)
		i++; /* padding of the tag */
	return is_frame(b, i) ? NULL : "holds no sound behind its tag";
}

static const char *check_rest(struct bytes b)
{
	return b.len < 32 ? cut : NULL;
}

struct format {
	const char *type;
	size_t at;
	const char *sign;
	size_t n;
	const char *(*check)(struct bytes b);
};

#define SIGN(text) text, sizeof(text) - 1

static const struct format formats[] = {
	{ "image/png", 0, SIGN(PNG_SIGNATURE), check_png },
	{ "image/jpeg", 0, SIGN("\xff\xd8\xff"), check_jpeg },
	{ "image/gif", 0, SIGN("GIF87a"), check_gif },
	{ "image/gif", 0, SIGN("GIF89a"), check_gif },
	{ "image/webp", 8, SIGN("WEBPVP8"), check_riff },
	{ "audio/wav", 8, SIGN("WAVEfmt "), check_riff },
	{ "image/heic", 4, SIGN("ftyphei"), check_rest },
	{ "image/heif", 4, SIGN("ftypmif1"), check_rest },
	{ "audio/mp4", 4, SIGN("ftypM4A"), check_rest },
	{ "audio/flac", 0, SIGN("fLaC"), check_rest },
	{ "audio/ogg", 0, SIGN("OggS"), check_rest },
	{ "audio/mpeg", 0, SIGN("ID3"), check_mpeg },
	{ "audio/aac", 0, SIGN("\xff\xf1"), check_rest },
	{ "audio/aac", 0, SIGN("\xff\xf9"), check_rest },
};

static bool is_riff(const struct format *f, struct bytes b)
{
	return f->check != check_riff || at(b, 0, "RIFF", 4);
}

const char *media_sniff(const char **why, const void *bytes, size_t len)
{
	struct bytes b = { bytes, len };

	*why = NULL;
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		const struct format *f = &formats[i];

		if (!at(b, f->at, f->sign, f->n) || !is_riff(f, b))
			continue;
		*why = f->check(b);
		return *why ? NULL : f->type;
	}
	if (is_frame(b, 0))
		return "audio/mpeg";
	*why = len ? "is no image and no sound by its bytes" : "is empty";
	return NULL;
}

bool media_is_image(const char *type)
{
	return !strncmp(type, "image/", 6);
}
