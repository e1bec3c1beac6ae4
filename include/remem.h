/*
 * remem: memory for AI agents, as a C library.
 *
 * Markdown notes are the truth; remem keeps an index of them that can be
 * deleted and rebuilt, and answers questions with cited lines. The library
 * never exits, prints, reads the environment or calls a remote service that
 * the settings did not name.
 *
 * Conventions. Functions return 0 or a negative REMEM_E code and fill the
 * caller's struct remem_err (may be NULL). Option structs start with their
 * size: set it with REMEM_OPTS_INIT, so that newer fields default to zero.
 * Strings are UTF-8. `const char *` results are borrowed from the object that
 * returned them; `char **out` belongs to the caller and is freed with
 * remem_free(). A handle may be used by one thread at a time; open one for
 * each thread.
 */
#ifndef REMEM_H
#define REMEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REMEM_VERSION_MAJOR 0
#define REMEM_VERSION_MINOR 1
#define REMEM_VERSION_PATCH 0

enum remem_code {
	REMEM_OK = 0,
	REMEM_EINVAL = -1, /* an argument makes no sense */
	REMEM_ENOMEM = -2,
	REMEM_EIO = -3, /* the system refused; message has its reason */
	REMEM_ENOTFOUND = -4,
	REMEM_EFORMAT = -5, /* bytes from outside are not what they should be */
	REMEM_ECORRUPT = -6, /* the index is damaged: rebuild it */
	REMEM_EREMOTE = -7, /* a provider failed or lied */
	REMEM_ETIMEOUT = -8,
	REMEM_ECANCELLED = -9,
	REMEM_ELIMIT = -10, /* a documented limit was passed */
	REMEM_EBUSY = -11, /* another process holds it */
	REMEM_EPERM = -12, /* a path or setting is not allowed */
	REMEM_ENOTSUP = -13, /* this build or machine cannot do it */
	REMEM_EVERSION = -14, /* made by a newer remem */
	REMEM_EBUG = -15
};

struct remem_err {
	int code;
	char message[512]; /* what went wrong, no full stop */
	char action[256]; /* what the user can do, "" if nothing */
};

/* Releases what came back through a char ** or float ** result. */
void remem_free(void *p);

/* ---- opening ---------------------------------------------------------- */

struct remem; /* a workspace with its settings and its index */

struct remem_open_opts {
	size_t size;
	const char *workspace; /* folder; NULL: found as spec'd, from cwd up */
	const char *agent; /* NULL: the default one */
	/*
	 * "NAME=value" strings ending with NULL, usually environ: HOME, XDG_*
	 * and REMEM_* are looked up here and nowhere else. NULL: HOME of the
	 * user database, XDG defaults.
	 */
	const char *const *env;
	/* "key=value" settings that go before all others; NULL-terminated. */
	const char *const *set;
	const char *config_file; /* instead of the user's config.yaml */
	const char *program; /* path of the program, to find its models */
	int read_only; /* nothing is written anywhere */
	int64_t now_ms; /* the time to take as now; 0: the clock */
	/* Also where no workspace is found: for models and settings alone. */
	int anywhere;
};

#ifdef __cplusplus
#define REMEM_OPTS_INIT(type) { sizeof(type) }
#else
#define REMEM_OPTS_INIT(type) { .size = sizeof(type) }
#endif

/* *out is freed with remem_close(). REMEM_ENOTFOUND: no such workspace. */
int remem_open(struct remem **out, const struct remem_open_opts *opts,
	       struct remem_err *err);
void remem_close(struct remem *r);
/* From now on it is this program that asks: for remem_usage() "by agent". ""
 * and NULL: nobody in particular. */
void remem_client(struct remem *r, const char *name);

/* What a process that serves others has to know of a handle. */
struct remem_traits {
	size_t size;
	/* Equal for handles that answer alike: workspace, agent, settings with
	 * their sources, folders. Hexadecimal. */
	char identity[65];
	int read_only;
	int text_only; /* vectors are not wanted */
	int auto_start; /* daemon.autoStart */
	int idle_minutes; /* daemon.idleMinutes */
};

