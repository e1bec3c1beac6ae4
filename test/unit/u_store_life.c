/* Generations: damage, rebuilding, publishing, another model, kills. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/store.h"
#include "store_box.h"

static const char *path_of(struct box *b, const char *name)
{
	return arena_printf(&b->a, "%s/%s", b->dir, name);
}

static bool there(struct box *b, const char *name)
{
	return file_exists(path_of(b, name));
}

static int entries(struct box *b, const char *dir, const char *prefix)
{
	DIR *d = opendir(path_of(b, dir));
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += !strncmp(e->d_name, prefix, strlen(prefix));
	closedir(d);
	return n;
}

static int try_open(struct box *b, enum store_open_mode mode)
{
	struct store_opts o = { b->dir, mode, 100, TERM_VERSION,
				NOTE_VERSION, false };
	int rc = b->o->open(&b->s, &o, &b->err);

	if (!rc)
		box_close(b);
	else
		assert_null(b->s);
	return rc;
}

static void fill(struct box *b)
{
	begin(b);
	put(b, "a.md", "# One\n\nalpha words\n\n- 网关超时\n");
	put(b, "b.md", "beta words\n\nmore of them\n");
	commit(b);
	embed_all(b, fingerprint(b, "m"));
}

#define DB "gen-000001/index.sqlite"

static void overwrite(struct box *b, const char *name, const void *p,
		      size_t len, off_t at)
{
	int fd = open(path_of(b, name), O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, p, len, at), (ssize_t)len);
	close(fd);
}

/* ---- what is found at opening ---- */

static void test_store_life__nothing_there_is_not_found(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		box_close(b);
		assert_int_equal(unlink(path_of(b, "current")), 0);
		assert_int_equal(try_open(b, STORE_READ), REMEM_ENOTFOUND);
		assert_string_not_equal(b->err.action, "");
		assert_int_equal(try_open(b, STORE_WRITE), 0);
		assert_int_equal(entries(b, ".", "gen-"), 1);
		assert_int_equal(dir_remove(b->dir, NULL), 0);
		assert_int_equal(try_open(b, STORE_READ), REMEM_ENOTFOUND);
		assert_false(file_exists(b->dir));
		box_open(b, STORE_WRITE);
	}
}

static void damaged(struct box *b, const char *how)
{
	int rc = try_open(b, STORE_READ);

	if (rc != REMEM_ECORRUPT)
		print_error("%s: %d\n", how, rc);
	assert_int_equal(rc, REMEM_ECORRUPT);
	assert_non_null(strstr(b->err.action, "remem index"));
	/* A writer sets it aside and begins again. */
	box_open(b, STORE_WRITE);
	assert_int_equal(info(b).files, 0);
	put_alone(b, "a.md", "alpha\n");
	assert_int_equal(find(b, "alpha"), 1);
	no_problems(b);
	assert_int_equal(entries(b, ".", "gen-"), 1);
	assert_int_equal(entries(b, ".", "corrupt-"), 1);
}

static void test_store_life__a_cut_database_is_replaced(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		fill(b);
		box_close(b);
		assert_int_equal(truncate(path_of(b, DB "-wal"), 0), 0);
		assert_int_equal(truncate(path_of(b, DB), 20000), 0);
		damaged(b, "cut");
	}
}

static void test_store_life__an_empty_database_is_replaced(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		fill(b);
		box_close(b);
		assert_int_equal(truncate(path_of(b, DB), 0), 0);
		damaged(b, "empty");
	}
}

static void test_store_life__a_foreign_file_is_replaced(void **state)
{
	static const char nonsense[] = "this is no database 这不是数据库";

	(void)state;
	EACH_BACKEND(b) {
		fill(b);
		box_close(b);
		overwrite(b, DB, nonsense, sizeof(nonsense), 0);
		damaged(b, "foreign");
	}
}

