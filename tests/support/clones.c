/* Every value of the core, in double and in double-double, at inputs of every size: written to stdout as bytes.
   Compiled once for each instruction set by test_clones.py; the bytes must be the same. */
#include <stdio.h>
#include "truth/core.h"

#define COUNT 20000

static unsigned long long state = 20261121;

static unsigned long long next_bits(void) { /* xorshift64 */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void write_values(gv_loop loop, const double *x) {
    static gv_value y[COUNT];
    loop(x, y, COUNT);
    for (int i = 0; i < COUNT; i++) {
        double parts[4] = {y[i].hi, y[i].lo, y[i].err, y[i].k};
        fwrite(parts, sizeof parts, 1, stdout);
    }
}

int main(void) {
    static double x[COUNT];
    for (int i = 0; i < COUNT; i++) {
        unsigned long long bits = next_bits();
        double unit = (double)(next_bits() >> 11) * 0x1p-53;
        if (i % 4 == 0) memcpy(&x[i], &bits, sizeof bits);
        else if (i % 4 == 1) x[i] = 60.0 * unit - 40.0;
        else if (i % 4 == 2) x[i] = 4.0 * unit - 3.0;
        else x[i] = (double)(float)(20.0 * unit - 10.0);
    }
    for (int i = 0; gv_name(i); i++) {
        write_values(gv_find(gv_name(i)), x);
        write_values(gv_find_quick(gv_name(i)), x);
    }
    return 0;
}
