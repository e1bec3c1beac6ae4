/*
 * libyaml's events to a tree. An alias is a copy of the anchored node that
 * shares its children; what it would be when written out counts against the
 * bounds, so that walking the tree is bounded too.
 */
#include "base/yaml.h"

#include <string.h>
#include <yaml.h>

#include "base/hash.h"

#define DEPTH_MAX 64
#define NODES_MAX 100000
#define ANCHORS_MAX 1000 /* looked up one after the other */
#define BYTES_MAX (16u << 20)

/* A node with the size it has when written out. */
struct made {
	struct yaml *node;
	int nodes, height;
};

struct anchor {
	const char *name;
	struct yaml node; /* as it was when the anchor was set */
	int nodes, height;
};

/* All keys of all maps, to find the second of two equal ones. */
struct slot {
	const struct yaml *map;
	struct yaml *entry;
};

struct reader {
	yaml_parser_t parser;
	struct arena *a;
	const char *name;
	const char *text;
	size_t len;
	struct remem_err *err;
	int nodes;
	struct anchor *anchors;
	size_t anchor_count, anchor_cap;
	struct slot *slots;
	size_t slot_count, slot_cap; /* cap is a power of two */
};

static int build(struct reader *r, struct made *m, yaml_event_t *e, int depth);

static int fail_line(struct reader *r, size_t line0, const char *what)
{
	return fail(r->err, REMEM_EFORMAT, "'%s' line %zu: %s", r->name,
		    line0 + 1, what);
}

static int parser_failed(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	const char *what = p->problem ? p->problem : "is not YAML";
	size_t line = p->problem_mark.line, end = p->problem_offset;

	if (p->error == YAML_MEMORY_ERROR)
		return fail_nomem(r->err);
	if (p->error == YAML_READER_ERROR) {
		line = 0;
		for (size_t i = 0; i < end && i < r->len; i++)
			line += r->text[i] == '\n';
	}
	return fail_line(r, line, what);
}

static int next_event(struct reader *r, yaml_event_t *e)
{
	return yaml_parser_parse(&r->parser, e) ? 0 : parser_failed(r);
}

/* ---- bounds, anchors, keys -------------------------------------------- */

static int count_nodes(struct reader *r, int nodes, int depth, size_t line0)
{
	if (depth > DEPTH_MAX)
		return fail_line(r, line0, "nested too deep");
	if (nodes > NODES_MAX - r->nodes)
		return fail_line(r, line0,
				 "too many entries, aliases included");
	r->nodes += nodes;
	return 0;
}

static int add_anchor(struct reader *r, const char *name,
		      const struct made *m, size_t line0)
{
	struct anchor *at;

	if (r->anchor_count == ANCHORS_MAX)
		return fail_line(r, line0, "too many anchors");
	r->anchors = arena_grow(r->a, r->anchors, &r->anchor_cap,
				r->anchor_count + 1, sizeof(*r->anchors));
	if (!r->anchors)
		return fail_nomem(r->err);
	at = &r->anchors[r->anchor_count++];
	at->name = name;
	at->node = *m->node;
	at->nodes = m->nodes;
	at->height = m->height;
	return 0;
}

static const struct anchor *find_anchor(const struct reader *r,
					const char *name)
{
	for (size_t i = r->anchor_count; i-- > 0;) {
		if (!strcmp(r->anchors[i].name, name))
			return &r->anchors[i];
	}
	return NULL;
}

static struct slot *find_slot(const struct reader *r, const struct yaml *map,
			      const char *key)
{
	size_t mask = r->slot_cap - 1;
	size_t i = hash64(key, strlen(key), (uintptr_t)map) & mask;

	while (r->slots[i].map && (r->slots[i].map != map ||
				   strcmp(r->slots[i].entry->key, key)))
		i = (i + 1) & mask;
	return &r->slots[i];
}