static void test_store_life__a_bad_pointer_is_replaced(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		fill(b);
		box_close(b);
		overwrite(b, "current", "gen-xyz", 7, 0);
		assert_int_equal(try_open(b, STORE_READ), REMEM_ECORRUPT);
		box_open(b, STORE_WRITE);
		assert_int_equal(info(b).files, 0);
		/* The vectors of the folder it left were worth taking. */
		begin(b);
		put(b, "a.md", "# One\n\nalpha words\n\n- 网关超时\n");
		commit(b);
		no_problems(b);
	}
}

static void test_store_life__a_missing_generation_is_replaced(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		fill(b);
		box_close(b);
		assert_int_equal(dir_remove(path_of(b, "gen-000001"), NULL), 0);
		assert_int_equal(try_open(b, STORE_READ), REMEM_ECORRUPT);
		box_open(b, STORE_WRITE);
		assert_int_equal(info(b).files, 0);
	}
}

static void test_store_life__a_newer_index_is_left_alone(void **state)
{
	static const unsigned char version[4] = { 0, 0, 0, STORE_VERSION + 1 };

	(void)state;
	EACH_BACKEND(b) {
		fill(b);
		box_close(b);
		overwrite(b, DB, version, 4, 60);
		assert_int_equal(try_open(b, STORE_READ), REMEM_EVERSION);
		assert_int_equal(try_open(b, STORE_WRITE), REMEM_EVERSION);
		assert_int_equal(entries(b, ".", "corrupt-"), 0);
		/* A rebuild stands beside it. */
		box_open(b, STORE_REBUILD);
	}
}

static void test_store_life__an_older_index_gives_its_vectors(void **state)
{
	static const unsigned char version[4] = { 0, 0, 0, STORE_VERSION - 1 };

	(void)state;
	EACH_BACKEND(b) {
		unsigned char key[1][SHA256_BYTES];
		bool have = false;

		fill(b);
		/* A rebuild leaves nothing in the WAL that has the number. */
		box_close(b);
		box_open(b, STORE_REBUILD);
		fill(b);
		must(b, b->o->publish(b->s, &b->err));
		box_close(b);
		overwrite(b, "gen-000002/index.sqlite", version, 4, 60);
		assert_int_equal(try_open(b, STORE_READ), REMEM_ECORRUPT);
		assert_non_null(strstr(b->err.message, "older"));
		box_open(b, STORE_WRITE);
		assert_int_equal(info(b).files, 0);
		assert_int_equal(entries(b, ".", "corrupt-"), 0);
		assert_int_equal(entries(b, ".", "gen-"), 1);
		sha256_of(key[0], "alpha words", 11);
		must(b, b->o->vectors_have(b->s, fingerprint(b, "m"), key, 1,
					   &have, &b->err));
		assert_true(have);
		no_problems(b);
	}
}

static void test_store_life__what_is_packed_is_checked(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		const char **lines;
		sqlite3 *db;
		int n;

		fill(b);
		box_close(b);
		assert_int_equal(sqlite3_open_v2(path_of(b, DB), &db,
				 SQLITE_OPEN_READWRITE, NULL), 0);
		assert_int_equal(sqlite3_exec(db, "UPDATE passages SET kind = "
				 "(kind + 1) % 4 WHERE id = 1", NULL, NULL,
				 NULL), 0);
		sqlite3_close(db);
		box_open(b, STORE_READ);
		must(b, b->o->check(b->s, &b->a, &lines, &n, &b->err));
		assert_int_equal(n, 1);
		assert_non_null(strstr(lines[0], "as their rows say"));
	}
}

