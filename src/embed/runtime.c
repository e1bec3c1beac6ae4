/* Known releases of llama.cpp and where their libraries are looked for. */
#include "embed/runtime.h"

#include <string.h>

#include "base/file.h"
#include "base/path.h"

#if defined(__x86_64__) && defined(__linux__)
#define PLATFORM "linux-x64"
#elif defined(__aarch64__) && defined(__linux__)
#define PLATFORM "linux-arm64"
#else
#define PLATFORM "other"
#endif

static const struct runtime_release rows[] = {
#define RUNTIME(...) { __VA_ARGS__ },
#include "embed/runtime.def"
#undef RUNTIME
};

const struct runtime_release *runtime_at(int i)
{
	return i >= 0 && (size_t)i < ARRAY_LEN(rows) ? &rows[i] : NULL;
}

const struct runtime_release *runtime_here(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strcmp(rows[i].platform, PLATFORM))
			return &rows[i];
	return NULL;
}

bool runtime_knows(const char *release)
{
	release += release[0] == 'v';
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n = strlen(rows[i].release);

		/* What is built from the release's sources calls itself so. */
		if (!strncmp(rows[i].release, release, n) &&
		    (!release[n] || !strcmp(release + n, "-dev")))
			return true;
	}
	return false;
}

const char *runtime_library(struct arena *a, const char *folder)
{
	const char *path;

	/* The packages put the release into the name, distributions do not. */
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		path = arena_printf(a, "%s/libllama.v%s.so", folder,
				    rows[i].release);
		if (path && file_exists(path))
			return path;
	}
	path = path_join(a, folder, "libllama.so");
	return path && file_exists(path) ? path : NULL;
}

const char *runtime_find(struct arena *a, const char *const *folders)
{
	for (; folders && *folders; folders++)
		if (runtime_library(a, *folders))
			return *folders;
	return NULL;
}
