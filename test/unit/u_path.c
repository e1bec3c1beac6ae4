/* Path strings and globs. */
#include "base_tmp.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/path.h"

static void test_path__join_puts_one_slash(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	assert_string_equal(path_join(&a, "记忆", "今天.md"), "记忆/今天.md");
	assert_string_equal(path_join(&a, "a/", "b"), "a/b");
	assert_string_equal(path_join(&a, "/", "b"), "/b");
	assert_string_equal(path_join(&a, "", "b"), "b");
	arena_release(&a);
}

static void test_path__dir_and_base(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	assert_string_equal(path_dir(&a, "a/b/c"), "a/b");
	assert_string_equal(path_dir(&a, "a/b/"), "a/b");
	assert_string_equal(path_dir(&a, "a"), ".");
	assert_string_equal(path_dir(&a, "/a"), "/");
	assert_string_equal(path_dir(&a, "/"), "/");
	assert_string_equal(path_base("a/b/丙"), "丙");
	assert_string_equal(path_base("a/"), "");
	assert_string_equal(path_base("a"), "a");
	arena_release(&a);
}

static void test_path__tidy_stays_inside(void **state)
{
	static const char *const good[][2] = {
		{ "a/./b//c", "a/b/c" }, { "a/x/../b", "a/b" },
		{ "", "" }, { ".", "" }, { "./", "" }, { "a/..", "" },
		{ "a/../b", "b" }, { "a/b/../../c/", "c" }, { "..a/b", "..a/b" },
		{ ".memory/x", ".memory/x" }, { "a/.../b", "a/.../b" },
		{ "记忆/./今天/../昨天.md", "记忆/昨天.md" },
	};
	static const char *const bad[] = {
		"/", "/a", "..", "../a", "a/../..", "a/../../a", "./..", "a/b/../../../c",
	};
	struct arena a = ARENA_INIT;
	char *out;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_true(path_tidy_rel(&out, &a, good[i][0]));
		assert_string_equal(out, good[i][1]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(path_tidy_rel(&out, &a, bad[i]));
	arena_release(&a);
}

static void test_path__real_follows_links(void **state)
{
	struct arena a = ARENA_INIT;
	struct remem_err err;
	struct tmp t;
	char *out;

	(void)state;
	tmp_begin(&t);
	tmp_put(&t, "真", "");
	assert_int_equal(symlink("真", tmp_path(&t, "link")), 0);
	assert_int_equal(path_real(&out, &a, t.path, &err), 0);
	assert_string_equal(path_base(out), "真");
	assert_int_equal(path_real(&out, &a, tmp_path(&t, "no"), &err),
			 REMEM_ENOTFOUND);
	alloc_fail_at(1);
	a.failed = false;
	arena_release(&a);
	assert_int_equal(path_real(&out, &a, t.dir, &err), REMEM_ENOMEM);
	alloc_fail_at(0);
	arena_release(&a);
	tmp_end(&t);
}

static void test_path__expand_knows_one_home(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	assert_string_equal(path_expand(&a, "~", "/h"), "/h");
	assert_string_equal(path_expand(&a, "~/记", "/h"), "/h/记");
	assert_string_equal(path_expand(&a, "~root/x", "/h"), "~root/x");
	assert_string_equal(path_expand(&a, "a/~", "/h"), "a/~");
	assert_string_equal(path_expand(&a, "~/x", NULL), "~/x");
	arena_release(&a);
}

static const struct {
	const char *pattern, *path;
	bool match;
} globs[] = {
	{ "a", "a", true }, { "a", "b", false }, { "a", "a/b", false },
	{ "", "", true }, { "", "a", false }, { "a", "", false },
	{ "*.md", "x.md", true }, { "*.md", ".md", true },
	{ "*.md", "a/x.md", false }, { "*.md", "x.mdx", false },
	{ "*", "a/b", false }, { "*/b", "a/b", true }, { "a*b*c", "aXbYbZc", true },
	{ "a*b*c", "aXbYbZ", false }, { "**", "a/b/c", true }, { "**", "", false },
	{ "**/x", "x", true }, { "**/x", "a/b/x", true }, { "**/x", "a/xx", false },
	{ "a/**", "a/b/c", true }, { "a/**", "a", false }, { "a/**", "b/a", false },
	{ "a/**/z", "a/z", true }, { "a/**/z", "a/b/c/z", true },
	{ "a/**/z", "a/b/c/zz", false }, { "**/a/**/b", "x/a/y/a/z/b", true },
	{ "**/*.md", "memory/2026/11.md", true }, { "**/b/*", "b/b/c", true },
	{ "**/**/x", "x", true }, { "a**b", "axxb", true }, { "a**b", "a/b", false },
	{ "?", "a", true }, { "?", "ab", false }, { "?", "中", true },
	{ "??.md", "记忆.md", true }, { "?.md", "记忆.md", false },
	{ "?", "\xff", true }, { "\xff*", "\xff\xfe", true },
	{ "[abc]", "b", true }, { "[abc]", "d", false }, { "[!abc]", "d", true },
	{ "[^abc]", "a", false }, { "[a-c]x", "bx", true }, { "[a-c]", "-", false },
	{ "[]]", "]", true }, { "[!]]", "]", false }, { "[a-]", "-", true },
	{ "[一-龥]*", "记忆", true }, { "[一-龥]", "a", false },
	{ "[abc", "[abc", true }, { "[abc", "a", false }, { "[", "[", true },
	{ "\\*", "*", true }, { "\\*", "a", false }, { "\\?x", "?x", true },
	{ "[\\]]", "]", true }, { "\\", "\\", true },
	{ "memory/?\?\?\?-?\?-?\?*.md", "memory/2026-11-28-slug.md", true },
	{ "memory/?\?\?\?-?\?-?\?*.md", "memory/2026-11.md", false },
	{ "日记/**/*.md", "日记/二〇二六/十一月.md", true },
	{ "/a/*", "/a/b", true }, { "a/", "a", true },
	{ ".*", ".git", true }, { "*", ".git", true },
};

static void test_path__globs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(globs) / sizeof(*globs); i++) {
		if (path_glob(globs[i].pattern, globs[i].path) !=
		    globs[i].match)
			fail_msg("'%s' and '%s'", globs[i].pattern,
				 globs[i].path);
	}
}

static void test_path__hostile_globs_end_soon(void **state)
{
	char pattern[401], path[4001], deep[401];
	int64_t start = clock_mono_ns();

	(void)state;
	for (int i = 0; i < 400; i++)
		pattern[i] = i % 2 ? 'a' : '*';
	pattern[398] = 'b';
	pattern[400] = '\0';
	memset(path, 'a', 4000);
	path[4000] = '\0';
	assert_false(path_glob(pattern, path));
	for (int i = 0; i + 5 <= 400; i += 5)
		memcpy(deep + i, "**/a/", 5);
	deep[399] = 'b';
	deep[400] = '\0';
	for (int i = 0; i < 4000; i += 2)
		memcpy(path + i, "a/", 2);
	assert_false(path_glob(deep, path));
	assert_true(clock_mono_ns() - start < 2000000000);
}