static void test_store_life__damage_inside_is_found_and_cured(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		char junk[4096];
		struct stat st;
		const char **lines;
		int n, rc = 0;

		fill(b);
		box_close(b);
		box_open(b, STORE_REBUILD); /* a checkpointed database */
		fill(b);
		must(b, b->o->publish(b->s, &b->err));
		box_close(b);
		memset(junk, 0xa5, sizeof(junk));
		assert_int_equal(stat(path_of(b, "gen-000002/index.sqlite"),
				      &st), 0);
		for (off_t at = 4096 * 2; at + 4096 <= st.st_size; at += 8192)
			overwrite(b, "gen-000002/index.sqlite", junk, 4096, at);
		box_open(b, STORE_READ);
		must(b, b->o->check(b->s, &b->a, &lines, &n, &b->err));
		assert_true(n > 0);
		box_close(b);
		/* Who writes to it meets the damage, and the next begins
		 * anew. */
		rc = try_open(b, STORE_WRITE);
		if (!rc) {
			struct store_file f = { .path = "a.md" };

			box_open(b, STORE_WRITE);
			rc = b->o->begin(b->s, &b->err);
			if (!rc)
				rc = b->o->file_put(b->s, &f, NULL, &b->err);
			if (!rc)
				rc = b->o->maintain(b->s, 1, &b->err);
			b->o->rollback(b->s);
			box_close(b);
		}
		box_open(b, STORE_WRITE);
		no_problems(b);
	}
}

static void test_store_life__missing_vectors_are_made_again(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_scored hit[4];
		int fp, n, dims;
		float q[DIMS];

		fill(b);
		n = (int)info(b).passages;
		box_close(b);
		assert_int_equal(truncate(path_of(b, "gen-000001/"
					  "vectors-1.i8"), 5000), 0);
		box_open(b, STORE_READ);
		must(b, b->o->fingerprint_find(b->s, "m", &fp, &dims,
					       &b->err));
		vec_of(q, "x", 1);
		assert_int_equal(b->o->vector_pool(b->s, fp, q, NULL, NULL,
						   NULL, 4, hit, &dims,
						   &b->err), REMEM_ECORRUPT);
		assert_int_equal(find(b, "alpha"), 1);
		box_reopen(b, STORE_WRITE);
		assert_int_equal(pending(b, fp), n);
		assert_int_equal(embed_all(b, fp), n);
		assert_int_equal(nearest(b, fp, "alpha words", NULL, hit, 4),
				 4);
		assert_true(hit[0].score > 0.99f);
		no_problems(b);
	}
}

static void test_store_life__another_cut_is_told(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_opts o = { b->dir, STORE_WRITE, 100,
					TERM_VERSION + 1, NOTE_VERSION, false };
		struct store_file f = { .path = "x.md" };

		fill(b);
		box_close(b);
		must(b, b->o->open(&b->s, &o, &b->err));
		assert_true(info(b).stale_cut);
		assert_int_equal(info(b).term_version, TERM_VERSION);
		begin(b);
		assert_int_equal(b->o->file_put(b->s, &f, NULL, &b->err),
				 REMEM_EVERSION);
		b->o->rollback(b->s);
		assert_int_equal(find(b, "alpha"), 1);
		box_reopen(b, STORE_WRITE);
		assert_false(info(b).stale_cut);
	}
}

static void test_store_life__one_writer_at_a_time(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_opts o = { b->dir, STORE_WRITE, 0, TERM_VERSION,
					NOTE_VERSION, false };
		struct store *other = NULL;

		assert_int_equal(b->o->open(&other, &o, &b->err), REMEM_EBUSY);
		assert_null(other);
		o.mode = STORE_READ;
		must(b, b->o->open(&other, &o, &b->err));
		b->o->close(other);
	}
}

/* ---- rebuilding ---- */

static void test_store_life__a_rebuild_is_seen_when_published(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_opts o = { b->dir, STORE_READ, 0, TERM_VERSION,
					NOTE_VERSION, false };
		struct box old = *b;
		unsigned char key[1][SHA256_BYTES];
		bool have;
		int fp, n;

		fill(b);
		n = (int)info(b).passages;
		box_close(b);
		must(b, b->o->open(&old.s, &o, &b->err));
		box_open(b, STORE_REBUILD);
		assert_int_equal(info(b).files, 0);
		fp = fingerprint(b, "m");
		sha256_of(key[0], "alpha words", 11);
		must(b, b->o->vectors_have(b->s, fp, key, 1, &have, &b->err));
		assert_true(have);
		assert_false(b->o->outdated(old.s));
		begin(b);
		put(b, "a.md", "# One\n\nalpha words\n\n- 网关超时\n");
		put(b, "b.md", "beta words\n\nmore of them\n");
		put(b, "c.md", "新的 gamma\n");
		commit(b);
		assert_int_equal(find(&old, "gamma"), 0);
		assert_int_equal(pending(b, fp), n + 1);
		embed_all(b, fp);
		must(b, b->o->publish(b->s, &b->err));
		assert_true(b->o->outdated(old.s));
		assert_false(b->o->outdated(b->s));
		/* The old one still answers who has it open. */
		assert_int_equal(find(&old, "alpha"), 1);
		assert_int_equal(entries(b, ".", "gen-"), 1);
		old.o->close(old.s);
		box_reopen(b, STORE_READ);
		assert_int_equal(find(b, "gamma"), 1);
		assert_int_equal(info(b).embedded, n + 1);
		assert_true(info(b).generation > 1);
		no_problems(b);
	}
}

