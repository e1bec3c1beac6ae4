/* The prompt recall: the guidance, and what to look for. */
#include "mcp/prompt.h"

#include <string.h>

#define TOPIC_MAX 4000u

void prompts_put_list(struct json *j)
{
	json_key(j, "prompts");
	json_arr(j);
	json_obj(j);
	json_kstr(j, "name", "recall");
	json_kstr(j, "title", "Recall");
	json_kstr(j, "description",
		  "Look into memory first, then answer with citations.");
	json_key(j, "arguments");
	json_arr(j);
	json_obj(j);
	json_kstr(j, "name", "topic");
	json_kstr(j, "description", "What to recall, in your own words.");
	json_kbool(j, "required", false);
	json_end(j);
	json_arr_end(j);
	json_end(j);
	json_arr_end(j);
}

void prompts_get(struct request *q, struct answer *a, struct worker *w)
{
	yyjson_val *name = yyjson_obj_get(q->params, "name");
	yyjson_val *topic = yyjson_obj_get(yyjson_obj_get(q->params,
							  "arguments"), "topic");
	struct buf text = BUF_INIT(0);
	struct json *j = &a->j;

	(void)w;
	if (!yyjson_equals_str(name, "recall")) {
		answer_fail(a, RPC_PARAMS, "there is no prompt '%.80s', only "
			    "recall", yyjson_is_str(name) ?
			    yyjson_get_str(name) : "");
		return;
	}
	if (topic && (!yyjson_is_str(topic) ||
		      yyjson_get_len(topic) > TOPIC_MAX)) {
		answer_fail(a, RPC_PARAMS, "'topic' should be a text of at "
			    "most %u bytes", TOPIC_MAX);
		return;
	}
	server_guidance(q->server, &text);
	buf_adds(&text, "\nSearch the memory now");
	if (topic && yyjson_get_len(topic)) {
		buf_adds(&text, " for this, and tell me what it holds:\n");
		buf_add(&text, yyjson_get_str(topic), yyjson_get_len(topic));
	} else {
		buf_adds(&text, " for what bears on our conversation so far, "
			 "and tell me what it holds.");
	}
	json_kstr(j, "description", "Look into memory first.");
	json_key(j, "messages");
	json_arr(j);
	json_obj(j);
	json_kstr(j, "role", "user");
	json_key(j, "content");
	json_obj(j);
	json_kstr(j, "type", "text");
	json_key(j, "text");
	json_put_strn(j, buf_str(&text), text.len);
	json_end(j);
	json_end(j);
	json_arr_end(j);
	buf_release(&text);
}
