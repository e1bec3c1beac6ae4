/* What set-up has put into which file, word for word. */
#ifndef HOSTS_RECORD_H
#define HOSTS_RECORD_H

#include "hosts/setup.h"

struct record_entry {
	const char *file, *inserted;
	int made;
	int folders; /* above the file, that were made for it */
	bool created; /* the file was made for it */
	bool used; /* found again */
};

struct record {
	const char *path; /* of the record's own file; NULL without a home */
	struct record_entry entries[SETUP_ITEMS];
	int count;
};

/* Reads it; one that is not there or broken has no entries. */
int record_read(struct record *r, const struct setup *s, const char *state,
		struct remem_err *err);
struct record_entry *record_find(struct record *r, const char *file,
				 int nth_of_file);
int record_write(const struct record *r, struct arena *a,
		 struct remem_err *err);
int record_remove(const struct record *r, struct remem_err *err);

#endif
