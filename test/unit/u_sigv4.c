/* Signatures against the examples of AWS's own description. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/sigv4.h"

#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define NOW_S 1440938160 /* 2015-08-30 12:36:00 UTC */

static struct sigv4 example(void)
{
	return (struct sigv4){ "AKIDEXAMPLE", SECRET, NULL, "us-east-1",
			       "service", "GET", "example.amazonaws.com", "/",
			       "", 0, NOW_S };
}

static void check_end(const struct sigv4 *s, const char *end)
{
	struct buf b = BUF_INIT(0);
	char date[SIGV4_DATE];

	sigv4_sign(&b, date, s);
	assert_string_equal(date, "20150830T123600Z");
	assert_true(b.len > strlen(end));
	assert_string_equal(buf_str(&b) + b.len - strlen(end), end);
	buf_release(&b);
}

static void test_sigv4__the_plain_example(void **state)
{
	struct sigv4 s = example();

	(void)state;
	check_end(&s, "Credential=AKIDEXAMPLE/20150830/us-east-1/service/"
		      "aws4_request, SignedHeaders=host;x-amz-date, Signature="
		      "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d"
		      "763fbf31");
}

static void test_sigv4__method_body_and_path_count(void **state)
{
	static const char *const paths[] = { "/a", "/%3A", "/:", "/记" };
	struct buf seen = BUF_INIT(0);

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct sigv4 s = example();
		struct buf b = BUF_INIT(0);
		char date[SIGV4_DATE];

		s.path = paths[i];
		s.token = i == 3 ? "t" : NULL;
		sigv4_sign(&b, date, &s);
		assert_null(seen.len ? strstr(buf_str(&seen),
					      buf_str(&b) + b.len - 64) : NULL);
		assert_true(!strstr(buf_str(&b), "security-token") ==
			    !s.token);
		assert_null(strstr(buf_str(&b), SECRET));
		buf_adds(&seen, buf_str(&b));
		buf_release(&b);
	}
	buf_release(&seen);
}
