/*
 * Progress on standard error: a bar that redraws itself on a terminal, one
 * JSON object a line on demand. The library calls at most ten times a second.
 */
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "cli/cli.h"

#define BAR_WIDTH 24

void meter_init(struct meter *m, const struct cli *c)
{
	bool wanted = !c->quiet && strcmp(c->progress, "off") != 0;

	memset(m, 0, sizeof(*m));
	m->c = c;
	m->ndjson = wanted && !strcmp(c->progress, "ndjson");
	m->bar = wanted && (!strcmp(c->progress, "bar") ||
			    (!strcmp(c->progress, "auto") &&
			     isatty(STDERR_FILENO)));
}

static void put_json(const char *phase, int64_t done, int64_t total,
		     double rate, double left_s)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	json_begin(&j, &b);
	json_obj(&j);
	json_kstr(&j, "phase", phase);
	json_kint(&j, "done", done);
	json_kint(&j, "total", total);
	json_kfixed(&j, "rate", rate, 1);
	json_kfixed(&j, "leftSeconds", left_s, 1);
	json_end(&j);
	fprintf(stderr, "%s\n", buf_str(&b));
	buf_release(&b);
}

static void put_left(double s)
{
	if (s < 0)
		return;
	if (s < 90)
		fprintf(stderr, ", %.0f s left", s);
	else if (s < 5400)
		fprintf(stderr, ", %.0f min left", s / 60);
	else
		fprintf(stderr, ", %.1f h left", s / 3600);
}

static void put_bar(const char *phase, int64_t done, int64_t total, double rate,
		    double left_s)
{
	int filled = total > 0 ? (int)(done * BAR_WIDTH / total) : 0;

	fprintf(stderr, "\r%-8.8s", phase);
	if (total > 0) {
		fputs(" [", stderr);
		for (int i = 0; i < BAR_WIDTH; i++)
			fputc(i < filled ? '#' : '.', stderr);
		fprintf(stderr, "] %lld/%lld", (long long)done,
			(long long)total);
	} else {
		fprintf(stderr, " %lld", (long long)done);
	}
	if (rate > 0)
		fprintf(stderr, ", %.0f/s", rate);
	put_left(left_s);
	fputs("\033[K", stderr);
}

int meter_step(void *ctx, const char *phase, int64_t done, int64_t total,
	       double rate, double left_s)
{
	struct meter *m = ctx;

	if (m->ndjson)
		put_json(phase, done, total, rate, left_s);
	if (m->bar) {
		put_bar(phase, done, total, rate, left_s);
		m->shown = true;
	}
	return 0;
}

void meter_end(struct meter *m)
{
	if (m->shown)
		fputs("\r\033[K", stderr);
	m->shown = false;
}