/* Fills traits, whose size is set. */
int remem_traits(struct remem *r, struct remem_traits *traits,
		 struct remem_err *err);

/* The workspace's folder, absolute. */
const char *remem_workspace(const struct remem *r);

/*
 * Makes a workspace in dir (MEMORY.md with a few comment lines, memory/);
 * touches nothing that exists. *json: {"version":1,"workspace","created":[]}.
 */
int remem_init(char **json, const struct remem_open_opts *opts,
	       const char *dir, struct remem_err *err);

/* ---- logging and progress --------------------------------------------- */

/* level: 0 error, 1 warning, 2 information, 3 trace. Process-wide. */
typedef void (*remem_log_fn)(void *ctx, int level, const char *component,
			     const char *message);
/* trace: "embed,store", "all,-http" or NULL. */
void remem_log(remem_log_fn fn, void *ctx, const char *trace);

/*
 * Called while long work goes on: phase ("scan", "text", "vectors", …), what
 * is done of how many (total 0: unknown), per second, seconds left (-1:
 * unknown). A result other than 0 stops the work, which can be resumed.
 */
typedef int (*remem_progress_fn)(void *ctx, const char *phase, int64_t done,
				 int64_t total, double rate, double left_s);

/* ---- index ------------------------------------------------------------ */

struct remem_index_opts {
	size_t size;
	int force; /* a new generation from nothing but the cache */
	int dry_run; /* only say what would be done */
	int text_only; /* leave the vectors for later */
	int wait_ms; /* for another process that indexes: -1 = for ever */
	int vector_budget_ms; /* stop embedding after that, 0: no bound */
	remem_progress_fn progress;
	void *progress_ctx;
	/* First ask the provider to end the batch jobs that are open. What they
	 * have done is fetched, what they have not is left to the next run. */
	int cancel_batches;
};

/*
 * Brings the index up to date. *json (doc/schema.md, "index"). Returns 0 also
 * when single files were skipped: "complete" and "skipped" tell. Whatever is
 * done stays when it fails or is stopped in the middle.
 */
int remem_index(struct remem *r, const struct remem_index_opts *opts,
		char **json, struct remem_err *err);

/* ---- keeping in step -------------------------------------------------- */

struct remem_watch;

struct remem_watch_opts {
	size_t size;
	/*
	 * Each thing that happens, as one line of JSON (doc/schema.md,
	 * "watch"). A result other than 0 ends remem_watch().
	 */
	int (*event)(void *ctx, const char *json);
	void *ctx;
};

/*
 * Keeps the index in step with the files by itself, as memorySearch.sync.*
 * says. r must outlive it and is used by remem_watch() alone. REMEM_EPERM when
 * nothing may be written; REMEM_EINVAL when the settings forbid to watch.
 */
int remem_watch_new(struct remem_watch **out, struct remem *r,
		    const struct remem_watch_opts *opts, struct remem_err *err);
/* Returns 0 when it was asked to stop; a sync that fails is an event and is
 * tried again. */
int remem_watch(struct remem_watch *w, struct remem_err *err);
/* These from any thread; the first also from a signal handler. */
void remem_watch_stop(struct remem_watch *w);
/* Somebody waits: what has changed is taken up at once. */
void remem_watch_hurry(struct remem_watch *w);
/* Nonzero: nothing has changed since the last sync, as far as the system can
 * tell; a search may leave out its own look (no_sync). */
int remem_watch_is_clean(const struct remem_watch *w);
void remem_watch_free(struct remem_watch *w);

/*
 * To be called when a conversation begins: what has changed is indexed within
 * the time that a search may take for it, unless sync.onSessionStart is false.
 * *why: NULL, or why the index is behind; freed with remem_free().
 */
int remem_session_start(struct remem *r, char **why, struct remem_err *err);

/* ---- search ----------------------------------------------------------- */

enum remem_mode { REMEM_MODE_HYBRID, REMEM_MODE_TEXT, REMEM_MODE_VECTOR };

