/* A tile: consecutive or evenly drawn inputs of one bucket, one region and one monotone piece, judged and counted by
   one block of GV_STRIP lanes. What runs here is ../buckets, input by input: sums of integers and extremes with the
   lowest ordinal as a tie-break, so that the records are those of the CPU's reducer in whatever order the lanes run.

   The same text runs on the CPU, for tests: a phase between two barriers is a loop over the lanes (GV_EACH_LANE), and
   the tally of each lane lies in an array of GV_TALLIES, at GV_TALLY_OF(lane); on the device a thread has one. */
#ifndef GELU_VERIFY_CUDA_TILE_H
#define GELU_VERIFY_CUDA_TILE_H
#include "../buckets/count.h"
#include "../buckets/parabola.h"

#ifdef __CUDA_ARCH__
#define GV_EACH_LANE(lane) for (unsigned lane = threadIdx.x, gv_first = 1; gv_first; gv_first = 0, __syncthreads())
#define GV_TALLIES 1
#define GV_TALLY_OF(lane) 0
#define GV_SET_FLAG(flag) atomicOr(&(flag), 1u)
#define GV_COUNT_UP(count) atomicAdd(&(count), 1u)
#else
#define GV_EACH_LANE(lane) for (unsigned lane = 0; lane < GV_STRIP; lane++)
#define GV_TALLIES GV_STRIP
#define GV_TALLY_OF(lane) (lane)
#define GV_SET_FLAG(flag) ((flag) |= 1u)
#define GV_COUNT_UP(count) ((count)++)
#endif

/* Inputs of ordinals first + j step, j < count; where step > 1 a number below step is added, drawn by the seed. Their
   outputs lie from `place` on. region, analytic span: of all of them, or -1; not spans of first order. */
typedef struct {
    int64_t first, step, count, place, region, span;
    uint64_t seed;
} gv_tile;

/* What a tile adds to its row (and so to its region) and to the facts; ordinals of its ends and their outputs. */
typedef struct {
    gv_row row;
    gv_facts facts;
    gv_segment ends;
} gv_tally;

/* An output that even double-double does not judge: the oracle does, on the host. */
typedef struct {
    uint64_t x, got;
    int64_t approximated;
} gv_undecided_output;

/* splitmix64 of Steele, Lea and Flood: what is drawn depends on seed and place alone */
GV_INLINE uint64_t gv_drawn(uint64_t seed, uint64_t place) {
    return gv_mix(seed + (place + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

GV_INLINE int64_t gv_input_of(const gv_tile *tile, int64_t j) {
    int64_t start = tile->first + j * tile->step;
    if (tile->step == 1) return start;
    return start + (int64_t)(gv_drawn(tile->seed, (uint64_t)start) % (uint64_t)tile->step);
}

/* ---- merging ---- */

GV_INLINE void gv_merge_nearest(gv_nearest *into, const gv_nearest *n) {
    if (n->present) gv_note_nearest(into, n->ordinal, n->got, n->below, n->got_below);
}

GV_INLINE void gv_merge_extreme(gv_extreme *into, const gv_extreme *e) {
    if (e->present) gv_note_extreme(into, e->value, e->ordinal);
}

GV_INLINE void gv_merge_farthest(gv_farthest *into, const gv_farthest *f) {
    if (f->present) gv_note_farthest(into, f->value, f->ordinal);
}

GV_INLINE void gv_merge_worst(gv_worst *into, int fresh, const gv_worst *w) {
    gv_note_worst(into, fresh, w->error, w->ordinal, w->x, w->got, w->want);
}

/* rows of one bucket, less their histograms */
GV_INLINE void gv_merge_row(gv_row *into, const gv_row *row) {
    if (!row->n && !row->count[GV_RISES]) return;
    if (row->n) gv_merge_worst(&into->worst, !into->n, &row->worst);
    for (int k = 0; k < GV_NEAREST_FLAGS; k++) {
        if (row->count[k] && (!into->count[k] || row->nearest[k] < into->nearest[k]))
            into->nearest[k] = row->nearest[k];
        into->count[k] += row->count[k];
    }
    into->error_sum += row->error_sum;
    into->bits_hash += row->bits_hash;
    into->n += row->n;
    into->correct += row->correct;
    into->zero_sign += row->zero_sign;
    into->faithful += row->faithful;
}

GV_INLINE void gv_merge_facts(gv_facts *into, const gv_facts *f) {
    if (f->max_rank > into->max_rank) into->max_rank = f->max_rank;
    gv_merge_extreme(&into->lowest, &f->lowest);
    gv_merge_extreme(&into->highest, &f->highest);
    gv_merge_nearest(&into->nonfinite, &f->nonfinite);
    gv_merge_nearest(&into->wrong_sign, &f->wrong_sign);
    gv_merge_nearest(&into->zero_from, &f->zero_from);
    gv_merge_nearest(&into->rises, &f->rises);
    gv_merge_nearest(&into->beyond_x, &f->beyond_x);
    gv_merge_nearest(&into->nan_wrong, &f->nan_wrong);
    gv_merge_nearest(&into->zero_sign, &f->zero_sign);
    gv_merge_farthest(&into->approximation_ulp, &f->approximation_ulp);
    gv_merge_farthest(&into->approximation_abs, &f->approximation_abs);
}

/* records of two parts of a tile, less `ends` and the histogram, which gv_end_tile fills in */
GV_INLINE void gv_merge_tally(gv_tally *into, const gv_tally *t) {
    gv_merge_row(&into->row, &t->row);
    gv_merge_facts(&into->facts, &t->facts);
}

#endif
