/* A GELU as a program: frames of bits on stdin, answers on stdout (docs/targets.md). cc -O2 gelu.c -lm -o gelu */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 65536 }; /* values in a frame at most */

static float gelu(float x) { return 0.5f * x * erfcf(-x * 0x1.6a09e6p-1f /* sqrt(1/2) */); }

int main(void)
{
    static float values[FRAME];
    const char *dtype = getenv("GELU_VERIFY_DTYPE");
    uint64_t n;

    if (dtype == NULL || strcmp(dtype, "float32") != 0) {
        fprintf(stderr, "float32 only\n");
        return 2;
    }
    while (fread(&n, sizeof n, 1, stdin) == 1) {
        if (n > FRAME || fread(values, sizeof *values, n, stdin) != n)
            return 1;
        for (uint64_t i = 0; i < n; i++)
            values[i] = gelu(values[i]);
        fwrite(&n, sizeof n, 1, stdout);
        fwrite(values, sizeof *values, n, stdout);
        fflush(stdout);
    }
    return 0;
}
