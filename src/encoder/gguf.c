/*
 * GGUF reader. A cursor walks the file once; each step asks whether that many
 * bytes are left before it looks at them. Layout:
 *
 *   "GGUF" u32 version, u64 tensors, u64 keys
 *   keys:    string name, u32 type, value
 *   tensors: string name, u32 dims, u64 dim[], u32 type, u64 offset
 *   data, from the next multiple of general.alignment (32 when not said)
 *
 * A string is a u64 length and its bytes; an array a u32 item type, a u64
 * count and the items.
 */
#include "encoder/gguf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

#define MAX_NAME 256
#define SHOWN(len) ((int)((len) < 64 ? (len) : 64))

struct cursor {
	const unsigned char *data;
	size_t size, at;
};

static int take(struct cursor *c, size_t n, const unsigned char **out)
{
	if (n > c->size - c->at)
		return -1;
	*out = c->data + c->at;
	c->at += n;
	return 0;
}

static int take_u32(struct cursor *c, uint32_t *v)
{
	const unsigned char *p;

	if (take(c, sizeof(*v), &p))
		return -1;
	memcpy(v, p, sizeof(*v));
	return 0;
}

static int take_u64(struct cursor *c, uint64_t *v)
{
	const unsigned char *p;

	if (take(c, sizeof(*v), &p))
		return -1;
	memcpy(v, p, sizeof(*v));
	return 0;
}

static int take_string(struct cursor *c, const char **s, uint64_t *len)
{
	const unsigned char *p;

	if (take_u64(c, len) || *len > c->size || take(c, (size_t)*len, &p))
		return -1;
	*s = (const char *)p;
	return 0;
}

/* Bytes of a number type, 0 for strings, arrays and unknown types. */
static size_t type_size(uint32_t type)
{
	static const unsigned char size[] = {
		[GGUF_U8] = 1, [GGUF_I8] = 1, [GGUF_U16] = 2, [GGUF_I16] = 2,
		[GGUF_U32] = 4, [GGUF_I32] = 4, [GGUF_F32] = 4,
		[GGUF_BOOL] = 1, [GGUF_STRING] = 0, [GGUF_ARRAY] = 0,
		[GGUF_U64] = 8, [GGUF_I64] = 8, [GGUF_F64] = 8
	};

	return type < ARRAY_LEN(size) ? size[type] : 0;
}

static int truncated(struct remem_err *err, const char *where)
{
	return fail(err, REMEM_EFORMAT, "GGUF is cut off in %s", where);
}

static int read_array(struct cursor *c, struct gguf_key *k,
		      struct remem_err *err)
{
	const char *s;
	uint64_t len;
	size_t item;

	if (take_u32(c, &k->item_type) || take_u64(c, &k->count))
		return truncated(err, "an array");
	k->data = c->data + c->at;
	if (k->item_type == GGUF_STRING) {
		for (uint64_t i = 0; i < k->count; i++)
			if (take_string(c, &s, &len))
				return truncated(err, "an array of strings");
		return 0;
	}
	item = type_size(k->item_type);
	if (!item)
		return fail(err, REMEM_EFORMAT,
			    "GGUF key '%.*s' is an array of type %u",
			    SHOWN(k->name_len), k->name,
			    (unsigned)k->item_type);
	if (k->count > (c->size - c->at) / item)
		return truncated(err, "an array");
	return take(c, (size_t)k->count * item, &k->data);
}

static int read_value(struct cursor *c, struct gguf_key *k,
		      struct remem_err *err)
{
	const char *s;

	k->count = 1;
	if (k->type == GGUF_ARRAY)
		return read_array(c, k, err);
	if (k->type == GGUF_STRING) {
		if (take_string(c, &s, &k->count))
			return truncated(err, "a string");
		k->data = (const unsigned char *)s;
		return 0;
	}
	if (!type_size(k->type))
		return fail(err, REMEM_EFORMAT, "GGUF key '%.*s' has type %u",
			    SHOWN(k->name_len), k->name, (unsigned)k->type);
	if (take(c, type_size(k->type), &k->data))
		return truncated(err, "a value");
	return 0;
}

static int read_name(struct cursor *c, const char **name, size_t *name_len,
		     struct remem_err *err)
{
	uint64_t len;

