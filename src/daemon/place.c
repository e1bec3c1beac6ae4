/*
 * Names of sockets are short (108 bytes on Linux), paths are not: the folder
 * is opened, checked, and the name is used below its descriptor. The socket is
 * bound under another name and renamed, so that it never leads to one that
 * does not listen yet.
 */
#define _GNU_SOURCE /* struct ucred */
#include "daemon/place.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/env.h"
#include "base/file.h"

#define BACKLOG 64

static const char *home_of(const char *const *env, char *space, size_t size)
{
	const char *home = env_folder(env, "HOME");
	struct passwd pw, *found = NULL;

	if (home)
		return home;
	if (getpwuid_r(geteuid(), &pw, space, size, &found) || !found)
		return "";
	return found->pw_dir;
}

static int state_folder(char *out, size_t size, const char *const *env,
			struct remem_err *err)
{
	const char *state = env_folder(env, "XDG_STATE_HOME");
	char space[4096];
	const char *home = "";
	int n;

	if (!state)
		home = home_of(env, space, sizeof(space));
	if (!state && home[0] != '/')
		return fail(err, REMEM_ENOTFOUND, "there is no home folder");
	n = state ? snprintf(out, size, "%s/remem", state) :
		    snprintf(out, size, "%s/.local/state/remem", home);
	if (n < 0 || (size_t)n >= size - 16)
		return fail(err, REMEM_ELIMIT, "the path of the state folder "
			    "is too long");
	return 0;
}

static void set_names(struct place *p)
{
	char host[48] = "";

	if (gethostname(host, sizeof(host)))
		host[0] = '\0';
	host[sizeof(host) - 1] = '\0';
	for (char *c = host; *c; c++)
		if (*c == '/')
			*c = '_';
	snprintf(p->socket, PLACE_NAME, "%s.sock", host[0] ? host : "local");
	snprintf(p->lock, PLACE_NAME, "%s.lock", host[0] ? host : "local");
}

/* Ours alone, or nothing in it can be trusted. */
static int check_folder(const struct place *p, struct remem_err *err)
{
	struct stat st;

	if (fstat(p->dir, &st))
		return file_fail(err, errno, "look at", p->path);
	if (st.st_uid == geteuid() && !(st.st_mode & 077))
		return 0;
	fail(err, REMEM_EPERM, "'%s' should belong to this user alone",
	     p->path);
	fail_action(err, "chmod 700 '%s', if it is yours", p->path);
	return REMEM_EPERM;
}

int place_open(struct place *p, const char *const *env, bool make,
	       struct remem_err *err)
{
	const char *run = env_folder(env, "XDG_RUNTIME_DIR");
	char state[1024];
	int rc;

	memset(p, 0, sizeof(*p));
	p->dir = -1;
	if ((rc = state_folder(state, sizeof(state), env, err)))
		return rc;
	snprintf(p->log, sizeof(p->log), "%s/daemon.log", state);
	if (run && strlen(run) < sizeof(p->path) - 16)
		snprintf(p->path, sizeof(p->path), "%s/remem", run);
	else
		snprintf(p->path, sizeof(p->path), "%.1000s/run", state);
	set_names(p);
	if (make && ((rc = dir_make(state, 0700, err)) ||
		     (rc = dir_make(p->path, 0700, err))))
		return rc;
	p->dir = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0)
		return file_fail(err, errno, "open", p->path);
	if ((rc = check_folder(p, err)))
		place_close(p);
	return rc;
}

void place_close(struct place *p)
{
	if (p->dir >= 0)
		close(p->dir);
	p->dir = -1;
}

/* False when no address leads there. */
static bool address(struct sockaddr_un *a, const struct place *p,
		    const char *name)
{
	size_t size = sizeof(a->sun_path);
	int n;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	n = snprintf(a->sun_path, size, "%s/%s", p->path, name);
	if (n > 0 && (size_t)n < size)
		return true;
	n = snprintf(a->sun_path, size, "/proc/self/fd/%d/%s", p->dir, name);
	return n > 0 && (size_t)n < size && !access("/proc/self/fd", F_OK);
}

bool place_peer_is_user(int fd)
{
#ifdef SO_PEERCRED
	struct ucred who;
	socklen_t len = sizeof(who);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) &&
	       who.uid == geteuid();
#else
	uid_t uid;
	gid_t gid;

	return !getpeereid(fd, &uid, &gid) && uid == geteuid();
#endif
}

static int new_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

int place_connect(const struct place *p)
{
	struct sockaddr_un a;
	int fd = address(&a, p, p->socket) ? new_socket() : -1;

	if (fd < 0)
		return -1;
	/* A full queue is an answer as well: not now. */
	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (!connect(fd, (struct sockaddr *)&a, sizeof(a)) &&
	    place_peer_is_user(fd))
		return fd;
	close(fd);
	return -1;
}

static int bind_there(struct place *p, int *fd, struct remem_err *err)
{
	char name[PLACE_NAME + 8];
	struct sockaddr_un a;
	struct stat st;
	mode_t old;
	int rc;

	snprintf(name, sizeof(name), "%s.new", p->socket);
	unlinkat(p->dir, name, 0);
	if (!address(&a, p, name))
		return fail(err, REMEM_ELIMIT, "the path of '%s' is too long "
			    "for a socket", p->path);
	*fd = new_socket();
	if (*fd < 0)
		return fail_errno(err, REMEM_EIO, errno, "no socket");
	old = umask(077);
	rc = bind(*fd, (struct sockaddr *)&a, sizeof(a));
	umask(old);
	if (rc || listen(*fd, BACKLOG) ||
	    fstatat(p->dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    renameat(p->dir, name, p->dir, p->socket)) {
		rc = fail_errno(err, REMEM_EIO, errno, "cannot listen in '%s'",
				p->path);
		unlinkat(p->dir, name, 0);
		close(*fd);
		*fd = -1;
		return rc;
	}
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	fcntl(*fd, F_SETFL, O_NONBLOCK);
	return 0;
}

int place_listen(struct place *p, int *fd, struct lock *held,
		 struct remem_err *err)
{
	char path[sizeof(p->path) + PLACE_NAME + 2];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", p->path, p->lock);
	if ((rc = lock_take(held, path, 0, err)))
		return rc;
	if ((rc = bind_there(p, fd, err)))
		lock_release(held);
	return rc;
}

bool place_is_ours(const struct place *p)
{
	struct stat st;

	return !fstatat(p->dir, p->socket, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_dev == p->dev && st.st_ino == p->ino;
}

void place_leave(struct place *p, int fd, struct lock *held)
{
	if (place_is_ours(p))
		unlinkat(p->dir, p->socket, 0);
	if (fd >= 0)
		close(fd);
	lock_release(held);
}