static void test_store_life__a_broken_rebuild_loses_no_vector(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		unsigned char key[1][SHA256_BYTES];
		bool have;
		int fp;

		fill(b);
		for (int i = 0; i < 3; i++) {
			char text[32];

			box_close(b);
			box_open(b, STORE_REBUILD);
			snprintf(text, sizeof(text), "again %d 次\n", i);
			put_alone(b, "new.md", text);
			embed_all(b, fingerprint(b, "m"));
			/* closed without being published */
		}
		box_close(b);
		assert_int_equal(entries(b, ".", "gen-"), 2);
		box_open(b, STORE_WRITE);
		assert_int_equal(entries(b, ".", "gen-"), 1);
		assert_int_equal(find(b, "alpha"), 1);
		assert_int_equal(find(b, "again"), 0);
		fp = fingerprint(b, "m");
		for (int i = 0; i < 3; i++) {
			char text[32];
			int n = snprintf(text, sizeof(text), "again %d 次", i);

			sha256_of(key[0], text, (size_t)n);
			must(b, b->o->vectors_have(b->s, fp, key, 1, &have,
						   &b->err));
			assert_true(have);
		}
		assert_int_equal(pending(b, fp), 0);
		no_problems(b);
	}
}

/* ---- another model ---- */

static void test_store_life__old_vectors_answer_until_new_are_done(
	void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_scored hit[4];
		const char *text;
		int one, two, fp, dims, n;

		fill(b);
		n = (int)info(b).passages;
		one = fingerprint(b, "m");
		two = fingerprint(b, "新模型");
		assert_int_not_equal(one, two);
		must(b, b->o->fingerprint_active(b->s, &fp, &dims, &text,
						 &b->err));
		assert_int_equal(fp, one);
		assert_int_equal(pending(b, two), n);
		assert_int_equal(nearest(b, one, "alpha words", NULL, hit, 1),
				 1);
		put_alone(b, "c.md", "gamma\n");
		assert_int_equal(pending(b, one), 1);
		assert_int_equal(pending(b, two), n + 1);
		no_problems(b);
		assert_int_equal(embed_all(b, two), n + 1);
		must(b, b->o->fingerprint_active(b->s, &fp, &dims, &text,
						 &b->err));
		assert_int_equal(fp, two);
		assert_string_equal(text, "新模型");
		assert_int_equal(info(b).embedded, n + 1);
		assert_int_equal(nearest(b, two, "gamma", NULL, hit, 1), 1);
		assert_true(hit[0].score > 0.99f);
		no_problems(b);
		/* Back again: the old ones are still in the cache. */
		assert_int_equal(fingerprint(b, "m"), one);
		assert_int_equal(pending(b, one), n + 1);
		must(b, b->o->maintain(b->s, 1, &b->err));
		no_problems(b);
	}
}

static void test_store_life__a_model_given_up_leaves_nothing(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_passage *p;
		const char **texts;
		int one, two, n;

		fill(b);
		one = fingerprint(b, "m");
		two = fingerprint(b, "other");
		must(b, b->o->pending(b->s, &b->a, two, 1, &p, &texts, &n,
				      &b->err));
		assert_int_equal(n, 1);
		begin(b);
		must(b, b->o->vector_refused(b->s, two, p[0].id, "too long",
					     &b->err));
		commit(b);
		assert_int_equal(pending(b, two), info(b).passages - 1);
		assert_int_equal(fingerprint(b, "m"), one);
		assert_int_equal(pending(b, one), 0);
		must(b, b->o->maintain(b->s, 1, &b->err));
		no_problems(b);
		assert_int_equal(entries(b, "gen-000001", "vectors-"), 1);
	}
}