	if (take_string(c, name, &len))
		return truncated(err, "a name");
	if (!len || len > MAX_NAME)
		return fail(err, REMEM_EFORMAT,
			    "GGUF name has %llu bytes, not 1 to %d",
			    (unsigned long long)len, MAX_NAME);
	*name_len = (size_t)len;
	return 0;
}

static bool same_name(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && !memcmp(a, b, a_len);
}

static int read_keys(struct gguf *g, struct cursor *c, uint64_t count,
		     struct remem_err *err)
{
	struct gguf_key k;
	int rc;

	for (uint64_t i = 0; i < count; i++) {
		memset(&k, 0, sizeof(k));
		if ((rc = read_name(c, &k.name, &k.name_len, err)))
			return rc;
		if (take_u32(c, &k.type))
			return truncated(err, "a key");
		if ((rc = read_value(c, &k, err)))
			return rc;
		for (size_t j = 0; j < g->n_keys; j++)
			if (same_name(g->keys[j].name, g->keys[j].name_len,
				      k.name, k.name_len))
				return fail(err, REMEM_EFORMAT,
					    "GGUF key '%.*s' stands twice",
					    SHOWN(k.name_len), k.name);
		if (!mem_grow(&g->keys, &g->cap_keys, g->n_keys + 1, sizeof(k)))
			return fail_nomem(err);
		g->keys[g->n_keys++] = k;
	}
	return 0;
}

/* Values and bytes of the tensor; 0 when they do not fit or do not divide. */
static uint64_t tensor_bytes(const struct gguf_tensor *t)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		if (!t->dims[i] || t->dims[i] > (UINT64_MAX >> 8) / n)
			return 0;
		n *= t->dims[i];
	}
	switch (t->type) {
	case GGUF_TENSOR_F32:
		return n * 4;
	case GGUF_TENSOR_F16:
		return n * 2;
	case GGUF_TENSOR_Q4_0:
		if (t->dims[0] % GGUF_Q4_0_VALUES)
			return 0;
		return n / GGUF_Q4_0_VALUES * GGUF_Q4_0_BYTES;
	default:
		return 0;
	}
}

static int read_tensor(struct cursor *c, struct gguf_tensor *t,
		       struct remem_err *err)
{
	int rc;

	memset(t, 0, sizeof(*t));
	if ((rc = read_name(c, &t->name, &t->name_len, err)))
		return rc;
	if (take_u32(c, &t->n_dims))
		return truncated(err, "a tensor");
	if (!t->n_dims || t->n_dims > GGUF_MAX_DIMS)
		return fail(err, REMEM_EFORMAT,
			    "GGUF tensor '%.*s' has %u dimensions",
			    SHOWN(t->name_len), t->name, (unsigned)t->n_dims);
	for (uint32_t i = 0; i < GGUF_MAX_DIMS; i++)
		t->dims[i] = 1;
	for (uint32_t i = 0; i < t->n_dims; i++)
		if (take_u64(c, &t->dims[i]))
			return truncated(err, "a tensor");
	if (take_u32(c, &t->type) || take_u64(c, &t->offset))
		return truncated(err, "a tensor");
	t->bytes = tensor_bytes(t);
	if (!t->bytes)
		return fail(err, REMEM_EFORMAT,
			    "GGUF tensor '%.*s' has a type (%u) or a shape "
			    "that cannot be read",
			    SHOWN(t->name_len), t->name, (unsigned)t->type);
	return 0;
}

static int read_tensors(struct gguf *g, struct cursor *c, uint64_t count,
			struct remem_err *err)
{
	struct gguf_tensor t;
	int rc;

	for (uint64_t i = 0; i < count; i++) {
		if ((rc = read_tensor(c, &t, err)))
			return rc;
		for (size_t j = 0; j < g->n_tensors; j++)
			if (same_name(g->tensors[j].name,
				      g->tensors[j].name_len, t.name,
				      t.name_len))
				return fail(err, REMEM_EFORMAT,
					    "GGUF tensor '%.*s' stands twice",
					    SHOWN(t.name_len), t.name);
		if (!mem_grow(&g->tensors, &g->cap_tensors, g->n_tensors + 1,
			      sizeof(t)))
			return fail_nomem(err);
		g->tensors[g->n_tensors++] = t;
	}
	return 0;
}