struct remem_search_opts {
	size_t size;
	enum remem_mode mode;
	int max_results; /* 0: the setting */
	double min_score; /* negative: none; 0: the setting */
	int deadline_ms; /* 0: none */
	int explain;
	int no_sync; /* do not look for changed files first */
	const char *now; /* "YYYY-MM-DD" to take as today, or NULL */
	/* filters; NULL or 0 where not wanted */
	const char *source; /* "memory", "sessions" */
	const char *path; /* prefix or glob */
	const char *after; /* "YYYY-MM-DD", inclusive */
	const char *before;
	int last_days; /* --last 7d */
	const char *tag;
	const char *origin;
	const char *project;
	/* While changed files are indexed first and a remote model is waited
	 * for. A result other than 0 ends the search: REMEM_ECANCELLED. */
	remem_progress_fn progress;
	void *progress_ctx;
	/* "YYYY-MM-DD": memory as it stood at the end of that day, from the
	 * workspace's git history. REMEM_ENOTFOUND: there is none. */
	const char *as_of;
};

struct remem_hit {
	const char *path; /* relative to the workspace */
	int start_line, end_line; /* of the snippet, from 1, inclusive */
	double score, relevance;
	const char *snippet;
	const char *source;
	const char *citation; /* "path#L3-L9" */
	const char *date; /* "YYYY-MM-DD" or "" */
	const char *origin;
	const char *flags; /* comma-separated, "" if none */
	const char *superseded_by; /* citation or NULL */
	const char *heading; /* "A > B" or "" */
};

struct remem_results;

/* *out is freed with remem_results_free(). No hit is no error. */
int remem_search(struct remem *r, const char *query, size_t query_len,
		 const struct remem_search_opts *opts,
		 struct remem_results **out, struct remem_err *err);
size_t remem_results_count(const struct remem_results *res);
/* NULL when i is out of range. */
const struct remem_hit *remem_results_hit(const struct remem_results *res,
					  size_t i);
/* Why the answer is less than it could be, NULL if it is not; and what to do. */
const char *remem_results_degraded(const struct remem_results *res);
const char *remem_results_message(const struct remem_results *res);
/* The answer as JSON (doc/schema.md, "search"), one line. */
int remem_results_json(const struct remem_results *res, char **json,
		       struct remem_err *err);
void remem_results_free(struct remem_results *res);

/* ---- get -------------------------------------------------------------- */

struct remem_get_opts {
	size_t size;
	int from; /* first line, 0: from the address, else 1 */
	int lines; /* how many, 0: the address or the setting (120) */
	int max_chars; /* 0: the setting (12,000) */
	int64_t offset; /* characters of the first line to leave out */
	const char *as_of; /* as for a search */
};

/*
 * Lines of a file of the workspace or its roots. address: "path",
 * "path:from", "path:from:count", "path#L15" or "path#L15-L30". *json
 * (doc/schema.md, "get") has status "ok" or "not_found". REMEM_EPERM: the
 * path is not beneath a root.
 */
int remem_get(struct remem *r, const char *address,
	      const struct remem_get_opts *opts, char **json,
	      struct remem_err *err);

/* ---- writing memory ---------------------------------------------------- */

/*
 * Who a text comes from, worst first. A line can never claim a better one
 * than its writer has: origin is kept beside the text, not in it.
 */
enum remem_origin {
	REMEM_ORIGIN_DEFAULT, /* by the way it came: see each call */
	REMEM_ORIGIN_UNKNOWN, /* counts as untrusted */
	REMEM_ORIGIN_UNTRUSTED, /* web pages, tool output, other people */
	REMEM_ORIGIN_SYSTEM, /* made by programs: reports, diaries */
	REMEM_ORIGIN_AGENT,
	REMEM_ORIGIN_OWNER
};

/* Who asks for a write or a recall; goes into the journal. */
struct remem_actor {
	size_t size;
	const char *via; /* "cli", "mcp", "hook:claude-code", …; NULL: "lib" */
	const char *session; /* id of the conversation, or NULL */
	enum remem_origin origin;
};

