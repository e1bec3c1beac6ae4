/* remem_version(), remem_cpu() and remem_log(). */
#include <sqlite3.h>
#include <stdio.h>
#include <utf8proc.h>
#include <yaml.h>

#include "api/public.h"
#include "base/buf.h"
#include "base/cpu.h"
#include "base/json.h"
#include "base/log.h"
#include "store/store.h"
#include "text/term.h"

static void put_libraries(struct json *j)
{
	json_key(j, "libraries");
	json_obj(j);
	json_kstr(j, "sqlite", sqlite3_libversion());
	json_kstr(j, "yaml", yaml_get_version_string());
	json_kstr(j, "utf8proc", utf8proc_version());
	json_kstr(j, "yyjson", YYJSON_VERSION_STRING);
	json_end(j);
}

static void put_formats(struct json *j)
{
	json_key(j, "formats");
	json_obj(j);
	json_kint(j, "store", STORE_VERSION);
	json_kint(j, "terms", TERM_VERSION);
	json_kint(j, "notes", NOTE_VERSION);
	json_end(j);
}

PUBLIC int remem_version(char **json, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	char text[32];
	int rc;

	snprintf(text, sizeof(text), "%d.%d.%d", REMEM_VERSION_MAJOR,
		 REMEM_VERSION_MINOR, REMEM_VERSION_PATCH);
	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "remem", text);
#ifdef NDEBUG
	json_kstr(&j, "build", "release");
#else
	json_kstr(&j, "build", "debug");
#endif
#ifdef __VERSION__
	json_kstr(&j, "compiler", __VERSION__);
#endif
	json_kstr(&j, "cpu", cpu_name(cpu_best()));
	put_libraries(&j);
	put_formats(&j);
	json_end(&j);
	rc = buf_check(&b, err);
	*json = rc ? NULL : buf_detach(&b);
	buf_release(&b);
	return rc ? rc : *json ? 0 : fail_nomem(err);
}

PUBLIC int remem_cpu(const char *level, struct remem_err *err)
{
	if (!cpu_limit(level))
		return 0;
	fail(err, REMEM_ENOTSUP, "this machine has no vector instructions "
	     "'%.40s'", level ? level : "");
	fail_action(err, "leave REMEM_CPU out, or take 'portable'");
	return REMEM_ENOTSUP;
}

static remem_log_fn receiver;

/* The levels of remem.h are those of base/log.h in the same order. */
static void pass_on(void *ctx, enum log_level level, const char *component,
		    const char *message)
{
	if (receiver)
		receiver(ctx, (int)level, component, message);
}

PUBLIC void remem_log(remem_log_fn fn, void *ctx, const char *trace)
{
	receiver = fn;
	log_set(fn ? pass_on : NULL, ctx);
	log_trace_spec(trace);
}
