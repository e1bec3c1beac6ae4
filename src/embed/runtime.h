/*
 * llama.cpp's libraries: which releases are known (runtime.def), where they
 * lie. A release is known when its declarations have been compared with ours
 * (llama_abi.h); another one is refused, since structures passed by value
 * change between releases.
 */
#ifndef EMBED_RUNTIME_H
#define EMBED_RUNTIME_H

#include "base/arena.h"

struct runtime_release {
	const char *platform; /* "linux-x64" */
	const char *release; /* as llama_version() says it */
	const char *package, *version; /* of npm */
	const char *sha512; /* of the package, hexadecimal */
	const char *member; /* folder of the libraries inside it */
};

/* Rows by index, NULL behind the last. */
const struct runtime_release *runtime_at(int i);
/* The row for this machine, or NULL. */
const struct runtime_release *runtime_here(void);
/* Whether declarations of this release are ours. */
bool runtime_knows(const char *release);
/* Path of llama.cpp's main library in a folder, NULL if it is not there. */
const char *runtime_library(struct arena *a, const char *folder);
/* The first of the folders (NULL-terminated) with libraries, or NULL. */
const char *runtime_find(struct arena *a, const char *const *folders);

#endif
