/* What to say about an index that is larger than one scan can be quick in. */
#ifndef API_SCALE_H
#define API_SCALE_H

#include <stdint.h>

#include "base/arena.h"

/* NULL while every search reads few enough vectors. */
const char *scale_warning(struct arena *a, int64_t vectors, int dims);
extern const char scale_action[];

#endif
