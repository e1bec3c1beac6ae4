/* Loads libcurl at first use and keeps it; see curl.h. */
#include "base/curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define ROW(name) { "curl_" #name, offsetof(struct curl_api, name) }

static const struct {
	const char *symbol;
	size_t offset;
} rows[] = {
	ROW(global_init),
	ROW(easy_init),
	ROW(easy_cleanup),
	ROW(easy_setopt),
	ROW(easy_getinfo),
	ROW(easy_strerror),
	ROW(slist_append),
	ROW(slist_free_all),
	ROW(multi_init),
	ROW(multi_cleanup),
	ROW(multi_setopt),
	ROW(multi_add_handle),
	ROW(multi_remove_handle),
	ROW(multi_perform),
	ROW(multi_poll),
	ROW(multi_info_read),
	ROW(multi_strerror),
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct curl_api api;
static struct remem_err load_err; /* code 0: api is filled */

static void *open_library(void)
{
	static const char *const names[] = {
#ifdef __APPLE__
		"libcurl.4.dylib",
#endif
		"libcurl.so.4",
		"libcurl-gnutls.so.4",
	};
	void *lib = NULL;

	for (size_t i = 0; i < ARRAY_LEN(names) && !lib; i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return lib;
}

static void load(void)
{
	void *lib = open_library();

	if (!lib) {
		fail(&load_err, REMEM_ENOTSUP,
		     "cannot load libcurl, which remote models need");
		fail_action(&load_err, "install the package of libcurl 4");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		void *f = dlsym(lib, rows[i].symbol);

		if (!f) {
			fail(&load_err, REMEM_ENOTSUP,
			     "libcurl is too old: it has no %s",
			     rows[i].symbol);
			return;
		}
		/* POSIX lets a function pointer travel in a void pointer. */
		memcpy((char *)&api + rows[i].offset, &f, sizeof(f));
	}
	if (api.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		fail(&load_err, REMEM_ENOTSUP, "libcurl does not start");
}

int curl_api_get(const struct curl_api **out, struct remem_err *err)
{
	pthread_once(&once, load);
	if (load_err.code) {
		if (err)
			*err = load_err;
		return load_err.code;
	}
	*out = &api;
	return 0;
}
