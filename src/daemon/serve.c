/*
 * The background process: one thread that waits for connections, one for each
 * connection, one for each workspace that is watched. With nothing to do all
 * of them sleep; it ends when nobody has asked for some minutes, when it is
 * told to, and when its socket is taken away (with the folder of a user who is
 * gone, or of a test).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/inotify.h>
#endif

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "daemon/place.h"
#include "daemon/request.h"
#include "front.h"

#define MAX_CLIENTS 64 /* more wait to be taken */
#define QUIET_MS 60000 /* a client that says nothing is sent away */
#define END_MS 3000 /* for answers under way */
#define STACK_BYTES ((size_t)1 << 20)
#define LOG_BYTES (1 << 20) /* then it begins anew */

struct client {
	struct server *s;
	int fd;
};

static struct server server; /* one process, one server: for the signals */

static void wake(void)
{
	int saved = errno;
	ssize_t n = write(server.wake[1], "", 1);

	(void)n; /* full: it is awake already */
	errno = saved;
}

static void on_signal(int signal)
{
	(void)signal;
	atomic_store(&server.ending, true);
	wake();
}

static void take_signals(void)
{
	struct sigaction s = { .sa_handler = on_signal };

	sigemptyset(&s.sa_mask);
	sigaction(SIGTERM, &s, NULL);
	sigaction(SIGINT, &s, NULL);
	s.sa_handler = SIG_IGN;
	sigaction(SIGHUP, &s, NULL);
	sigaction(SIGPIPE, &s, NULL);
}

/* ---- clients ---------------------------------------------------------- */

static void *serve_client(void *ctx)
{
	struct client *c = ctx;
	struct server *s = c->s;
	struct wire w;
	const char *line;
	size_t len;

	wire_init(&w, c->fd, WIRE_REQUEST_BYTES);
	mem_free(c);
	while (!atomic_load(&s->ending) &&
	       !wire_line(&w, &line, &len, QUIET_MS, NULL))
		if (!request_answer(s, &w, line, len))
			break;
	wire_release(&w);
	atomic_fetch_sub(&s->clients, 1);
	/* There may be room for another one, or nobody left to wait for. */
	wake();
	return NULL;
}

static bool start_thread(struct client *c)
{
	pthread_attr_t attr;
	pthread_t t;
	bool ok;

	if (pthread_attr_init(&attr))
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	ok = !pthread_create(&t, &attr, serve_client, c);
	pthread_attr_destroy(&attr);
	return ok;
}

static void take_client(struct server *s, int listening)
{
	int fd = accept(listening, NULL, NULL);
	struct client *c;

	if (fd < 0)
		return;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	c = place_peer_is_user(fd) ? mem_zalloc(sizeof(*c)) : NULL;
	if (!c) {
		close(fd);
		return;
	}
	c->s = s;
	c->fd = fd;
	atomic_fetch_add(&s->clients, 1);
	if (start_thread(c))
		return;
	atomic_fetch_sub(&s->clients, 1);
	mem_free(c);
	close(fd);
}

/* ---- the loop --------------------------------------------------------- */

