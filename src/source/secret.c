/*
 * A scan over word beginnings. A word is tried against the rows, as the name
 * in an assignment, as a header's scheme, as a number. A name that speaks of
 * a secret takes less of a value to be believed than any other name, whose
 * value must look drawn by lot: 4.2 bits a character is what 20 random
 * letters and digits have and words, paths and numbers have not.
 */
#include "source/secret.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"

#define NAME_MAX_BYTES 64
#define VALUE_MAX_BYTES 512
#define RANDOM_MAX_BYTES 128 /* longer ones are data */
#define PEM_MAX_BYTES (64u << 10)
#define RANDOM_MIN_BYTES 20
#define RANDOM_MIN_BITS 4.2

struct scan {
	const char *s;
	size_t len;
	unsigned flags;
	struct secret_span *out;
};

static const struct row {
	const char *prefix;
	size_t least;
	const char *kind;
} rows[] = {
#define SECRET(prefix, least, kind) { prefix, least, kind },
#include "source/secrets.def"
#undef SECRET
};

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

static bool is_word(char c)
{
	return is_alnum(c) || c == '_' || c == '-';
}

/* What a value without quotes may consist of. */
static bool is_value(char c)
{
	static const char no[128] = {
		['"'] = 1, ['\''] = 1, ['`'] = 1, ['<'] = 1, ['>'] = 1,
		[','] = 1, [';'] = 1, ['('] = 1, [')'] = 1, ['{'] = 1,
		['}'] = 1, ['['] = 1, [']'] = 1, ['|'] = 1, ['\\'] = 1,
	};

	return (unsigned char)c > ' ' && (unsigned char)c < 0x7f &&
	       !no[(unsigned char)c];
}

static bool found(struct scan *x, size_t start, size_t end, const char *kind)
{
	x->out->start = start;
	x->out->end = end;
	x->out->kind = kind;
	return true;
}

static size_t span(const struct scan *x, size_t at, bool (*is)(char))
{
	size_t end = x->len - at > VALUE_MAX_BYTES ? at + VALUE_MAX_BYTES :
						     x->len;

	while (at < end && is(x->s[at]))
		at++;
	return at;
}

/* ---- what a value looks like ------------------------------------------ */

struct look {
	size_t len, digits, lower, upper, other;
	double bits; /* a character */
};

static void look_at(struct look *k, const char *s, size_t len)
{
	unsigned seen[256] = { 0 };

	memset(k, 0, sizeof(*k));
	k->len = len;
	for (size_t i = 0; i < len; i++) {
		seen[(unsigned char)s[i]]++;
		if (s[i] >= '0' && s[i] <= '9')
			k->digits++;
		else if (s[i] >= 'a' && s[i] <= 'z')
			k->lower++;
		else if (s[i] >= 'A' && s[i] <= 'Z')
			k->upper++;
		else
			k->other++;
	}
	for (int i = 0; i < 256; i++)
		if (seen[i])
			k->bits -= seen[i] / (double)len *
				   log2(seen[i] / (double)len);
}

/* A variable, a placeholder, what was masked before. */
static bool is_placeholder(const char *s, size_t len)
{
	static const char *const words[] = { "null", "none", "true", "false",
					     "undefined", "xxxx", "your", "****",
					     "changeme", "example", "redacted" };

	if (!len || *s == '$' || *s == '%' || *s == '*')
		return true;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i]);

		if (len >= n && !strncasecmp(s, words[i], n))
			return true;
	}
	return false;
}

static bool is_random(const char *s, size_t len)
{
	struct look k;

	if (len < RANDOM_MIN_BYTES || len > RANDOM_MAX_BYTES)
		return false;
	look_at(&k, s, len);
	return k.digits && k.lower && k.upper && k.other * 4 < k.len &&
	       k.bits >= RANDOM_MIN_BITS;
}

/* ---- names ------------------------------------------------------------ */

enum name_kind { NAME_PLAIN, NAME_KEY, NAME_PASSWORD };

static bool ends(const char *s, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && !strncasecmp(s + len - n, with, n);
}

