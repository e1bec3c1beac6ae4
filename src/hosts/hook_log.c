/* The log of hooks: one line an event, turned over by size. */
#include "hosts/hook_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/file.h"
#include "base/path.h"

const char *hook_log_path(struct arena *a, const char *const *env)
{
	const char *dir = env_folder(env, "XDG_STATE_HOME");
	const char *home = env_folder(env, "HOME");

	if (!dir && home)
		dir = path_join(a, home, ".local/state");
	dir = dir ? path_join(a, dir, "remem/log") : NULL;
	if (!dir || dir_make(dir, 0700, NULL))
		return NULL;
	return path_join(a, dir, "hook.log");
}

static void stamp(struct buf *line)
{
	time_t now = (time_t)(clock_now_ms() / 1000);
	struct tm tm;
	char text[32];

	if (localtime_r(&now, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", &tm))
		buf_addf(line, "%s ", text);
}

/* Two hooks may do so at once: then one of the old logs is lost. */
static void turn_over(const char *path)
{
	char old[4096];
	struct stat st;

	if (!stat(path, &st) && st.st_size > HOOK_LOG_BYTES &&
	    snprintf(old, sizeof(old), "%s.1", path) < (int)sizeof(old))
		rename(path, old);
}

void hook_log(const char *path, const char *fmt, ...)
{
	struct buf line = BUF_INIT(0);
	va_list args;
	char text[1024];
	int fd;

	if (!path)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	stamp(&line);
	for (char *s = text; *s; s++)
		buf_addc(&line, (unsigned char)*s < ' ' ? ' ' : *s);
	buf_addc(&line, '\n');
	turn_over(path);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	if (fd >= 0 && !line.failed)
		file_write_all(fd, line.ptr, line.len, path, NULL);
	if (fd >= 0)
		close(fd);
	buf_release(&line);
}
