/*
 * One pass over the lines with at most one block open. What matters is where
 * a passage begins and ends, so this is looser than CommonMark where notes
 * are looser:
 *
 *   - a list item is one at any indentation, also behind 1、 and •
 *   - a fence without an end is a line of text, and what follows is read as
 *     usual: it would swallow the rest of the note
 *   - quotes are only taken off the beginnings of lines; lists in them work
 *   - --- under a single line of text makes a heading, under more a rule
 *
 * Looking ahead for the end of a fence or comment happens a bounded number of
 * times without success, so that time stays linear.
 */
#include "text/markdown.h"

#include <string.h>

#include "text/line.h"

#define TAB 4
#define CODE_INDENT 4
#define MAX_QUOTES 8
#define MAX_NESTING 16
#define FENCE_MAX_BYTES 200 /* a longer line of backticks is text */
#define FENCE_TRIES 4
#define SETEXT_MAX_BYTES 200 /* headings are short */

struct line {
	size_t start, end, next; /* end without the line feed */
	size_t first; /* first byte that is not blank, behind quote signs */
	int indent; /* columns before it */
	bool blank, quoted;
};

enum open { OPEN_NONE, OPEN_PARAGRAPH, OPEN_ITEM, OPEN_CODE };

struct reader {
	struct passages *p;
	const char *t;
	size_t len;
	struct line l;
	int number; /* of the line */
	size_t plain;
	/* the open block */
	enum open open;
	struct block block; /* end: of its last line with words */
	int lines, indent;
	bool quoted, after_blank;
	/* items above, by the column of their marker */
	struct {
		int indent;
		const struct annotations *ann;
	} above[MAX_NESTING];
	int depth;
	/* fences of so many marks or more have no end: ` and ~ */
	size_t fence_open[2];
	int fence_tries;
	bool no_comment_end;
};

/* Passes blanks and counts their columns. */
static size_t pass_indent(const char *t, size_t i, size_t end, int *columns)
{
	size_t n;

	while ((n = blank_at(t, i, end))) {
		if (t[i] == '\t')
			*columns += TAB - *columns % TAB;
		else
			++*columns; /* two wide ones indent Chinese prose */
		i += n;
	}
	return i;
}

static void read_line(struct line *l, const char *t, size_t pos, size_t len)
{
	int quotes = 0;

	l->start = pos;
	l->end = line_end(t, pos, len);
	l->next = l->end < len ? l->end + 1 : len;
	l->indent = 0;
	l->first = pass_indent(t, pos, l->end, &l->indent);
	while (quotes < MAX_QUOTES && l->first < l->end && t[l->first] == '>' &&
	       l->indent < CODE_INDENT) {
		quotes++;
		l->first++;
		if (l->first < l->end && t[l->first] == ' ')
			l->first++;
		l->indent = 0;
		l->first = pass_indent(t, l->first, l->end, &l->indent);
	}
	l->quoted = quotes > 0;
	l->blank = l->first == l->end;
}

static void next_line(struct reader *r)
{
	r->number++;
	read_line(&r->l, r->t, r->l.next, r->len);
}

static void close_block(struct reader *r)
{
	const struct annotations *ann;

	if (r->open == OPEN_NONE)
		return;
	ann = passages_block(r->p, &r->block);
	if (r->open == OPEN_ITEM && r->depth)
		r->above[r->depth - 1].ann = ann;
	r->open = OPEN_NONE;
}

static void open_block(struct reader *r, enum open open, enum passage_kind kind,
		       size_t start)
{
	if (open != OPEN_ITEM)
		r->depth = 0;
	r->open = open;
	r->block = (struct block){
		.line_start = r->l.start,
		.start = start,
		.end = r->l.end,
		.line = r->number,
		.kind = kind,
		.entry = r->depth <= 1,
	};
	if (r->depth > 1)
		r->block.above = r->above[r->depth - 2].ann;
	r->lines = 1;
	r->indent = r->l.indent;
	r->quoted = r->l.quoted;
	r->after_blank = false;
}

static void extend_block(struct reader *r)
{
	r->block.end = r->l.end;
	r->lines++;
	r->after_blank = false;
}

/* A whole block in one line or in lines that were found already. */
static void add_block(struct reader *r, enum passage_kind kind,
		      size_t line_start, size_t start, size_t end, int line)
{
	struct block b = { .kind = kind, .entry = true, .line = line };

	b.line_start = line_start;
	b.start = start;
	b.end = end;
	passages_block(r->p, &b);
}

