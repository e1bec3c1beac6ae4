/* The table of mounts. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/mount.h"

static const char table[] =
	"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	"40 22 0:35 / /home/ann rw shared:5 master:1 - nfs4 host:/x rw\n"
	"41 22 0:36 / /mnt/with\\040blank/\\347\\254\\224 rw - 9p share rw\n"
	"42 40 8:2 /a /home/ann/local rw - xfs /dev/sdb rw\n"
	"43 40 8:2 /b /home/ann/local rw - btrfs /dev/sdc rw\n";

static void is(const char *path, const char *want)
{
	char type[8];

	mount_type(type, sizeof(type), table, path);
	assert_string_equal(type, want);
}

static void test_mount__the_longest_mount_point_counts(void **state)
{
	(void)state;
	is("/", "ext4");
	is("/home/annabel", "ext4");
	is("/home/ann", "nfs4");
	is("/home/ann/notes", "nfs4");
	is("/home/ann/local/x", "btrfs");
	is("/mnt/with blank/笔/x", "9p");
	is("/mnt/with blank", "ext4");
}

static void test_mount__broken_tables_tell_nothing(void **state)
{
	static const char *const broken[] = {
		"", "\n", "1 2 3", "1 2 3 4 / rw", "1 2 3 4 / rw -",
		"1 2 3 4 /\\04", "1 2 3 4 /\\ - x y",
	};
	char type[8];

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		mount_type(type, sizeof(type), broken[i], "/笔记");
		assert_string_equal(type, "");
	}
	assert_false(mount_is_remote("/nowhere/at/all"));
}
