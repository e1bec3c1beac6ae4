/* See zstd.h. The three functions and their types are stable since 1.3. */
#include "base/zstd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define SIZE_UNKNOWN (~0ull) /* ZSTD_CONTENTSIZE_UNKNOWN */
#define SIZE_ERROR (~0ull - 1)

static struct {
	size_t (*decompress)(void *dst, size_t cap, const void *src,
			     size_t len);
	unsigned long long (*content_size)(const void *src, size_t len);
	unsigned (*is_error)(size_t code);
} api;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool there;

/* POSIX lets a function pointer travel in a void pointer. */
static bool symbol(void *lib, const char *name, void *out)
{
	void *f = dlsym(lib, name);

	memcpy(out, &f, sizeof(f));
	return f != NULL;
}

static void load(void)
{
	static const char *const names[] = { "libzstd.so.1",
					     "libzstd.1.dylib" };
	void *lib = NULL;

	for (size_t i = 0; i < ARRAY_LEN(names) && !lib; i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	there = lib && symbol(lib, "ZSTD_decompress", &api.decompress) &&
		symbol(lib, "ZSTD_getFrameContentSize", &api.content_size) &&
		symbol(lib, "ZSTD_isError", &api.is_error);
}

int zstd_read(struct buf *out, const void *p, size_t len, size_t max,
	      struct remem_err *err)
{
	unsigned long long size;
	size_t n;
	char *room;

	pthread_once(&once, load);
	if (!there) {
		fail(err, REMEM_ENOTSUP, "cannot load libzstd, which "
		     "compressed transcripts need");
		fail_action(err, "install the package of libzstd 1");
		return REMEM_ENOTSUP;
	}
	size = api.content_size(p, len);
	if (size == SIZE_ERROR)
		return fail(err, REMEM_EFORMAT, "it is no zstd frame");
	/* Several frames, or one that does not say its size. */
	if (size == SIZE_UNKNOWN)
		size = max;
	if (size > max)
		return fail(err, REMEM_ELIMIT,
			    "it holds more than %zu bytes", max);
	room = buf_reserve(out, (size_t)size + 1);
	if (!room)
		return buf_check(out, err);
	n = api.decompress(room, (size_t)size, p, len);
	if (api.is_error(n)) {
		*room = '\0';
		return fail(err, REMEM_EFORMAT, "its zstd frame is damaged");
	}
	room[n] = '\0';
	out->len += n;
	return 0;
}