static int see_refused(void *ctx, const char *path, int line_first,
		       int line_last, const char *reason)
{
	char *seen = ctx;

	snprintf(seen, 100, "%s %d-%d %s", path, line_first, line_last,
		 reason);
	return 0;
}

static void test_store_life__refused_passages_are_not_asked_again(
	void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_passage *p;
		const char **texts;
		char seen[100] = "", want[100];
		int fp, n;

		put_alone(b, "a.md", "一\n\ntwo\n");
		fp = fingerprint(b, "m");
		must(b, b->o->pending(b->s, &b->a, fp, 1, &p, &texts, &n,
				      &b->err));
		snprintf(want, sizeof(want), "a.md %d-%d too long",
			 p[0].line_first, p[0].line_last);
		begin(b);
		must(b, b->o->vector_refused(b->s, fp, p[0].id, "too long",
					     &b->err));
		commit(b);
		assert_int_equal(info(b).refused, 1);
		must(b, b->o->refused_each(b->s, see_refused, seen, &b->err));
		assert_string_equal(seen, want);
		assert_int_equal(embed_all(b, fp), 1);
		assert_int_equal(pending(b, fp), 0);
		put_alone(b, "a.md", "一\n\ntwo\n\nthree\n");
		assert_int_equal(pending(b, fp), 1);
		begin(b);
		put(b, "a.md", "nothing\n");
		commit(b);
		put_alone(b, "b.md", "一\n");
		assert_int_equal(pending(b, fp), 1); /* only "nothing" */
		no_problems(b);
	}
}

/* ---- others look in ---- */

static void test_store_life__any_sqlite_can_query_the_tables(void **state)
{
	static const char *const sql[] = {
		"SELECT count(*) FROM files", "SELECT count(*) FROM chunks",
		"SELECT count(*) FROM passages WHERE slot >= 0",
		"SELECT count(*) FROM embeddings", "SELECT count(*) FROM meta",
		"SELECT count(*) FROM passage_text WHERE text LIKE '%网关%'",
	};

	(void)state;
	EACH_BACKEND(b) {
		sqlite3_stmt *st;
		sqlite3 *db;

		fill(b);
		assert_int_equal(sqlite3_open_v2(path_of(b, DB), &db,
				 SQLITE_OPEN_READONLY, NULL), 0);
		for (size_t i = 0; i < ARRAY_LEN(sql); i++) {
			assert_int_equal(sqlite3_prepare_v2(db, sql[i], -1,
							    &st, NULL), 0);
			assert_int_equal(sqlite3_step(st), SQLITE_ROW);
			assert_true(sqlite3_column_int(st, 0) > 0);
			sqlite3_finalize(st);
		}
		sqlite3_close(db);
	}
}

/* In a child that is nobody, as root may write everywhere. */
static void test_store_life__a_read_only_folder_answers(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		int status;
		pid_t pid;

		fill(b);
		box_close(b);
		assert_int_equal(chmod(path_of(b, "gen-000001"), 0755), 0);
		assert_int_equal(chmod(b->dir, 0755), 0);
		for (int with_wal = 1; with_wal >= 0; with_wal--) {
			char cmd[1200];

			snprintf(cmd, sizeof(cmd), "chmod -R a+rX-w '%s'",
				 b->dir);
			assert_int_equal(system(cmd), 0);
			pid = fork();
			if (!pid) {
				if (getuid() == 0 && setuid(65534))
					_exit(0);
				box_open(b, STORE_READ);
				_exit(find(b, "alpha") == 1 ? 0 : 1);
			}
			assert_int_equal(waitpid(pid, &status, 0), pid);
			assert_int_equal(status, 0);
			snprintf(cmd, sizeof(cmd), "chmod -R u+w '%s'",
				 b->dir);
			assert_int_equal(system(cmd), 0);
			/* Then without WAL and shared memory. */
			box_open(b, STORE_REBUILD);
			fill(b);
			must(b, b->o->publish(b->s, &b->err));
			box_close(b);
			snprintf(cmd, sizeof(cmd), "rm -f '%s'/gen-*/*-wal "
				 "'%s'/gen-*/*-shm", b->dir, b->dir);
			assert_int_equal(system(cmd), 0);
		}
		box_open(b, STORE_READ);
	}
}

