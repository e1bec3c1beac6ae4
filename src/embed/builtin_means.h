/* Default language means of the builtin model; see tools/make-means.py. */
#ifndef EMBED_BUILTIN_MEANS_H
#define EMBED_BUILTIN_MEANS_H

#include "text/script.h"

/* Raw mean vector of each script class (384 floats), NULL where unknown. */
extern const float *const builtin_means[SCRIPT_COUNT];

#endif
