/*
 * A run: lock, walk, plan, text, vectors. The walk is repeated until it finds
 * what the index holds, so that what was written, moved or deleted meanwhile
 * is in too; that is seen by one digest over all stamps, which also makes a
 * run without changes cost hardly more than the walk.
 *
 * Another cut (versions of terms and notes, settings of chunks) and --force
 * make a new generation: readers keep the old one until it is published, and
 * vectors come over by their keys. It is published before what is missing is
 * embedded, so that a killed run keeps each vector it paid for.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "index/stamp.h"
#include "index/sync.h"
#include "source/names.h"
#include "text/term.h"

#define MAX_ROUNDS 4 /* a workspace that never rests is left to the next run */
/* After so little nothing can have happened that might not as well have come
 * a moment later. */
#define SMALL_ITEMS 8
#define SMALL_MS 20
#define LONG_VECTORS_MS 300 /* then it is worth to look at the files again */

void sync_skip(struct sync *y, const char *path, const char *reason)
{
	struct index_report *r = y->r;

	/* The last place is given to files of later rounds as well. */
	if (r->skip_count >= SYNC_MAX_SKIPS)
		return;
	r->skips = arena_grow(y->a, r->skips, &y->skip_cap,
			      (size_t)r->skip_count + 1, sizeof(*r->skips));
	if (!r->skips) {
		r->skip_count = 0;
		return;
	}
	r->skips[r->skip_count].path = arena_strdup(y->a, path);
	r->skips[r->skip_count++].reason = arena_strdup(y->a, reason);
}

/* Settings that decide how files are cut; another text, another cut. */
static void settings_text(char out[96], const struct index_opts *o)
{
	snprintf(out, 96, "chunk %d overlap %d passage %d",
		 o->note.chunk_tokens, o->note.overlap_tokens,
		 o->note.passage_tokens);
}

static int64_t ms_since(int64_t start_ns)
{
	return (clock_mono_ns() - start_ns) / 1000000;
}

/* ---- one round -------------------------------------------------------- */

static void round_end(struct sync *y)
{
	y->walked = false;
	source_list_release(&y->list);
	arena_reset(&y->round);
}

static void list_skipped(struct sync *y)
{
	int skipped = 0;

	y->r->skip_count = 0;
	y->failures = y->files = 0;
	y->untrusted = false;
	/* More than one is said in order. */
	for (size_t i = 0; i < y->list.count && skipped < 2; i++)
		skipped += y->list.files[i].skip != NULL;
	if (skipped > 1)
		source_list_sort(&y->list);
	for (size_t i = 0; i < y->list.count; i++) {
		const struct source_file *f = &y->list.files[i];

		if (f->skip)
			sync_skip(y, f->path, f->skip);
		else
			y->files++;
		y->failures += f->failed;
	}
}

static int round_walk(struct sync *y, struct remem_err *err)
{
	struct source_opts any = *y->o->source;
	int64_t start = clock_mono_ns();
	int rc;

	if (y->walked) {
		y->walked = false;
		return 0;
	}
	any.any_order = true;
	rc = y->paths ? source_walk_some(&y->list, &y->round, &any, y->paths,
					 y->path_count, err) :
			source_walk(&y->list, &y->round, &any, err);
	y->r->scan_ms += ms_since(start);
	if (!rc) {
		list_skipped(y);
		sync_origins_look(y);
	}
	return rc;
}

static int meta_put(struct sync *y, const char *key, const char *value,
		    struct remem_err *err)
{
	file_fault_step();
	return y->s->ops->meta_set(y->s, key, value, err);
}

static int kept_put(struct sync *y, struct remem_err *err)
{
	file_fault_step();
	return kept_save(&y->kept, y->s, err);
}

/* What was walked is now what the index holds. */
static int round_keep(struct sync *y, struct remem_err *err)
{
	struct store *s = y->s;
	char settings[96], now[24];
	int rc;

	settings_text(settings, y->o);
	snprintf(now, sizeof(now), "%" PRId64, clock_now_ms());
	if ((rc = s->ops->begin(s, err)))
		return rc;
	if ((rc = meta_put(y, "settings", settings, err)) ||
	    (rc = kept_put(y, err)) ||
	    (rc = sync_origins_keep(y, err)) ||
	    (!y->list.scopes &&
	     (rc = meta_put(y, "twins", y->list.twins ? "1" : NULL, err))) ||
	    (rc = meta_put(y, "indexed_at_ms", now, err))) {
		s->ops->rollback(s);
		return rc;
	}
	file_fault_step();
	return s->ops->commit(s, err);
}

