/*
 * What the embedder is given. A heading that is a date or a time of day, or
 * that stands in many files, makes all that stands below it alike and costs
 * recall; a telling one ("Deploy", a person's name) helps.
 */
#include <string.h>

#include "index/sync.h"

#define COMMON_FILES 3 /* in so few files a heading is never common */
#define COMMON_SHARE 20 /* in more than every 20th file it is */

const struct index_embed_ops sync_embed_ops = {
	.info = embedder_info,
	.off = embedder_off,
	.documents = embedder_documents,
	.tokens = embedder_tokens,
	.price = embedder_price,
	.probe = embedder_probe,
	.expect = embedder_expect,
	.cooling = embedder_cooling,
};

static bool has_heading(const struct store_passage *p)
{
	/* A lone heading is its own text. */
	return p->heading && p->heading[0] && p->kind != PASSAGE_HEADING &&
	       !heading_says_nothing(p->heading, strlen(p->heading));
}

bool sync_heading_counts(const struct store_passage *p, int64_t files)
{
	return has_heading(p) &&
	       (p->heading_files <= COMMON_FILES ||
		(int64_t)p->heading_files * COMMON_SHARE <= files);
}

const char *sync_input(struct arena *a, const struct store_passage *p,
		       const char *text, bool heading, size_t *len)
{
	size_t head = heading ? strlen(p->heading) + 1 : 0;
	char *s;

	*len = head + p->len;
	s = arena_alloc(a, *len + 1);
	if (!s)
		return NULL;
	if (head) {
		memcpy(s, p->heading, head - 1);
		s[head - 1] = '\n';
	}
	memcpy(s + head, text, p->len);
	return s;
}

const char *index_input(struct arena *a, const struct store_passage *p,
			const char *text, int64_t files, size_t *len)
{
	return sync_input(a, p, text, sync_heading_counts(p, files), len);
}

void index_key(unsigned char key[SHA256_BYTES], const char *fingerprint,
	       const char *prefix, const char *input, size_t len)
{
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, fingerprint, strlen(fingerprint) + 1);
	sha256_add(&h, prefix, strlen(prefix) + 1);
	sha256_add(&h, input, len);
	sha256_done(&h, key);
}
