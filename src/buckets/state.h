/* The records of a sweep while they grow, and the run of inputs that is being added. */
#ifndef GV_BUCKETS_STATE_H
#define GV_BUCKETS_STATE_H
#include <stdlib.h>
#include "hash.h"
#include "records.h"
#include "strip_ulp_error.h"

typedef struct {
    gv_rules rules;
    gv_row *rows;
    size_t first_row, end_row; /* all that have inputs lie between */
    gv_region regions[GV_MOST_REGIONS];
    gv_facts facts;
    gv_segment *segments;
    size_t segment_count, segment_capacity;
    uint32_t *ordered; /* outputs of a strided run, by ordinal */
    size_t ordered_capacity;
    gv_oracle oracle;
    void *owner;
    gv_point previous; /* of the run of inputs being added */
    int64_t has_previous, region;
    gv_strip strip;
    gv_weights weights;
} gv_reducer;

/* the region of an input, or -1; inputs ascend within a run */
GV_INLINE int64_t gv_region_of(gv_reducer *r, int64_t ordinal) {
    const gv_rules *rules = &r->rules;
    if (ordinal < rules->edges[0] || ordinal >= rules->edges[rules->region_count]) return -1;
    while (ordinal >= rules->edges[r->region + 1]) r->region++;
    return r->region;
}

/* 0 when there is no memory */
static int gv_begin_run(gv_reducer *r) {
    r->has_previous = 0;
    r->region = 0;
    if (r->segment_count < r->segment_capacity) return 1;
    size_t capacity = 2 * r->segment_capacity + 64;
    gv_segment *grown = realloc(r->segments, capacity * sizeof *grown);
    if (!grown) return 0;
    r->segments = grown;
    r->segment_capacity = capacity;
    return 1;
}

static void gv_end_run(gv_reducer *r, gv_point first) {
    size_t low = gv_bucket(first.x, r->rules.fmt.width), high = gv_bucket(r->previous.x, r->rules.fmt.width);
    r->first_row = r->end_row && r->first_row < low ? r->first_row : low;
    r->end_row = r->end_row > high ? r->end_row : high + 1;
    r->segments[r->segment_count++] = (gv_segment){first, r->previous};
}

#endif
