/* One judged output after the other: any inputs, in ascending order within a run. */
#ifndef GV_BUCKETS_SPARSE_H
#define GV_BUCKETS_SPARSE_H
#include "count.h"
#include "state.h"

GV_INLINE void gv_count_one(gv_reducer *r, const gv_judged_output *o, int width) {
    gv_point p = {gv_ordinal(o->x, width), gv_ordinal(o->got, width)};
    gv_row *row = &r->rows[gv_bucket(p.x, width)];
    int64_t region = gv_region_of(r, p.x);
    gv_count_output(&r->rules, row, region < 0 ? NULL : &r->regions[region], &r->facts, o, p, width);
    if (fabs(o->error) <= DBL_MAX) row->hist[gv_bin(&r->rules, fabs(o->error))]++;
    if (r->has_previous) gv_count_rise(&r->rules, row, &r->facts, r->previous, p, width);
    r->previous = p;
    r->has_previous = 1;
}

/* A run that the caller has judged. */
GV_INLINE int gv_add_judged_width(gv_reducer *r, int width, const void *x, const void *got, const void *want,
                                  const double *error, const unsigned char *faithful, size_t n) {
    if (!gv_begin_run(r)) return 0;
    for (size_t i = 0; i < n; i++) {
        gv_judged_output o = {gv_read(x, i, width), gv_read(got, i, width), gv_read(want, i, width),
                              gv_without_noise(error[i]), faithful[i]};
        gv_count_one(r, &o, width);
    }
    gv_end_run(r, (gv_point){gv_ordinal(gv_read(x, 0, width), width), gv_ordinal(gv_read(got, 0, width), width)});
    return 1;
}

/* 0 when there is no memory; n > 0, x ascends */
static int gv_add_judged(gv_reducer *r, const void *x, const void *got, const void *want, const double *error,
                         const unsigned char *faithful, size_t n) {
    switch (r->rules.fmt.width) {
        case 16: return gv_add_judged_width(r, 16, x, got, want, error, faithful, n);
        case 32: return gv_add_judged_width(r, 32, x, got, want, error, faithful, n);
        default: return gv_add_judged_width(r, 64, x, got, want, error, faithful, n);
    }
}

#endif
