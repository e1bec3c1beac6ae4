/*
 * remem embed-worker: llama.cpp in a process of its own. It reads requests on
 * standard input and answers on standard output (embed/wire.h); it is started
 * by remem and of no use by hand. A text or a model file can make llama.cpp
 * abort: then this process is gone and nothing else.
 *
 * One text at a time, in windows of so many tokens as memory allows; batches
 * gain nothing on a CPU. After each text the pages that llama.cpp cleared for
 * results nobody wants (vocabulary * tokens * 4 bytes) go back to the system.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fair.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/embed_worker_cut.h"
#include "embed/llama_abi.h"
#include "embed/runtime.h"
#include "embed/wire.h"
#include "encoder/normalize.h"

#define TEXT_BYTES ((size_t)1 << 20) /* as the builtin encoder */
#define TOKENS_MAX (1 << 21)
#define LOG_BYTES 65536 /* of llama.cpp's errors that are passed on */
/* An orphan that hangs ends itself; remem gives up long before. */
#define ORPHAN_S 3600

struct server {
	struct arena a;
	int out; /* the protocol's; standard output is for who prints */
	uint32_t number; /* of the request being answered */
	struct abi api;
	struct llama_model *model;
	struct llama_context *context;
	const struct llama_vocab *vocab;
	struct cutter cutter;
	int dims, window, vocabulary;
	bool nfkc;
	struct buf text; /* normalised */
	int32_t *all, *raw; /* tokens with and without special ones */
	int32_t *piece; /* of a text that is longer than the window */
	int32_t *pos, *seq_count, **seq, seq_zero;
	int8_t *wanted;
	double *sum;
};

static size_t logged;

static void on_llama_log(int level, const char *text, void *ctx)
{
	size_t n = strlen(text);

	(void)ctx;
	if (level != ABI_LOG_ERROR || logged + n > LOG_BYTES)
		return;
	logged += n;
	fputs(text, stderr);
}

/* ---- frames ----------------------------------------------------------- */

