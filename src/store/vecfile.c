/* See vecfile.h. Written by pwrite, so that a full disk is an error and not a
 * signal; read through a mapping of the same pages. */
#include "store/vecfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

#define HEADER_BYTES 4096
#define MAGIC "remem-v8"
#define VERSION 1
#define ORDER_MARK 0x01020304u

struct header {
	char magic[8];
	uint32_t order, version, dims, padded, block;
};

_Static_assert(sizeof(struct vec_meta) == 16, "metas are 16 bytes");

size_t vec_padded(int dims)
{
	return ((size_t)dims + 63) & ~(size_t)63;
}

float vec_quantise(int8_t *row, const float *v, int dims)
{
	size_t padded = vec_padded(dims);
	float top = 0, scale;

	memset(row, 0, padded);
	for (int i = 0; i < dims; i++) {
		if (!isfinite(v[i]))
			return 0;
		if (fabsf(v[i]) > top)
			top = fabsf(v[i]);
	}
	scale = top / 127.0f;
	if (!(scale > 0) || !isfinite(1.0f / scale))
		return 0;
	for (int i = 0; i < dims; i++)
		row[i] = (int8_t)lrintf(v[i] / scale);
	return scale;
}

static int bad(struct vecfile *v, const char *why, struct remem_err *err)
{
	fail(err, REMEM_ECORRUPT, "the vectors '%s' are damaged: %s", v->path,
	     why);
	fail_action(err, "run: remem index");
	return REMEM_ECORRUPT;
}

static int write_header(struct vecfile *v, struct remem_err *err)
{
	union {
		struct header h;
		unsigned char bytes[HEADER_BYTES];
	} page;

	memset(&page, 0, sizeof(page));
	memcpy(page.h.magic, MAGIC, sizeof(page.h.magic));
	page.h.order = ORDER_MARK;
	page.h.version = VERSION;
	page.h.dims = (uint32_t)v->dims;
	page.h.padded = (uint32_t)v->padded;
	page.h.block = VEC_BLOCK;
	file_fault_step();
	return file_write_all(v->fd, page.bytes, sizeof(page.bytes), v->path,
			      err);
}

static int read_header(struct vecfile *v, struct remem_err *err)
{
	struct header h;
	ssize_t n = pread(v->fd, &h, sizeof(h), 0);

	if (n < 0)
		return file_fail(err, errno, "read", v->path);
	if (n != (ssize_t)sizeof(h) || memcmp(h.magic, MAGIC, sizeof(h.magic)))
		return bad(v, "it is no file of vectors", err);
	if (h.order != ORDER_MARK || h.version != VERSION ||
	    h.block != VEC_BLOCK)
		return bad(v, "it was made by another machine or version", err);
	if (h.dims != (uint32_t)v->dims || h.padded != v->padded)
		return bad(v, "it has other dimensions", err);
	return 0;
}

static void unmap(struct vecfile *v)
{
	if (v->map)
		munmap(v->map, v->map_bytes);
	v->map = NULL;
	v->map_bytes = v->blocks = 0;
}

int vecfile_refresh(struct vecfile *v, struct remem_err *err)
{
	struct stat st;
	size_t blocks, bytes;
	void *p;

	if (fstat(v->fd, &st))
		return file_fail(err, errno, "read", v->path);
	blocks = st.st_size < HEADER_BYTES ? 0 :
		 ((size_t)st.st_size - HEADER_BYTES) / v->block_bytes;
	if (blocks == v->blocks)
		return 0;
	unmap(v);
	bytes = HEADER_BYTES + blocks * v->block_bytes;
	p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, v->fd, 0);
	if (p == MAP_FAILED)
		return file_fail(err, errno, "map", v->path);
	v->map = p;
	v->map_bytes = bytes;
	v->blocks = blocks;
	return 0;
}