struct remem_append_opts {
	size_t size;
	/* NULL or "today": today's note; "MEMORY", "USER", or "memory/x.md" */
	const char *to;
	int importance; /* 1 to 10, 0: none */
	const char *triggers; /* "a, b", at most 3 of 64 characters, or NULL */
	const char *project, *source; /* or NULL; source: a citation or address */
	const char *observed; /* "YYYY-MM-DD" when it was true, or NULL */
	int verbatim; /* the text is lines as they are, no list item is made */
	int dry_run;
	struct remem_actor actor;
};

/*
 * Adds a text to a note: one locked write at its end, on disk when this
 * returns. The same text from the same source on one day is added once.
 * *json (doc/schema.md, "append"): path, citation, duplicate, journal id.
 * REMEM_EPERM: read-only or not a place for notes; REMEM_ELIMIT: too long.
 */
int remem_append(struct remem *r, const char *text, size_t len,
		 const struct remem_append_opts *opts, char **json,
		 struct remem_err *err);

/* A transcript of an agent's program, for flush and snapshot. */
struct remem_talk_opts {
	size_t size;
	const char *transcript; /* file; NULL: found by session */
	const char *format; /* row of transcripts.def; NULL: recognised */
	const char *session; /* conversation, NULL: the only or last one */
	const char *reason; /* "compact", "new", "reset", "end", … */
	int64_t window_tokens; /* of the host's model, 0: by the format */
	int64_t used_tokens; /* known to the host, 0: from the transcript */
	int check; /* only say whether it is time */
	int force; /* also when it is not time, or was done */
	int dry_run; /* show what would be written */
	struct remem_actor actor;
	/* What the host's model answered to remem_flush_prompt(): remem_flush()
	 * checks it and writes it instead of looking itself; or NULL. */
	const char *answer;
	size_t answer_len;
};

/* Our instructions for a model that has the conversation before it. */
int remem_flush_prompt(char **text, struct remem_err *err);
/* What matters of a conversation into today's note, before it is compacted.
 * *json: doc/schema.md, "flush". Nothing to do is no error. */
int remem_flush(struct remem *r, const struct remem_talk_opts *opts,
		char **json, struct remem_err *err);
/* The last messages of a conversation into a note of their own. */
int remem_snapshot(struct remem *r, const struct remem_talk_opts *opts,
		   char **json, struct remem_err *err);

/*
 * The journal of what was written and recalled, newest last. trace: only what
 * concerns a citation or a path, or NULL. verify: checks the chain and names
 * the first broken record ("ok":false; still 0 is returned). keep: takes the
 * older records away but the newest so many, after the chain was verified, and
 * the chain goes on from there; REMEM_ECORRUPT if it is broken.
 */
struct remem_journal_opts {
	size_t size;
	const char *trace;
	const char *op; /* only of this kind, or NULL */
	int verify;
	int limit; /* 0: 50 */
	int64_t keep; /* 0: nothing is taken away */
};
int remem_journal(struct remem *r, const struct remem_journal_opts *opts,
		  char **json, struct remem_err *err);
/* Takes one write of the journal back; dry_run only shows the change. */
int remem_undo(struct remem *r, int64_t id, int dry_run, char **json,
	       struct remem_err *err);

/* action: "list", "show", "apply", "reject"; id as "list" gives it. */
int remem_review(struct remem *r, const char *action, const char *id,
		 int dry_run, char **json, struct remem_err *err);

struct remem_forget_opts {
	size_t size;
	/* what goes: those given must all hold; one at least */
	const char *entry; /* citation */
	const char *source, *session, *person, *text;
	const char *after, *before; /* "YYYY-MM-DD", inclusive */
	int dry_run; /* only list what would go */
	struct remem_actor actor;
};
int remem_forget(struct remem *r, const struct remem_forget_opts *opts,
		 char **json, struct remem_err *err);

/* Duplicates, contradictions, stale entries, leaks: *json, "report". */
int remem_memory_report(struct remem *r, char **json, struct remem_err *err);

/* action: "init", "status", "log", "commit". Only notes are committed. */
int remem_git(struct remem *r, const char *action, char **json,
	      struct remem_err *err);

/* ---- for agents -------------------------------------------------------- */