static bool make_room(struct reader *r)
{
	struct slot *old = r->slots;
	size_t old_cap = r->slot_cap;

	if (r->slot_count + 1 <= old_cap / 2)
		return true;
	r->slot_cap = old_cap ? old_cap * 2 : 32;
	r->slots = ARENA_ARRAY(r->a, struct slot, r->slot_cap);
	if (!r->slots)
		return false;
	for (size_t i = 0; i < old_cap; i++) {
		if (old[i].map)
			*find_slot(r, old[i].map, old[i].entry->key) = old[i];
	}
	return true;
}

/* ---- nodes ------------------------------------------------------------ */

static int new_node(struct reader *r, struct made *m, enum yaml_kind kind,
		    size_t line0)
{
	m->nodes = 1;
	m->height = 1;
	m->node = ARENA_NEW(r->a, struct yaml);
	if (!m->node)
		return fail_nomem(r->err);
	m->node->kind = kind;
	m->node->line = (int)line0 + 1;
	m->node->str = "";
	return 0;
}

static int build_scalar(struct reader *r, struct made *m,
			const yaml_event_t *e)
{
	int rc = new_node(r, m, YAML_SCALAR, e->start_mark.line);

	if (rc)
		return rc;
	m->node->len = e->data.scalar.length;
	m->node->quoted = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	m->node->str = arena_strndup(r->a, (const char *)e->data.scalar.value,
				     m->node->len);
	return m->node->str ? 0 : fail_nomem(r->err);
}

static int build_alias(struct reader *r, struct made *m,
		       const yaml_event_t *e, int depth)
{
	size_t line = e->start_mark.line;
	const struct anchor *at =
		find_anchor(r, (const char *)e->data.alias.anchor);
	int rc;

	if (!at)
		return fail_line(r, line,
				 "alias of something that is not complete "
				 "before it");
	if ((rc = count_nodes(r, at->nodes - 1, depth + at->height - 1, line)))
		return rc;
	if ((rc = new_node(r, m, at->node.kind, line)))
		return rc;
	*m->node = at->node;
	m->node->line = (int)line + 1;
	m->node->key = NULL;
	m->node->next = NULL;
	m->nodes = at->nodes;
	m->height = at->height;
	return 0;
}

static void add_child(struct made *parent, const struct made *child,
		      struct yaml ***tail)
{
	**tail = child->node;
	*tail = &child->node->next;
	parent->nodes += child->nodes;
	if (parent->height <= child->height)
		parent->height = child->height + 1;
}

static int build_seq(struct reader *r, struct made *m, const yaml_event_t *e,
		     int depth)
{
	int rc = new_node(r, m, YAML_SEQ, e->start_mark.line);
	struct yaml **tail = rc ? NULL : &m->node->child;

	while (!rc) {
		struct made item;
		yaml_event_t ev;

		if ((rc = next_event(r, &ev)))
			break;
		if (ev.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&ev);
			break;
		}
		rc = build(r, &item, &ev, depth + 1);
		if (!rc)
			add_child(m, &item, &tail);
	}
	return rc;
}

/* The last of equal keys wins and takes the place of the first. */
static int add_entry(struct reader *r, struct made *m, struct made *value,
		     const char *key, struct yaml ***tail)
{
	struct slot *s;

	if (!make_room(r))
		return fail_nomem(r->err);
	s = find_slot(r, m->node, key);
	value->node->key = key;
	if (s->map) {
		value->node->next = s->entry->next;
		*s->entry = *value->node;
		m->nodes += value->nodes;
		if (m->height <= value->height)
			m->height = value->height + 1;
		return 0;
	}
	s->map = m->node;
	s->entry = value->node;
	r->slot_count++;
	add_child(m, value, tail);
	return 0;
}

static int build_entry(struct reader *r, struct made *m, yaml_event_t *e,
		       int depth, struct yaml ***tail)
{
	size_t line = e->start_mark.line;
	struct made key, value;
	yaml_event_t ev;
	int rc = build(r, &key, e, depth);

	if (rc)
		return rc;
	if (key.node->kind != YAML_SCALAR ||
	    strlen(key.node->str) != key.node->len)
		return fail_line(r, line, "a key must be a line of text");
	if ((rc = next_event(r, &ev)))
		return rc;
	if ((rc = build(r, &value, &ev, depth)))
		return rc;
	return add_entry(r, m, &value, key.node->str, tail);
}