/* Told when a name in the socket's folder changes; -1 where nothing tells. */
static int watch_place(const struct place *p)
{
#ifdef __linux__
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (fd >= 0 && inotify_add_watch(fd, p->path, IN_DELETE |
			IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF |
			IN_MOVE_SELF | IN_ONLYDIR) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
#else
	(void)p;
	return -1;
#endif
}

static void drain(int fd)
{
	char space[4096];

	while (fd >= 0 && read(fd, space, sizeof(space)) > 0)
		;
}

/* Milliseconds until nobody has asked for long enough; -1: never. */
static int idle_left(const struct server *s)
{
	int64_t until = atomic_load(&s->asked_ns) +
			(int64_t)s->idle_minutes * 60 * 1000000000;
	int64_t left = (until - clock_mono_ns()) / 1000000 + 1;

	if (!s->idle_minutes || atomic_load(&s->clients))
		return -1;
	return left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

static void serve(struct server *s, struct place *p, int listening)
{
	int told = watch_place(p);
	struct pollfd f[3] = { { .fd = s->wake[0], .events = POLLIN },
			       { .fd = told, .events = POLLIN },
			       { .fd = listening, .events = POLLIN } };

	while (!atomic_load(&s->ending)) {
		bool full = atomic_load(&s->clients) >= MAX_CLIENTS;
		int left = idle_left(s);

		if (!left || !place_is_ours(p)) {
			log_msg(LOG_INFO, "daemon", left ?
				"ending: the socket is not ours any more" :
				"ending: nobody asks");
			break;
		}
		f[2].fd = full ? -1 : listening;
		if (poll(f, 3, left) < 0 && errno != EINTR)
			break;
		drain(s->wake[0]);
		drain(told);
		if (!full && (f[2].revents & POLLIN))
			take_client(s, listening);
	}
	if (told >= 0)
		close(told);
}

static void await_clients(struct server *s)
{
	int64_t until = clock_mono_ns() + (int64_t)END_MS * 1000000;
	struct pollfd f = { .fd = s->wake[0], .events = POLLIN };

	atomic_store(&s->ending, true);
	while (atomic_load(&s->clients) && clock_mono_ns() < until) {
		poll(&f, 1, 50);
		drain(s->wake[0]);
	}
}

/* ---- life ------------------------------------------------------------- */

static int set_up(struct server *s, const struct helper_opts *o,
		  struct remem_err *err)
{
	const char *zone = getenv("TZ");

	snprintf(s->version, sizeof(s->version), "%d.%d.%d",
		 REMEM_VERSION_MAJOR, REMEM_VERSION_MINOR,
		 REMEM_VERSION_PATCH);
	wire_stamp(s->stamp, o->program);
	s->program = o->program ? o->program : "";
	s->zone = zone ? zone : "";
	s->idle_minutes = o->idle_minutes;
	s->started_ns = clock_mono_ns();
	atomic_store(&s->asked_ns, s->started_ns);
	if (pipe(s->wake))
		return fail_errno(err, REMEM_EIO, errno, "cannot make a pipe");
	for (int i = 0; i < 2; i++) {
		fcntl(s->wake[i], F_SETFD, FD_CLOEXEC);
		fcntl(s->wake[i], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

static void on_log(void *ctx, int level, const char *component,
		   const char *message)
{
	time_t now = time(NULL);
	char when[32] = "";
	struct tm tm;

	(void)ctx;
	if (level > LOG_INFO)
		return;
	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(stderr, "%s %s%s: %s\n", when, level == LOG_ERROR ? "error, " :
		level == LOG_WARN ? "warning, " : "", component, message);
}

static void bound_log(const struct place *p)
{
	struct stat st;

	if (!stat(p->log, &st) && st.st_size > LOG_BYTES)
		(void)!truncate(p->log, 0);
}

int helper_serve(const struct helper_opts *o, struct remem_err *err)
{
	struct lock held = LOCK_INIT;
	int listening = -1, rc;
	struct place p;

	if ((rc = place_open(&p, o->env, true, err)))
		return rc;
	rc = place_listen(&p, &listening, &held, err);
	if (rc) {
		place_close(&p);
		return rc == REMEM_EBUSY ? 0 : rc;
	}
	bound_log(&p);
	remem_log(on_log, NULL, NULL);
	take_signals();
	if (!(rc = set_up(&server, o, err))) {
		log_msg(LOG_INFO, "daemon", "serving in '%s', process %d",
			p.path, (int)getpid());
		serve(&server, &p, listening);
	}
	place_leave(&p, listening, &held);
	await_clients(&server);
	/* Whoever is still inside loses its answer, and nothing else. */
	if (!atomic_load(&server.clients))
		houses_close();
	place_close(&p);
	return rc;
}