static enum name_kind name_kind(const char *s, size_t len)
{
	static const char *const passwords[] = {
		"password", "passwd", "pwd", "passphrase", "passcode",
	};
	static const char *const keys[] = {
		"secret", "token", "api_key", "apikey", "api-key", "access_key",
		"accesskey", "access-key", "secret_key", "secretkey",
		"secret-key", "private_key", "privatekey", "private-key",
		"auth_key", "credential", "credentials", "access_key_id",
		"_key", "-key", "authtoken", "cookie",
	};

	for (size_t i = 0; i < ARRAY_LEN(passwords); i++)
		if (ends(s, len, passwords[i]))
			return NAME_PASSWORD;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (ends(s, len, keys[i]))
			return NAME_KEY;
	return NAME_PLAIN;
}

static bool is_upper_name(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] >= 'a' && s[i] <= 'z')
			return false;
	return true;
}

static bool believable(enum name_kind kind, bool strong, const char *v,
		       size_t len)
{
	struct look k;

	if (len < 4 || is_placeholder(v, len))
		return false;
	if (kind == NAME_PLAIN)
		return is_random(v, len);
	if (strong)
		return kind == NAME_PASSWORD || len >= 6;
	look_at(&k, v, len);
	/* In prose "token: expired" is no secret. */
	if (kind == NAME_PASSWORD)
		return k.digits || k.other || (k.lower && k.upper);
	return len >= 8 && k.digits && k.lower + k.upper;
}

/* ---- assignments ------------------------------------------------------ */

static size_t skip_blanks(const struct scan *x, size_t at)
{
	while (at < x->len && (x->s[at] == ' ' || x->s[at] == '\t'))
		at++;
	return at;
}

/* The value at `at`, in quotes or not: its range. */
static bool take_value(const struct scan *x, size_t at, size_t *start,
		       size_t *end, bool *quoted)
{
	size_t limit = x->len - at > VALUE_MAX_BYTES ? at + VALUE_MAX_BYTES :
						       x->len;
	char q;

	if (at < limit && x->s[at] == '\\')
		at++; /* JSON in a string */
	*quoted = at < limit && strchr("\"'`", x->s[at]) && x->s[at];
	if (!*quoted) {
		*start = at;
		*end = at < x->len ? span(x, at, is_value) : at;
		while (*end > at && strchr(".:!?", x->s[*end - 1]))
			--*end;
		return *end > at;
	}
	q = x->s[at++];
	*start = at;
	while (at < limit && x->s[at] != q && x->s[at] != '\n' &&
	       x->s[at] != '\\')
		at++;
	*end = at;
	return at < limit && at > *start;
}

static const char *kind_name(enum name_kind kind)
{
	return kind == NAME_PASSWORD ? "password" : "secret";
}

static bool try_value(struct scan *x, enum name_kind kind, bool strong,
		      size_t at)
{
	size_t start, end;
	bool quoted;

	if (!take_value(x, at, &start, &end, &quoted) ||
	    !believable(kind, strong || (quoted && kind != NAME_PLAIN),
			x->s + start, end - start))
		return false;
	return found(x, start, end, kind_name(kind));
}

/* NAME = value, "name": "value", --name value, password is value. */
static bool try_assignment(struct scan *x, size_t i, size_t w)
{
	size_t n = w - i, at = w;
	enum name_kind kind;
	bool flag, strong;

	if (n > NAME_MAX_BYTES)
		return false;
	kind = name_kind(x->s + i, n);
	flag = i >= 2 && x->s[i - 1] == '-' && x->s[i - 2] == '-';
	strong = flag || (n > 3 && is_upper_name(x->s + i, n));
	while (at < x->len && strchr("\"'`\\", x->s[at]) && x->s[at])
		at++;
	at = skip_blanks(x, at);
	if (at < x->len && (x->s[at] == '=' || x->s[at] == ':')) {
		bool equals = x->s[at] == '=';

		at++;
		if (at < x->len && (x->s[at] == '=' || x->s[at] == '>'))
			at++;
		else if (equals && kind != NAME_PLAIN && at < x->len &&
			 x->s[at] != ' ')
			strong = true;
		return try_value(x, kind, strong, skip_blanks(x, at));
	}
	if (kind == NAME_PLAIN || at == w)
		return false;
	if (flag)
		return try_value(x, kind, true, at);
	if (kind == NAME_PASSWORD && x->len - at > 3 &&
	    !memcmp(x->s + at, "is ", 3))
		return try_value(x, kind, false, at + 3);
	return false;
}

