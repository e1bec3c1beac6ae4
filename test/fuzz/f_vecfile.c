/* Any bytes as a file of vectors: opened, scanned, read. The first two bytes
 * choose the dimensions that are expected. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/vecscan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void scan(struct vecfile *v, int dims)
{
	struct scan_question u;
	struct store_scored hits[8];
	float q[VEC_DIMS_MAX];
	struct topk top;

	for (int i = 0; i < dims; i++)
		q[i] = (float)(i % 7) - 3;
	if (!scan_question_init(&u, dims, q, NULL, NULL, NULL)) {
		topk_init(&top, hits, 8);
		scan_vectors(&u, v, v->blocks * VEC_BLOCK, NULL, &top);
	}
	scan_question_release(&u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *tmp = getenv("TMPDIR");
	char path[512];
	struct vecfile *v;
	int fd, dims;

	if (size < 2)
		return 0;
	dims = data[0] | (data[1] & 15) << 8;
	snprintf(path, sizeof(path), "%s/f_vecfile-XXXXXX",
		 tmp ? tmp : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return 0;
	/* Bit 4 asks for whole blocks, that the scan has something to read. */
	if (write(fd, data + 2, size - 2) == (ssize_t)size - 2 &&
	    (!(data[1] & 16) || !ftruncate(fd, 4096 + 1024 * 80 * 2)) &&
	    !vecfile_open(&v, path, dims, false, NULL)) {
		scan(v, dims);
		vecfile_free(v);
	}
	close(fd);
	unlink(path);
	return 0;
}
