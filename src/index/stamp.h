/* File stamps: when they can be trusted. */
#ifndef INDEX_STAMP_H
#define INDEX_STAMP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a later write to a file with this change time must give it another
 * one. If not, waits a moment for it (at most *budget_ms, from which it takes);
 * false when it still is not so: the stamp must not be kept.
 */
bool stamp_settle(int64_t ctime_ns, int *budget_ms);

#endif
