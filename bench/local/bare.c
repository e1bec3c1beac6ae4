/*
 * llama.cpp as fast as it goes with one thread: the lines of a file, cut into
 * tokens beforehand, decoded one after the other (batches gain nothing on a
 * CPU). Prints tokens, seconds of the fastest of so many rounds, and seconds
 * of the start.
 *
 *   bare LIBRARIES MODEL LINES ROUNDS
 */
#include <ggml-backend.h>
#include <llama.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINES_MAX 4096
#define TOKENS_MAX 512

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void quiet(enum ggml_log_level level, const char *text, void *ctx)
{
	(void)level;
	(void)text;
	(void)ctx;
}

static struct llama_context *open_context(struct llama_model *m)
{
	struct llama_context_params p = llama_context_default_params();

	p.embeddings = true;
	p.n_ctx = p.n_batch = p.n_ubatch = TOKENS_MAX;
	p.n_threads = p.n_threads_batch = 1;
	return llama_init_from_model(m, p);
}

static int decode(struct llama_context *c, llama_token *tokens, int n)
{
	llama_memory_t memory = llama_get_memory(c);

	if (memory)
		llama_memory_clear(memory, true);
	return llama_decode(c, llama_batch_get_one(tokens, n));
}

int main(int argc, char **argv)
{
	static llama_token tokens[LINES_MAX][TOKENS_MAX];
	static int counts[LINES_MAX];
	static char line[1 << 16];
	struct llama_model_params p;
	struct llama_model *m;
	struct llama_context *c;
	double start = now(), best = 1e9;
	long total = 0;
	int lines = 0;
	FILE *f;

	if (argc != 5 || !(f = fopen(argv[3], "r")))
		return 2;
	llama_log_set(quiet, NULL);
	ggml_backend_load_all_from_path(argv[1]);
	llama_backend_init();
	p = llama_model_default_params();
	m = llama_model_load_from_file(argv[2], p);
	c = m ? open_context(m) : NULL;
	if (!c)
		return 1;
	start = now() - start;
	while (lines < LINES_MAX && fgets(line, sizeof(line), f)) {
		int n = llama_tokenize(llama_model_get_vocab(m), line,
				       (int)strcspn(line, "\n"), tokens[lines],
				       TOKENS_MAX, true, false);

		if (n > 0)
			total += counts[lines++] = n;
	}
	for (int round = 0; round < atoi(argv[4]); round++) {
		double t = now();

		for (int i = 0; i < lines; i++)
			if (decode(c, tokens[i], counts[i]))
				return 1;
		t = now() - t;
		best = t < best ? t : best;
	}
	printf("%ld %.4f %.3f\n", total, best, start);
	fflush(stdout);
	_Exit(0);
}
