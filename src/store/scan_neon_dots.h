/*
 * The loops of scan_neon.c, which includes this for each of its kernels:
 *
 *   DOTS   name of the function
 *   STEP   adds the products of 16 bytes each to four sums
 */
static void DOTS(int32_t *out, const int8_t *rows, size_t n, size_t padded,
		 const int8_t *q)
{
	size_t i = 0;

	for (; i + 4 <= n; i += 4, rows += 4 * padded) {
		int32x4_t s[4] = { vdupq_n_s32(0), vdupq_n_s32(0),
				   vdupq_n_s32(0), vdupq_n_s32(0) };

		for (size_t k = 0; k < padded; k += 16) {
			int8x16_t w = vld1q_s8(q + k);

			if (!(k & 63))
				fetch(rows + k, padded);
			for (size_t j = 0; j < 4; j++)
				s[j] = STEP(s[j], vld1q_s8(rows + k + j *
							   padded), w);
		}
		put_sums(out + i, s);
	}
	for (; i < n; i++, rows += padded) {
		int32x4_t s = vdupq_n_s32(0);

		for (size_t k = 0; k < padded; k += 16)
			s = STEP(s, vld1q_s8(rows + k), vld1q_s8(q + k));
		out[i] = vaddvq_s32(s);
	}
}

#undef DOTS
#undef STEP
