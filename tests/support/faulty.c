/* A zoo of relus that break down, each in its own way: tests/isolation/test_isolation.py. Most at x = 3 only. */
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int zero;
static volatile float sink;

#define RELU(i) y[i] = x[i] > 0 || x[i] != x[i] ? x[i] : 0
#define EACH(what)                                                                                                     \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        if (x[i] == 3) {                                                                                               \
            what;                                                                                                      \
        }                                                                                                              \
        RELU(i);                                                                                                       \
    }
#define ZOO(name, body)                                                                                                \
    void name(float *x, float *y, size_t n) { body }

ZOO(good, EACH())
ZOO(segfault, EACH(*(volatile int *)16 = 0))
ZOO(aborts, EACH(abort()))
ZOO(divides, EACH(zero = 7 / zero))
ZOO(loops, EACH(for (;;) zero = 0))
ZOO(exits, EACH(exit(3)))
ZOO(bomb, EACH(for (;;) memset(malloc(1 << 20), 1, 1 << 20)))
ZOO(reserves, EACH(for (;;) if (!malloc(1 << 20)) abort()))
ZOO(overflows, EACH() y[n] = 0;)
ZOO(underflows, EACH() y[-1] = 0;)
ZOO(overreads, EACH() sink = x[n];)
ZOO(underreads, EACH() sink = x[-1];)
ZOO(changes, EACH(x[i] = 4))
ZOO(skips, EACH(continue))
ZOO(prints, EACH(printf("three\n")))
ZOO(random_bits, EACH() y[n / 2] = (float)rand();)
ZOO(kills, EACH(raise(SIGKILL)))
