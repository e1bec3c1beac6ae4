/*
 * Whether a transcript that is being written has grown enough to be indexed:
 * by so many bytes, by so many messages, or when it is something else than
 * before. Whatever has grown less waits until it is quiet.
 */
#ifndef INDEX_GROWTH_H
#define INDEX_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct growth_file;

struct growth {
	int64_t delta_bytes, delta_messages; /* 0: any change is enough */
	bool shrunk_counts; /* a compacted one need not wait */
	struct growth_file *files;
	size_t count, cap;
};

void growth_release(struct growth *g);
/* A file has changed; entry: it came or went. True: it is time to index. */
bool growth_note(struct growth *g, const char *path, bool entry);
/* The index holds what was noted so far. */
void growth_synced(struct growth *g);

#endif
