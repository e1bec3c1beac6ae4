/*
 * The program: arguments by one table (verbs.def), one file a verb. Exit codes
 * are 0 done, 1 failed, 2 the command line makes no sense, 3 partly done.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "remem.h"

enum { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_PARTLY };

struct opt {
	const char *verb; /* "all" for every verb */
	const char *name;
	char letter;
	const char *arg; /* NULL: takes none */
	const char *help;
};

struct given { /* an option of the command line */
	const struct opt *opt;
	const char *value; /* NULL: takes none */
};

struct cli {
	struct arena a;
	const struct verb *verb;
	const char *const *env;
	const char *program;
	struct given *options;
	size_t option_count;
	const char **args; /* what is no option */
	size_t arg_count;
	bool json, quiet;
	bool color; /* of standard output */
	const char *progress; /* auto, bar, ndjson, off */
};

struct verb {
	const char *name;
	int (*run)(struct cli *c);
	const char *synopsis, *help;
};

/* Runs a command line; returns the exit code. */
int cli_main(int argc, char **argv, char **env);

/* -- options.c */
const struct verb *verb_at(int i); /* NULL behind the last */
const struct verb *verb_find(const char *name);
const struct opt *opt_at(int i);
/* EXIT_DONE, or EXIT_USAGE with the complaint already made. */
int cli_parse(struct cli *c, int argc, char **argv);
bool cli_flag(const struct cli *c, const char *name);
/* The last value given, NULL if none. */
const char *cli_value(const struct cli *c, const char *name);
/* A number; false with the complaint made when it is none or out of bounds. */
bool cli_int(struct cli *c, const char *name, long low, long high, int *out);
bool cli_num(struct cli *c, const char *name, double *out);
/* The word most like it among count names, NULL if none is near. */
const char *cli_nearest(const char *word, const char *(*name)(int i));

/* -- out.c */
/* "remem: message" and the action on standard error, or as JSON. */
int cli_usage(struct cli *c, const char *fmt, ...) ATTR_PRINTF(2, 3);
int cli_fail(struct cli *c, const struct remem_err *err);
/* On standard error, unless --quiet. */
void cli_note(struct cli *c, const char *fmt, ...) ATTR_PRINTF(2, 3);
/* Text of files on a terminal: control characters do nothing there. indent is
 * put before each line; the last line is ended. */
void cli_text(const char *text, size_t len, const char *indent);
void cli_word(const char *text); /* the same, one line, nothing ended */
/* SGR codes around what stands between: "1" bold, "2" dim, "0" ends; nothing
 * without colour. */
void cli_style(const struct cli *c, const char *code);
/* A report of the library: as it is with --json, else by show(). Frees it. */
int cli_report(struct cli *c, char *json,
	       int (*show)(struct cli *c, void *root));
/* Bytes as "1.2 MB", in one of four buffers used in turn. */
const char *cli_size(int64_t bytes);

/* -- run.c */
/* Opens the workspace of the command line. 0, or the exit code. */
int cli_open(struct cli *c, struct remem **out);
/* The same for what has nothing to do with notes: none have to be there. */
int cli_open_anywhere(struct cli *c, struct remem **out);
int cli_open_opts(struct cli *c, struct remem_open_opts *o);

/* -- input.c */
/* All of standard input, at most limit bytes. 0, or the exit code. */
int cli_read_all(struct cli *c, struct buf *out);
struct line_reader {
	struct buf b;
	size_t at;
	bool eof;
};
/* The next line without its end; false at the end. *too_long: it was cut. */
bool cli_read_line(struct line_reader *r, const char **line, size_t *len,
		   bool *too_long);

/* -- confirm.c */
/* Whether to go on: --yes, or the answer on a terminal. Elsewhere false, with
 * the complaint made. what is the question without its mark. */
bool cli_confirm(struct cli *c, const char *what);

/* -- progress.c */
struct meter {
	const struct cli *c;
	bool bar, ndjson, shown;
	char phase[32];
};
void meter_init(struct meter *m, const struct cli *c);
int meter_step(void *ctx, const char *phase, int64_t done, int64_t total,
	       double rate, double left_s);
void meter_end(struct meter *m); /* takes the bar away */

/* -- help.c */
int help_all(void);
int help_verb(const struct verb *v);

#define VERB(name, function, synopsis, help) int function(struct cli *c);
#define OPT(verb, name, letter, arg, help)
#define ALIAS(name, verb, option, value)
#include "cli/verbs.def"
#undef VERB
#undef OPT
#undef ALIAS

#endif