static int open_fd(struct vecfile *v, bool write, struct remem_err *err)
{
	struct stat st;
	int rc;

	v->fd = open(v->path, (write ? O_RDWR | O_CREAT : O_RDONLY) |
		     O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (v->fd < 0)
		return file_fail(err, errno, "open", v->path);
	if (fstat(v->fd, &st))
		return file_fail(err, errno, "read", v->path);
	if (!S_ISREG(st.st_mode))
		return bad(v, "it is no file", err);
	if (!write && st.st_size == 0) /* just made, nothing in it */
		return fail(err, REMEM_ENOTFOUND, "'%s' is empty", v->path);
	if (write && st.st_size == 0 && (rc = write_header(v, err)))
		return rc;
	if ((rc = read_header(v, err)))
		return rc;
	return vecfile_refresh(v, err);
}

int vecfile_open(struct vecfile **out, const char *path, int dims, bool write,
		 struct remem_err *err)
{
	struct vecfile *v;
	int rc;

	*out = NULL;
	if (dims < 1 || dims > VEC_DIMS_MAX)
		return fail(err, REMEM_EINVAL, "vectors of %d dimensions", dims);
	if (!(v = mem_zalloc(sizeof(*v))))
		return fail_nomem(err);
	v->fd = -1;
	v->dims = dims;
	v->padded = vec_padded(dims);
	v->block_bytes = VEC_BLOCK * (v->padded + sizeof(struct vec_meta));
	v->writable = write;
	v->path = mem_strdup(path);
	rc = v->path ? open_fd(v, write, err) : fail_nomem(err);
	if (rc) {
		vecfile_free(v);
		return rc;
	}
	*out = v;
	return 0;
}

void vecfile_free(struct vecfile *v)
{
	if (!v)
		return;
	unmap(v);
	if (v->fd >= 0)
		close(v->fd);
	mem_free(v->path);
	mem_free(v);
}

const int8_t *vecfile_block(const struct vecfile *v, size_t block)
{
	if (block >= v->blocks)
		return NULL;
	return (const int8_t *)(v->map + HEADER_BYTES +
				block * v->block_bytes);
}

const struct vec_meta *vecfile_metas(const struct vecfile *v, size_t block)
{
	const int8_t *rows = vecfile_block(v, block);

	/* Blocks are whole pages, so this is aligned. */
	return rows ? (const struct vec_meta *)(const void *)
		      (rows + VEC_BLOCK * v->padded) : NULL;
}

const int8_t *vecfile_row(const struct vecfile *v, size_t slot)
{
	const int8_t *rows = vecfile_block(v, slot / VEC_BLOCK);

	return rows ? rows + slot % VEC_BLOCK * v->padded : NULL;
}

const struct vec_meta *vecfile_meta(const struct vecfile *v, size_t slot)
{
	const struct vec_meta *m = vecfile_metas(v, slot / VEC_BLOCK);

	return m ? m + slot % VEC_BLOCK : NULL;
}

/* ---- writing ---- */

static int put_at(struct vecfile *v, const void *p, size_t len, size_t at,
		  struct remem_err *err)
{
	const char *from = p;

	file_fault_step();
	v->dirty = true;
	while (len) {
		ssize_t n = pwrite(v->fd, from, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return file_fail(err, n ? errno : ENOSPC, "write",
					 v->path);
		from += n;
		at += (size_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* Whole blocks: a reader never maps half of one. */
static int grow_to(struct vecfile *v, size_t blocks, struct remem_err *err)
{
	size_t bytes = HEADER_BYTES + blocks * v->block_bytes;

	if (blocks <= v->blocks)
		return 0;
	file_fault_step();
	if (ftruncate(v->fd, (off_t)bytes))
		return file_fail(err, errno, "write", v->path);
	return vecfile_refresh(v, err);
}

static size_t meta_at(const struct vecfile *v, size_t slot)
{
	return HEADER_BYTES + slot / VEC_BLOCK * v->block_bytes +
	       VEC_BLOCK * v->padded +
	       slot % VEC_BLOCK * sizeof(struct vec_meta);
}

int vecfile_put(struct vecfile *v, size_t slot, const int8_t *row,
		const struct vec_meta *m, struct remem_err *err)
{
	int rc;

	if ((rc = grow_to(v, slot / VEC_BLOCK + 1, err)) ||
	    (rc = put_at(v, row, v->padded, HEADER_BYTES +
			 slot / VEC_BLOCK * v->block_bytes +
			 slot % VEC_BLOCK * v->padded, err)))
		return rc;
	return put_at(v, m, sizeof(*m), meta_at(v, slot), err);
}

int vecfile_put_meta(struct vecfile *v, size_t slot, const struct vec_meta *m,
		     struct remem_err *err)
{
	assert(slot / VEC_BLOCK < v->blocks);
	return put_at(v, m, sizeof(*m), meta_at(v, slot), err);
}

int vecfile_put_metas(struct vecfile *v, size_t block,
		      const struct vec_meta *m, struct remem_err *err)
{
	assert(block < v->blocks);
	return put_at(v, m, VEC_BLOCK * sizeof(*m),
		      meta_at(v, block * VEC_BLOCK), err);
}

int vecfile_sync(struct vecfile *v, struct remem_err *err)
{
	if (!v->dirty)
		return 0;
	file_fault_step();
	if (fdatasync(v->fd))
		return file_fail(err, errno, "sync", v->path);
	v->dirty = false;
	return 0;
}
