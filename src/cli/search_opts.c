/* Options of a search, checked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/search_opts.h"

#define RESULTS_MAX 1000
#define DEADLINE_MAX 3600000
/* A threshold of exactly 0 lets everything pass; 0 in the options means the
 * setting. */
#define NO_THRESHOLD -1.0

static bool take_mode(enum remem_mode *out, const char *name)
{
	static const char *const names[] = { "hybrid", "text", "vector" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!strcmp(names[i], name)) {
			*out = (enum remem_mode)i;
			return true;
		}
	}
	return false;
}

/* "7d", "2w", "3m", "1y", or days alone. */
static bool take_last(int *days, const char *s)
{
	static const struct {
		char unit;
		int days;
	} units[] = { { 'd', 1 }, { 'w', 7 }, { 'm', 30 }, { 'y', 365 } };
	char *end;
	long n = strtol(s, &end, 10);

	if (end == s || n < 1 || n > 100000)
		return false;
	*days = (int)n;
	if (!*end)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (units[i].unit == *end && !end[1]) {
			*days = (int)n * units[i].days;
			return true;
		}
	}
	return false;
}

static int take_filters(struct cli *c, struct remem_search_opts *o)
{
	const char *last = cli_value(c, "last");

	o->as_of = cli_value(c, "as-of");
	o->source = cli_value(c, "source");
	o->path = cli_value(c, "path");
	o->after = cli_value(c, "after");
	o->before = cli_value(c, "before");
	o->tag = cli_value(c, "tag");
	o->origin = cli_value(c, "origin");
	o->project = cli_value(c, "project");
	if (last && !take_last(&o->last_days, last))
		return cli_usage(c, "--last should be like 7d, 2w, 3m or 1y, "
				 "not '%.40s'", last);
	return EXIT_DONE;
}

int search_opts_from_args(struct cli *c, struct remem_search_opts *o)
{
	const char *mode = cli_value(c, "mode");
	double score = 0;

	*o = (struct remem_search_opts)REMEM_OPTS_INIT(*o);
	if (!cli_int(c, "max-results", 1, RESULTS_MAX, &o->max_results) ||
	    !cli_int(c, "limit", 1, RESULTS_MAX, &o->max_results) ||
	    !cli_int(c, "deadline", 1, DEADLINE_MAX, &o->deadline_ms) ||
	    !cli_num(c, "min-score", &score))
		return EXIT_USAGE;
	if (score > 1)
		return cli_usage(c, "--min-score should be at most 1");
	o->min_score = score;
	if (cli_value(c, "min-score") && score == 0)
		o->min_score = NO_THRESHOLD;
	if (mode && !take_mode(&o->mode, mode))
		return cli_usage(c, "--mode is hybrid, text or vector, not "
				 "'%.40s'", mode);
	o->explain = cli_flag(c, "explain");
	o->no_sync = cli_flag(c, "no-sync");
	o->now = cli_value(c, "now");
	return take_filters(c, o);
}

static int wrong(struct remem_err *err, const char *key, const char *what)
{
	return fail(err, REMEM_EINVAL, "'%.40s' should be %s", key, what);
}

static int take_text(const char **out, const char *key, yyjson_val *v,
		     struct remem_err *err)
{
	if (yyjson_is_null(v))
		return 0;
	if (!yyjson_is_str(v))
		return wrong(err, key, "a text");
	*out = yyjson_get_str(v);
	return 0;
}

static int take_filter(struct remem_search_opts *o, const char *key,
		       yyjson_val *v, struct remem_err *err)
{
	const struct {
		const char *key;
		const char **to;
	} texts[] = {
		{ "source", &o->source }, { "path", &o->path },
		{ "after", &o->after }, { "before", &o->before },
		{ "tag", &o->tag }, { "origin", &o->origin },
		{ "project", &o->project },
	};
	const char *last = NULL;
	int rc;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (!strcmp(texts[i].key, key))
			return take_text(texts[i].to, key, v, err);
	if (strcmp(key, "last"))
		return fail(err, REMEM_EINVAL, "there is no filter '%.40s'",
			    key);
	if (yyjson_is_int(v)) {
		o->last_days = (int)yyjson_get_int(v);
		return o->last_days > 0 ? 0 : wrong(err, key, "days");
	}
	if ((rc = take_text(&last, key, v, err)) || !last)
		return rc;
	return take_last(&o->last_days, last) ? 0 :
						wrong(err, key, "like 7d");
}

static int take_filter_map(struct remem_search_opts *o, yyjson_val *map,
			   struct remem_err *err)
{
	yyjson_val *key, *v;
	size_t i, n;
	int rc = 0;

	if (yyjson_is_null(map))
		return 0;
	if (!yyjson_is_obj(map))
		return wrong(err, "filters", "an object");
	yyjson_obj_foreach(map, i, n, key, v)
		if (!rc)
			rc = take_filter(o, yyjson_get_str(key), v, err);
	return rc;
}

static int take_numbers(struct remem_search_opts *o, const char *key,
			yyjson_val *v, struct remem_err *err)
{
	double n;

	if (yyjson_is_null(v))
		return 0;
	if (!yyjson_is_num(v))
		return wrong(err, key, "a number");
	n = yyjson_get_num(v);
	if (!strcmp(key, "minScore")) {
		if (n > 1)
			return wrong(err, key, "at most 1");
		o->min_score = n == 0 ? NO_THRESHOLD : n;
		return 0;
	}
	if (n != floor(n) || n < 1 || n > RESULTS_MAX)
		return wrong(err, key, "a whole number from 1 to 1000");
	o->max_results = (int)n;
	return 0;
}

int search_opts_from_json(struct remem_search_opts *o, yyjson_val *map,
			  struct remem_err *err)
{
	yyjson_val *key, *v;
	const char *mode = NULL;
	size_t i, n;
	int rc = 0;

	yyjson_obj_foreach(map, i, n, key, v) {
		const char *name = yyjson_get_str(key);

		if (!strcmp(name, "query") || !strcmp(name, "id"))
			continue;
		if (!strcmp(name, "now"))
			rc = take_text(&o->now, name, v, err);
		else if (!strcmp(name, "mode"))
			rc = take_text(&mode, name, v, err);
		else if (!strcmp(name, "filters"))
			rc = take_filter_map(o, v, err);
		else if (!strcmp(name, "maxResults") ||
			 !strcmp(name, "minScore"))
			rc = take_numbers(o, name, v, err);
		else
			rc = fail(err, REMEM_EINVAL,
				  "there is no field '%.40s'", name);
		if (rc)
			return rc;
	}
	if (mode && !take_mode(&o->mode, mode))
		return wrong(err, "mode", "hybrid, text or vector");
	return 0;
}
