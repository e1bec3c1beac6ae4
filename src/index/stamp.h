/* File stamps: when they can be trusted, and one digest over all of them. */
#ifndef INDEX_STAMP_H
#define INDEX_STAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "source/source.h"

#define STAMP_HEX 33

/*
 * Whether a later write to a file with this change time must give it another
 * one. If not, waits a moment for it (at most *budget_ms, from which it takes);
 * false when it still is not so: the stamp must not be kept.
 */
bool stamp_settle(int64_t ctime_ns, int *budget_ms);

/*
 * 128 bits in hexadecimal over what a walk found: all paths, stamps, reasons.
 * Files that were gone when they were read are left out. Guards against
 * chance, not against somebody who can set change times; another version's
 * digest differs, which costs one comparison file by file.
 */
void stamp_digest(char hex[STAMP_HEX], const struct source_list *l);

#endif
