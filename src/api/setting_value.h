/* One value of one setting: from YAML to its type, and the words when it is
 * not of that type. */
#ifndef API_SETTING_VALUE_H
#define API_SETTING_VALUE_H

#include "api/settings.h"

/*
 * Reads node as the type of row into *v (its fields for the value only). 0,
 * or 1 and what was expected in why ("a whole number from 1 to 100"). A number
 * beyond its bounds is taken at the bound: 0, with *clamped true.
 */
int setting_parse(struct setting_value *v, struct arena *a,
		  const struct setting *row, const struct yaml *node,
		  char why[160], bool *clamped);
/* "a, b" as the items of a LIST or PATHS. */
void setting_split(struct setting_value *v, struct arena *a, const char *text);
/*
 * text with each ${NAME} replaced and $${NAME} as ${NAME}; in the arena.
 * *missing, if given, gets the first name that is not set.
 */
const char *setting_expand(struct arena *a, const struct env *env,
			   const char *text, const char **missing);
/* Plain null, ~ or nothing. */
bool setting_is_null(const struct yaml *node);

#endif