/* The line itself is a gap. */
static void add_gap(struct reader *r)
{
	close_block(r);
	passages_gap(r->p, r->l.start, r->l.end, r->number);
}

/* ---- headings and rules ------------------------------------------------ */

static bool try_heading(struct reader *r)
{
	const char *t = r->t;
	size_t i = r->l.first, end, from;
	int level = 0;

	while (i < r->l.end && t[i] == '#' && level < 7) {
		i++;
		level++;
	}
	if (!level || level > 6 || r->l.quoted || r->l.indent >= CODE_INDENT ||
	    (i < r->l.end && !blank_at(t, i, r->l.end)))
		return false;
	from = skip_blank(t, i, r->l.end);
	end = trim_blank(t, from, r->l.end);
	for (i = end; i > from && t[i - 1] == '#'; i--)
		;
	if (i == from || byte_blank(t[i - 1]))
		end = trim_blank(t, from, i);
	close_block(r);
	r->depth = 0;
	return passages_heading(r->p, r->l.start, from, end, level, r->number);
}

/* Only the sign c and blanks from first on; returns how many signs. */
static size_t only(const struct line *l, const char *t, char c, bool blanks)
{
	size_t n = 0, end = trim_blank(t, l->first, l->end);

	for (size_t i = l->first; i < end; i++) {
		if (t[i] == c)
			n++;
		else if (!blanks || !byte_blank(t[i]))
			return 0;
	}
	return n;
}

/* A paragraph of one line, underlined with = or -. */
static bool try_setext(struct reader *r)
{
	char c = r->t[r->l.first];
	struct block *b = &r->block;

	if ((c != '=' && c != '-') || r->open != OPEN_PARAGRAPH ||
	    r->lines != 1 || r->quoted || r->l.quoted ||
	    r->l.indent >= CODE_INDENT || r->l.start < r->plain ||
	    b->end - b->start > SETEXT_MAX_BYTES ||
	    only(&r->l, r->t, c, false) < 2)
		return false;
	if (!passages_heading(r->p, b->line_start, b->start, b->end,
			      c == '=' ? 1 : 2, b->line))
		return false;
	r->open = OPEN_NONE;
	passages_gap(r->p, r->l.start, r->l.end, r->number);
	return true;
}

static bool try_rule(struct reader *r)
{
	char c = r->t[r->l.first];

	if ((c != '-' && c != '*' && c != '_') ||
	    only(&r->l, r->t, c, true) < 3)
		return false;
	add_gap(r);
	r->depth = 0;
	return true;
}

/* ---- fences and comments ----------------------------------------------- */

static size_t count_marks(const char *t, size_t i, size_t end, char c)
{
	size_t from = i;

	while (i < end && t[i] == c)
		i++;
	return i - from;
}

/* Marks of a fence that the line opens, 0 if none. */
static size_t fence_marks(const struct reader *r)
{
	const struct line *l = &r->l;
	char c = r->t[l->first];
	size_t n;

	if ((c != '`' && c != '~') || l->quoted ||
	    l->end - l->start > FENCE_MAX_BYTES)
		return 0;
	n = count_marks(r->t, l->first, l->end, c);
	if (n < 3 || n >= r->fence_open[c == '~'])
		return 0;
	if (c == '`' && memchr(r->t + l->first + n, '`', l->end - l->first - n))
		return 0;
	return n;
}

/*
 * Finds the line that ends the fence which the current line opens: *close
 * that line, *number its number. Remembers a fence that has no end.
 */
static bool find_fence_end(struct reader *r, size_t marks, struct line *close,
			   int *number)
{
	char c = r->t[r->l.first];

	*close = r->l;
	*number = r->number;
	while (close->next < r->len) {
		read_line(close, r->t, close->next, r->len);
		++*number;
		if (!close->blank && r->t[close->first] == c &&
		    close->end - close->start <= FENCE_MAX_BYTES &&
		    only(close, r->t, c, false) >= marks)
			return true;
	}
	r->fence_open[c == '~'] = ++r->fence_tries < FENCE_TRIES ? marks : 0;
	return false;
}

/* Makes the line that was found the current one. */
static void go_to(struct reader *r, const struct line *l, int number)
{
	r->l = *l;
	r->number = number;
}

