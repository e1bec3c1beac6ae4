/* The record of a set-up: JSON in the state folder. */
#include "hosts/record.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/path.h"

#define RECORD_BYTES (1u << 20)
#define NAME_HEX 16

static const char *name_of(const struct setup *s)
{
	unsigned char hash[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1];

	if (!s->project)
		return arena_printf(s->a, "%s-user.json", s->host->name);
	sha256_of(hash, s->root, strlen(s->root));
	hex_encode(hex, hash, SHA256_BYTES);
	return arena_printf(s->a, "%s-%.*s.json", s->host->name, NAME_HEX, hex);
}

static void take(struct record *r, struct arena *a, yyjson_val *v)
{
	struct record_entry *e = &r->entries[r->count];
	const char *file = json_str(v, "file", NULL);

	if (!file || r->count == SETUP_ITEMS)
		return;
	e->file = arena_strdup(a, file);
	e->inserted = arena_strdup(a, json_str(v, "inserted", ""));
	e->made = (int)json_int(v, "made", 0);
	e->folders = (int)json_int(v, "folders", 0);
	e->created = json_bool(v, "created", false);
	r->count++;
}

int record_read(struct record *r, const struct setup *s, const char *state,
		struct remem_err *err)
{
	struct buf b = BUF_INIT(RECORD_BYTES);
	yyjson_doc *doc;
	yyjson_val *v;
	size_t i, n;

	memset(r, 0, sizeof(*r));
	r->path = path_join(s->a, state, name_of(s));
	if (!r->path)
		return fail_nomem(err);
	if (!file_read(&b, r->path, NULL) &&
	    !json_read(&doc, buf_str(&b), b.len, false, r->path, NULL)) {
		yyjson_val *all = yyjson_obj_get(yyjson_doc_get_root(doc),
						 "entries");

		yyjson_arr_foreach(all, i, n, v)
			take(r, s->a, v);
		yyjson_doc_free(doc);
	}
	buf_release(&b);
	return s->a->failed ? fail_nomem(err) : 0;
}

struct record_entry *record_find(struct record *r, const char *file,
				 int nth_of_file)
{
	for (int i = 0; i < r->count; i++)
		if (!strcmp(r->entries[i].file, file) && !nth_of_file--)
			return &r->entries[i];
	return NULL;
}

int record_write(const struct record *r, struct arena *a,
		 struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	j.pretty = true;
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_key(&j, "entries");
	json_arr(&j);
	for (int i = 0; i < r->count; i++) {
		const struct record_entry *e = &r->entries[i];

		json_obj(&j);
		json_kstr(&j, "file", e->file);
		json_kstr(&j, "inserted", e->inserted);
		json_kint(&j, "made", e->made);
		json_kint(&j, "folders", e->folders);
		json_kbool(&j, "created", e->created);
		json_end(&j);
	}
	json_arr_end(&j);
	json_end(&j);
	buf_addc(&b, '\n');
	rc = buf_check(&b, err);
	if (!rc)
		rc = dir_make(path_dir(a, r->path), 0700, err);
	if (!rc)
		rc = file_write_atomic(r->path, buf_str(&b), b.len, 0600, err);
	buf_release(&b);
	return rc;
}

int record_remove(const struct record *r, struct remem_err *err)
{
	if (unlink(r->path) && file_exists(r->path))
		return fail(err, REMEM_EIO, "cannot remove '%s'", r->path);
	return 0;
}
