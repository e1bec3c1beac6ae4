/* What a file's name alone says about it. */
#ifndef SOURCE_NAMES_H
#define SOURCE_NAMES_H

#include <stdbool.h>
#include <string.h>

/* Ends in .md, in any case. Asked for each file of a walk, hence here. */
static inline bool name_is_note(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && name[n - 3] == '.' && (name[n - 2] | 32) == 'm' &&
	       (name[n - 1] | 32) == 'd';
}

/* NULL, or why an image or a recording is not indexed. */
const char *name_media(const char *name);
/* enum source_media of a name, 0: it is none. */
unsigned name_media_kind(const char *name);
/* What editors and remem itself leave for moments: never even listed. */
bool name_is_temp(const char *name);
static inline bool name_is_temp_note(const char *name) /* one that ends in .md */
{
	return name[0] == '.' && name[1] == '#';
}

/* Copies that file synchronisers make when two devices wrote one file. */
bool name_is_conflict(const char *name);
/* Folders of tools that hold thousands of files nobody wrote. */
bool name_is_tool_folder(const char *name);

/* Notes that stand beside memory/ in the workspace itself, ending with NULL. */
extern const char *const name_fixed_files[];

/* Names of ignore files in the order in which they are read, ending with
 * NULL; rules of later ones go before those of earlier ones. */
extern const char *const name_ignore_files[];
/* Its place in that list, -1 for any other name. */
int name_ignore_file(const char *name);

#endif
