/* Every float32 input from argv[2] to argv[3] (bits, the last one excluded) through each set of kernels that this
   machine runs, against the core's own values: by other formulas, decided by their bound. In arrays that begin anywhere,
   every second one in place. Prints: function, inputs, kernels that differ somewhere, inputs where the core's bound decides
   nothing, levels. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "truth/core.h"
#include "cr/cr.h"

#define CHUNK 8192
#define BEGINNINGS 17 /* one after the other, in floats */
static const gv_format binary32 = {32, 24, -126, 127};

static uint32_t special(uint32_t x, int gradient) {
    if (x << 1 > 0xff000000u) return 0x7fc00000u;
    if (x << 1 == 0) return gradient ? 0x3f000000u : x;
    return x >> 31 ? 0x80000000u : gradient ? 0x3f800000u : x;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    const char *name = argv[1];
    uint64_t first = strtoull(argv[2], 0, 0), end = strtoull(argv[3], 0, 0), different = 0, undecided = 0;
    gv_loop loop = gv_find(name), quick = gv_find_quick(name);
    int gradient = strstr(name, "_grad") != 0;
    static uint32_t x[CHUNK], y[CHUNK], want[CHUNK];
    static gv_value value[CHUNK];
    static float inputs[CHUNK + BEGINNINGS], outputs[CHUNK + 2 * BEGINNINGS];
    char levels[5] = "";
    for (int level = 1; level <= 4; level++)
        if (gv_cr_find(name, level)) levels[strlen(levels)] = (char)('0' + level);
    for (uint64_t start = first; start < end; start += CHUNK) {
        size_t n = end - start < CHUNK ? (size_t)(end - start) : CHUNK;
        for (size_t i = 0; i < n; i++) x[i] = (uint32_t)(start + i);
        gv_evaluate(loop, quick, &binary32, x, value, n);
        for (size_t i = 0; i < n; i++) {
            uint64_t bits = special(x[i], gradient);
            if (x[i] << 1 && x[i] << 1 < 0xff000000u) {
                gv_units u = gv_in_units(value[i], &binary32);
                undecided += !gv_round(&u, &binary32, 0x7f800000, &bits);
            }
            want[i] = (uint32_t)bits;
        }
        float *in = inputs + start / CHUNK * 5 % BEGINNINGS, *out = outputs + 1 + start / CHUNK % BEGINNINGS;
        memcpy(in, x, n * sizeof *x);
        int in_place = start / CHUNK % 2;
        for (const char *level = levels; *level; level++) {
            out[-1] = out[n] = 42.0f;
            if (in_place) memcpy(out, x, n * sizeof *x);
            gv_cr_find(name, *level - '0')->f32(in_place ? out : in, out, n);
            different += out[-1] != 42.0f || out[n] != 42.0f;
            memcpy(y, out, n * sizeof *y);
            for (size_t i = 0; i < n; i++)
                if (y[i] != want[i] && different++ < 4)
                    fprintf(stderr, "%s level %c: 0x%08" PRIx32 " gives 0x%08" PRIx32 ", not 0x%08" PRIx32 "\n", name,
                            *level, x[i], y[i], want[i]);
        }
    }
    printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", name, end - first, different, undecided, levels);
    return different || undecided;
}