static void say_unread(void *ctx, const char *path, const char *reason)
{
	sync_skip(ctx, path, reason);
}

static bool is_settled(struct sync *y)
{
	int skips = y->r->skip_count;
	uint64_t sum[2];
	struct kept k;
	int64_t unread;

	if (y->list.scopes || y->again)
		return false;
	kept_load(&k, y->s, &y->round);
	kept_sum(sum, &y->list);
	if (!kept_settled(&k, sum, y->s, &y->round, &y->list,
			  y->o->source->follow_links, &unread, say_unread,
			  y)) {
		y->r->skip_count = skips;
		return false;
	}
	y->failures += unread;
	y->files -= unread;
	return true;
}

/* The text phase, and what is to be kept of it. */
static int round_text(struct sync *y, struct remem_err *err)
{
	bool some = y->list.scopes != NULL;
	struct kept before = { 0 };
	int rc;

	if (some)
		kept_load(&before, y->s, &y->round);
	y->kept = (struct kept){ .known = !some || before.known };
	if ((rc = sync_text(y, err)))
		return rc;
	if (!some) {
		kept_sum(y->kept.sum, &y->list);
		return 0;
	}
	kept_apply(&before, &y->plan);
	for (int i = 0; i < before.again_count; i++)
		kept_again(&y->kept, before.again[i]);
	memcpy(y->kept.sum, before.sum, sizeof(before.sum));
	return 0;
}

/* *again: enough was changed that another look is worth it. */
static int one_round(struct sync *y, bool *again, struct remem_err *err)
{
	int64_t start, before = y->writes;
	struct index_report *r = y->r;
	bool wrote;
	int rc = round_walk(y, err);

	*again = false;
	if (rc)
		goto out;
	y->rounds++;
	if (is_settled(y)) {
		if (y->rounds == 1)
			r->unchanged = y->files;
		goto out;
	}
	if ((rc = plan_make(&y->plan, &y->round, &y->list, y->s, err)))
		goto out;
	if (y->rounds == 1)
		r->unchanged = y->plan.unchanged;
	r->kept = y->plan.kept;
	start = clock_mono_ns();
	rc = round_text(y, err);
	r->text_ms += ms_since(start);
	if (rc)
		goto out;
	wrote = y->writes != before;
	*again = wrote && (y->plan.item_count + y->plan.gone_count >
			   SMALL_ITEMS || ms_since(start) > SMALL_MS);
	/* Found to be as it was by a comparison: next time by the sum. */
	if (wrote || (!y->list.scopes && y->kept.known &&
		      y->kept.again_count <= KEPT_MAX_AGAIN))
		rc = round_keep(y, err);
out:
	round_end(y);
	return rc;
}

static int round_talks(struct sync *y, struct remem_err *err)
{
	int64_t start = clock_mono_ns();
	int rc = sync_talks(y, err);

	y->r->text_ms += ms_since(start);
	arena_reset(&y->round);
	return rc;
}

static int all_rounds(struct sync *y, struct remem_err *err)
{
	bool again = true;
	int rc = 0;

	for (int i = 0; i < MAX_ROUNDS && again && !rc; i++)
		rc = one_round(y, &again, err);
	return rc ? rc : round_talks(y, err);
}

/* ---- the store -------------------------------------------------------- */

static int open_store(struct sync *y, enum store_open_mode mode, int wait_ms,
		      struct remem_err *err)
{
	const struct index_opts *o = y->o;
	const struct store_ops *ops = store_backend(o->backend);
	struct store_opts so = { o->dir, mode, wait_ms, TERM_VERSION,
				 NOTE_VERSION, o->purge };

	if (!ops)
		return fail(err, REMEM_EINVAL, "there is no index backend '%s'",
			    o->backend);
	return ops->open(&y->s, &so, err);
}

static void close_store(struct sync *y)
{
	if (y->s)
		y->s->ops->close(y->s);
	y->s = NULL;
}

/* Whether the files must be cut anew. */
static int needs_rebuild(struct sync *y, bool *yes, struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	struct store_info info;
	char settings[96];
	const char *kept;
	int rc = y->s->ops->info(y->s, &info, err);

	if (rc)
		return rc;
	settings_text(settings, y->o);
	kept = y->s->ops->meta_get(y->s, &a, "settings");
	*yes = info.stale_cut ||
	       (info.indexed && kept && strcmp(kept, settings));
	rc = a.failed ? fail_nomem(err) : 0;
	arena_release(&a);
	return rc;
}

static int open_waiting(struct sync *y, enum store_open_mode mode, bool *waited,
			struct remem_err *err)
{
	int rc = open_store(y, mode, 0, err);

