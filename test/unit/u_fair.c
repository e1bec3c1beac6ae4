/* How many threads are fair: cores, load, control groups, battery. */
#include "base_tmp.h"

#include "base/fair.h"

static void put(struct tmp *t, const char *path, const char *text)
{
	char dir[4096];
	FILE *f;

	snprintf(dir, sizeof(dir), "%s%s", t->dir, path);
	*strrchr(dir, '/') = '\0';
	assert_int_equal(dir_make(dir, 0700, NULL), 0);
	snprintf(dir, sizeof(dir), "%s%s", t->dir, path);
	f = fopen(dir, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_fair__half_of_the_idle_cores(void **state)
{
	static const struct {
		struct fair f;
		int threads;
	} cases[] = {
		{ { 1, 0, 0, false }, 1 },	{ { 2, 0, 0, false }, 1 },
		{ { 8, 0, 0, false }, 4 },	{ { 8, 3.9, 0, false }, 2 },
		{ { 8, 4.1, 0, false }, 1 },	{ { 8, 90, 0, false }, 1 },
		{ { 8, 0, 0, true }, 1 },	{ { 64, 0, 1.5, false }, 1 },
		{ { 64, 10, 6, false }, 3 },	{ { 64, 62, 6, false }, 1 },
		{ { 64, 0, 0.1, false }, 1 },	{ { 0, 0, 0, false }, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(fair_choose(&cases[i].f), cases[i].threads);
	assert_true(fair_threads() >= 1);
}

static void test_fair__the_tightest_group_counts(void **state)
{
	struct fair f;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	put(&t, "/proc/loadavg", "1.25 0.50 0.25 1/90 77\n");
	put(&t, "/proc/self/cgroup", "1:name=x:/y\n0::/user.slice/备忘\n");
	put(&t, "/sys/fs/cgroup/user.slice/备忘/cpu.max", "max 100000\n");
	fair_read(&f, t.dir);
	assert_true(f.load == 1.25);
	assert_true(f.quota == 0);
	assert_true(f.cores >= 1);
	put(&t, "/sys/fs/cgroup/user.slice/cpu.max", "350000 100000\n");
	fair_read(&f, t.dir);
	assert_true(f.quota == 3.5);
	put(&t, "/sys/fs/cgroup/user.slice/备忘/cpu.max", "150000 100000\n");
	fair_read(&f, t.dir);
	assert_true(f.quota == 1.5);
	put(&t, "/proc/self/cgroup", "0::/\n");
	put(&t, "/sys/fs/cgroup/cpu.max", "50000 100000\n");
	fair_read(&f, t.dir);
	assert_true(f.quota == 0.5);
	tmp_end(&t);
}

static void test_fair__older_groups_and_nonsense(void **state)
{
	struct fair f;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	put(&t, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
	put(&t, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	fair_read(&f, t.dir);
	assert_true(f.quota == 0);
	put(&t, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
	fair_read(&f, t.dir);
	assert_true(f.quota == 2);
	put(&t, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "0\n");
	put(&t, "/proc/self/cgroup", "0::");
	put(&t, "/sys/fs/cgroup/cpu.max", "\n");
	fair_read(&f, t.dir);
	assert_true(f.quota == 0);
	tmp_end(&t);
}

static void test_fair__battery(void **state)
{
	struct fair f;
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	put(&t, "/sys/class/power_supply/BAT0/type", "Battery\n");
	fair_read(&f, t.dir);
	assert_false(f.on_battery);
	put(&t, "/sys/class/power_supply/AC/type", "Mains\n");
	put(&t, "/sys/class/power_supply/AC/online", "0\n");
	fair_read(&f, t.dir);
	assert_true(f.on_battery);
	put(&t, "/sys/class/power_supply/AC/online", "1\n");
	fair_read(&f, t.dir);
	assert_false(f.on_battery);
	tmp_end(&t);
}