static bool read_all(void *p, size_t len)
{
	char *at = p;

	while (len) {
		ssize_t n = read(STDIN_FILENO, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* The body is that of one or two parts. */
static bool answer(struct server *s, enum wire_type type, const void *a,
		   size_t a_len, const void *b, size_t b_len)
{
	struct wire_head h = { WIRE_MAGIC, type, s->number,
			       (uint32_t)(a_len + b_len) };

	return !file_write_all(s->out, &h, sizeof(h), "answer", NULL) &&
	       !file_write_all(s->out, a, a_len, "answer", NULL) &&
	       !file_write_all(s->out, b, b_len, "answer", NULL);
}

static bool answer_error(struct server *s, const struct remem_err *err)
{
	return answer(s, WIRE_ERROR, err->message, strlen(err->message), "",
		      0);
}

/* ---- libraries -------------------------------------------------------- */

static void *open_library(const char *path, struct remem_err *err)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

	if (!lib)
		fail(err, REMEM_ENOTSUP, "cannot load '%s': %s", path,
		     dlerror());
	return lib;
}

static bool find_functions(struct abi *api, void *lib, struct remem_err *err)
{
	const struct {
		const char *name;
		void *at;
	} names[] = {
#define X(result, name, arguments) { #name, &api->name },
		ABI_FUNCTIONS(X)
		ABI_ENUM_FUNCTIONS(X)
#undef X
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		void *f = dlsym(lib, names[i].name);

		if (!f) {
			fail(err, REMEM_ENOTSUP, "llama.cpp's library has no "
			     "function '%s'", names[i].name);
			return false;
		}
		memcpy(names[i].at, &f, sizeof(f));
	}
	return true;
}

/* A structure of another layout would have these values elsewhere. */
static bool defaults_are_known(const struct abi *api)
{
	struct abi_model_params m = api->llama_model_default_params();
	struct abi_context_params c = api->llama_context_default_params();

	return m.n_gpu_layers == -1 && m.split_mode == 1 && m.load_mode == -1 &&
	       m.lazy_mode == 1 && !m.progress && !m.overrides &&
	       !m.vocab_only && m.use_extra_bufts && !m.no_alloc &&
	       c.n_ctx == 512 && c.n_batch == 2048 && c.n_ubatch == 512 &&
	       c.n_seq_max == 1 && c.pooling_type == -1 &&
	       c.flash_attn_type == -1 && c.yarn_ext_factor == -1.0f &&
	       c.defrag_thold == -1.0f && c.type_k == 1 && c.type_v == 1 &&
	       !c.abort && !c.embeddings && c.offload_kqv && c.no_perf &&
	       c.swa_full && !c.samplers && !c.n_samplers && !c.other;
}

static bool refuse_release(const char *path, const char *release,
			   struct remem_err *err)
{
	fail(err, REMEM_ENOTSUP, "'%s' is release '%.40s' of llama.cpp, which "
	     "this remem does not know: it knows %s", path,
	     release ? release : "?", runtime_at(0)->release);
	return false;
}

/* Before anything else of it is touched. */
static bool check_release(const char *path, void *lib, struct remem_err *err)
{
	const char *(*version)(void) = NULL;
	void *f = dlsym(lib, "llama_version");
	const char *release;

	memcpy(&version, &f, sizeof(f));
	release = f ? version() : NULL;
	return release && runtime_knows(release) ? true :
		       refuse_release(path, release, err);
}

/* A distribution's backends lie where its library looks by itself. */
static void load_backends(const struct abi *api, const char *folder)
{
	api->ggml_backend_load_all_from_path(folder);
	if (!api->ggml_backend_dev_count())
		api->ggml_backend_load_all();
	api->llama_backend_init();
}

static bool load_libraries(struct server *s, const char *folder,
			   struct remem_err *err)
{
	const char *path = runtime_library(&s->a, folder);
	void *lib;

	if (!path) {
		fail(err, REMEM_ENOTFOUND, "llama.cpp's library is not in "
		     "'%s'", folder);
		return false;
	}
	lib = open_library(path, err);
	if (!lib || !check_release(path, lib, err) ||
	    !find_functions(&s->api, lib, err))
		return false;
	if (!defaults_are_known(&s->api))
		return refuse_release(path, "changed", err);
	s->api.llama_log_set(on_llama_log, NULL);
	load_backends(&s->api, folder);
	return true;
}

/* ---- the model -------------------------------------------------------- */

static bool load_model(struct server *s, const char *path,
		       struct remem_err *err)
{
	struct abi_model_params p = s->api.llama_model_default_params();

	p.load_mode = ABI_LOAD_MMAP;
	p.n_gpu_layers = 0;
	if (s->cutter.on)
		p.overrides = s->cutter.overrides;
	s->model = s->api.llama_model_load_from_file(path, p);
	if (!s->model) {
		fail(err, REMEM_EFORMAT, "llama.cpp cannot load '%s': it is "
		     "damaged, or of a kind that it does not know", path);
		return false;
	}
	s->vocab = s->api.llama_model_get_vocab(s->model);
	s->vocabulary = s->api.llama_vocab_n_tokens(s->vocab);
	s->dims = s->api.llama_model_n_embd_out(s->model);
	return true;
}

static bool make_context(struct server *s, yyjson_val *o, const char *path,
			 struct remem_err *err)
{
	struct abi_context_params p = s->api.llama_context_default_params();
	int trained = s->api.llama_model_n_ctx_train(s->model);
	int threads = (int)json_int(o, "threads", 0), pooling;

	s->nfkc = json_bool(o, "nfkc", false);
	s->window = (int)json_int(o, "window", 0);
	if (s->window < 8 || s->window > TOKENS_MAX)
		s->window = 512;
	/* More tokens than it was trained for abort some architectures. */
	if (trained > 0 && s->window > trained)
		s->window = trained;
	p.embeddings = true;
	p.n_ctx = p.n_batch = p.n_ubatch = (uint32_t)s->window;
	p.n_seq_max = 1;
	p.n_threads = p.n_threads_batch = threads > 0 ? threads :
							fair_threads();
	p.pooling_type = (int32_t)json_int(o, "pooling", -1);
	s->context = s->api.llama_init_from_model(s->model, p);
	if (!s->context) {
		fail(err, REMEM_ENOTSUP, "llama.cpp cannot run '%s'", path);
		return false;
	}
	pooling = s->api.llama_pooling_type(s->context);
	if (pooling < 1 || pooling > 3 || s->dims < 1 ||
	    s->dims > (int)WIRE_MAX_DIMS) {
		fail(err, REMEM_EFORMAT, "'%s' gives no vectors of texts",
		     path);
		return false;
	}
	return true;
}

static bool make_room(struct server *s, struct remem_err *err)
{
	size_t n = (size_t)s->window;

	s->all = mem_array(TOKENS_MAX, sizeof(*s->all));
	s->raw = mem_array(TOKENS_MAX, sizeof(*s->raw));
	s->piece = ARENA_ARRAY(&s->a, int32_t, n);
	s->pos = ARENA_ARRAY(&s->a, int32_t, n);
	s->seq_count = ARENA_ARRAY(&s->a, int32_t, n);
	s->seq = ARENA_ARRAY(&s->a, int32_t *, n);
	s->wanted = ARENA_ARRAY(&s->a, int8_t, n);
	s->sum = ARENA_ARRAY(&s->a, double, (size_t)s->dims);
	if (s->a.failed || !s->all || !s->raw) {
		fail_nomem(err);
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		s->pos[i] = (int32_t)i;
		s->seq_count[i] = 1;
		s->seq[i] = &s->seq_zero;
		s->wanted[i] = 1;
	}
	return true;
}

static bool load(struct server *s, yyjson_val *o, struct remem_err *err)
{
	const char *model = json_str(o, "model", NULL);
	const char *folder = json_str(o, "libraries", NULL);

	if (s->model || !model || !folder) {
		fail(err, REMEM_EINVAL, "one model is loaded, once");
		return false;
	}
	if (!json_bool(o, "vocabulary", false))
		cutter_open(&s->cutter, model);
	return load_libraries(s, folder, err) && load_model(s, model, err) &&
	       make_context(s, o, model, err) && make_room(s, err);
}

static bool on_load(struct server *s, const char *body, size_t len)
{
	struct remem_err err = { 0 };
	struct buf b = BUF_INIT(0);
	yyjson_doc *doc = NULL;
	struct json j;
	bool ok;

	if (json_read(&doc, body, len, false, "request", &err) ||
	    !load(s, yyjson_doc_get_root(doc), &err)) {
		ok = answer_error(s, &err);
		goto out;
	}
	json_begin(&j, &b);
	json_obj(&j);
	json_kstr(&j, "release", s->api.llama_version());
	json_kint(&j, "dims", s->dims);
	json_kint(&j, "window", s->window);
	json_kint(&j, "pooling", s->api.llama_pooling_type(s->context));
	json_end(&j);
	ok = answer(s, WIRE_INFO, buf_str(&b), b.len, "", 0);
out:
	buf_release(&b);
	yyjson_doc_free(doc);
	return ok;
}

/* ---- texts ------------------------------------------------------------ */

/* The buffer is cleared once, when it grows; what lies in it is not read. */
static void give_back(struct server *s, int tokens)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)s->api.llama_get_logits(s->context);
	uintptr_t to = from + (uintptr_t)tokens * (uintptr_t)s->vocabulary *
				      sizeof(float);

	if (!from)
		return;
	from = (from + page - 1) / page * page;
	to = to / page * page;
	if (to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

/* Adds the vector of a window, weighted by its tokens. */
static const char *add_window(struct server *s, int32_t *tokens, int n)
{
	struct abi_batch b = { n, tokens, NULL, s->pos, s->seq_count, s->seq,
			       s->wanted };
	struct llama_memory_i *memory = s->api.llama_get_memory(s->context);
	const float *v;
	double norm = 0;

	if (memory)
		s->api.llama_memory_clear(memory, true);
	if (s->api.llama_decode(s->context, b))
		return "llama.cpp cannot embed this text";
	v = s->api.llama_get_embeddings_seq(s->context, 0);
	if (!v)
		return "llama.cpp gave no vector";
	for (int i = 0; i < s->dims; i++)
		norm += (double)v[i] * v[i];
	norm = norm > 0 ? (double)n / sqrt(norm) : 0;
	for (int i = 0; i < s->dims; i++)
		s->sum[i] += v[i] * norm;
	give_back(s, n);
	return NULL;
}

/*
 * A text that is longer than the window: pieces of it with the special tokens
 * (lead before, trail behind) that the whole has.
 */
static const char *add_pieces(struct server *s, int all, int raw)
{
	int extra = all - raw;
	int lead = extra > 0 && s->all[0] != s->raw[0];
	int trail = extra - lead, room = s->window - extra;
	const int32_t *last = s->all + all - trail;
	const char *wrong = NULL;

	if (extra < 0 || raw < 1 || room < 1)
		return "the text was cut into words in two ways";
	s->piece[0] = s->all[0];
	for (int at = 0; at < raw && !wrong; at += room) {
		int n = raw - at < room ? raw - at : room;

		memcpy(s->piece + lead, s->raw + at,
		       (size_t)n * sizeof(*s->piece));
		memcpy(s->piece + lead + n, last,
		       (size_t)trail * sizeof(*s->piece));
		wrong = add_window(s, s->piece, n + extra);
	}
	return wrong;
}

/* The text in NFKC, if the model's tokenizer leaves that to us. */
static bool normalize_text(struct server *s, const char **text, size_t *len)
{
	static const struct normalize_map none;
	struct normalize n;
	uint32_t cp;
	char utf8[4];

	if (!s->nfkc || s->cutter.on) /* the cutter does it by itself */
		return true;
	buf_reset(&s->text);
	normalize_init(&n, &none, *text, *len);
	while (normalize_next(&n, &cp))
		buf_add(&s->text, utf8, (size_t)utf8_encode(utf8, cp));
	*text = buf_str(&s->text);
	*len = s->text.len;
	return !s->text.failed;
}

/* Tokens with the special ones; those without only where *raw is asked for. */
static int cut(struct server *s, const char *text, size_t len, int *raw)
{
	int all;

	if (s->cutter.on)
		all = cutter_tokens(&s->cutter, text, len, s->all, TOKENS_MAX);
	else
		all = s->api.llama_tokenize(s->vocab, text, (int32_t)len,
					    s->all, TOKENS_MAX, true, false);
	*raw = 0;
	if (all <= s->window)
		return all;
	if (s->cutter.on) {
		*raw = all - 2;
		memcpy(s->raw, s->all + 1, (size_t)*raw * sizeof(*s->raw));
	} else {
		*raw = s->api.llama_tokenize(s->vocab, text, (int32_t)len,
					     s->raw, TOKENS_MAX, false, false);
	}
	return all;
}

/* NULL and s->sum, or why not. */
static const char *embed(struct server *s, const char *text, size_t len,
			 uint32_t *tokens)
{
	int all, raw;

	memset(s->sum, 0, (size_t)s->dims * sizeof(*s->sum));
	len = utf8_cut(text, len, len < TEXT_BYTES ? len : TEXT_BYTES);
	if (!normalize_text(s, &text, &len))
		return "out of memory";
	all = cut(s, text, len, &raw);
	if (all <= 0)
		return all ? "the text has too many tokens" :
			     "the text is empty";
	*tokens = (uint32_t)all;
	return all <= s->window ? add_window(s, s->all, all) :
				  add_pieces(s, all, raw);
}

static bool answer_text(struct server *s, uint32_t i, const char *text,
			size_t len)
{
	uint32_t head[2] = { i, 0 };
	const char *wrong;
	float *v;
	bool ok;

	alarm(ORPHAN_S);
	wrong = embed(s, text, len, &head[1]);
	alarm(0);
	if (wrong)
		return answer(s, WIRE_REFUSED, head, sizeof(head[0]), wrong,
			      strlen(wrong));
	v = mem_array((size_t)s->dims, sizeof(*v));
	for (int k = 0; v && k < s->dims; k++)
		v[k] = (float)s->sum[k];
	ok = v && answer(s, WIRE_VECTOR, head, sizeof(head), v,
			 (size_t)s->dims * sizeof(*v));
	mem_free(v);
	return ok;
}

static bool take_u32(const char **at, const char *end, uint32_t *v)
{
	if ((size_t)(end - *at) < sizeof(*v))
		return false;
	memcpy(v, *at, sizeof(*v));
	*at += sizeof(*v);
	return true;
}

static bool on_embed(struct server *s, const char *body, size_t len)
{
	const char *at = body, *end = body + len;
	struct remem_err err = { 0 };
	uint32_t n, bytes;

	if (!s->context || !take_u32(&at, end, &n) || n > WIRE_MAX_TEXTS) {
		fail(&err, REMEM_EINVAL, "a request that makes no sense");
		return answer_error(s, &err);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!take_u32(&at, end, &bytes) ||
		    bytes > (size_t)(end - at)) {
			fail(&err, REMEM_EINVAL, "a request that is cut off");
			return answer_error(s, &err);
		}
		if (!answer_text(s, i, at, bytes))
			return false;
		at += bytes;
	}
	return answer(s, WIRE_DONE, "", 0, "", 0);
}

/* ---- the loop --------------------------------------------------------- */

static bool serve_one(struct server *s)
{
	struct wire_head h;
	char *body;
	bool ok = false;

	if (!read_all(&h, sizeof(h)) || h.magic != WIRE_MAGIC ||
	    h.bytes > WIRE_MAX_BYTES)
		return false;
	body = mem_alloc((size_t)h.bytes + 1);
	s->number = h.number;
	if (body && read_all(body, h.bytes)) {
		body[h.bytes] = '\0';
		if (h.type == WIRE_LOAD)
			ok = on_load(s, body, h.bytes);
		else if (h.type == WIRE_EMBED)
			ok = on_embed(s, body, h.bytes);
	}
	mem_free(body);
	return ok;
}

int verb_embed_worker(struct cli *c)
{
	const struct rlimit none = { 0, 0 };
	struct server s = { .a = ARENA_INIT };

	if (isatty(STDIN_FILENO) || c->arg_count)
		return cli_usage(c, "embed-worker is started by remem itself");
	/* What a library prints must not get between the frames. */
	s.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (s.out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return EXIT_FAILED;
	/* An abort is to be quick: no core, no debugger for a trace. */
	setrlimit(RLIMIT_CORE, &none);
	setenv("GGML_NO_BACKTRACE", "1", 1);
	while (serve_one(&s))
		;
	/* llama.cpp's own clean-up gains nothing at the end of a process. */
	_exit(EXIT_DONE);
}
