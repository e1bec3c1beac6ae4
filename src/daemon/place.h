/*
 * Where the background process of a user is found: a folder that is his alone,
 * in $XDG_RUNTIME_DIR/remem or below the state folder. The host's name is part
 * of the names, since a home folder may be shared by machines.
 *
 *   HOST.sock   the socket          HOST.lock   held by the process that serves
 */
#ifndef DAEMON_PLACE_H
#define DAEMON_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/lock.h"

#define PLACE_NAME 80

struct place {
	int dir; /* open folder */
	char path[1024]; /* its name */
	char socket[PLACE_NAME], lock[PLACE_NAME];
	char log[1200]; /* path, in the state folder */
	dev_t dev; /* of the socket, once we listen */
	ino_t ino;
};

/*
 * make: makes the folder if it is not there. REMEM_ENOTFOUND without it;
 * REMEM_EPERM when it is not ours or others may write to it.
 */
int place_open(struct place *p, const char *const *env, bool make,
	       struct remem_err *err);
void place_close(struct place *p);
/* A connection to whoever serves there, after a look at who that is. -1: to
 * nobody. */
int place_connect(const struct place *p);
/* Listens in place of whoever did, if he is dead. REMEM_EBUSY: he is not. The
 * lock is held until place_leave(). */
int place_listen(struct place *p, int *fd, struct lock *held,
		 struct remem_err *err);
/* The socket goes if it is still ours. */
void place_leave(struct place *p, int fd, struct lock *held);
/* Whether the socket's name still leads to us. */
bool place_is_ours(const struct place *p);
/* Whether the other end is a process of this user. */
bool place_peer_is_user(int fd);

#endif
