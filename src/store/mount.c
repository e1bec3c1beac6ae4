/* See mount.h. */
#include "store/mount.h"

#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"

#define MOUNTINFO "/proc/self/mountinfo"
#define MOUNTINFO_MAX (4 << 20)

/* The end of the field at p. */
static const char *field_end(const char *p, const char *end)
{
	while (p < end && *p != ' ')
		p++;
	return p;
}

static const char *skip_fields(const char *p, const char *end, int n)
{
	while (n-- > 0 && p < end) {
		p = field_end(p, end);
		p += p < end;
	}
	return p;
}

/* One byte of a mount point: blanks and the like are \040. */
static char next_byte(const char **p, const char *end)
{
	const char *s = *p;

	if (*s == '\\' && end - s >= 4 && s[1] >= '0' && s[1] <= '3') {
		*p += 4;
		return (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
			      (s[3] - '0'));
	}
	++*p;
	return *s;
}

/* Length of the mount point if path lies in it, else 0. */
static size_t match(const char *p, const char *end, const char *path)
{
	size_t n = 0;

	while (p < end) {
		if (next_byte(&p, end) != path[n])
			return 0;
		n++;
	}
	if (n == 1) /* the root */
		return 1;
	return path[n] == '/' || path[n] == '\0' ? n : 0;
}

/* The type: the field behind the one that is "-" alone. */
static const char *type_of(const char *p, const char *end)
{
	while (p < end) {
		const char *e = field_end(p, end);

		if (e - p == 1 && *p == '-')
			return e < end ? e + 1 : end;
		p = e + (e < end);
	}
	return end;
}

void mount_type(char *type, size_t cap, const char *mountinfo,
		const char *path)
{
	size_t longest = 0;

	type[0] = '\0';
	for (const char *line = mountinfo; *line;) {
		const char *end = strchr(line, '\n');
		const char *point, *t;
		size_t n;

		if (!end)
			end = line + strlen(line);
		point = skip_fields(line, end, 4);
		n = match(point, field_end(point, end), path);
		/* Of two on one point the later hides the earlier. */
		if (n && n >= longest) {
			t = type_of(point, end);
			longest = n;
			n = (size_t)(field_end(t, end) - t);
			if (n >= cap)
				n = cap - 1;
			memcpy(type, t, n);
			type[n] = '\0';
		}
		line = *end ? end + 1 : end;
	}
}

static bool remote_type(const char *type)
{
	static const char *const names[] = {
		"9p", "afs", "ceph", "cifs", "drvfs", "fuse.sshfs",
		"fuse.rclone", "fuse.glusterfs", "fuse.s3fs", "gfs2",
		"glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3",
		"smbfs", "vboxsf", "virtiofs", "vmhgfs", "fuse.vmhgfs-fuse"
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i], type))
			return true;
	return false;
}

bool mount_is_remote(const char *dir)
{
	struct buf text = BUF_INIT(MOUNTINFO_MAX);
	struct arena a = ARENA_INIT;
	char *real, type[64] = "";

	if (!path_real(&real, &a, dir, NULL) &&
	    !file_read(&text, MOUNTINFO, NULL))
		mount_type(type, sizeof(type), buf_str(&text), real);
	buf_release(&text);
	arena_release(&a);
	return remote_type(type);
}
