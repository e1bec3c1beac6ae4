/* A workspace with its writers' state in a fresh folder. */
#ifndef TEST_MEMORY_BOX_H
#define TEST_MEMORY_BOX_H

#include "workspace.h"

#include "base/buf.h"
#include "base/clock.h"
#include "memory/append.h"
#include "memory/journal.h"
#include "memory/origin.h"
#include "memory/rewrite.h"
#include "store/state_note.h"

#define BOX_UUID "00000000-0000-4000-8000-000000000001"
#define BOX_NOW 1774000000000ll /* 2026-03-20 UTC */

struct box {
	struct ws ws;
	struct memory m;
	char state_dir[600], lock[700], zone[64];
	struct arena a;
	struct remem_err err;
};

static inline void box_open(struct box *b)
{
	assert_int_equal(state_open(&b->m.state, b->state_dir, BOX_UUID, false,
				    &b->err), 0);
	assert_int_equal(memory_open(&b->m, &b->err), 0);
}

static inline void box_close(struct box *b)
{
	memory_close(&b->m);
	state_close(b->m.state);
	b->m.state = NULL;
}

static inline void box_begin(struct box *b)
{
	memset(b, 0, sizeof(*b));
	ws_begin(&b->ws);
	snprintf(b->state_dir, sizeof(b->state_dir), "%s/state",
		 b->ws.tmp.dir);
	snprintf(b->lock, sizeof(b->lock), "%s/%s/write.lock", b->state_dir,
		 BOX_UUID);
	b->m.root = b->ws.dir;
	b->m.lock_path = b->lock;
	b->m.zone = "UTC";
	b->m.now_ms = BOX_NOW;
	box_open(b);
}

static inline void box_end(struct box *b)
{
	box_close(b);
	arena_release(&b->a);
	ws_end(&b->ws);
}

static inline int box_append(struct box *b, struct append_done *d,
			     const char *to, const char *text)
{
	struct append w = { .to = to,
			    .text = text,
			    .len = strlen(text),
			    .origin = REMEM_ORIGIN_AGENT };

	memset(&b->err, 0, sizeof(b->err));
	return append_lines(d, &b->a, &b->m, &w, &b->err);
}

/* Contents of a note, borrowed until the next call; NULL if there is none. */
static inline const char *box_read(struct box *b, const char *name)
{
	static struct buf text;

	buf_release(&text);
	buf_init(&text, 0);
	return file_read(&text, ws_path(&b->ws, name), NULL) ? NULL :
							      buf_str(&text);
}

#endif
