/*
 * The command line. Options of every verb may stand anywhere, those of a verb
 * behind it; "--" ends them; "--name=value", "--name value", "-n5", "-n 5" and
 * "-qj" are understood. An unknown word is answered with the nearest one.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/cli.h"

#define VERB(name, function, synopsis, help) \
	{ #name, function, synopsis, help },
#define OPT(verb, name, letter, arg, help)
#define ALIAS(name, verb, option, value)
static const struct verb verbs[] = {
#include "cli/verbs.def"
};
#undef VERB
#undef OPT

#define VERB(name, function, synopsis, help)
#define OPT(verb, name, letter, arg, help) { #verb, name, letter, arg, help },
static const struct opt opts[] = {
#include "cli/verbs.def"
};
#undef OPT
#undef ALIAS

struct alias {
	const char *name, *verb, *option, *value;
};

#define OPT(verb, name, letter, arg, help)
#define ALIAS(name, verb, option, value) { name, verb, option, value },
static const struct alias aliases[] = {
#include "cli/verbs.def"
};
#undef VERB
#undef OPT
#undef ALIAS

const struct verb *verb_at(int i)
{
	return i >= 0 && i < (int)ARRAY_LEN(verbs) ? &verbs[i] : NULL;
}

const struct opt *opt_at(int i)
{
	return i >= 0 && i < (int)ARRAY_LEN(opts) ? &opts[i] : NULL;
}

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

/* Rows of the verb go before those of every verb. */
static const struct opt *find_opt(const struct verb *v, const char *name,
				  size_t len, char letter)
{
	const struct opt *common = NULL;

	for (size_t i = 0; i < ARRAY_LEN(opts); i++) {
		const struct opt *o = &opts[i];
		bool here = letter ? o->letter == letter :
			    strlen(o->name) == len &&
				    !strncmp(o->name, name, len);

		if (here && v && !strcmp(o->verb, v->name))
			return o;
		if (here && !strcmp(o->verb, "all"))
			common = o;
	}
	return common;
}

struct names {
	const char *(*name)(int i);
};

static const char *name_of(void *ctx, int i)
{
	return ((struct names *)ctx)->name(i);
}

const char *cli_nearest(const char *word, const char *(*name)(int i))
{
	struct names names = { name };

	return word_nearest(word, name_of, &names);
}

static const char *verb_name(int i)
{
	int n = (int)ARRAY_LEN(verbs);

	if (i >= n && i < n + (int)ARRAY_LEN(aliases))
		return aliases[i - n].name;
	return i < n ? verbs[i].name : NULL;
}

static const struct verb *looking_at; /* verb whose options are suggested */

static const char *opt_name(int i)
{
	if (i >= (int)ARRAY_LEN(opts))
		return NULL;
	if (strcmp(opts[i].verb, "all") &&
	    (!looking_at || strcmp(opts[i].verb, looking_at->name)))
		return "";
	return opts[i].name;
}

static void add(struct cli *c, const struct opt *o, const char *value)
{
	c->options[c->option_count].opt = o;
	c->options[c->option_count++].value = value;
}

static int set_verb(struct cli *c, const char *word)
{
	const char *near;

	c->verb = verb_find(word);
	for (size_t i = 0; !c->verb && i < ARRAY_LEN(aliases); i++) {
		const struct alias *al = &aliases[i];

		if (strcmp(al->name, word))
			continue;
		c->verb = verb_find(al->verb);
		if (al->option)
			add(c, find_opt(c->verb, al->option,
					strlen(al->option), 0), al->value);
	}
	if (c->verb)
		return EXIT_DONE;
	near = cli_nearest(word, verb_name);
	if (near)
		return cli_usage(c, "there is no verb '%.60s', did you mean "
				 "'%s'?", word, near);
	return cli_usage(c, "there is no verb '%.60s'", word);
}

static int unknown(struct cli *c, const char *word)
{
	char name[NEAREST_MAX];
	const char *near;
	size_t n = strcspn(word + 2, "=");

	if (word[1] != '-' || n >= NEAREST_MAX)
		return cli_usage(c, "there is no option '%.60s'; put -- before "
				 "what is no option", word);
	memcpy(name, word + 2, n);
	name[n] = '\0';
	looking_at = c->verb;
	near = cli_nearest(name, opt_name);
	if (near && *near)
		return cli_usage(c, "there is no option '--%s', did you mean "
				 "'--%s'?", name, near);
	return cli_usage(c, "there is no option '--%s'", name);
}

