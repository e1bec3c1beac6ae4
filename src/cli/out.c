/* What the program says: errors, notes, text for a terminal. */
#include <stdarg.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/cli.h"

static void put_error(struct cli *c, int code, const char *message,
		      const char *action)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	if (!c->json) {
		fprintf(stderr, "remem: %s\n", message);
		if (action[0])
			fprintf(stderr, "  %s\n", action);
		return;
	}
	json_begin(&j, &b);
	json_obj(&j);
	json_kbool(&j, "ok", false);
	json_key(&j, "error");
	json_obj(&j);
	json_kstr(&j, "type", err_type(code));
	json_kstr(&j, "message", message);
	json_kstr(&j, "action", action);
	json_end(&j);
	json_end(&j);
	puts(buf_str(&b));
	buf_release(&b);
}

int cli_usage(struct cli *c, const char *fmt, ...)
{
	char text[512], action[120];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	text[utf8_valid_prefix(text, strlen(text))] = '\0';
	if (c->verb)
		snprintf(action, sizeof(action), "remem help %s says how",
			 c->verb->name);
	else
		snprintf(action, sizeof(action), "remem help shows the verbs");
	put_error(c, REMEM_EINVAL, text, action);
	return EXIT_USAGE;
}

int cli_fail(struct cli *c, const struct remem_err *err)
{
	const char *message = err->message[0] ? err->message :
						"something went wrong";

	put_error(c, err->code, message, err->action);
	return err->code == REMEM_EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

void cli_note(struct cli *c, const char *fmt, ...)
{
	va_list ap;

	if (c->quiet)
		return;
	fflush(stdout);
	fputs("remem: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* C0 but tab, DEL and C1: what a terminal would obey. */
static bool is_control(uint32_t cp)
{
	return (cp < 0x20 && cp != '\t') || (cp >= 0x7f && cp < 0xa0);
}

static void put_line(const char *s, size_t len)
{
	size_t i = 0, from = 0;

	while (i < len) {
		uint32_t cp;
		int n = utf8_decode(&cp, s + i, len - i);

		if (is_control(cp) || (cp == 0xfffd && n == 1)) {
			fwrite(s + from, 1, i - from, stdout);
			fputs("\xef\xbf\xbd", stdout);
			from = i + (size_t)n;
		}
		i += (size_t)n;
	}
	fwrite(s + from, 1, len - from, stdout);
}

void cli_text(const char *text, size_t len, const char *indent)
{
	while (len) {
		const char *nl = memchr(text, '\n', len);
		size_t n = nl ? (size_t)(nl - text) : len;

		fputs(n ? indent : "", stdout);
		put_line(text, n);
		putchar('\n');
		n += nl != NULL;
		text += n;
		len -= n;
	}
}

void cli_word(const char *text)
{
	put_line(text, strlen(text));
}

void cli_style(const struct cli *c, const char *code)
{
	if (c->color)
		printf("\033[%sm", code);
}

int cli_report(struct cli *c, char *json,
	       int (*show)(struct cli *c, void *root))
{
	struct remem_err err = { 0 };
	yyjson_doc *doc;
	int rc = EXIT_DONE;

	if (json_read(&doc, json, strlen(json), false, "the report", &err)) {
		remem_free(json);
		return cli_fail(c, &err);
	}
	if (c->json)
		puts(json);
	/* With --json only the exit code of show() counts. */
	rc = show ? show(c, yyjson_doc_get_root(doc)) : EXIT_DONE;
	yyjson_doc_free(doc);
	remem_free(json);
	return rc;
}

const char *cli_size(int64_t bytes)
{
	static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB" };
	static char texts[4][32];
	static int turn;
	char *out = texts[turn++ % 4];
	double n = (double)bytes;
	size_t u = 0;

	while (n >= 1000 && u + 1 < ARRAY_LEN(units)) {
		n /= 1000;
		u++;
	}
	snprintf(out, sizeof(texts[0]), u ? "%.1f %s" : "%.0f %s", n, units[u]);
	return out;
}
