/* Vectors that came back, looked at before they are kept. */
#ifndef EMBED_CHECK_H
#define EMBED_CHECK_H

#include <stddef.h>

/* Makes the length of v 1. NULL, or what is wrong with it. */
const char *check_vector(float *v, int dims);
/* Cosine of two vectors of any length; 0 when one is no vector. */
double check_cosine(const float *a, const float *b, int dims);

#endif
