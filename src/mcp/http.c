/*
 * The server by HTTP, with libmicrohttpd: on loopback if nothing else is said,
 * never without a token. It ends with SIGINT, SIGTERM or SIGHUP.
 */
#include "mcp/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "mcp/http_call.h"
#include "mcp/token.h"

#define USUAL_PORT 7363
#define CONNECTIONS 64
#define IDLE_S 120
#define HEADER_BYTES 65536
#define STOP_MS 5000

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at;
	char shown[64]; /* as in a URL */
	bool loopback;
};

static int take_address(struct address *a, const struct mcp_opts *o,
			struct remem_err *err)
{
	const char *host = o->host ? o->host : "127.0.0.1";
	uint16_t port = htons((uint16_t)(o->port < 0 ? 0 : o->port ? o->port :
					 USUAL_PORT));

	memset(a, 0, sizeof(*a));
	if (!strcmp(host, "localhost"))
		host = "127.0.0.1";
	if (inet_pton(AF_INET, host, &a->at.v4.sin_addr) == 1) {
		a->at.v4.sin_family = AF_INET;
		a->at.v4.sin_port = port;
		a->loopback = !strncmp(host, "127.", 4);
		snprintf(a->shown, sizeof(a->shown), "%s", host);
		return 0;
	}
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET6, host, &a->at.v6.sin6_addr) == 1) {
		a->at.v6.sin6_family = AF_INET6;
		a->at.v6.sin6_port = port;
		a->loopback = IN6_IS_ADDR_LOOPBACK(&a->at.v6.sin6_addr);
		snprintf(a->shown, sizeof(a->shown), "[%s]", host);
		return 0;
	}
	return fail(err, REMEM_EINVAL, "--host is an address like 127.0.0.1 "
		    "or ::1, not '%.60s'", host);
}

static struct MHD_Daemon *start(struct http *h, const struct address *a)
{
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD |
			 MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL;

	if (a->at.any.sa_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	return h->mhd->start_daemon(flags, 0, NULL, NULL, http_call_handle, h,
		MHD_OPTION_SOCK_ADDR, &a->at.any,
		MHD_OPTION_NOTIFY_COMPLETED, http_call_end, h,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
		MHD_OPTION_END);
}

static void announce(const struct http *h, struct MHD_Daemon *d,
		     const struct address *a, const char *token_file)
{
	const union MHD_DaemonInfo *info =
		h->mhd->get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT);

	printf("serving http://%s:%u/mcp, token in %s\n", a->shown,
	       info ? info->port : 0u, token_file);
	fflush(stdout);
	if (!a->loopback)
		fprintf(stderr, "remem: warning: notes and token go unencrypted "
			"over the network; put TLS in front of it\n");
}

/* Blocked before the first thread is made, so that all of them have it. */
static void block(sigset_t *set)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, set, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

static int run(struct http *h, const struct address *a, const char *token_file,
	       struct remem_err *err)
{
	struct MHD_Daemon *d;
	sigset_t set;
	int sig;

	block(&set);
	d = start(h, a);
	if (!d) {
		fail_errno(err, REMEM_EIO, errno, "cannot listen on %s port "
			   "%d", a->shown, (int)ntohs(a->at.v4.sin_port));
		fail_action(err, "is another one running? try --port");
		return REMEM_EIO;
	}
	announce(h, d, a, token_file);
	while (sigwait(&set, &sig) != 0)
		;
	server_stop(h->server, STOP_MS);
	h->mhd->stop_daemon(d);
	return 0;
}

int http_serve(const struct mcp_opts *o, struct remem_err *err)
{
	struct http h = { .host = NULL };
	struct buf token = BUF_INIT(0), path = BUF_INIT(0);
	struct address a;
	int rc;

	http_sessions_init(&h.sessions);
	if ((rc = take_address(&a, o, err)) ||
	    (rc = mhd_api_get(&h.mhd, err)) ||
	    (rc = token_get(&token, &path, o->token_file, o->open.env,
			    o->open.read_only, err)) ||
	    (rc = server_new(&h.server, o, err)))
		goto out;
	h.token = buf_str(&token);
	h.host = o->host ? a.shown : NULL;
	rc = run(&h, &a, buf_str(&path), err);
out:
	server_free(h.server);
	http_sessions_release(&h.sessions);
	buf_release(&token);
	buf_release(&path);
	return rc;
}
