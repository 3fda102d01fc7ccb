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
#include <string.h>
#include "strided_run.h"

enum { GV_SPARES = 2 };
static gv_row *gv_spares[GV_SPARES]; /* rows of reducers that are gone, all zero: zeroing 14 MB anew costs more */

/* All rows, zero; NULL when there is no memory. */
static gv_row *gv_take_rows(void) {
    for (int k = 0; k < GV_SPARES; k++) {
        gv_row *rows = __atomic_exchange_n(&gv_spares[k], NULL, __ATOMIC_ACQ_REL);
        if (rows) return rows;
    }
    return calloc(GV_BUCKETS, sizeof(gv_row));
}

/* Keep the rows for the next reducer, or free them. Those without inputs were never written. */
static void gv_give_back_rows(gv_reducer *r) {
    for (size_t k = r->first_row; k < r->end_row; k++)
        if (r->rows[k].n) memset(&r->rows[k], 0, sizeof r->rows[k]);
    for (int k = 0; r->rows && k < GV_SPARES; k++) {
        gv_row *none = NULL;
        if (__atomic_compare_exchange_n(&gv_spares[k], &none, r->rows, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
    }
    free(r->rows);
}

static void gv_free_reducer(gv_reducer *r) {
    if (!r) return;
    gv_give_back_rows(r);
    free(r->segments);
    free(r->ordered);
    free(r);
}

/* NULL when there is no memory */
static gv_reducer *gv_new_reducer(const gv_rules *rules, gv_oracle oracle, void *owner) {
    gv_reducer *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->rules = *rules;
    r->oracle = oracle;
    r->owner = owner;
    gv_fill_weights(&r->weights);
    r->rows = gv_take_rows();
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
