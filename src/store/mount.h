/* Which file system a folder is on, by the table of mounts: what statfs says
 * of network mounts is often only that of the layer above. */
#ifndef STORE_MOUNT_H
#define STORE_MOUNT_H

#include <stdbool.h>
#include <stddef.h>

/* Type of the mount that path (absolute, links resolved) lies in, by the text
 * of /proc/self/mountinfo; "" when it cannot be told. type has cap bytes. */
void mount_type(char *type, size_t cap, const char *mountinfo,
		const char *path);
/* True when shared memory between hosts or layers cannot be relied on there,
 * which SQLite's WAL needs. */
bool mount_is_remote(const char *dir);

#endif
