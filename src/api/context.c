/* remem_context(): memory for the start of a conversation. */
#include <string.h>

#include "api/given.h"
#include "api/public.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "memory/context.h"
#include "memory/render.h"
#include "text/token.h"

#define TASK_HITS 5
#define TASK_DEADLINE_MS 500
#define BUDGET_MAX 1000000
/* Where the whole guidance would take more than this part of the budget. */
#define GUIDANCE_PART 3

static const char short_guidance[] =
	"Before answering about earlier work, decisions, people, dates, "
	"preferences or to-dos, call memory_search; say so if nothing is "
	"found.\n";

struct context_call {
	struct remem *r;
	struct arena a;
	struct remem_context_opts o;
	struct context_opts make;
	struct context_block block;
	struct given given;
	char *guidance;
	const char *task_error; /* why there are no hits, NULL */
};

static bool is_trusted(void *ctx, const char *path, const char *text,
		       size_t len)
{
	struct context_call *c = ctx;

	return given_trusted(&c->given, path, text, len);
}

static void on_shown(void *ctx, const char *text, size_t len)
{
	struct context_call *c = ctx;

	given_mark(&c->given, text, len);
}

static int take_opts(struct context_call *c, struct remem_err *err)
{
	const struct settings *s = &c->r->settings;
	struct context_opts *m = &c->make;

	if (c->o.budget_tokens < 0 || c->o.budget_tokens > BUDGET_MAX ||
	    c->o.max_chars < 0)
		return fail(err, REMEM_EINVAL, "the budget should be from 1 to "
			    "%d tokens", BUDGET_MAX);
	m->source = &c->r->source;
	m->note = c->r->note;
	m->today = handle_today(c->r);
	m->daily_days = settings_bool(s, "startupContext.enabled") ?
		(int)settings_int(s, "startupContext.dailyMemoryDays") : 0;
	m->daily_chars = (int)settings_int(s, "startupContext.maxFileChars");
	m->budget_tokens = c->o.budget_tokens ? c->o.budget_tokens :
		(int)settings_int(s, "context.budgetTokens");
	m->max_chars = c->o.max_chars;
	m->shared = c->o.shared != 0;
	m->trusted = is_trusted;
	m->shown = c->o.actor.session ? on_shown : NULL;
	m->ctx = c;
	return 0;
}

static void take_hits(struct context_call *c, const struct remem_results *res)
{
	size_t n = remem_results_count(res);
	struct context_hit *hits = ARENA_ARRAY(&c->a, struct context_hit,
					       n + 1);

	c->make.hits = hits;
	for (size_t i = 0; hits && i < n; i++) {
		const struct remem_hit *h = remem_results_hit(res, i);
		struct buf b = BUF_INIT(0);

		if (!given_hit(&c->given, h))
			continue;
		render_line(&b, h->snippet, strlen(h->snippet));
		hits[c->make.hit_count++] = (struct context_hit){
			arena_strndup(&c->a, buf_str(&b), b.len),
			arena_strdup(&c->a, h->citation),
		};
		buf_release(&b);
	}
}

static int take_guidance(struct context_call *c, struct remem_err *err)
{
	int rc = remem_guidance(c->r, c->make.shared, &c->guidance, err);
	size_t tokens;

	if (rc)
		return rc;
	tokens = token_estimate(c->guidance, strlen(c->guidance));
	c->make.guidance = tokens * GUIDANCE_PART >
			   (size_t)c->make.budget_tokens ? short_guidance :
							   c->guidance;
	return 0;
}

/* A search that fails leaves the rest of the block as it is, and says so. */
static void search_task(struct context_call *c)
{
	struct remem_search_opts so = REMEM_OPTS_INIT(so);
	struct remem_results *res = NULL;
	struct remem_err why = { 0 };

	if (!c->o.task || !c->o.task[0] || c->make.shared)
		return;
	so.max_results = TASK_HITS;
	so.deadline_ms = TASK_DEADLINE_MS;
	so.source = "memory";
	if (remem_search(c->r, c->o.task, strlen(c->o.task), &so, &res, &why))
		c->task_error = arena_strdup(&c->a, why.message);
	else
		take_hits(c, res);
	remem_results_free(res);
}

static int give(char **out, struct context_call *c, struct remem_err *err)
{
	const struct context_block *k = &c->block;
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_key(&j, "text");
	json_put_strn(&j, k->text, k->len);
	json_kint(&j, "tokens", (int64_t)k->tokens);
	json_kint(&j, "budgetTokens", c->make.budget_tokens);
	json_kstr(&j, "audience", c->make.shared ? "shared" : "private");
	json_kint(&j, "entries", k->entries);
	json_key(&j, "leftOut");
	json_arr(&j);
	for (int i = 0; i < k->left_count; i++) {
		json_obj(&j);
		json_kstr(&j, "path", k->left[i].path[0] ? k->left[i].path :
				      NULL);
		json_kint(&j, "entries", k->left[i].entries);
		json_kstr(&j, "reason", context_why_name(k->left[i].why));
		json_end(&j);
	}
	json_arr_end(&j);
	json_kstr(&j, "taskError", c->task_error);
	json_end(&j);
	rc = c->a.failed ? fail_nomem(err) : json_give(out, &b, err);
	buf_release(&b);
	return rc;
}

PUBLIC int remem_context(struct remem *r, const struct remem_context_opts *opts,
			 char **json, struct remem_err *err)
{
	struct context_call c = { .r = r, .a = ARENA_INIT };
	struct remem_actor actor;
	int rc;

	*json = NULL;
	if ((rc = opts_take(&c.o, sizeof(c.o), opts, err)) ||
	    (rc = actor_take(&actor, &c.o.actor, err)) ||
	    (rc = take_opts(&c, err)) ||
	    (rc = take_guidance(&c, err)))
		goto out;
	given_begin(&c.given, r, &actor);
	search_task(&c);
	rc = context_make(&c.block, &c.a, &c.make, err);
	given_end(&c.given, "context", NULL);
	if (!rc)
		rc = give(json, &c, err);
out:
	remem_free(c.guidance);
	arena_release(&c.a);
	return rc;
}
