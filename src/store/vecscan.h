/*
 * Scanning a file of vectors for a question. With raw v, q' = q - mean_q and m
 * the mean of v's script:  score = (q'.v - q'.m) / (|q'| |v - m|)
 *
 * Rows are scanned with q' as int8 and the norms as stored; the best are then
 * scored again exactly, with the means given.
 */
#ifndef STORE_VECSCAN_H
#define STORE_VECSCAN_H

#include <stdatomic.h>

#include "store/scan.h"
#include "store/topk.h"
#include "store/vecfile.h"
#include "text/script.h"

#define SCAN_SCRIPTS 16 /* a power of two, at least SCRIPT_COUNT */

struct scan_question {
	const struct scan_kernel *kernel;
	int dims;
	size_t padded;
	float *q; /* q - mean_q, padded */
	int8_t *q8;
	float scale; /* q8 * scale is q; 0: the question has no direction */
	float norm;
	float *mean[SCAN_SCRIPTS]; /* padded; NULL: zero */
	float offset[SCAN_SCRIPTS]; /* q'.mean */
	float mean_square[SCAN_SCRIPTS];
	float *zero; /* padded */
};

/* mean_q NULL: zero; means by script, any of them NULL. The question is
 * released also after a failure. */
int scan_question_init(struct scan_question *u, int dims, const float *q,
		       const float *mean_q, const float *const *means,
		       struct remem_err *err);
void scan_question_release(struct scan_question *u);

/* The exact score of one row: a cosine; 0 where there is no direction. */
float scan_exact(const struct scan_question *u, const int8_t *row,
		 const struct vec_meta *m);

struct scan_filter {
	bool (*pass)(const void *ctx, const struct vec_meta *m, size_t slot);
	const void *ctx;
};

/*
 * A part of a scan after the other, until none is left: several threads may do
 * so at once, with a top of their own each and next, 0 at first, in common.
 * The best of all of them, laid together with topk_add(), are those of one
 * thread alone; scores are exact after scan_finish(), which also sorts them.
 */
void scan_parts(const struct scan_question *u, const struct vecfile *v,
		size_t slots, const struct scan_filter *filter,
		atomic_size_t *next, struct topk *top);
void scan_finish(const struct scan_question *u, const struct vecfile *v,
		 struct topk *top);

/* The best of the living among the first slots slots, scored exactly, best
 * first. filter NULL: all. */
void scan_vectors(const struct scan_question *u, const struct vecfile *v,
		  size_t slots, const struct scan_filter *filter,
		  struct topk *top);

#endif