/* ---- kills and failures ---- */

/* A whole run: files, vectors, a change, maintenance, a rebuild. */
static int whole_run(struct box *b)
{
	static const char *const texts[] = {
		"# One\n\nalpha words\n\n- 网关超时\n", "beta words\n\nmore\n",
		"gamma\n", "# One\n\nalpha changed\n\n- 网关超时\n",
	};
	struct store_opts o = { b->dir, STORE_WRITE, 1000, TERM_VERSION,
				NOTE_VERSION, false };
	struct remem_err *err = &b->err;
	const struct store_ops *ops = b->o;
	int rc = 0;

	for (int round = 0; !rc && round < 2; round++) {
		int fp, n = 1;

		o.mode = round ? STORE_REBUILD : STORE_WRITE;
		if ((rc = ops->open(&b->s, &o, err)))
			return rc;
		for (int i = 0; !rc && i < 4; i++) {
			struct note_opts no = NOTE_OPTS_DEFAULT;
			struct store_file f = { .date = DATE_NONE };
			struct note note;

			f.path = i == 3 ? "0.md" :
				 arena_printf(&b->a, "%d.md", i);
			if (!f.path ||
			    (rc = note_parse(&note, &b->a, texts[i],
					     strlen(texts[i]), &no, err)) ||
			    (rc = ops->begin(b->s, err)))
				break;
			if ((rc = ops->file_put(b->s, &f, &note, err)))
				ops->rollback(b->s);
			else
				rc = ops->commit(b->s, err);
		}
		if (!rc)
			rc = ops->fingerprint(b->s, "m", DIMS, &fp, err);
		while (!rc && n) {
			struct store_passage *p;
			const char **t;

			if ((rc = ops->pending(b->s, &b->a, fp, 2, &p, &t, &n,
					       err)) ||
			    !n || (rc = ops->begin(b->s, err)))
				break;
			for (int i = 0; !rc && i < n; i++) {
				float v[DIMS];
				struct store_vec_item item = {
					&p[i].id, 1, { 0 }, p[i].script, v
				};

				vec_of(v, t[i], strlen(t[i]));
				sha256_of(item.key, t[i], strlen(t[i]));
				rc = ops->vectors_put(b->s, fp, &item, 1, err);
			}
			if (rc)
				ops->rollback(b->s);
			else
				rc = ops->commit(b->s, err);
		}
		if (!rc)
			rc = ops->maintain(b->s, 1, err);
		if (!rc && round)
			rc = ops->publish(b->s, err);
		ops->close(b->s);
		b->s = NULL;
	}
	return rc;
}

static void complete(struct box *b)
{
	box_open(b, STORE_READ);
	assert_int_equal(info(b).files, 3);
	assert_int_equal(info(b).embedded, info(b).passages);
	assert_int_equal(find(b, "changed"), 1);
	assert_int_equal(find(b, "网关"), 1);
	assert_int_equal(find(b, "gamma"), 1);
	no_problems(b);
	assert_int_equal(entries(b, ".", "gen-"), 1);
	assert_int_equal(entries(b, ".", "corrupt-"), 0);
	box_close(b);
}

