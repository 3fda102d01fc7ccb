/* What a strided run of float32 inputs with wrong outputs leaves in a reducer, written to stdout as bytes, for every function.
   Compiled once for each instruction set by test_clones.py; the bytes must be the same. */
#include <stdio.h>
#include "buckets/pairs.h"
#include "buckets/reducer.h"

#define COUNT 65536

static void no_oracle(void *owner, int approximated, uint64_t x, uint64_t got, uint64_t *want, double *error,
                      int *faithful) {
    (void)owner, (void)approximated, (void)x, (void)got, (void)want, (void)error, (void)faithful;
}

/* ... and of pairs in bfloat16, of sums and of products with a value of each size */
static int reduce_pairs(const gv_enclosed_function *function, int is_product) {
    static gv_factor factors[GV_INPUTS];
    static uint16_t outputs[GV_INPUTS];
    gv_rules rules = {.fmt = {16, 8, -126, 127}, .turns = {-0x4000}, .turn_count = 1, .infinity = 0x7f80};
    rules.truth.function = function;
    rules.truth.exact = gv_find(function->name);
    rules.truth.limits[0] = 0x7fc0;
    rules.truth.limits[5] = 0x7f80;
    gv_reducer *r = gv_new_reducer(&rules, no_oracle, NULL);
    gv_pairs *p = r ? gv_new_pairs(r) : NULL;
    if (!p) return 1;
    p->is_product = is_product;
    p->factors = factors;
    for (int i = 0; i < GV_INPUTS; i++) {
        factors[i].h = gv_decode(gv_bits_at(i - GV_INPUTS / 2, 16), &rules.fmt) * 0.71875;
        factors[i].l = factors[i].h * 0x1p-45;
        factors[i].err = fabs(factors[i].h) * 0x1p-90;
    }
    for (uint32_t k = 0; k < GV_STRIP + 7; k++) {
        uint32_t bits = (0x3000 + 31 * k) | (k & 2) << 14;
        gv_second second = {.turns = {-0x4000}, .falls_first = k & 1, .tail_end = -0x3f80, .bits = bits};
        for (uint32_t i = 0; i < GV_INPUTS; i++)
            outputs[i] = (uint16_t)(gv_bits_at((int64_t)i - GV_INPUTS / 2, 16) + (i ^ k) % 5);
        gv_add_second(p, second, outputs);
    }
    gv_flush_pairs(p);
    fwrite(r->rows, sizeof *r->rows, GV_BUCKETS, stdout);
    fwrite(&r->facts, sizeof r->facts, 1, stdout);
    fwrite(&p->worst, sizeof p->worst, 1, stdout);
    gv_free_pairs(p);
    gv_free_reducer(r);
    return 0;
}

int main(void) {
    static const float places[] = {-14.0f, -3.0f, -0.5f, -0x1p-21f, 1e-40f, 1e-6f, 0.7f, 3.0f};
    static uint32_t x[COUNT + 1], got[COUNT + 1];
    for (int k = 0; gv_enclosed_functions[k].name; k++) {
        gv_rules rules = {.fmt = {32, 24, -126, 127}, .infinity = 0x7f800000, .region_count = 1};
        rules.edges[0] = -0x7f800000;
        rules.edges[1] = 0x7f800000;
        rules.truth.function = &gv_enclosed_functions[k];
        rules.truth.exact = gv_find(gv_enclosed_functions[k].name);
        rules.truth.limits[0] = 0x7fc00000;
        rules.truth.limits[5] = 0x7f800000;
        gv_reducer *r = gv_new_reducer(&rules, no_oracle, NULL);
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            uint32_t bits;
            memcpy(&bits, &places[p], sizeof bits);
            int64_t first = gv_ordinal(bits, 32);
            gv_fill_strided(first, x, COUNT);
            for (size_t i = 0; i <= COUNT; i++) got[i] = x[i] - 0x800000u + (uint32_t)(i % 7);
            if (gv_add_strided(r, first, x, got, 0, COUNT) != GV_ADDED) return 1;
        }
        fwrite(r->rows, sizeof *r->rows, GV_BUCKETS, stdout);
        fwrite(&r->facts, sizeof r->facts, 1, stdout);
        fwrite(&r->strip, sizeof r->strip, 1, stdout);
        gv_free_reducer(r);
    }
    for (int k = 0; gv_enclosed_functions[k].name; k++)
        if (reduce_pairs(&gv_enclosed_functions[k], k % 4 == 3)) return 1;
    return 0;
}
