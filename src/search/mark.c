/* Marks by wording; the rules are text/suspect's. */
#include "search/mark.h"

#include "search/work.h"
#include "text/suspect.h"

void mark_text(struct cand *c)
{
	if (c->marked)
		return;
	c->marked = true;
	c->suspect = text_suspect(c->text, c->p->len);
	c->one_off = text_one_off(c->text, c->p->len);
}
