/*
 * What all vector kernels compute in floats: GELU and norms. A file that
 * includes this has defined VEC, LANES, vf and its operations; see
 * kernel_vector.h.
 */
#include <math.h>

/* See KERNEL_GELU_END: beyond it, the bounds at the end make 0 or x. */
VEC static INLINE vf gelu(vf x)
{
	vf u = vf_min(vf_mul(x, x),
		      vf_set1(KERNEL_GELU_END * KERNEL_GELU_END));
	vf p = vf_set1(kernel_gelu_poly[KERNEL_GELU_TERMS - 1]);

	UNROLL for (int i = KERNEL_GELU_TERMS - 2; i >= 0; i--)
		p = vf_fma(p, u, vf_set1(kernel_gelu_poly[i]));
	p = vf_mul(p, x);
	p = vf_max(vf_min(p, vf_set1(0.5f)), vf_set1(-0.5f));
	return vf_mul(x, vf_add(p, vf_set1(0.5f)));
}

VEC static INLINE void norm_row(float *x, const float *y, const float *weight,
				const float *bias, int width, float eps)
{
	vf sum = vf_set1(0), squares = sum, mean, by;

	for (int i = 0; i < width; i += LANES) {
		vf v = vf_load(x + i);

		if (y)
			v = vf_add(v, vf_load(y + i));
		vf_store(x + i, v);
		sum = vf_add(sum, v);
	}
	mean = vf_set1(vf_sum(sum) / (float)width);
	for (int i = 0; i < width; i += LANES) {
		vf v = vf_sub(vf_load(x + i), mean);

		squares = vf_fma(v, v, squares);
	}
	by = vf_set1(1 / sqrtf(vf_sum(squares) / (float)width + eps));
	for (int i = 0; i < width; i += LANES) {
		vf v = vf_mul(vf_sub(vf_load(x + i), mean), by);

		vf_store(x + i, vf_fma(v, vf_load(weight + i),
				       vf_load(bias + i)));
	}
}

VEC static void add_norm(float *x, const float *y, const float *weight,
			 const float *bias, int n, int width, float eps)
{
	for (int t = 0; t < n; t++) {
		norm_row(x, y, weight, bias, width, eps);
		x += width;
		y = y ? y + width : NULL;
	}
}