static void test_store_life__a_kill_at_any_write_is_survived(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		int n, status = 0;

		box_close(b);
		for (n = 1; n < 400; n++) {
			pid_t pid;

			must(b, dir_remove(b->dir, &b->err));
			pid = fork();
			if (!pid) {
				file_fault_at(n);
				_exit(whole_run(b) ? 1 : 0);
			}
			assert_int_equal(waitpid(pid, &status, 0), pid);
			if (WIFEXITED(status))
				break;
			/* Whatever is there answers or is not there. */
			if (!try_open(b, STORE_READ)) {
				box_open(b, STORE_READ);
				no_problems(b);
				box_close(b);
			}
			must(b, whole_run(b));
			complete(b);
			arena_reset(&b->a);
		}
		assert_int_equal(status, 0);
		assert_true(n > 20);
		box_open(b, STORE_READ);
	}
}

static void test_store_life__a_kill_at_any_time_is_survived(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		box_close(b);
		for (int n = 0; n < 30; n++) {
			pid_t pid = fork();

			if (!pid) {
				for (;;)
					if (whole_run(b))
						_exit(1);
			}
			usleep((useconds_t)(500 + n * 1973 % 40000));
			kill(pid, SIGKILL);
			assert_int_equal(waitpid(pid, NULL, 0), pid);
			if (!try_open(b, STORE_READ)) {
				box_open(b, STORE_READ);
				no_problems(b);
				box_close(b);
			}
		}
		must(b, whole_run(b));
		complete(b);
		box_open(b, STORE_READ);
	}
}

static void test_store_life__every_failed_allocation_is_reported(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		bool more = true;
		int n, rc;

		box_close(b);
		for (n = 1; more && n < 20000; n += 1 + n / 60) {
			alloc_fail_at(n);
			rc = whole_run(b);
			more = alloc_count() >= n;
			alloc_fail_at(0);
			if (rc && rc != REMEM_ENOMEM)
				print_error("%d: %d %s\n", n, rc,
					    b->err.message);
			if (rc)
				assert_int_equal(rc, REMEM_ENOMEM);
			arena_release(&b->a);
			arena_init(&b->a, 0);
		}
		assert_true(n > 100);
		must(b, whole_run(b));
		complete(b);
		box_open(b, STORE_READ);
	}
}

static void search_all(struct box *b, const struct store_filter *f)
{
	for (int n = 1, rc = 1; rc; n++) {
		struct store_term t = { .text = "words", .weight = 1 };
		struct store_set *set = NULL;
		struct store_scored out[8];
		struct store_chunk c[8];
		struct arena a = ARENA_INIT;
		float q[DIMS], scores[1];
		struct store_mean *means;
		uint32_t slot = 0;
		int64_t ids[8];
		int m;

		vec_of(q, "x", 1);
		alloc_fail_at(n);
		rc = b->o->filter(b->s, f, &set, &b->err);
		if (!rc)
			rc = b->o->text_pool(b->s, &t, 1, set, 8, out, &m,
					     &b->err);
		for (int i = 0; !rc && i < m; i++)
			ids[i] = out[i].id;
		if (!rc)
			rc = b->o->chunks_get(b->s, &a, 1, ids, m, c, &b->err);
		if (!rc)
			rc = b->o->name_pool(b->s, &t, 1, set, 8, out, &m,
					     &b->err);
		if (!rc)
			rc = b->o->vector_pool(b->s, 1, q, NULL, NULL, set, 8,
					       out, &m, &b->err);
		if (!rc)
			rc = b->o->vector_scores(b->s, 1, q, NULL, NULL, &slot,
						 1, scores, &b->err);
		if (!rc)
			rc = b->o->means(b->s, &a, 1, &means, &m, &b->err);
		alloc_fail_at(0);
		b->o->filter_free(set);
		arena_release(&a);
		if (rc)
			assert_int_equal(rc, REMEM_ENOMEM);
		assert_true(n < 5000);
	}
}

static void test_store_life__a_search_without_memory_says_so(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		fill(b);
		search_all(b, &(struct store_filter){ .path = "a.md" });
		search_all(b, &(struct store_filter){ .project = "p",
						      .origin = "o" });
		must(b, b->o->read_begin(b->s, &b->err));
		search_all(b, &(struct store_filter){ 0 });
		b->o->read_end(b->s);
		no_problems(b);
		assert_true(there(b, "current"));
	}
}
