/* Loads libmicrohttpd at first use and keeps it; see mhd.h. */
#include "mcp/mhd.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define ROW(name) { "MHD_" #name, offsetof(struct mhd_api, name) }

static const struct {
	const char *symbol;
	size_t offset;
} rows[] = {
	ROW(start_daemon),
	ROW(stop_daemon),
	ROW(get_daemon_info),
	ROW(create_response_from_buffer),
	ROW(create_response_from_callback),
	ROW(add_response_header),
	ROW(queue_response),
	ROW(destroy_response),
	ROW(lookup_connection_value),
};

static struct mhd_api api;

int mhd_api_get(const struct mhd_api **out, struct remem_err *err)
{
	void *lib = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		fail(err, REMEM_ENOTSUP, "cannot load libmicrohttpd, which "
		     "the server by HTTP needs");
		fail_action(err, "install libmicrohttpd (Debian: apt-get "
			    "install libmicrohttpd12), or leave out --http");
		return REMEM_ENOTSUP;
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		void *f = dlsym(lib, rows[i].symbol);

		if (!f)
			return fail(err, REMEM_ENOTSUP, "libmicrohttpd is too "
				    "old: it has no %s", rows[i].symbol);
		/* POSIX lets a function pointer travel in a void pointer. */
		memcpy((char *)&api + rows[i].offset, &f, sizeof(f));
	}
	*out = &api;
	return 0;
}
