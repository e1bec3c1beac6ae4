/*
 * What the verbs of the program call of the layers beside src/cli, which do
 * not see each other.
 */
#ifndef FRONT_H
#define FRONT_H

#include <stdbool.h>

#include "remem.h"

struct mcp_opts {
	struct remem_open_opts open; /* borrowed while it runs */
	const char *tools; /* NULL or "core", "full" */
	const char *compat; /* NULL, "openclaw", "lancedb" */
	bool shared; /* others read along: nothing private, no citations */
	bool http;
	const char *host; /* NULL: 127.0.0.1 */
	int port; /* 0: the usual one; -1: any that is free */
	const char *token_file; /* NULL: in the state folder */
};

/*
 * Serves the Model Context Protocol until the input ends (or, by HTTP, until
 * a signal). REMEM_EINVAL: an option that makes no sense; nothing was read.
 */
int mcp_serve(const struct mcp_opts *o, struct remem_err *err);

/* -- the background process (src/daemon) */

struct helper_answer { /* as struct remem_results has it */
	char *json; /* of the search, one line */
	struct remem_hit *hits;
	size_t count;
	const char *message, *degraded;
	void *keep; /* what the strings live in */
};

/*
 * Asks the background process of this user, if one runs, the question that r
 * was opened for. False: no answer from there, whatever the reason; r gives
 * the same one.
 */
bool helper_search(struct helper_answer *out, struct remem *r,
		   const struct remem_open_opts *open, const char *query,
		   size_t len, const struct remem_search_opts *o);
void helper_answer_release(struct helper_answer *a);
/* Starts one for the questions to come, if the settings want it, the question
 * was one that it answers sooner, and none runs. Does not wait. */
void helper_wake(struct remem *r, const struct remem_open_opts *open,
		 enum remem_mode mode);

struct helper_opts {
	const char *const *env;
	const char *program;
	int idle_minutes; /* 0: it stays */
};

/* Is the background process, until it is told to end or nobody asks. 0 also
 * when another one runs already. */
int helper_serve(const struct helper_opts *o, struct remem_err *err);
/* Starts one and waits until it answers. */
int helper_start(const struct helper_opts *o, struct remem_err *err);
/* Tells it to end and waits until it has. REMEM_ENOTFOUND: none runs. */
int helper_stop(const struct helper_opts *o, struct remem_err *err);
/* *json (doc/schema.md, "daemon"), freed with remem_free(). */
int helper_status(const struct helper_opts *o, char **json,
		  struct remem_err *err);
/* Path of its log, into out. */
int helper_log(const struct helper_opts *o, char *out, size_t size,
	       struct remem_err *err);

struct hook_opts {
	const char *host, *event; /* rows of hosts.def; hook_event_name() */
	struct remem_open_opts open; /* borrowed while it runs */
	int timeout_ms; /* 0: by the event */
	bool shared; /* a group or a shared room */
	bool wait; /* write here instead of in the background */
};

/*
 * Answers one event of a host: its JSON from standard input, the answer to
 * standard output. Whatever goes wrong goes into the log, never to the host,
 * and the time-out ends the process; the exit code is always 0.
 */
int hook_run(const struct hook_opts *o);

struct setup_opts {
	const char *host; /* row of hosts.def */
	struct remem_open_opts open; /* env, program, workspace */
	bool uninstall;
	bool project; /* the current folder's settings, not the user's */
	bool no_hooks; /* the MCP server alone */
	bool dry_run;
};

/*
 * Puts remem into a host's settings, or takes it out. *json (doc/schema.md,
 * "setup") says what changes; with dry_run nothing does. The caller frees it.
 * REMEM_EFORMAT: a file is not what its host would read; REMEM_EPERM: it is a
 * link; REMEM_EBUSY: it changes meanwhile. Nothing is written then.
 */
int host_setup(const struct setup_opts *o, char **json, struct remem_err *err);
/* All hosts, whether they are set up, and where. */
int host_list(const struct setup_opts *o, char **json, struct remem_err *err);

struct import_opts {
	const char *format; /* "openclaw", "claude-code", … */
	const char *path; /* file or folder, NULL: where it usually is */
	struct remem_open_opts open;
	bool dry_run;
};

/*
 * Takes over settings or folders of another program into the user's settings.
 * *json (doc/schema.md, "import") says what was set and what was not taken,
 * with the reason. The caller frees it.
 */
int host_import(const struct import_opts *o, char **json,
		struct remem_err *err);

#endif
