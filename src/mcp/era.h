/*
 * Versions of the protocol. Until 2025-11-25 a client says hello with
 * initialize and the version holds for the connection; from 2026-07-28 on each
 * request carries its version and nothing is remembered.
 */
#ifndef MCP_ERA_H
#define MCP_ERA_H

#include <stdbool.h>

#include "base/json.h"

struct era {
	const char *version;
	bool modern; /* each request speaks for itself */
	bool batches; /* several messages in an array */
	bool structured; /* results have structuredContent, tools outputSchema */
	bool annotations;
};

/* NULL: not known. */
const struct era *era_find(const char *version);
/* What initialize agrees on: the version asked for, else our newest of those
 * that are agreed on. */
const struct era *era_agree(const char *asked);
/* The one that a request names in its _meta: NULL with *asked when it is not
 * known, NULL without when it names none. */
const struct era *era_of(yyjson_val *params, const char **asked);
/* ["2026-07-28"] */
void era_put_supported(struct json *j);
/* Before anything is agreed on. */
const struct era *era_first(void);

#define ERA_MODERN "2026-07-28"
#define META_PREFIX "io.modelcontextprotocol/"

#endif
