/* A reducer from the rules of its sweep, and back to nothing. */
#ifndef GV_REDUCE_CREATE_H
#define GV_REDUCE_CREATE_H
#include "comb.h"

static void gv_free_reducer(gv_reducer *r) {
    if (!r) return;
    free(r->rows);
    free(r->segments);
    free(r->ordered);
    free(r);
}

/* NULL when there is no memory; rows take memory when they are met */
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

#endif
