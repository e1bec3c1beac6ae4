/*
 * Runs a fuzzer's corpus as a plain test: each file named on the command line
 * goes once through LLVMFuzzerTestOneInput, whole, and cut in half, which
 * seeds seldom are. One line for each file that came through, so that the
 * runner sees which one did not.
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SEED_BYTES (4u << 20)
#define SECONDS_PER_SEED 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A copy of exactly len bytes, so that the sanitizer sees any step beyond. */
static void run_once(const uint8_t *data, size_t len)
{
	uint8_t *exact = calloc(1, len ? len : 1);

	if (!exact)
		abort();
	memcpy(exact, data, len);
	(void)LLVMFuzzerTestOneInput(exact, len);
	free(exact);
}

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(MAX_SEED_BYTES);
	size_t len = 0;

	if (!f || !data) {
		fprintf(stderr, "cannot read '%s'\n", path);
		if (f)
			fclose(f);
		free(data);
		return -1;
	}
	len = fread(data, 1, MAX_SEED_BYTES, f);
	fclose(f);
	alarm(SECONDS_PER_SEED);
	run_once(data, len);
	run_once(data, len / 2);
	alarm(0);
	free(data);
	printf("ok %s\n", path);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	int i, rc = 0;

	run_once((const uint8_t *)"", 0);
	for (i = 1; i < argc; i++)
		if (run_file(argv[i]))
			rc = 1;
	return rc;
}