/* ---- other shapes ----------------------------------------------------- */

static bool is_token(char c)
{
	return is_word(c) || strchr("./+=~", c);
}

static bool try_rows(struct scan *x, size_t i)
{
	for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
		const struct row *r = &rows[k];
		size_t n, end;

		if (x->s[i] != r->prefix[0])
			continue;
		n = strlen(r->prefix);
		if (x->len - i < n + r->least ||
		    memcmp(x->s + i, r->prefix, n))
			continue;
		end = span(x, i + n, is_word);
		if (memchr(r->prefix, '.', n))
			end = span(x, i + n, is_token);
		if (end - i - n < r->least)
			continue;
		/* A key has a digit; a long name of a function has not. */
		for (size_t d = i + n; d < end; d++)
			if (x->s[d] >= '0' && x->s[d] <= '9')
				return found(x, i, end, r->kind);
	}
	return false;
}

static bool is_base64url(char c)
{
	return is_word(c) || c == '.';
}

static bool try_jwt(struct scan *x, size_t i)
{
	size_t end;
	int dots = 0;

	if (x->len - i < 20 || memcmp(x->s + i, "eyJ", 3))
		return false;
	end = span(x, i, is_base64url);
	for (size_t k = i; k < end; k++)
		dots += x->s[k] == '.';
	return dots >= 2 && end - i >= 36 && found(x, i, end, "token");
}

/* "Bearer X", "Basic X" */
static bool try_scheme(struct scan *x, size_t i, size_t w)
{
	bool bearer = w - i == 6 && !strncasecmp(x->s + i, "bearer", 6);
	bool basic = w - i == 5 && !strncasecmp(x->s + i, "basic", 5);
	size_t at = skip_blanks(x, w), end;
	struct look k;

	if ((!bearer && !basic) || at == w || at >= x->len)
		return false;
	end = span(x, at, is_token);
	if (end - at < (bearer ? 18u : 12u) || is_placeholder(x->s + at, end - at))
		return false;
	look_at(&k, x->s + at, end - at);
	return k.digits + k.upper > 0 && found(x, at, end, "token");
}

/* scheme://user:password@host: only the password. */
static bool try_address(struct scan *x, size_t i)
{
	size_t at = i + 3, colon = 0;

	for (; at < x->len && at < i + 256 && is_value(x->s[at]); at++) {
		if (x->s[at] == '/' || x->s[at] == '?')
			return false;
		if (x->s[at] == ':' && !colon)
			colon = at;
		if (x->s[at] != '@')
			continue;
		return colon && at - colon > 1 &&
		       !is_placeholder(x->s + colon + 1, at - colon - 1) &&
		       found(x, colon + 1, at, "password");
	}
	return false;
}

static bool try_pem(struct scan *x, size_t i)
{
	static const char begin[] = "-----BEGIN ", end[] = "-----END ";
	size_t limit = x->len - i > PEM_MAX_BYTES ? i + PEM_MAX_BYTES : x->len;
	size_t at = i + sizeof(begin) - 1, nl = at;

	if (x->len - i < 30 || memcmp(x->s + i, begin, sizeof(begin) - 1))
		return false;
	while (nl < limit && nl < at + 48 && x->s[nl] != '\n')
		nl++;
	for (; at + 11 <= nl && memcmp(x->s + at, "PRIVATE KEY", 11); at++)
		;
	if (at + 11 > nl)
		return false;
	for (; at < limit; at++) {
		if (limit - at < sizeof(end) - 1 ||
		    memcmp(x->s + at, end, sizeof(end) - 1))
			continue;
		while (at < limit && x->s[at] != '\n' && x->s[at] != '\\')
			at++;
		break;
	}
	return found(x, i, at, "private key");
}