static bool try_fence(struct reader *r)
{
	size_t marks = fence_marks(r), first, words;
	struct line close;
	int number, line;

	if (!marks || !find_fence_end(r, marks, &close, &number))
		return false;
	add_gap(r);
	r->depth = 0;
	/* Words begin at the first line with words, with its indentation. */
	first = r->l.next;
	line = r->number + 1;
	words = skip_blank(r->t, first, close.start);
	if (words < close.start) {
		line += line_feeds(r->t, first, words);
		while (words > first && r->t[words - 1] != '\n')
			words--;
		add_block(r, PASSAGE_CODE, words, words, close.start, line);
	}
	go_to(r, &close, number);
	add_gap(r);
	return true;
}

/* Takes a fence into the item it stands in. */
static bool fence_in_item(struct reader *r)
{
	size_t marks = fence_marks(r);
	struct line close;
	int number;

	if (!marks || !find_fence_end(r, marks, &close, &number))
		return false;
	go_to(r, &close, number);
	extend_block(r);
	return true;
}

/* A comment that stands alone on its lines, with a blank line before it. */
static bool try_comment(struct reader *r)
{
	const char *t = r->t;
	size_t i = r->l.first, start = r->l.start, end;
	int line = r->number;

	if (!bytes_at(t, i, r->l.end, "<!--", 4) || r->no_comment_end ||
	    (r->open != OPEN_NONE && !r->after_blank))
		return false;
	for (i += 4; i < r->len; i++) {
		const char *q = memchr(t + i, '>', r->len - i);

		if (!q)
			i = r->len;
		else
			i = (size_t)(q - t);
		if (q && q[-1] == '-' && q[-2] == '-')
			break;
	}
	if (i >= r->len) {
		r->no_comment_end = true;
		return false;
	}
	end = line_end(t, i, r->len);
	if (skip_blank(t, i + 1, end) < end)
		return false;
	close_block(r);
	passages_gap(r->p, start, i + 1, line);
	while (r->l.end < end)
		next_line(r);
	return true;
}

/* ---- tables ------------------------------------------------------------ */

/* Signs and blanks of |---|:--:| alone, with at least one - and one |. */
static bool is_delimiter(const char *t, const struct line *l)
{
	bool dash = false, bar = false;

	if (l->blank || !strchr("|:-", t[l->first]))
		return false;
	for (size_t i = l->first; i < l->end; i++) {
		dash |= t[i] == '-';
		bar |= t[i] == '|';
		if (!t[i] || !strchr("|:- \t\r", t[i]))
			return false;
	}
	return dash && bar;
}

static void add_row(struct reader *r)
{
	const char *t = r->t;
	size_t start = r->l.first, end = trim_blank(t, start, r->l.end);

	if (start < end && t[start] == '|')
		start = skip_blank(t, start + 1, end);
	if (end > start && t[end - 1] == '|')
		end = trim_blank(t, start, end - 1);
	for (size_t i = start; i < end; i++) {
		if (!strchr("|:- \t\r", t[i])) {
			add_block(r, PASSAGE_ROW, r->l.start, start, end,
				  r->number);
			return;
		}
	}
	passages_gap(r->p, r->l.start, r->l.end, r->number);
}

/* Rows up to the first line without a bar; it is left for the caller. */
static bool try_table(struct reader *r)
{
	struct line below;

	if (r->l.next >= r->len || !strchr("|:- \t>", r->t[r->l.next]) ||
	    !r->t[r->l.next] ||
	    !memchr(r->t + r->l.first, '|', r->l.end - r->l.first))
		return false;
	read_line(&below, r->t, r->l.next, r->len);
	if (!is_delimiter(r->t, &below))
		return false;
	close_block(r);
	r->depth = 0;
	add_row(r);
	next_line(r);
	add_gap(r);
	while (r->l.next < r->len) {
		read_line(&below, r->t, r->l.next, r->len);
		if (below.blank ||
		    !memchr(r->t + below.first, '|', below.end - below.first))
			break;
		next_line(r);
		add_row(r);
	}
	return true;
}

/* ---- lists ------------------------------------------------------------- */

/* Bytes of a list marker with its blanks at i, 0 if there is none. *one: a
 * bullet or a first number, which may follow a paragraph directly. */
static size_t marker_at(const char *t, size_t i, size_t end, bool *one)
{
	size_t from = i;

	*one = true;
	if (strchr("-*+", t[i]) && t[i]) {
		i++;
	} else if (bytes_at(t, i, end, "•", 3)) {
		return skip_blank(t, i + 3, end) - from;
	} else if (byte_digit(t[i])) {
		while (i < end && i - from < 9 && byte_digit(t[i]))
			i++;
		*one = i - from == 1 && t[from] == '1';
		if (bytes_at(t, i, end, "、", 3))
			return skip_blank(t, i + 3, end) - from;
		if (i == end || (t[i] != '.' && t[i] != ')'))
			return 0;
		i++;
	} else {
		return 0;
	}
	if (i < end && !blank_at(t, i, end))
		return 0;
	return skip_blank(t, i, end) - from;
}

