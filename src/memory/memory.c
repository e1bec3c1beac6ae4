/* See memory.h. */
#include "memory/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "memory/guard.h"

#define LOCK_MS 10000
#define FILE_BYTES (64ll << 20) /* as SOURCE_MAX_FILE_BYTES: larger ones are not indexed */
#define LINE_BYTES 8192 /* a long paragraph of Chinese has 6,000 */
#define TEXT_BYTES 65536
#define PREIMAGES 50

static void set_defaults(struct memory *m)
{
	if (!m->lock_ms)
		m->lock_ms = LOCK_MS;
	if (!m->max_file_bytes)
		m->max_file_bytes = FILE_BYTES;
	if (!m->line_bytes)
		m->line_bytes = LINE_BYTES;
	if (!m->text_bytes)
		m->text_bytes = TEXT_BYTES;
	if (!m->preimages)
		m->preimages = PREIMAGES;
	if (!m->preimage_bytes)
		m->preimage_bytes = FILE_BYTES;
	if (!m->edits)
		m->edits = REMEM_ORIGIN_AGENT;
}

int memory_open(struct memory *m, struct remem_err *err)
{
	set_defaults(m);
	m->lock = (struct lock)LOCK_INIT;
	m->depth = 0;
	m->root_fd = open(m->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return m->root_fd < 0 ? file_fail(err, errno, "open", m->root) : 0;
}

void memory_close(struct memory *m)
{
	lock_release(&m->lock);
	if (m->root_fd > 0)
		close(m->root_fd);
	m->root_fd = -1;
}

int memory_begin(struct memory *m, struct remem_err *err)
{
	int rc;

	if (m->depth) {
		m->depth++;
		return 0;
	}
	if ((rc = guard_writable(m, err)) ||
	    (rc = lock_take(&m->lock, m->lock_path, m->lock_ms, err)))
		return rc;
	m->depth = 1;
	if ((rc = memory_settle(m, err)))
		memory_end(m);
	return rc;
}

void memory_end(struct memory *m)
{
	if (m->depth && !--m->depth)
		lock_release(&m->lock);
}

int64_t memory_now(const struct memory *m)
{
	return m->now_ms ? m->now_ms : clock_now_ms();
}

int32_t memory_today(const struct memory *m)
{
	return clock_zone_day(m->zone, memory_now(m));
}
