/* Markdown as notes use it, read line by line into blocks and gaps. */
#ifndef TEXT_MARKDOWN_H
#define TEXT_MARKDOWN_H

#include "text/passage.h"

/* Reads n->text from n->body on; before plain no line underlines a heading
 * (text that looked like front matter). Fails in p->a. */
void markdown_read(struct passages *p, size_t plain);

#endif
