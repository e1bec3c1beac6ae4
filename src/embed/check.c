/* Finite, not zero, normalised. */
#include "embed/check.h"

#include <math.h>

const char *check_vector(float *v, int dims)
{
	double sum = 0, k;

	for (int i = 0; i < dims; i++)
		sum += (double)v[i] * v[i];
	if (!isfinite(sum))
		return "the provider answered a vector that is not finite";
	if (sum <= 0)
		return "the provider answered a vector of zeros";
	k = 1 / sqrt(sum);
	for (int i = 0; i < dims; i++)
		v[i] = (float)(v[i] * k);
	return NULL;
}

double check_cosine(const float *a, const float *b, int dims)
{
	double ab = 0, aa = 0, bb = 0, c;

	for (int i = 0; i < dims; i++) {
		ab += (double)a[i] * b[i];
		aa += (double)a[i] * a[i];
		bb += (double)b[i] * b[i];
	}
	c = ab / sqrt(aa * bb);
	return isfinite(c) ? c : 0;
}