/* 密码 是 …, 口令：… */
static bool try_chinese(struct scan *x, size_t i)
{
	static const char names[][7] = { "密码", "口令", "密钥", "令牌" };
	static const char *const joints[] = { "是", "为", "：", ":", "=", " " };
	size_t at = 0;

	for (size_t k = 0; k < ARRAY_LEN(names) && !at; k++) {
		size_t n = sizeof(names[k]) - 1;

		if (x->len - i > n && !memcmp(x->s + i, names[k], n))
			at = i + n;
	}
	for (size_t k = 0, turns = 0; at && k < ARRAY_LEN(joints) && turns < 6;
	     k++) {
		size_t n = strlen(joints[k]);

		if (x->len - at <= n || memcmp(x->s + at, joints[k], n))
			continue;
		at += n;
		turns++;
		k = (size_t)-1; /* from the start */
	}
	return at && try_value(x, NAME_PASSWORD, false, at);
}

/* ---- numbers of people ------------------------------------------------ */

static bool is_identity(const char *s)
{
	static const int weight[17] = { 7, 9, 10, 5, 8, 4, 2, 1, 6,
					3, 7, 9, 10, 5, 8, 4, 2 };
	int sum = 0;

	for (int i = 0; i < 17; i++)
		sum += (s[i] - '0') * weight[i];
	return toupper((unsigned char)s[17]) == "10X98765432"[sum % 11];
}

static bool is_luhn(const char *s, size_t n)
{
	int sum = 0;

	for (size_t i = 0; i < n; i++) {
		int d = s[n - 1 - i] - '0';

		if (i & 1)
			d = d > 4 ? 2 * d - 9 : 2 * d;
		sum += d;
	}
	return !(sum % 10);
}

static bool try_number(struct scan *x, size_t i)
{
	size_t n = 0;
	const char *s = x->s + i;

	while (i + n < x->len && n < 24 && s[n] >= '0' && s[n] <= '9')
		n++;
	if (n == 17 && i + n < x->len && (s[17] == 'X' || s[17] == 'x') &&
	    is_identity(s))
		return found(x, i, i + 18, "identity number");
	if (n == 18 && is_identity(s))
		return found(x, i, i + n, "identity number");
	if (n == 11 && s[0] == '1' && s[1] >= '3')
		return found(x, i, i + n, "phone number");
	if (n >= 13 && n <= 19 && s[0] >= '2' && s[0] <= '6' && is_luhn(s, n))
		return found(x, i, i + n, "card number");
	return false;
}

/* ---- the scan --------------------------------------------------------- */

static bool try_word(struct scan *x, size_t i)
{
	size_t w = i;

	if (try_rows(x, i) || try_jwt(x, i))
		return true;
	if ((x->flags & SECRET_PERSONAL) && isdigit((unsigned char)x->s[i]) &&
	    try_number(x, i))
		return true;
	while (w < x->len && w - i <= NAME_MAX_BYTES && is_word(x->s[w]))
		w++;
	return try_scheme(x, i, w) || try_assignment(x, i, w);
}

bool secret_next(struct secret_span *out, const char *text, size_t len,
		 size_t from, unsigned flags)
{
	struct scan x = { text, len, flags, out };

	for (size_t i = from; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == 0xe5 || c == 0xe4) {
			if (try_chinese(&x, i))
				return true;
		} else if (c == ':' && len - i > 4 && text[i + 1] == '/' &&
			   text[i + 2] == '/') {
			if (try_address(&x, i))
				return true;
		} else if (c == '-') {
			if (len - i > 5 && text[i + 1] == '-' && try_pem(&x, i))
				return true;
		} else if (is_alnum((char)c) &&
			   (!i || !is_alnum(text[i - 1]))) {
			if (try_word(&x, i))
				return true;
		}
	}
	return false;
}

size_t secret_mask(struct buf *out, const char *text, size_t len,
		   unsigned flags)
{
	struct secret_span s;
	size_t at = 0, n = 0;

	while (secret_next(&s, text, len, at, flags)) {
		buf_add(out, text + at, s.start - at);
		buf_addf(out, "[masked %s]", s.kind);
		at = s.end;
		n++;
	}
	buf_add(out, text + at, len - at);
	return n;
}
