/* Secrets: what is masked, and what looks like one and is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "source/secret.h"

static void masked(const char *in, const char *want, unsigned flags)
{
	struct buf b = BUF_INIT(0);

	secret_mask(&b, in, strlen(in), flags);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void test_secret__keys_of_vendors_are_masked(void **state)
{
	(void)state;
	masked("use sk-ant-api03-abcdefghij0123456789 now",
	       "use [masked anthropic key] now", 0);
	masked("ghp_0123456789abcdefghij0123456789abcdef,",
	       "[masked github token],", 0);
	masked("id AKIAIOSFODNN7EXAMPLE.", "id [masked aws key id].", 0);
	masked("钥匙是 xoxb-1234567890-abcdef", "钥匙是 [masked slack token]", 0);
	masked("SG.abcdefghij0123456789.xyz",
	       "[masked sendgrid key]", 0);
	masked("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl0",
	       "[masked token]", 0);
}

static void test_secret__assignments_are_masked(void **state)
{
	(void)state;
	masked("DB_PASSWORD=hunter", "DB_PASSWORD=[masked password]", 0);
	masked("export API_TOKEN='abc def1'", "export API_TOKEN='[masked secret]'",
	       0);
	masked("{\"apiKey\": \"q9w8e7r6t5\", \"n\": 1}",
	       "{\"apiKey\": \"[masked secret]\", \"n\": 1}", 0);
	masked("run --token a1b2c3d4e5 --verbose",
	       "run --token [masked secret] --verbose", 0);
	masked("my password is Tr0ub4dor, ok", "my password is [masked password]"
	       ", ok", 0);
	masked("密码是 abc12345。", "密码是 [masked password]。", 0);
	masked("x = \"Zk3vQ9pLr7TbY2mNc8XwD4\"", "x = \"[masked secret]\"", 0);
}

static void test_secret__headers_addresses_and_pem_are_masked(void **state)
{
	(void)state;
	masked("Authorization: Bearer abcdefghij0123456789xyz",
	       "Authorization: Bearer [masked token]", 0);
	masked("postgres://ada:s3cret@db.example/x",
	       "postgres://ada:[masked password]@db.example/x", 0);
	masked("a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n"
	       "-----END RSA PRIVATE KEY-----\nb",
	       "a\n[masked private key]\nb", 0);
	masked("-----BEGIN OPENSSH PRIVATE KEY-----\nno end",
	       "[masked private key]", 0);
}

static void test_secret__what_is_none_stays(void **state)
{
	static const char *const plain[] = {
		"The token: expired yesterday.",
		"password: see the vault",
		"sk-learn-is-not-a-key-but-a-package-name",
		"commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
		"PASSWORD=$PASSWORD and api_key: ${KEY}",
		"id = 550e8400-e29b-41d4-a716-446655440000",
		"http://example.org/a:b@c and 10:30 - 11:45",
		"path=/usr/local/share/remem/models/file.gguf",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"monkey: banana, key: value, 密码学很有意思",
		"本周一 13800138000 找张三",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		masked(plain[i], plain[i], 0);
}

static void test_secret__numbers_of_people_by_option(void **state)
{
	(void)state;
	masked("电话 13800138000,", "电话 [masked phone number],",
	       SECRET_PERSONAL);
	masked("证件 11010519491231002X", "证件 [masked identity number]",
	       SECRET_PERSONAL);
	masked("证件 110105194912310021", "证件 110105194912310021",
	       SECRET_PERSONAL);
	masked("card 4111111111111111", "card [masked card number]",
	       SECRET_PERSONAL);
	masked("order 4111111111111112", "order 4111111111111112",
	       SECRET_PERSONAL);
}

/* Nothing of the value is left, and time is linear. */
static void test_secret__hostile_text_costs_little(void **state)
{
	static char big[1 << 20];
	static const char *const units[] = { "key=", "-----BEGIN ", "a-", "密码",
					     "http://a:", "\"token\":\"" };
	struct secret_span s;

	(void)state;
	for (size_t u = 0; u < sizeof(units) / sizeof(*units); u++) {
		size_t n = strlen(units[u]);
		int64_t start = clock_mono_ns();

		for (size_t i = 0; i + n <= sizeof(big); i += n)
			memcpy(big + i, units[u], n);
		for (size_t at = 0; secret_next(&s, big, sizeof(big), at, 1);
		     at = s.end)
			assert_true(s.end > s.start && s.end <= sizeof(big));
		assert_true(clock_mono_ns() - start < 20000000000);
	}
}
