/*
 * libmicrohttpd's functions as pointers, filled at first use by dlopen(): a
 * server on standard input has no use for it.
 */
#ifndef MCP_MHD_H
#define MCP_MHD_H

#include <microhttpd.h>

#include "base/err.h"

struct mhd_api {
	struct MHD_Daemon *(*start_daemon)(unsigned flags, uint16_t port,
					   MHD_AcceptPolicyCallback apc,
					   void *apc_ctx,
					   MHD_AccessHandlerCallback handler,
					   void *handler_ctx, ...);
	void (*stop_daemon)(struct MHD_Daemon *d);
	const union MHD_DaemonInfo *(*get_daemon_info)(
		struct MHD_Daemon *d, enum MHD_DaemonInfoType type, ...);
	struct MHD_Response *(*create_response_from_buffer)(
		size_t len, void *data, enum MHD_ResponseMemoryMode mode);
	struct MHD_Response *(*create_response_from_callback)(
		uint64_t size, size_t block, MHD_ContentReaderCallback read,
		void *ctx, MHD_ContentReaderFreeCallback release);
	enum MHD_Result (*add_response_header)(struct MHD_Response *r,
					       const char *name,
					       const char *value);
	enum MHD_Result (*queue_response)(struct MHD_Connection *c,
					  unsigned status,
					  struct MHD_Response *r);
	void (*destroy_response)(struct MHD_Response *r);
	const char *(*lookup_connection_value)(struct MHD_Connection *c,
					       enum MHD_ValueKind kind,
					       const char *key);
};

/* REMEM_ENOTSUP: there is no libmicrohttpd, and what to install. */
int mhd_api_get(const struct mhd_api **out, struct remem_err *err);

#endif
