/*
 * Linux: one inotify instance; each folder takes one of the user's
 * fs.inotify.max_user_watches and no descriptor. Contents are told of while
 * they are written (IN_MODIFY), not only when the writer closes: transcripts
 * are held open for hours.
 */
#ifdef __linux__
#include "source/watch_os.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/attr.h"

#define MASK (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |        \
	      IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF |    \
	      IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)
#define ENTRY (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
#define READ_BYTES 65536
#define MAX_READS 64 /* 4 MB of events: then a walk is cheaper */

int watch_os_open(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int watch_os_add(int fd, int folder_fd, const char *path)
{
	char link[40];
	int id;

	/* The very folder that is open, wherever its path leads by now. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", folder_fd);
	id = inotify_add_watch(fd, link, MASK);
	if (id < 0 && errno == ENOENT)
		id = inotify_add_watch(fd, path, MASK);
	return id < 0 ? -errno : id;
}

void watch_os_drop(int fd, int id)
{
	inotify_rm_watch(fd, id);
}

static void hand_on(const struct inotify_event *e,
		    void (*fn)(void *ctx, const struct watch_event *e),
		    void *ctx)
{
	struct watch_event out = { .id = e->wd, .name = "" };

	if (e->len)
		out.name = e->name;
	out.entry = e->mask & ENTRY;
	if (e->mask & IN_Q_OVERFLOW)
		out.what = WATCH_LOST;
	else if (e->mask & IN_IGNORED)
		out.what = WATCH_ENDED;
	else if (!e->len)
		out.what = WATCH_SELF; /* also when it is unmounted */
	else
		out.what = e->mask & IN_ISDIR ? WATCH_FOLDER : WATCH_FILE;
	fn(ctx, &out);
}

void watch_os_read(int fd, void (*fn)(void *ctx, const struct watch_event *e),
		   void *ctx)
{
	_Alignas(struct inotify_event) char space[READ_BYTES];

	for (int i = 0; i < MAX_READS; i++) {
		ssize_t n = read(fd, space, sizeof(space)), at = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		while (at < n) {
			const struct inotify_event *e = (void *)(space + at);

			hand_on(e, fn, ctx);
			at += (ssize_t)sizeof(*e) + (ssize_t)e->len;
		}
	}
	fn(ctx, &(struct watch_event){ .what = WATCH_LOST, .name = "" });
}

/* Numbers of linux/magic.h and of the file systems' own sources. */
bool watch_os_is_shared(int folder_fd)
{
	static const uint32_t magics[] = {
		0x6969, /* NFS */
		0x517b, 0xff534d42, 0xfe534d42, /* SMB, CIFS, SMB2 */
		0x01021997, /* 9P */
		0x5346414f, 0x6b414653, /* AFS */
		0x00c36400, /* Ceph */
		0x73757245, /* Coda */
		0x65735546, /* FUSE, which may be sshfs as well as a disk */
		0x0bd00bd0, /* Lustre */
		0x7461636f, /* OCFS2 */
		0x01161970, /* GFS2 */
		0x786f4256, /* VirtualBox */
		0x0000564c, /* NCP */
	};
	struct statfs st;

	if (fstatfs(folder_fd, &st))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(magics); i++)
		if ((uint32_t)st.f_type == magics[i])
			return true;
	return false;
}
#else
typedef int watch_inotify_is_of_linux;
#endif