/* Passes [ ], [x] and the like. */
static size_t pass_box(const char *t, size_t i, size_t end)
{
	if (end - i >= 3 && t[i] == '[' && t[i + 2] == ']' && t[i + 1] &&
	    strchr(" xX-/>", t[i + 1]) &&
	    (i + 3 == end || blank_at(t, i + 3, end)))
		return skip_blank(t, i + 3, end);
	return i;
}

static bool try_item(struct reader *r)
{
	bool one;
	const struct annotations *ann;
	size_t n = marker_at(r->t, r->l.first, r->l.end, &one);

	if (!n || (!one && r->open == OPEN_PARAGRAPH && !r->after_blank))
		return false;
	close_block(r);
	while (r->depth && r->above[r->depth - 1].indent >= r->l.indent)
		r->depth--;
	ann = r->depth ? r->above[r->depth - 1].ann : NULL;
	if (r->depth < MAX_NESTING) {
		r->above[r->depth].indent = r->l.indent;
		r->above[r->depth++].ann = ann;
	}
	open_block(r, OPEN_ITEM, PASSAGE_ITEM,
		   pass_box(r->t, r->l.first + n, r->l.end));
	return true;
}

/* True if the line goes on with the open item. */
static bool goes_on(struct reader *r)
{
	if (r->l.quoted != r->quoted)
		return false;
	if (r->after_blank)
		return r->l.indent >= r->indent + 2;
	return r->l.indent > r->indent;
}

/* ---- lines ------------------------------------------------------------- */

static void blank_line(struct reader *r)
{
	if (r->open == OPEN_PARAGRAPH)
		close_block(r);
	r->after_blank = true;
	if (r->l.quoted)
		add_gap(r);
}

/* Lines that only the open block can judge; true if it took the line. */
static bool open_takes(struct reader *r)
{
	switch (r->open) {
	case OPEN_ITEM:
		if (!goes_on(r))
			return false;
		if (!try_item(r) && !fence_in_item(r))
			extend_block(r);
		return true;
	case OPEN_CODE:
		if (r->l.indent < CODE_INDENT || r->l.quoted)
			return false;
		extend_block(r);
		return true;
	case OPEN_PARAGRAPH:
		return try_setext(r);
	case OPEN_NONE:
		break;
	}
	return false;
}

static void text_line(struct reader *r)
{
	/* A lazy line belongs to the item or paragraph above it. */
	if ((r->open == OPEN_PARAGRAPH || r->open == OPEN_ITEM) &&
	    !r->after_blank && r->quoted == r->l.quoted) {
		extend_block(r);
		return;
	}
	close_block(r);
	if (r->l.indent >= CODE_INDENT && !r->l.quoted)
		open_block(r, OPEN_CODE, PASSAGE_CODE, r->l.start);
	else
		open_block(r, OPEN_PARAGRAPH, PASSAGE_PARAGRAPH, r->l.first);
}

/* Only these bytes begin anything but text. */
static bool may_begin_block(char c)
{
	switch (c) {
	case '#':
	case '-':
	case '*':
	case '+':
	case '_':
	case '`':
	case '~':
	case '<':
	case '=':
	case '\xe2': /* • */
		return true;
	default:
		return byte_digit(c);
	}
}

static void read_any(struct reader *r)
{
	if (r->l.blank) {
		blank_line(r);
		return;
	}
	if (r->open != OPEN_NONE && open_takes(r))
		return;
	if (may_begin_block(r->t[r->l.first]) &&
	    (try_heading(r) || try_fence(r) || try_comment(r) || try_rule(r) ||
	     try_item(r)))
		return;
	if (!try_table(r))
		text_line(r);
}

void markdown_read(struct passages *p, size_t plain)
{
	struct reader r = { .p = p, .t = p->n->text, .len = p->n->len };

	r.plain = plain;
	r.fence_open[0] = r.fence_open[1] = r.len + 1;
	r.number = line_feeds(r.t, 0, p->n->body);
	r.l.next = p->n->body;
	while (r.l.next < r.len && !p->a->failed) {
		next_line(&r);
		read_any(&r);
	}
	close_block(&r);
}
