/* The reducer: error statistics of a sweep, bucket by bucket of x. It judges outputs and counts what it finds; what it
   keeps does not depend on the order of the inputs or on how they are split (records.h).

   The error is E = (got - y)/u(y), as ../truth/judge.h defines it. How y and E are found here, for formats of 16 and 32
   bits, and how well they are known:
     enclosure.h, strip_enclosure.h   |y - (hi + lo)| < err, of one input and of strips of inputs
     parabola.h                       the same of 256 consecutive float32, by interpolation
     ulp_error.h, strip_ulp_error.h   E within 2^(p - 36) ulp, of one output and of strips; what these do not decide is
                                      evaluated in double-double, then by the oracle
     same_binade.h                    the same, and counted, of strips whose values and outputs share a binade
     analytic_spans.h                 runs of float32 whose correctly rounded results a formula gives
     analytic_parts.h                 the same of parts of runs; and of outputs that overflow
   What is counted: records.h, hash.h, count.h. By what way: sparse.h (one output after the other), dense.h (strips of
   consecutive inputs, by vectors), outputs.h (any run of outputs), strided_run.h (runs of consecutive float32, as
   targets are called with them: strided.h).
   float64 and other functions are judged by the caller (gv_add_judged).

   Tests: tests/buckets/test_reducer.py holds it against NumPy bit for bit, one way of counting against the other, and E
   against the reference; tests/truth/test_clones.py compares the bytes of every instruction set. */
#ifndef GV_BUCKETS_REDUCER_H
#define GV_BUCKETS_REDUCER_H
#include "strided_run.h"

static void gv_free_reducer(gv_reducer *r) {
    if (!r) return;
    free(r->rows);
    free(r->segments);
    free(r->ordered);
    free(r);
}

/* NULL when there is no memory; a row takes memory when it is first written to */
static gv_reducer *gv_new_reducer(const gv_rules *rules, gv_oracle oracle, void *owner) {
    gv_reducer *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->rules = *rules;
    r->oracle = oracle;
    r->owner = owner;
    gv_fill_weights(&r->weights);
    r->rows = calloc(GV_BUCKETS, sizeof *r->rows);
    if (r->rows) return r;
    gv_free_reducer(r);
    return NULL;
}

/* The buckets that have inputs, ascending; the number of them. */
static size_t gv_used_buckets(const gv_reducer *r, uint16_t *buckets) {
    size_t count = 0;
    for (size_t k = r->first_row; k < r->end_row; k++) /* to look at all would touch 16 MB */
        if (r->rows[k].n) buckets[count++] = (uint16_t)k;
    return count;
}

#endif