static int build_map(struct reader *r, struct made *m, const yaml_event_t *e,
		     int depth)
{
	int rc = new_node(r, m, YAML_MAP, e->start_mark.line);
	struct yaml **tail = rc ? NULL : &m->node->child;

	while (!rc) {
		yaml_event_t ev;

		if ((rc = next_event(r, &ev)))
			break;
		if (ev.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&ev);
			break;
		}
		rc = build_entry(r, m, &ev, depth + 1, &tail);
	}
	return rc;
}

/* Takes the event. depth counts from 1. */
static int build(struct reader *r, struct made *m, yaml_event_t *e, int depth)
{
	size_t line = e->start_mark.line;
	const yaml_char_t *anchor = NULL;
	char *name = NULL;
	int rc = count_nodes(r, 1, depth, line);

	if (rc)
		goto out;
	if (e->type == YAML_SCALAR_EVENT) {
		anchor = e->data.scalar.anchor;
		rc = build_scalar(r, m, e);
	} else if (e->type == YAML_SEQUENCE_START_EVENT) {
		anchor = e->data.sequence_start.anchor;
		rc = build_seq(r, m, e, depth);
	} else if (e->type == YAML_MAPPING_START_EVENT) {
		anchor = e->data.mapping_start.anchor;
		rc = build_map(r, m, e, depth);
	} else if (e->type == YAML_ALIAS_EVENT) {
		rc = build_alias(r, m, e, depth);
	} else {
		rc = fail_line(r, line, "ends too early");
	}
	if (rc || !anchor)
		goto out;
	name = arena_strdup(r->a, (const char *)anchor);
	rc = name ? add_anchor(r, name, m, line) : fail_nomem(r->err);
out:
	yaml_event_delete(e);
	return rc;
}

/* ---- document --------------------------------------------------------- */

/* Skips events up to a document and reads it; a second one is refused. */
static int read_stream(struct reader *r, struct yaml **out)
{
	bool have = false;

	for (;;) {
		struct made m;
		yaml_event_t e;
		yaml_event_type_t type;
		size_t line;
		int rc = next_event(r, &e);

		if (rc)
			return rc;
		type = e.type;
		line = e.start_mark.line;
		yaml_event_delete(&e);
		if (type == YAML_STREAM_END_EVENT)
			return 0;
		if (type != YAML_DOCUMENT_START_EVENT)
			continue;
		if (have)
			return fail_line(r, line,
					 "a second document begins");
		have = true;
		if ((rc = next_event(r, &e)) || (rc = build(r, &m, &e, 1)))
			return rc;
		*out = m.node;
	}
}

static bool is_nothing(const struct yaml *y)
{
	return y && y->kind == YAML_SCALAR && !y->len && !y->quoted;
}

int yaml_read(struct yaml **out, struct arena *a, const char *text, size_t len,
	      const char *name, struct remem_err *err)
{
	struct reader r = { .a = a, .name = name, .text = text, .len = len,
			    .err = err };
	int rc;

	*out = NULL;
	if (len > BYTES_MAX)
		return fail(err, REMEM_ELIMIT, "'%s' is larger than %u bytes",
			    name, BYTES_MAX);
	if (!yaml_parser_initialize(&r.parser))
		return fail_nomem(err);
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text,
				     len);
	rc = read_stream(&r, out);
	if (rc || is_nothing(*out))
		*out = NULL;
	yaml_parser_delete(&r.parser);
	return rc;
}

struct yaml *yaml_get(struct yaml *y, const char *key)
{
	if (!y || y->kind != YAML_MAP)
		return NULL;
	for (y = y->child; y; y = y->next) {
		if (!strcmp(y->key, key))
			return y;
	}
	return NULL;
}
