/* Reads index, disk and provider; the index is opened for reading only. */
#include "api/survey.h"

#include <string.h>

static void count_notes(struct survey *s)
{
	for (size_t i = 0; i < s->list.count; i++)
		s->notes += s->list.files[i].skip == NULL;
}

static void look_at_provider(struct survey *s)
{
	const struct settings *set = &s->r->settings;

	s->requested = settings_str(set, "memorySearch.provider");
	s->unwanted = handle_text_only(s->r);
	s->embedder = handle_embedder(s->r, &s->off);
}

static int count_pending(struct survey *s, struct remem_err *err)
{
	struct remem *r = s->r;
	int fp = 0, dims, rc;

	if (s->unwanted || !s->have_index)
		return 0;
	s->pending = s->info.passages - s->info.embedded;
	if (!s->embedder || s->off)
		return 0;
	rc = r->ops->fingerprint_find(r->store,
				      embedder_info(s->embedder)->fingerprint,
				      &fp, &dims, err);
	if (!rc && fp)
		rc = r->ops->pending_count(r->store, fp, &s->pending, err);
	else if (!rc)
		s->pending = s->info.passages;
	return rc;
}

/* Damage is a finding and not a failure. */
static int as_finding(struct survey *s, int rc, struct remem_err *err)
{
	if (!rc)
		return 0;
	if (s->index_err.code == REMEM_ENOMEM)
		return fail_nomem(err);
	handle_close_reader(s->r);
	s->have_index = false;
	return 0;
}

int survey_take(struct survey *s, struct remem *r, struct remem_err *err)
{
	int rc;

	memset(s, 0, sizeof(*s));
	arena_init(&s->a, 0);
	s->r = r;
	look_at_provider(s);
	rc = handle_reader(r, &s->index_err);
	s->have_index = !rc;
	if (!rc)
		rc = r->ops->info(r->store, &s->info, &s->index_err);
	if (!rc)
		rc = count_pending(s, &s->index_err);
	if ((rc = as_finding(s, rc, err)))
		return rc;
	rc = index_dirty(&s->dirty, &s->list, &s->a, s->have_index ? r->store :
			 NULL, &r->source, &s->walk_err);
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (rc && !s->walk_err.code)
		s->walk_err.code = rc;
	count_notes(s);
	return s->a.failed ? fail_nomem(err) : 0;
}

void survey_release(struct survey *s)
{
	source_list_release(&s->list);
	arena_release(&s->a);
}

const char *survey_problem(struct survey *s)
{
	if (s->walk_err.code)
		return s->walk_err.message;
	if (!s->have_index && s->index_err.code != REMEM_ENOTFOUND)
		return s->index_err.message;
	if (!s->have_index && s->notes)
		return arena_printf(&s->a, "there is no index yet, and %lld "
				    "notes wait for one",
				    (long long)s->notes);
	if (s->have_index && !s->info.indexed && s->notes)
		return arena_printf(&s->a, "0 files are indexed but %lld notes "
				    "exist here", (long long)s->notes);
	if (s->have_index && s->info.stale_cut)
		return "the index was made by another version and is cut "
		       "anew by the next run";
	return NULL;
}
