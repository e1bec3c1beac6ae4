/*
 * What a struct remem holds, for the bodies of remem_*. Opening one reads the
 * settings and finds the workspace, and nothing more: model, index and network
 * are opened by the call that needs them, so that a search by keywords costs
 * milliseconds.
 */
#ifndef API_HANDLE_H
#define API_HANDLE_H

#include "api/settings.h"
#include "chat/chat.h"
#include "embed/embed.h"
#include "index/index.h"
#include "memory/memory.h"
#include "memory/origin_index.h"
#include "source/source.h"
#include "store/state.h"
#include "store/store.h"

struct other_provider { /* beside the first one; opened at first use */
	struct embedder *e;
	bool tried;
	const char *name; /* of the provider, NULL: there is none */
	const char *why; /* there is no embedder */
};

struct remem {
	struct arena a; /* what lives as long as the handle */
	struct env env;
	struct settings settings;
	const char *workspace; /* absolute, real */
	const char *agent; /* "" for the default one */
	char client[64]; /* program that asks, for the ledger; or "" */
	const char *config_file; /* the user's; NULL without a home */
	const char *program;
	const char *cache_base, *state_base; /* NULL without a home */
	char id[UUID_CHARS]; /* of the workspace, "" while it has none */
	bool id_written; /* and known to the state folder */
	const char *index_dir; /* NULL while it has no id */
	bool read_only, trusted, has_workspace_file;
	int64_t now_ms; /* 0: the clock */
	struct source_opts source;
	struct note_opts note;
	const struct store_ops *ops;
	struct store *store; /* open reader, NULL if none */
	struct embedder *embedder;
	bool embedder_tried;
	struct remem_err embedder_err; /* why there is none */
	struct other_provider fallback, former;
	char *model_path; /* of the builtin model, found at first use */
	struct state *state; /* for the ledger, opened at first use */
	bool state_tried;
	struct index_batch *batch; /* made when jobs are wanted or open */
	const char *write_lock; /* path, made at the first write */
	struct origin_index origins; /* classes of lines, for the index */
};

/* Finds id and index_dir; create: makes an id if there is none. 0 with an
 * empty id when there is none and create is false. */
int handle_id(struct remem *r, bool create, struct remem_err *err);
int64_t handle_now_ms(const struct remem *r);
/* The user's time zone, "" for the system's; and the user's day of now. */
const char *handle_zone(const struct remem *r);
int32_t handle_today(const struct remem *r);
/* Settings as the lower layers take them. */
int handle_source(struct remem *r, struct remem_err *err);
void handle_note(struct remem *r);
void handle_index_opts(struct index_opts *o, struct remem *r);

/*
 * The embedder of the settings, opened at first use. NULL when vectors are
 * switched off or it cannot be opened; *why then says so (may be NULL).
 */
struct embedder *handle_embedder(struct remem *r, const char **why);
/* The one of memorySearch.fallback. NULL: *why says so, or is NULL where none
 * is set. */
struct embedder *handle_fallback(struct remem *r, const char **why);
/*
 * The one that made vectors with this fingerprint before the model was changed,
 * as far as its settings are known and it may be asked: a remote one only while
 * a remote one is set. NULL: *why says so.
 */
struct embedder *handle_former(struct remem *r, const char *fingerprint,
			       const char **why);
/* The providers of a run of the index. by_hand: a person asked for it, so that
 * one that was down is asked again, and a changed model may be paid for. */
void handle_vectors(struct index_opts *o, struct remem *r, bool by_hand,
		    const char **off);
/* Whether a better provider than the one whose vectors answer may be back. */
bool handle_wants_back(struct remem *r);
/* Whether the user has chosen to have no vectors: then text is the whole. */
bool handle_text_only(const struct remem *r);
/* Fills c for a provider (NULL: the setting's); resolves the key. */
int embed_config_from(struct embed_config *c, struct remem *r,
		      const char *provider, struct remem_err *err);
/* The same from another section of the settings ("memorySearch.fallback"); *e
 * is where the embedder will be. */
int embed_config_of(struct embed_config *c, struct remem *r,
		    const char *section, const char *provider,
		    struct embedder **e, struct remem_err *err);
/* Keeps durably how the provider of c is. health.c */
void health_connect(struct embed_config *c, struct remem *r);
/* Path of the builtin model's file; REMEM_ENOTFOUND with where was looked. */
int model_find(const char **out, struct remem *r, struct remem_err *err);
/* The local model that is set (NULL or "": none); NULL then. It need not be
 * there. */
int model_local(const char **out, struct remem *r, const char *set,
		struct remem_err *err);
/* SHA-256 of a file, hexadecimal; hex has room for 65 bytes. */
int model_sum(char *hex, const char *path, struct remem_err *err);
#define MODEL_FILE "multilingual-e5-small-q4_0.gguf"

/* The folders where models are looked for, best first, NULL-terminated. */
const char *const *model_folders(struct arena *a, struct remem *r);
/* The same for llama.cpp's libraries. */
const char *const *runtime_folders(struct arena *a, struct remem *r);

/*
 * Opens the published index for reading, or another one if it has changed.
 * REMEM_ENOTFOUND: there is none yet; REMEM_ECORRUPT, REMEM_EVERSION.
 */
int handle_reader(struct remem *r, struct remem_err *err);
void handle_close_reader(struct remem *r);

/*
 * The durable data of the workspace, opened for writing (made if need be).
 * NULL when that cannot be, which is logged once.
 */
struct state *handle_state(struct remem *r);
/*
 * The workspace for its writers: opens state and folder, fills in settings and
 * limits. memory_close() afterwards, also after a failure. REMEM_EPERM when
 * nothing may be written. r->state stays open.
 */
int handle_memory(struct memory *m, struct remem *r, struct remem_err *err);
/* The class of lines that others write, by the setting and the state s, which
 * may be NULL. */
enum remem_origin handle_edits(struct remem *r, struct state *s);
/* The classes of lines for a run of the index. */
const struct index_origins *handle_origins(struct remem *r);
/* Copies a caller's actor of any version. */
int actor_take(struct remem_actor *out, const struct remem_actor *given,
	       struct remem_err *err);
/* Puts each remote call into the ledger, and bounds them by budget.*. */
void ledger_connect(struct embed_config *c, struct remem *r,
		    struct embedder **e);
void ledger_connect_chat(struct chat_config *c, struct remem *r);
/* The chat model of the settings, for the caller to free; one that is off, if
 * none is set. REMEM_EINVAL, and what a reference to a key can fail with. */
int handle_chat(struct chat **out, struct remem *r, struct remem_err *err);
/* How many texts the provider takes at once, as learned by an earlier run from
 * a refusal; 0: none was refused. The second keeps what was learned now. */
int ledger_learned(struct remem *r, const struct embed_config *c);
void ledger_learn(struct remem *r, struct embedder *e);
/* "provider address model": what is remembered about one goes by it. */
const char *provider_key(struct arena *a, const char *what,
			 const struct embed_config *c);

/* Whether the workspace's remem.yaml with these bytes is trusted. */
bool trust_holds(struct remem *r, const void *text, size_t len);

/* Commits the notes if git.commit says so; what goes wrong is logged. After
 * each write. */
void handle_commit_notes(struct remem *r);

/* Compact JSON text to the caller, as remem_free() takes it. */
int json_give(char **out, struct buf *b, struct remem_err *err);
/* Local "YYYY-MM-DDTHH:MM:SS+hh:mm" of a time, null for 0. */
void json_ktime(struct json *j, const char *key, int64_t ms);

#endif