	if (rc != REMEM_EBUSY || !y->o->wait_ms)
		return rc;
	*waited = true;
	return open_store(y, mode, y->o->wait_ms, err);
}

static int open_to_write(struct sync *y, bool *waited, struct remem_err *err)
{
	bool rebuild = y->o->force;
	int rc;

	if (!rebuild) {
		rc = open_waiting(y, STORE_WRITE, waited, err);
		if (!rc)
			rc = needs_rebuild(y, &rebuild, err);
		if (rc == REMEM_ECORRUPT)
			rebuild = true;
		else if (rc)
			return rc;
	}
	if (!rebuild)
		return 0;
	close_store(y);
	y->r->forced = true;
	return open_waiting(y, STORE_REBUILD, waited, err);
}

/* ---- the whole -------------------------------------------------------- */

static int run_vectors(struct sync *y, struct remem_err *err)
{
	int64_t start = clock_mono_ns(), done = y->r->vectors_done;
	int rc = sync_vectors(y, false, err);

	y->r->vector_ms += ms_since(start);
	if (rc || y->r->vectors_done == done ||
	    ms_since(start) < LONG_VECTORS_MS)
		return rc;
	/* What was written in these minutes; its vectors too. */
	if ((rc = all_rounds(y, err)))
		return rc;
	start = clock_mono_ns();
	rc = sync_vectors(y, false, err);
	y->r->vector_ms += ms_since(start);
	return rc;
}

static int publish(struct sync *y, struct remem_err *err)
{
	int rc = sync_vectors(y, true, err);

	if (rc)
		return rc;
	file_fault_step();
	return y->s->ops->publish(y->s, err);
}

static bool is_said(const struct index_report *r, const char *path)
{
	for (int i = 0; i < r->skip_count; i++)
		if (!strcmp(r->skips[i].path, path))
			return true;
	return false;
}

/* What was found to be no image when it was read is not read again, but said
 * again. */
static int say_refused(void *ctx, const struct store_file *f)
{
	struct sync *y = ctx;

	if (f->skipped && f->reason && name_media_kind(f->path) &&
	    !is_said(y->r, f->path))
		sync_skip(y, f->path, f->reason);
	return 0;
}

static int final_info(struct sync *y, struct remem_err *err)
{
	struct index_report *r = y->r;
	struct store_info info;
	int rc = y->s->ops->info(y->s, &info, err);

	if (!rc && y->o->source->media && !y->paths)
		rc = y->s->ops->files_each(y->s, say_refused, y, err);
	if (rc)
		return rc;
	r->files = info.files;
	r->indexed = info.indexed;
	r->skipped = info.skipped;
	r->chunks = info.chunks;
	r->passages = info.passages;
	r->complete = !y->failures && !y->untrusted &&
		      (!y->o->embedder || !r->vectors_pending);
	return 0;
}

/* A generation that a killed run left: only a writer takes it away. */
static bool has_leftover(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d)))
		n += !strncmp(e->d_name, "gen-", 4);
	if (d)
		closedir(d);
	return n > 1;
}

/*
 * Some paths are enough only where the index holds the others, and where no
 * file has two names: with one of them gone it goes by the other.
 */
static int all_or_some(struct sync *y, struct remem_err *err)
{
	struct store_info info;
	int rc;

	if (!y->paths)
		return 0;
	if ((rc = y->s->ops->info(y->s, &info, err)))
		return rc;
	if (info.indexed_at_ms && !y->r->forced &&
	    !y->s->ops->meta_get(y->s, &y->round, "twins"))
		return 0;
	y->paths = NULL;
	round_end(y);
	return 0;
}

/*
 * Most runs find nothing to do: seen by a reader, without the lock and without
 * a byte written. *done: the report is complete. What was walked is kept for
 * the run that has to follow.
 */
static int run_peek(struct sync *y, bool *done, struct remem_err *err)
{
	bool rebuild, work;
	int rc = 0;

	*done = false;
	/* Whatever is wrong with the index is for the writer to mend. */
	if (has_leftover(y->o->dir) || open_store(y, STORE_READ, 0, NULL))
		return 0;
	if ((rc = round_walk(y, err)))
		goto out;
	y->walked = true;
	if (!is_settled(y) ||
	    !talks_settled(&y->round, y->s, y->o->source->sessions) ||
	    needs_rebuild(y, &rebuild, NULL) || rebuild ||
	    sync_vectors_look(y, &work, NULL) || work)
		goto out;
	*done = true;
	y->r->unchanged = y->files;
	rc = final_info(y, err);
out:
	close_store(y);
	return rc;
}

