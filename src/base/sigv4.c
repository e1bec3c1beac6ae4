/* Canonical request, string to sign, key and signature, as AWS describes. */
#include "base/sigv4.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"

#define BLOCK 64 /* of SHA-256 */
#define HEX_BYTES (2 * SHA256_BYTES + 1)

static void hmac(unsigned char out[SHA256_BYTES], const void *key,
		 size_t key_len, const void *text, size_t len)
{
	unsigned char pad[BLOCK] = { 0 }, inner[SHA256_BYTES];
	struct sha256 h;

	if (key_len > BLOCK)
		sha256_of(pad, key, key_len);
	else
		memcpy(pad, key, key_len);
	for (size_t i = 0; i < BLOCK; i++)
		pad[i] ^= 0x36;
	sha256_init(&h);
	sha256_add(&h, pad, BLOCK);
	sha256_add(&h, text, len);
	sha256_done(&h, inner);
	for (size_t i = 0; i < BLOCK; i++)
		pad[i] ^= 0x36 ^ 0x5c;
	sha256_init(&h);
	sha256_add(&h, pad, BLOCK);
	sha256_add(&h, inner, sizeof(inner));
	sha256_done(&h, out);
}

/* The path once more percent-encoded, since the service does so too. */
static void add_path(struct buf *out, const char *path)
{
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;
		bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
			     (c >= '0' && c <= '9') || strchr("-._~/", c);

		if (plain)
			buf_addc(out, *path);
		else
			buf_addf(out, "%%%02X", (unsigned)c);
	}
}

static const char *signed_headers(const struct sigv4 *s)
{
	return s->token ? "host;x-amz-date;x-amz-security-token" :
			  "host;x-amz-date";
}

static void hash_request(char out[HEX_BYTES], const struct sigv4 *s,
			 const char *date, struct buf *room)
{
	unsigned char hash[SHA256_BYTES];
	char body[HEX_BYTES];

	sha256_of(hash, s->body_len ? s->body : "", s->body_len);
	hex_encode(body, hash, sizeof(hash));
	buf_reset(room);
	buf_addf(room, "%s\n", s->method);
	add_path(room, s->path);
	buf_addf(room, "\n\nhost:%s\nx-amz-date:%s\n", s->host, date);
	if (s->token)
		buf_addf(room, "x-amz-security-token:%s\n", s->token);
	buf_addf(room, "\n%s\n%s", signed_headers(s), body);
	sha256_of(hash, room->ptr, room->len);
	hex_encode(out, hash, sizeof(hash));
}

static void make_key(unsigned char key[SHA256_BYTES], const struct sigv4 *s,
		     const char *date, struct buf *room)
{
	buf_reset(room);
	buf_addf(room, "AWS4%s", s->secret);
	hmac(key, room->ptr, room->len, date, 8);
	hmac(key, key, SHA256_BYTES, s->region, strlen(s->region));
	hmac(key, key, SHA256_BYTES, s->service, strlen(s->service));
	hmac(key, key, SHA256_BYTES, "aws4_request", 12);
}

void sigv4_sign(struct buf *out, char date[SIGV4_DATE], const struct sigv4 *s)
{
	unsigned char key[SHA256_BYTES], mac[SHA256_BYTES];
	char request[HEX_BYTES], signature[HEX_BYTES];
	struct buf room = BUF_INIT(0);
	time_t now = (time_t)s->now_s;
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(date, SIGV4_DATE, "%Y%m%dT%H%M%SZ", &tm);
	hash_request(request, s, date, &room);
	make_key(key, s, date, &room);
	buf_reset(&room);
	buf_addf(&room, "AWS4-HMAC-SHA256\n%s\n%.8s/%s/%s/aws4_request\n%s",
		 date, date, s->region, s->service, request);
	if (room.failed) {
		out->failed = room.failed;
		goto out;
	}
	hmac(mac, key, sizeof(key), room.ptr, room.len);
	hex_encode(signature, mac, sizeof(mac));
	buf_addf(out, "AWS4-HMAC-SHA256 Credential=%s/%.8s/%s/%s/aws4_request, "
		 "SignedHeaders=%s, Signature=%s", s->access_key, date,
		 s->region, s->service, signed_headers(s), signature);
out:
	buf_release(&room);
}
