/* Versions of the protocol; see era.h. */
#include "mcp/era.h"

#include <string.h>

static const struct era eras[] = { /* newest first */
	{ ERA_MODERN, true, false, true, true },
	{ "2025-11-25", false, false, true, true },
	{ "2025-06-18", false, false, true, true },
	{ "2025-03-26", false, true, false, true },
	{ "2024-11-05", false, true, false, false },
};

const struct era *era_find(const char *version)
{
	for (size_t i = 0; version && i < ARRAY_LEN(eras); i++)
		if (!strcmp(eras[i].version, version))
			return &eras[i];
	return NULL;
}

const struct era *era_first(void)
{
	return &eras[1];
}

const struct era *era_agree(const char *asked)
{
	const struct era *e = era_find(asked);

	return e && !e->modern ? e : era_first();
}

const struct era *era_of(yyjson_val *params, const char **asked)
{
	yyjson_val *meta = yyjson_obj_get(params, "_meta");
	yyjson_val *v = yyjson_obj_get(meta, META_PREFIX "protocolVersion");
	const struct era *e;

	*asked = NULL;
	if (!v)
		return NULL;
	*asked = yyjson_is_str(v) ? yyjson_get_str(v) : "";
	e = era_find(*asked);
	return e && e->modern ? e : NULL;
}

void era_put_supported(struct json *j)
{
	json_arr(j);
	for (size_t i = 0; i < ARRAY_LEN(eras); i++)
		if (eras[i].modern)
			json_put_str(j, eras[i].version);
	json_arr_end(j);
}
