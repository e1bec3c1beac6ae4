/* The table of store backends. A new one is a file and a row. */
#include <stddef.h>
#include <string.h>

#include "store/sqlite_store.h"
#include "store/store.h"

static const struct store_ops *const backends[] = {
#define BACKEND(name) &store_backend_##name,
#include "store/backends.def"
#undef BACKEND
};

const struct store_ops *store_backend_at(int i)
{
	if (i < 0 || (size_t)i >= ARRAY_LEN(backends))
		return NULL;
	return backends[i];
}

const struct store_ops *store_backend(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(backends); i++)
		if (!strcmp(backends[i]->name, name))
			return backends[i];
	return NULL;
}
