/* remem_index(): the options of a sync from the settings, its report as JSON. */
#include "api/batch.h"
#include "api/public.h"

#include "base/clock.h"
#include "base/json.h"
#include "embed/price.h"

#include <string.h>

static void put_skips(struct json *j, const struct index_report *rep)
{
	json_key(j, "skips");
	json_arr(j);
	for (int i = 0; i < rep->skip_count; i++) {
		json_obj(j);
		json_kstr(j, "path", rep->skips[i].path);
		json_kstr(j, "reason", rep->skips[i].reason);
		json_end(j);
	}
	json_arr_end(j);
}

static void put_files(struct json *j, const struct index_report *rep)
{
	json_kint(j, "files", rep->files);
	json_kint(j, "indexed", rep->indexed);
	json_kint(j, "skipped", rep->skipped);
	json_kint(j, "unchanged", rep->unchanged);
	json_kint(j, "added", rep->added);
	json_kint(j, "changed", rep->changed);
	json_kint(j, "renamed", rep->renamed);
	json_kint(j, "removed", rep->removed);
	json_kint(j, "kept", rep->kept);
	json_kint(j, "masked", rep->masked);
	json_kint(j, "chunks", rep->chunks);
	json_kint(j, "passages", rep->passages);
}

static void put_price(struct json *j, struct remem *r,
		      const struct index_report *rep)
{
	double share = batch_share(r, rep->vectors_pending);

	json_kint(j, "tokens", rep->tokens);
	json_key(j, "priceUsd");
	if (rep->price_usd < 0)
		json_put_null(j);
	else
		json_put_num(j, rep->price_usd * share);
	json_kbool(j, "byBatch", share < 1);
	json_kstr(j, "pricesOf", PRICE_DATE);
}

static void put_vectors(struct json *j, struct remem *r,
			const struct index_report *rep, const char *off)
{
	json_key(j, "vectors");
	json_obj(j);
	json_kint(j, "done", rep->vectors_done);
	json_kint(j, "cached", rep->vectors_cached);
	json_kint(j, "pending", rep->vectors_pending);
	json_kint(j, "refused", rep->vectors_refused);
	json_end(j);
	json_kstr(j, "degraded", rep->degraded ? rep->degraded : off);
	json_kstr(j, "changedFrom", rep->changed_from);
	if (rep->dry_run || rep->changed_from)
		put_price(j, r, rep);
}

/* Without an embedder index_run() waits for no vectors. Wanted ones are
 * waited for all the same. */
static void count_wanted(struct index_report *rep, struct remem *r,
			 const struct index_opts *i)
{
	if (i->embedder || rep->dry_run || handle_text_only(r))
		return;
	rep->vectors_pending = rep->passages;
	if (!i->text_only)
		rep->complete = false;
}

static int give_report(char **out, struct remem *r,
		       const struct index_report *rep, const char *off,
		       struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kbool(&j, "complete", rep->complete);
	json_kbool(&j, "dryRun", rep->dry_run);
	json_kbool(&j, "forced", rep->forced);
	json_kbool(&j, "shared", rep->shared);
	put_files(&j, rep);
	put_vectors(&j, r, rep, off);
	batch_put_report(&j, r);
	put_skips(&j, rep);
	json_kint(&j, "scanMs", rep->scan_ms);
	json_kint(&j, "textMs", rep->text_ms);
	json_kint(&j, "vectorMs", rep->vector_ms);
	json_kint(&j, "tookMs", rep->took_ms);
	json_end(&j);
	rc = json_give(out, &b, err);
	buf_release(&b);
	return rc;
}

/* What several runs did together; the rest is as the last one found it. */
static void add_counts(struct index_report *to, const struct index_report *was)
{
	to->added += was->added;
	to->changed += was->changed;
	to->renamed += was->renamed;
	to->removed += was->removed;
	to->masked += was->masked;
	to->forced |= was->forced;
	to->vectors_done += was->vectors_done;
	to->vectors_cached += was->vectors_cached;
	to->vectors_refused += was->vectors_refused;
	to->scan_ms += was->scan_ms;
	to->text_ms += was->text_ms;
	to->vector_ms += was->vector_ms;
	to->took_ms += was->took_ms;
}

static int say_going_on(struct remem *r, struct remem_err *err)
{
	fail(err, REMEM_ECANCELLED, "stopped; %lld batch jobs go on with the "
	     "provider", (long long)r->batch->jobs);
	fail_action(err, "remem index fetches what they bring, remem index "
		    "--cancel-batches ends them");
	return REMEM_ECANCELLED;
}

/* Between two looks at the jobs nothing is locked: what is written meanwhile
 * is indexed by others as ever. */
static int run_all(struct index_report *rep, struct remem *r,
		   const struct remem_index_opts *o, struct arena *a,
		   struct index_opts *i, struct remem_err *err)
{
	int64_t start = clock_mono_ns();
	bool stopped = false;
	int rc = index_run(rep, a, i, err);

	while (!rc && i->batch && i->embedder && !i->dry_run &&
	       batch_wait(r, o, start, &stopped)) {
		struct index_report was = *rep;

		memset(rep, 0, sizeof(*rep));
		i->force = false;
		if (!(rc = index_run(rep, a, i, err)))
			add_counts(rep, &was);
	}
	return !rc && i->batch && stopped ? say_going_on(r, err) : rc;
}

static int run(struct remem *r, const struct remem_index_opts *o, char **json,
	       struct remem_err *err)
{
	struct index_report rep = { 0 };
	struct arena a = ARENA_INIT;
	struct index_opts i;
	const char *off = NULL;
	int rc;

	handle_index_opts(&i, r);
	i.force = o->force != 0;
	i.dry_run = o->dry_run != 0;
	i.text_only = o->text_only != 0;
	i.wait_ms = o->wait_ms;
	i.vector_budget_ms = o->vector_budget_ms;
	i.progress = o->progress;
	i.progress_ctx = o->progress_ctx;
	if (!i.text_only && !handle_text_only(r))
		handle_vectors(&i, r, true, &off);
	/* A dry run gives no id to a workspace that has none yet. */
	if (!i.dir)
		i.dir = arena_printf(&a, "%s/none", r->cache_base ?
				     r->cache_base : "");
	if (a.failed)
		return fail_nomem(err);
	handle_close_reader(r);
	rc = run_all(&rep, r, o, &a, &i, err);
	if (!rc) {
		count_wanted(&rep, r, &i);
		rc = give_report(json, r, &rep, off, err);
	}
	arena_release(&a);
	return rc;
}

PUBLIC int remem_index(struct remem *r, const struct remem_index_opts *opts,
		       char **json, struct remem_err *err)
{
	struct remem_index_opts o;
	int rc;

	*json = NULL;
	if ((rc = opts_take(&o, sizeof(o), opts, err)))
		return rc;
	if (r->read_only && !o.dry_run) {
		fail(err, REMEM_EPERM, "nothing is written: read-only");
		fail_action(err, "leave out --read-only, or index with "
			    "--dry-run");
		return REMEM_EPERM;
	}
	if ((rc = handle_id(r, !o.dry_run, err)))
		return rc;
	if (!r->id[0] && !o.dry_run)
		return fail(err, REMEM_EIO, "the workspace has no id and none "
			    "can be made");
	if (o.cancel_batches && (rc = batch_cancel(r, err)))
		return rc;
	return run(r, &o, json, err);
}
