/*
 * Putting remem into a host's settings and taking it out again. What was put
 * in is written down word for word (STATE/remem/hosts/HOST-SCOPE.json), so
 * that taking it out gives each file back, whatever else changed meanwhile.
 */
#ifndef HOSTS_SETUP_H
#define HOSTS_SETUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "hosts/hosts.h"

#define SETUP_FILES 8
#define SETUP_ITEMS 16
#define SETUP_PATH 5 /* names of a member's path, with the NULL */

enum setup_kind {
	SETUP_MEMBER, /* of JSON */
	SETUP_ELEMENT, /* of an array of JSON */
	SETUP_TABLE, /* of TOML */
	SETUP_WHOLE /* the file is ours */
};

struct setup_file {
	const char *path; /* absolute */
	bool existed;
	unsigned mode;
	const char *old, *text; /* as it is, as it will be */
	size_t old_len, len;
	bool drop; /* it is ours and goes */
};

struct setup_item {
	enum setup_kind kind;
	struct setup_file *file;
	const char *path[SETUP_PATH];
	const char *mark; /* of an element: part of it that tells it is ours */
	const char *value;
	const char *inserted; /* word for word, "" if it was there already */
	int made; /* containers that were made for it */
	bool shared; /* others need it too: taken out only word for word */
};

struct setup {
	struct arena *a;
	const struct host *host;
	const char *root; /* folder of the scope: home or project */
	const char *const *env;
	bool project, hooks;
	const char *program; /* absolute */
	const char *workspace; /* NULL: found by remem */
	struct setup_file files[SETUP_FILES];
	int file_count;
	struct setup_item items[SETUP_ITEMS];
	int item_count;
	const char *note; /* what is left for the user to do */
};

/* For the rows of hosts.def: what belongs into which file. file is below
 * root, or absolute. */
void setup_member(struct setup *s, const char *file, const char *const *path,
		  const char *value);
/* The same for one that the file needs anyhow, like its version. */
void setup_shared(struct setup *s, const char *file, const char *const *path,
		  const char *value);
void setup_element(struct setup *s, const char *file, const char *const *path,
		   const char *mark, const char *value);
void setup_table(struct setup *s, const char *file, const char *dotted,
		 const char *value);
void setup_whole(struct setup *s, const char *file, const char *value);
/* {"command":…,"args":["mcp",…]}, with type "stdio" if typed. */
const char *setup_server(struct setup *s, bool typed);
/* "PROGRAM hook HOST EVENT", quoted for a shell, as JSON; and the part of it
 * that tells it from others' hooks. */
const char *setup_command(struct setup *s, enum hook_event e);
const char *setup_mark(struct setup *s, enum hook_event e);
/* Hooks as Claude Code, Codex and Gemini CLI take them, each event's in
 * hooks.EVENT of file; timeout in the unit of the host, name NULL for none. */
void setup_hooks(struct setup *s, const char *file, const enum hook_event *events,
		 int count, int timeout, const char *name);
/* The value of a variable that names a folder, or root/name. */
const char *setup_folder(struct setup *s, const char *variable,
			 const char *name);

#endif
