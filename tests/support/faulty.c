/* relus that break down, each in its own way: tests/isolation/test_isolation.py. Most at x = 3 only. */
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int zero;
static volatile float sink;

#define RELU(i) y[i] = x[i] > 0 || x[i] != x[i] ? x[i] : 0
#define EACH(what) \
    for (size_t i = 0; i < n; i++) { \
        if (x[i] == 3) { \
            what; \
        } \
        RELU(i); \
    }
#define KERNEL(name, body) \
    void name(float *x, float *y, size_t n) { body }

KERNEL(good, EACH())
KERNEL(segfault, EACH(*(volatile int *)16 = 0))
KERNEL(aborts, EACH(abort()))
KERNEL(divides, EACH(zero = 7 / zero))
KERNEL(loops, EACH(for (;;) zero = 0))
KERNEL(exits, EACH(exit(3)))
KERNEL(bomb, EACH(for (;;) memset(malloc(1 << 20), 1, 1 << 20)))
KERNEL(reserves, EACH(for (;;) if (!malloc(1 << 20)) abort()))
KERNEL(overflows, EACH() y[n] = 0;)
KERNEL(underflows, EACH() y[-1] = 0;)
KERNEL(overreads, EACH() sink = x[n];)
KERNEL(underreads, EACH() sink = x[-1];)
KERNEL(changes, EACH(x[i] = 4))
KERNEL(skips, EACH(continue))
KERNEL(prints, EACH(printf("three\n")))
KERNEL(random_bits, EACH() y[n / 2] = (float)rand();)
KERNEL(kills, EACH(raise(SIGKILL)))
