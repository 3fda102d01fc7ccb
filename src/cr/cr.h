/* Correctly rounded GELUs over arrays: round to nearest, ties to even, subnormals kept.
   One set of kernels for each instruction set, the same bits from all of them: a result is unique.
   The caller's floating-point environment must be the default one. x == y is allowed, other overlap is not. */
#ifndef GV_CR_H
#define GV_CR_H
#include <stddef.h>
#include <stdint.h>

typedef void (*gv_cr_f32)(const float *x, float *y, size_t n);
/* The number of inputs whose rounding the double-double bound does not decide, their places in `undecided`
   (room for n); y there is within one float of the result. */
typedef size_t (*gv_cr_f64)(const double *x, double *y, size_t n, size_t *undecided);

/* Bits of bfloat16; n is a multiple of GV_CR_BF16_GROUP. t: the 65,536 results, by the bits of the inputs. The number of
   groups of which some inputs were looked up one by one: where it is large, lookup.h is faster. */
#define GV_CR_BF16_GROUP 64
typedef size_t (*gv_cr_bf16)(const uint16_t *t, const uint16_t *x, uint16_t *y, size_t n);

typedef struct {
    const char *name;
    gv_cr_f32 f32;
    gv_cr_f64 f64;
} gv_cr_function;

/* Kernels of a function; level: x86-64 level 2, 3 or 4, on aarch64 2 = NEON, 1 = portable C, 0 = the best that this
   machine has.
   NULL for an unknown name, and for a level that this machine or this build does not have. */
const gv_cr_function *gv_cr_find(const char *name, int level);

/* A kernel of bfloat16, likewise; NULL also for a level where looking all results up (lookup.h) is as fast. */
gv_cr_bf16 gv_cr_find_bf16(const char *name, int level);

/* The level that 0 stands for. */
int gv_cr_best_level(void);

#endif
