/* OpenClaw's records, the same in its files and in its store. */
#ifndef SOURCE_OPENCLAW_H
#define SOURCE_OPENCLAW_H

#include "source/transcript_format.h"

/* Pushes what a record says. t->next holds place and, if known, time. */
void openclaw_record(struct transcript *t, yyjson_val *record);

#endif