/* Places the tensors behind the header, at the alignment the file names. */
static int place_tensors(struct gguf *g, size_t header, struct remem_err *err)
{
	const struct gguf_key *k = gguf_find(g, "general.alignment");
	uint32_t align = 32;
	uint64_t start;
	int rc;

	if (k && (rc = gguf_u32(g, "general.alignment", &align, err)))
		return rc;
	if (align < 8 || align > 65536 || (align & (align - 1)))
		return fail(err, REMEM_EFORMAT, "GGUF alignment is %u",
			    (unsigned)align);
	start = ((uint64_t)header + align - 1) / align * align;
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct gguf_tensor *t = &g->tensors[i];

		if (start > g->size || t->offset > g->size - start ||
		    t->bytes > g->size - start - t->offset)
			return fail(err, REMEM_EFORMAT,
				    "GGUF tensor '%.*s' lies beyond the end "
				    "of the file",
				    SHOWN(t->name_len), t->name);
		if (t->offset % align)
			return fail(err, REMEM_EFORMAT,
				    "GGUF tensor '%.*s' is not aligned",
				    SHOWN(t->name_len), t->name);
		t->data = g->data + start + t->offset;
	}
	return 0;
}

static int parse(struct gguf *g, const void *data, size_t size,
		 bool keys_only, struct remem_err *err)
{
	struct cursor c = { data, size, 0 };
	const unsigned char *magic;
	uint32_t version;
	uint64_t n_tensors, n_keys;
	int rc;

	memset(g, 0, sizeof(*g));
	g->data = data;
	g->size = size;
	if (take(&c, 4, &magic) || memcmp(magic, "GGUF", 4))
		return fail(err, REMEM_EFORMAT, "not a GGUF file");
	if (take_u32(&c, &version) || take_u64(&c, &n_tensors) ||
	    take_u64(&c, &n_keys))
		return truncated(err, "the header");
	if (version != 3)
		return fail(err, REMEM_EFORMAT, "GGUF version %u, not 3",
			    (unsigned)version);
	if ((n_tensors > GGUF_MAX_TENSORS && !keys_only) ||
	    n_keys > GGUF_MAX_KEYS)
		return fail(err, REMEM_EFORMAT,
			    "GGUF with %llu tensors and %llu keys, more than "
			    "%d", (unsigned long long)n_tensors,
			    (unsigned long long)n_keys, GGUF_MAX_KEYS);
	if ((rc = read_keys(g, &c, n_keys, err)) || keys_only)
		return rc;
	if ((rc = read_tensors(g, &c, n_tensors, err)))
		return rc;
	return place_tensors(g, c.at, err);
}

int gguf_parse(struct gguf *g, const void *data, size_t size,
	       struct remem_err *err)
{
	return parse(g, data, size, false, err);
}

static int map_file(void **mapped, size_t *size, const char *path,
		    struct remem_err *err)
{
	struct stat st;
	int rc = 0;
	/* O_NONBLOCK: a FIFO with that name must not hold us up */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return fail_errno(err, errno == ENOENT || errno == ENOTDIR ?
				  REMEM_ENOTFOUND : REMEM_EIO, errno,
				  "cannot open model '%s'", path);
	if (fstat(fd, &st))
		rc = fail_errno(err, REMEM_EIO, errno, "cannot read '%s'", path);
	else if (!S_ISREG(st.st_mode))
		rc = fail(err, REMEM_EFORMAT, "'%s' is not a file", path);
	else if (st.st_size < 24 || (uint64_t)st.st_size > SIZE_MAX / 2)
		rc = fail(err, REMEM_EFORMAT, "'%s' is not a GGUF file", path);
	if (rc)
		goto out;
	*size = (size_t)st.st_size;
	*mapped = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
	if (*mapped == MAP_FAILED) {
		*mapped = NULL;
		rc = errno;
		fail_errno(err, REMEM_EIO, rc, "cannot map '%s'", path);
		if (rc == ENOMEM)
			fail_limit_action(err);
		rc = REMEM_EIO;
	}
out:
	close(fd);
	return rc;
}

static int open_file(struct gguf *g, const char *path, bool keys_only,
		     struct remem_err *err)
{
	void *mapped = NULL;
	size_t size = 0;
	int rc;

	memset(g, 0, sizeof(*g));
	if ((rc = map_file(&mapped, &size, path, err)))
		return rc;
	rc = parse(g, mapped, size, keys_only, err);
	g->mapped = mapped;
	if (rc == REMEM_EFORMAT)
		fail_add(err, "'%s'", path);
	return rc;
}

