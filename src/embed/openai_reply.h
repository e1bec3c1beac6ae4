/* Replies in OpenAI's form, which many vendors share. */
#ifndef EMBED_OPENAI_REPLY_H
#define EMBED_OPENAI_REPLY_H

#include "embed/provider.h"

/*
 * {"data":[{"index":0,"embedding":[…] or base64}],"usage":{…}} with n vectors,
 * put into the order of index. NaN and Infinity as JSON knows them not, null
 * and numbers too large become NaN. REMEM_EREMOTE with the reason for anything
 * else; then out is empty.
 */
int openai_reply(struct embed_reply *out, size_t n, const char *body,
		 size_t len, struct remem_err *err);

#endif
