/* What bytes say they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text/media.h"

#define JPEG "\xff\xd8\xff\xe0\x00\x04XX\xff\xda\x00\x03X\x12\xff\x00\xff\xd0\xff\xd9"
#define PNG_HEAD "\x89PNG\r\n\x1a\n\x00\x00\x00\x01IHDRxcccc"
#define PNG PNG_HEAD "\x00\x00\x00\x00IEND\xae\x42\x60\x82"
#define WAV "RIFF\x0c\x00\x00\x00WAVEfmt dddd"
#define WEBP "RIFF\x0c\x00\x00\x00WEBPVP8 dddd"
#define MP3 "\xff\xfb\x90\x00sound"
#define TAGGED "ID3\x04\x00\x00\x00\x00\x00\x02tt" MP3

struct sample {
	const char *bytes;
	size_t len;
	const char *type; /* NULL: refused ... */
	const char *why; /* ... with this in its reason */
};

#define IS(bytes, type) { bytes, sizeof(bytes) - 1, type, NULL }
#define NOT(bytes, why) { bytes, sizeof(bytes) - 1, NULL, why }

static void test_media__bytes_decide(void **state)
{
	static const struct sample samples[] = {
		IS(JPEG, "image/jpeg"),
		IS(JPEG JPEG, "image/jpeg"), /* a preview behind it */
		IS(JPEG "\0\0\0", "image/jpeg"),
		IS(PNG, "image/png"),
		IS(WAV, "audio/wav"),
		IS(WEBP, "image/webp"),
		IS(MP3, "audio/mpeg"),
		IS(TAGGED, "audio/mpeg"),
		IS("GIF89a0123456789;", "image/gif"),
		NOT("", "empty"),
		NOT("\xff", "no image"),
		NOT("\xff\xd8", "no image"),
		NOT("\xff\xd8\xff", "cut off"),
		NOT("\xff\xd8\xff\xe0\xff\xff", "cut off"),
		NOT(JPEG "PK\3\4", "behind its end"),
		NOT(JPEG JPEG "<html>", "behind its end"),
		NOT(JPEG "\xff\xd8\xff", "cut off"),
		NOT(PNG "x", "behind its end"),
		NOT(PNG_HEAD, "cut off"),
		NOT("\x89PNG\r\n\x1a\n", "cut off"),
		NOT("\x89PNG\r\n\x1a\n\xff\xff\xff\xffIHDRx", "cut off"),
		NOT("RIFF\xff\xff\xff\xffWAVEfmt ", "cut off"),
		NOT(WAV "<script>alert(1)</script>", "behind its end"),
		NOT("XXXX\x0c\x00\x00\x00WAVEfmt dddd", "no image"),
		NOT("ID3", "cut off"),
		NOT("ID3\x04\x00\x00\x7f\x7f\x7f\x7ftt", "cut off"),
		NOT("ID3\x04\x00\x00\x00\x00\x00\x02tt<html>", "no sound"),
		NOT("<svg xmlns='x'><script/></svg>", "no image"),
		NOT("%PDF-1.7", "no image"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		const struct sample *s = &samples[i];
		const char *why = "x", *type = media_sniff(&why, s->bytes,
							   s->len);

		if (s->type) {
			if (!type || strcmp(type, s->type) || why)
				fail_msg("sample %zu is '%s', %s", i,
					 type ? type : "none", why);
		} else if (type || !why || !strstr(why, s->why)) {
			fail_msg("sample %zu is '%s', %s", i,
				 type ? type : "none", why ? why : "-");
		}
	}
}

/* Cut anywhere, each is either none or says why. */
static void test_media__cut_anywhere(void **state)
{
	static const struct sample whole[] = { IS(JPEG, ""), IS(PNG, ""),
					       IS(WAV, ""), IS(WEBP, "") };

	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++) {
		for (size_t n = 0; n + 1 < whole[i].len; n++) {
			const char *why;

			assert_null(media_sniff(&why, whole[i].bytes, n));
			assert_non_null(why);
		}
	}
}

static void test_media__images_and_sound(void **state)
{
	(void)state;
	assert_true(media_is_image("image/png"));
	assert_false(media_is_image("audio/wav"));
}
