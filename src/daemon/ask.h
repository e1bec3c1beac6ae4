/* A question as it goes over the socket: how r was opened, and the options. */
#ifndef DAEMON_ASK_H
#define DAEMON_ASK_H

#include "base/arena.h"
#include "base/json.h"
#include "remem.h"

/* {"workspace":…,"env":[…],…} */
void ask_put_open(struct json *j, const struct remem_open_opts *o,
		  const char *workspace);
/* Into the arena. False when it is not what ask_put_open() writes. */
bool ask_take_open(struct remem_open_opts *o, struct arena *a, yyjson_val *v);
void ask_put_search(struct json *j, const struct remem_search_opts *o);
/* Strings are borrowed from v. */
bool ask_take_search(struct remem_search_opts *o, yyjson_val *v);
/* Whether all of it survives the way through JSON. */
bool ask_is_plain(const struct remem_open_opts *o,
		  const struct remem_search_opts *s, const char *query,
		  size_t len);

#endif