/* "--name", "--name=value"; *i moves over a value of its own. */
static int long_opt(struct cli *c, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + 2, *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	const struct opt *o = find_opt(c->verb, name, len, 0);

	if (!o)
		return unknown(c, argv[*i]);
	if (!o->arg && eq)
		return cli_usage(c, "--%s takes no value", o->name);
	if (o->arg && !eq && *i + 1 >= argc)
		return cli_usage(c, "--%s needs %s", o->name, o->arg);
	add(c, o, !o->arg ? NULL : eq ? eq + 1 : argv[++*i]);
	return EXIT_DONE;
}

/* "-q", "-qj", "-n5", "-n 5". */
static int short_opts(struct cli *c, int argc, char **argv, int *i)
{
	const char *word = argv[*i];

	for (const char *p = word + 1; *p; p++) {
		const struct opt *o = find_opt(c->verb, NULL, 0, *p);

		if (!o)
			return unknown(c, word);
		if (!o->arg) {
			add(c, o, NULL);
			continue;
		}
		if (!p[1] && *i + 1 >= argc)
			return cli_usage(c, "-%c needs %s", *p, o->arg);
		add(c, o, p[1] ? p + 1 : argv[++*i]);
		break;
	}
	return EXIT_DONE;
}

static bool is_yes(const char *s)
{
	return s && s[0];
}

static int take_common(struct cli *c)
{
	static const char *const ways[] = { "auto", "bar", "ndjson", "off" };
	const char *how = cli_value(c, "progress");

	c->json = cli_flag(c, "json");
	c->quiet = cli_flag(c, "quiet");
	if (cli_flag(c, "no-color"))
		c->color = false;
	c->progress = how ? how : "auto";
	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		if (!strcmp(ways[i], c->progress))
			return EXIT_DONE;
	return cli_usage(c, "--progress is auto, bar, ndjson or off, not "
			 "'%.40s'", how);
}

int cli_parse(struct cli *c, int argc, char **argv)
{
	size_t room = (size_t)argc * 40 + 8; /* "-qqq…" is many options */
	bool ended = false;
	int rc = EXIT_DONE;

	for (int i = 1; i < argc; i++)
		room += strlen(argv[i]);
	c->options = ARENA_ARRAY(&c->a, struct given, room);
	c->args = ARENA_ARRAY(&c->a, const char *, (size_t)argc + 1);
	if (c->a.failed)
		return EXIT_FAILED;
	for (int i = 1; i < argc && !rc; i++) {
		char *word = argv[i];

		if (!ended && !strcmp(word, "--"))
			ended = true;
		else if (!ended && word[0] == '-' && word[1] == '-')
			rc = long_opt(c, argc, argv, &i);
		else if (!ended && word[0] == '-' && is_yes(word + 1))
			rc = short_opts(c, argc, argv, &i);
		else if (!c->verb)
			rc = set_verb(c, word);
		else
			c->args[c->arg_count++] = word;
	}
	/* Also after a mistake: it is told in the form that was asked for. */
	if (rc)
		return rc;
	return take_common(c);
}

bool cli_flag(const struct cli *c, const char *name)
{
	for (size_t i = 0; i < c->option_count; i++)
		if (!strcmp(c->options[i].opt->name, name))
			return true;
	return false;
}

const char *cli_value(const struct cli *c, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < c->option_count; i++)
		if (!strcmp(c->options[i].opt->name, name))
			value = c->options[i].value;
	return value;
}

bool cli_int(struct cli *c, const char *name, long low, long high, int *out)
{
	const char *s = cli_value(c, name);
	char *end;
	long n;

	if (!s)
		return true;
	errno = 0;
	n = strtol(s, &end, 10);
	if (end == s || *end || errno || n < low || n > high) {
		cli_usage(c, "--%s should be a whole number from %ld to %ld, "
			  "not '%.40s'", name, low, high, s);
		return false;
	}
	*out = (int)n;
	return true;
}

bool cli_num(struct cli *c, const char *name, double *out)
{
	const char *s = cli_value(c, name);
	char *end;
	double n;

	if (!s)
		return true;
	n = strtod(s, &end);
	if (end == s || *end || !isfinite(n)) {
		cli_usage(c, "--%s should be a number, not '%.40s'", name, s);
		return false;
	}
	*out = n;
	return true;
}