static int run_phases(struct sync *y, struct remem_err *err)
{
	int64_t entries = y->o->cache_entries > 0 ? y->o->cache_entries : 50000;
	int rc;

	/* The vectors of a provider that is down are not those of a model that
	 * is gone: they were paid for, and it comes back. */
	if (y->o->fallback)
		entries += y->r->passages;
	if ((rc = all_or_some(y, err)) ||
	    (rc = all_rounds(y, err)) ||
	    (y->r->forced && (rc = publish(y, err))) ||
	    (rc = run_vectors(y, err)))
		return rc;
	if (y->writes) {
		file_fault_step();
		if ((rc = y->s->ops->maintain(y->s, entries, err)))
			return rc;
	}
	return final_info(y, err);
}

static void forget_counts(struct sync *y)
{
	struct index_report *r = y->r;

	y->rounds = 0;
	r->added = r->changed = r->renamed = r->removed = r->kept = 0;
	r->unchanged = r->vectors_done = r->vectors_cached = 0;
	r->vectors_refused = 0;
}

static int run_writing(struct sync *y, struct remem_err *err)
{
	bool waited = false, done = false;
	/* Who names paths knows that they have changed. */
	bool peek = !y->o->force && !y->paths;
	int rc = peek ? run_peek(y, &done, err) : 0;

	if (rc || done) {
		round_end(y);
		return rc;
	}
	rc = open_to_write(y, &waited, err);
	/* Another process has written since: our walk is older than that. */
	if (waited || rc)
		round_end(y);
	if (!rc)
		rc = run_phases(y, err);
	if (rc == REMEM_ECORRUPT && !y->r->forced) {
		/* Derived data: what is damaged is made anew. */
		close_store(y);
		forget_counts(y);
		y->r->forced = true;
		rc = open_waiting(y, STORE_REBUILD, &waited, err);
		if (!rc)
			rc = run_phases(y, err);
	}
	y->r->shared = !rc && waited && !y->writes;
	close_store(y);
	return rc;
}

static int run_dry(struct sync *y, struct remem_err *err)
{
	bool anew = y->o->force;
	int rc = open_store(y, STORE_READ, 0, err);

	if (rc && rc != REMEM_ENOTFOUND && rc != REMEM_ECORRUPT)
		return rc;
	if (rc)
		y->s = NULL;
	else if (!anew && (rc = needs_rebuild(y, &anew, err)))
		goto out;
	if ((rc = round_walk(y, err)) ||
	    (rc = plan_make(&y->plan, &y->round, &y->list,
			    anew ? NULL : y->s, err)))
		goto out;
	y->r->unchanged = y->plan.unchanged;
	y->r->kept = y->plan.kept;
	y->r->files = (int64_t)y->list.count;
	y->r->indexed = y->files;
	y->r->skipped = y->r->files - y->files;
	y->r->forced = anew;
	rc = sync_dry(y, err);
	y->r->complete = !y->failures;
out:
	round_end(y);
	close_store(y);
	return rc;
}

static int check_opts(const struct index_opts *o, struct remem_err *err)
{
	if (!o->unit_chunk)
		return 0;
	fail(err, REMEM_ENOTSUP, "embedding.unit: chunk is not there: passages "
				 "are embedded");
	fail_action(err, "set embedding.unit to passage");
	return REMEM_ENOTSUP;
}

static int run(struct sync *y, struct remem_err *err)
{
	const struct index_opts *o = y->o;
	int64_t start = clock_mono_ns();
	int rc;

	memset(y->r, 0, sizeof(*y->r));
	y->r->dry_run = o->dry_run;
	if ((rc = check_opts(o, err)))
		return rc;
	y->embed = o->embed_ops ? o->embed_ops : &sync_embed_ops;
	arena_init(&y->round, 0);
	progress_init(&y->progress, o->progress, o->progress_ctx);
	rc = o->dry_run ? run_dry(y, err) : run_writing(y, err);
	if (!rc && y->a->failed)
		rc = fail_nomem(err);
	arena_release(&y->round);
	y->r->took_ms = ms_since(start);
	return rc;
}

int index_run(struct index_report *r, struct arena *a,
	      const struct index_opts *o, struct remem_err *err)
{
	return run(&(struct sync){ .o = o, .r = r, .a = a }, err);
}

int index_paths(struct index_report *r, struct arena *a,
		const struct index_opts *o, const char *const *paths, size_t n,
		struct remem_err *err)
{
	return run(&(struct sync){ .o = o, .r = r, .a = a, .paths = paths,
				   .path_count = n }, err);
}
