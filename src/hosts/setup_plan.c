/* What the rows of hosts.def call to say what belongs into their settings. */
#include <string.h>

#include "base/env.h"
#include "base/path.h"
#include "hosts/setup.h"

static struct setup_file *file_of(struct setup *s, const char *path)
{
	struct setup_file *f;

	if (path[0] != '/')
		path = path_join(s->a, s->root, path);
	if (!path)
		return NULL;
	for (int i = 0; i < s->file_count; i++)
		if (!strcmp(s->files[i].path, path))
			return &s->files[i];
	if (s->file_count == SETUP_FILES) {
		s->a->failed = true;
		return NULL;
	}
	f = &s->files[s->file_count++];
	f->path = path;
	return f;
}

static struct setup_item *add(struct setup *s, enum setup_kind kind,
			      const char *file, const char *value)
{
	struct setup_file *f = file_of(s, file);
	struct setup_item *i;

	if (!f || !value || s->item_count == SETUP_ITEMS) {
		s->a->failed = true;
		return NULL;
	}
	i = &s->items[s->item_count++];
	i->kind = kind;
	i->file = f;
	i->value = value;
	i->inserted = "";
	return i;
}

static void set_path(struct setup_item *i, const char *const *path)
{
	for (int n = 0; i && path[n] && n + 1 < SETUP_PATH; n++)
		i->path[n] = path[n];
}

void setup_member(struct setup *s, const char *file, const char *const *path,
		  const char *value)
{
	set_path(add(s, SETUP_MEMBER, file, value), path);
}

void setup_shared(struct setup *s, const char *file, const char *const *path,
		  const char *value)
{
	struct setup_item *i = add(s, SETUP_MEMBER, file, value);

	set_path(i, path);
	if (i)
		i->shared = true;
}

void setup_element(struct setup *s, const char *file, const char *const *path,
		   const char *mark, const char *value)
{
	struct setup_item *i = add(s, SETUP_ELEMENT, file, value);

	set_path(i, path);
	if (i)
		i->mark = mark;
}

void setup_table(struct setup *s, const char *file, const char *dotted,
		 const char *value)
{
	struct setup_item *i = add(s, SETUP_TABLE, file, value);

	if (i)
		i->path[0] = dotted;
}

void setup_whole(struct setup *s, const char *file, const char *value)
{
	add(s, SETUP_WHOLE, file, value);
}

static const char *to_arena(struct setup *s, struct buf *b)
{
	const char *out = b->failed ? NULL :
			  arena_strndup(s->a, buf_str(b), b->len);

	if (!out)
		s->a->failed = true;
	buf_release(b);
	return out;
}

const char *setup_server(struct setup *s, bool typed)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	json_begin(&j, &b);
	json_obj(&j);
	if (typed)
		json_kstr(&j, "type", "stdio");
	json_kstr(&j, "command", s->program);
	json_key(&j, "args");
	json_arr(&j);
	json_put_str(&j, "mcp");
	if (s->workspace) {
		json_put_str(&j, "--workspace");
		json_put_str(&j, s->workspace);
	}
	json_arr_end(&j);
	json_end(&j);
	return to_arena(s, &b);
}

/* In single quotes where a shell would read more than a word. */
static void put_word(struct buf *b, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-./:@%+,=";

	if (word[0] && strspn(word, plain) == strlen(word)) {
		buf_adds(b, word);
		return;
	}
	buf_addc(b, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_adds(b, "'\\''");
		else
			buf_addc(b, *word);
	}
	buf_addc(b, '\'');
}

const char *setup_mark(struct setup *s, enum hook_event e)
{
	return arena_printf(s->a, " hook %s %s", s->host->name,
			    hook_event_name(e));
}

const char *setup_command(struct setup *s, enum hook_event e)
{
	struct buf b = BUF_INIT(0), quoted = BUF_INIT(0);
	struct json j;

	put_word(&b, s->program);
	buf_addf(&b, " hook %s %s", s->host->name, hook_event_name(e));
	if (s->workspace) {
		buf_adds(&b, " --workspace ");
		put_word(&b, s->workspace);
	}
	json_begin(&j, &quoted);
	json_put_str(&j, buf_str(&b));
	quoted.failed |= b.failed;
	buf_release(&b);
	return to_arena(s, &quoted);
}

const char *setup_folder(struct setup *s, const char *variable,
			 const char *name)
{
	const char *moved = s->project ? NULL : env_folder(s->env, variable);

	return moved ? moved : path_join(s->a, s->root, name);
}

void setup_hooks(struct setup *s, const char *file,
		 const enum hook_event *events, int count, int timeout,
		 const char *name)
{
	for (int i = 0; s->hooks && i < count; i++) {
		const char *path[] = { "hooks", s->host->events[events[i]],
				       NULL };
		const char *label = name ? arena_printf(
			s->a, "\"name\": \"%s\", ", name) : "";
		const char *command = setup_command(s, events[i]);

		if (!label || !command)
			return;
		setup_element(s, file, path, setup_mark(s, events[i]),
			      arena_printf(s->a, "{\"hooks\": [{%s\"type\": "
					   "\"command\", \"command\": %s, "
					   "\"timeout\": %d}]}", label, command,
					   timeout));
	}
}
