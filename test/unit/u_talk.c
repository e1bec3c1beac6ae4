/* Talks: cut into passages that cite records, stable when appended to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "text/talk.h"
#include "text/token.h"

static const struct note_opts opts = NOTE_OPTS_DEFAULT;

static struct note cut(struct arena *a, const struct talk_message *m, size_t n)
{
	struct remem_err err = { 0 };
	struct note note;

	if (talk_cut(&note, a, m, n, &opts, &err))
		fail_msg("%s", err.message);
	return note;
}

#define MSG(who, text, line) { who, text, sizeof(text) - 1, line, "owner" }

static void test_talk__a_message_is_a_passage_with_its_line(void **state)
{
	static const struct talk_message m[] = {
		MSG("User", "When does\n\n\n\nthe ferry go?  ", 3),
		MSG("Assistant", " \n", 4),
		MSG("Assistant", "早上七点半。", 17),
	};
	struct arena a = ARENA_INIT;
	struct note n = cut(&a, m, 3);

	(void)state;
	assert_string_equal(n.text, "User: When does\n\nthe ferry go?\n"
			    "Assistant: 早上七点半。\n");
	assert_int_equal(n.passage_count, 2);
	assert_int_equal(n.passages[0].line_first, 3);
	assert_int_equal(n.passages[1].line_last, 17);
	assert_memory_equal(n.text + n.passages[1].start, "早上", 6);
	assert_int_equal(n.chunk_count, 1);
	assert_int_equal(n.chunks[0].line_last, 17);
	arena_release(&a);
}

static void test_talk__long_messages_are_cut_and_give_all_back(void **state)
{
	static char text[40000];
	struct talk_message m[2] = { MSG("User", "短", 1),
				     { "Assistant", text, 0, 2, NULL } };
	struct arena a = ARENA_INIT;
	struct note n;
	size_t at = 0;

	(void)state;
	for (size_t i = 0; i + 16 < sizeof(text); i += 15)
		memcpy(text + i, "Ein Satz mehr. ", 15);
	m[1].len = strlen(text);
	n = cut(&a, m, 2);
	assert_true(n.passage_count > 20);
	for (int i = 0; i < n.passage_count; i++) {
		const struct passage *g = &n.passages[i];

		assert_int_equal(g->span_start, at);
		at = g->span_end;
		assert_true(g->start >= g->span_start && g->end <= at);
		assert_int_equal(g->line_first, i ? 2 : 1);
		assert_int_equal(g->continues, i > 1);
		assert_true(token_estimate(n.text + g->start,
					   g->end - g->start) <= 100);
	}
	assert_int_equal(at, n.len);
	for (int i = 0; i < n.chunk_count; i++) {
		const struct chunk *c = &n.chunks[i];

		assert_true(token_estimate(n.text + c->start,
					   c->end - c->start) <= 400);
	}
	arena_release(&a);
}

static void test_talk__appending_changes_only_the_end(void **state)
{
	static struct talk_message m[200];
	static char text[200][64];
	struct arena a = ARENA_INIT;
	struct note all, part;

	(void)state;
	for (int i = 0; i < 200; i++) {
		snprintf(text[i], sizeof(text[i]), "message %d about %d things",
			 i, i * 7);
		m[i] = (struct talk_message){ i & 1 ? "Assistant" : "User",
					      text[i], strlen(text[i]), i + 1,
					      "agent" };
	}
	all = cut(&a, m, 200);
	part = cut(&a, m, 150);
	assert_true(part.chunk_count > 3);
	for (int i = 0; i + 1 < part.chunk_count; i++)
		assert_memory_equal(part.chunks[i].hash, all.chunks[i].hash,
				    SHA256_BYTES);
	arena_release(&a);
}