struct remem_context_opts {
	size_t size;
	int budget_tokens; /* 0: the setting */
	int shared; /* a group or a shared room: no private memory */
	const char *task; /* adds the best hits for it, or NULL */
	const char *host; /* row of hosts.def, or NULL */
	int max_chars; /* hard bound of the block, 0: none */
	struct remem_actor actor;
};

/* The block for the start of a conversation: *json has "text". */
int remem_context(struct remem *r, const struct remem_context_opts *opts,
		  char **json, struct remem_err *err);

struct remem_recall_opts {
	size_t size;
	int max_results; /* 0: 3 */
	int max_chars; /* 0: 1,800 */
	int deadline_ms; /* 0: 200 */
	int shared;
	struct remem_actor actor; /* session: nothing is given twice in it */
};

/* What memory adds to a prompt by itself: *json has "text", "" if nothing is
 * worth it. Only curated or trusted lines, as data, never instructions. */
int remem_recall(struct remem *r, const char *prompt, size_t len,
		 const struct remem_recall_opts *opts, char **json,
		 struct remem_err *err);

/* Our short text that tells an agent when to search and how to cite; citations
 * by the settings (r NULL: by their defaults). The caller frees it. */
int remem_guidance(struct remem *r, int shared, char **text,
		   struct remem_err *err);

/* ---- the rest, as JSON reports ---------------------------------------- */

enum remem_embed_kind { REMEM_EMBED_QUERY, REMEM_EMBED_DOCUMENT };

/*
 * Vectors of n texts by the settings' provider (or the one named), L2-
 * normalised: *out holds n * *dims floats, freed with remem_free().
 */
int remem_embed(struct remem *r, const char *provider,
		enum remem_embed_kind kind, const char *const *texts,
		const size_t *lens, size_t n, float **out, int *dims,
		struct remem_err *err);

/* What remote providers were asked in this workspace, and its price; by "day"
 * (NULL too), "provider", "model" or "agent". Reads only. */
int remem_usage(struct remem *r, const char *by, char **json,
		struct remem_err *err);

/* Reads only. deep: providers are asked and the index is checked. */
int remem_status(struct remem *r, int deep, char **json, struct remem_err *err);
/* What is wrong and its repair; fix: does what is safe. */
int remem_doctor(struct remem *r, int fix, char **json, struct remem_err *err);
/* key NULL: all of them, with value, default and source of each. */
int remem_config_get(struct remem *r, const char *key, char **json,
		     struct remem_err *err);
/* Writes the user's file (atomically, comments kept). value NULL: removes. */
int remem_config_set(struct remem *r, const char *key, const char *value,
		     char **json, struct remem_err *err);
/* Whether the workspace's remem.yaml may set every key. on: -1 only asks. */
int remem_trust(struct remem *r, int on, char **json, struct remem_err *err);
/* action: "list", "verify", "use" (name needed). */
int remem_models(struct remem *r, const char *action, const char *name,
		 char **json, struct remem_err *err);

struct remem_fetch_opts {
	size_t size;
	const char *from; /* folder or address it comes from; NULL: see below */
	const char *sha256; /* of the file; NULL: that of FILE.sha256 there */
	int force; /* also when there is too little memory for it */
	remem_progress_fn progress;
	void *progress_ctx;
};
/*
 * Fetches a model file into the first models folder and checks it; what came
 * of it before is kept and gone on with. name: of the file, or its address.
 */
int remem_models_pull(struct remem *r, const char *name,
		      const struct remem_fetch_opts *o, char **json,
		      struct remem_err *err);
/* Fetches llama.cpp's libraries: the pinned package by the npm client, or from
 * a folder (o->from) that has the package's file or the libraries. */
int remem_models_runtime(struct remem *r, const struct remem_fetch_opts *o,
			 char **json, struct remem_err *err);
/* Version, build, CPU path and libraries. */
int remem_version(char **json, struct remem_err *err);
/* Upper bound for the vector instructions: "portable", "avx2", … */
int remem_cpu(const char *level, struct remem_err *err);

#ifdef __cplusplus
}
#endif

#endif