int gguf_open(struct gguf *g, const char *path, struct remem_err *err)
{
	return open_file(g, path, false, err);
}

int gguf_open_keys(struct gguf *g, const char *path, struct remem_err *err)
{
	return open_file(g, path, true, err);
}

void gguf_release(struct gguf *g)
{
	if (!g)
		return;
	mem_free(g->keys);
	mem_free(g->tensors);
	if (g->mapped)
		munmap(g->mapped, g->size);
	memset(g, 0, sizeof(*g));
}

const struct gguf_key *gguf_find(const struct gguf *g, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < g->n_keys; i++)
		if (same_name(g->keys[i].name, g->keys[i].name_len, name, len))
			return &g->keys[i];
	return NULL;
}

static int find_typed(const struct gguf *g, const char *name, uint32_t type,
		      const struct gguf_key **out, struct remem_err *err)
{
	*out = gguf_find(g, name);
	if (!*out)
		return fail(err, REMEM_EFORMAT, "GGUF has no key '%s'", name);
	if ((*out)->type != type)
		return fail(err, REMEM_EFORMAT,
			    "GGUF key '%s' has type %u, not %u", name,
			    (unsigned)(*out)->type, (unsigned)type);
	return 0;
}

int gguf_u32(const struct gguf *g, const char *name, uint32_t *out,
	     struct remem_err *err)
{
	const struct gguf_key *k;
	int rc = find_typed(g, name, GGUF_U32, &k, err);

	if (!rc)
		memcpy(out, k->data, sizeof(*out));
	return rc;
}

int gguf_f32(const struct gguf *g, const char *name, float *out,
	     struct remem_err *err)
{
	const struct gguf_key *k;
	int rc = find_typed(g, name, GGUF_F32, &k, err);

	if (!rc)
		memcpy(out, k->data, sizeof(*out));
	return rc;
}

int gguf_string(const struct gguf *g, const char *name, const char **out,
		size_t *len, struct remem_err *err)
{
	const struct gguf_key *k;
	int rc = find_typed(g, name, GGUF_STRING, &k, err);

	if (!rc) {
		*out = (const char *)k->data;
		*len = (size_t)k->count;
	}
	return rc;
}

static bool aligned(const void *p, size_t size)
{
	return (uintptr_t)p % size == 0;
}

int gguf_array(const struct gguf *g, const char *name, uint32_t item_type,
	       const void **out, uint64_t *count, struct remem_err *err)
{
	const struct gguf_key *k;
	int rc = find_typed(g, name, GGUF_ARRAY, &k, err);

	if (rc)
		return rc;
	if (k->item_type != item_type || !type_size(item_type))
		return fail(err, REMEM_EFORMAT,
			    "GGUF key '%s' is an array of type %u, not %u",
			    name, (unsigned)k->item_type, (unsigned)item_type);
	if (!aligned(k->data, type_size(item_type)))
		return fail(err, REMEM_EFORMAT,
			    "GGUF array '%s' is not aligned", name);
	*out = k->data;
	*count = k->count;
	return 0;
}

int gguf_tensor(const struct gguf *g, const char *name, uint32_t type,
		uint64_t d0, uint64_t d1, const void **out,
		struct remem_err *err)
{
	size_t len = strlen(name);
	const struct gguf_tensor *t = NULL;

	for (size_t i = 0; i < g->n_tensors && !t; i++)
		if (same_name(g->tensors[i].name, g->tensors[i].name_len, name,
			      len))
			t = &g->tensors[i];
	if (!t)
		return fail(err, REMEM_EFORMAT, "GGUF has no tensor '%s'", name);
	if (t->type != type || t->dims[0] != d0 || t->dims[1] != d1 ||
	    t->dims[2] != 1 || t->dims[3] != 1)
		return fail(err, REMEM_EFORMAT,
			    "GGUF tensor '%s' is type %u, %llu x %llu, not "
			    "type %u, %llu x %llu", name, (unsigned)t->type,
			    (unsigned long long)t->dims[0],
			    (unsigned long long)t->dims[1], (unsigned)type,
			    (unsigned long long)d0, (unsigned long long)d1);
	if (!aligned(t->data, type == GGUF_TENSOR_F32 ? 4 : 2))
		return fail(err, REMEM_EFORMAT,
			    "GGUF tensor '%s' is not aligned", name);
	*out = t->data;
	return 0;
}
