/* Calls a kernel: count_instructions FUNCTION DTYPE LEVEL ELEMENTS CALLS, inputs from the standard input. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cr/cr.h"
#include "cr/lookup.h"

static uint16_t table[1 << 16];

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    const gv_cr_function *kernels = gv_cr_find(argv[1], atoi(argv[3]));
    size_t n = strtoul(argv[4], 0, 10), size = strcmp(argv[2], "float64") == 0   ? 8
                                               : strcmp(argv[2], "float32") == 0 ? 4
                                                                                 : 2;
    void *x = aligned_alloc(64, n * size), *y = aligned_alloc(64, n * size);
    size_t *undecided = malloc(n * sizeof *undecided);
    if (!kernels || !x || !y || !undecided || fread(x, size, n, stdin) != n) return 2;
    for (int calls = atoi(argv[5]); calls > 0; calls--) {
        if (size == 8) kernels->f64(x, y, n, undecided);
        else if (size == 4) kernels->f32(x, y, n);
        else gv_look_up(table, x, y, n);
    }
    return 0;
}
