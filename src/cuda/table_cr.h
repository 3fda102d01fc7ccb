/* Correctly rounded 16-bit formats by table: all 2^16 results are computed on the device, once for each module, in
   double-double (../export/gelu_verify.h). Blocks copy to shared memory the results that are not simple:
     |x| < lowest          x/2, away from zero at ties for x > 0, towards it for x < 0 (f(x) = x/2 + c x^2); f' = 1/2
     |x| >= beyond         f = x, f' = 1; for x < 0 both are -0
   The includer defines DTYPE, NAME(f), FRACTION (bits of the significand's fraction), EMAX, RESULT(function),
   TABLES(F): F(function, gradient, lowest, beyond for x > 0, beyond for x < 0), magnitudes as bits. The limits are
   those of data/reference (tests/gpu/test_cuda_bits.py tries all inputs). */
#include "export/gelu_verify.h"
#include "memory.h"

#define TABLE_THREADS 1024
#define SIGN 0x8000u
#define ONE ((uint32_t)EMAX << FRACTION)
#define HALF ((uint32_t)(EMAX - 1) << FRACTION)
#define INFINITE ((uint32_t)(2 * EMAX + 1) << FRACTION)
#define NOT_A_NUMBER (INFINITE | 1u << (FRACTION - 1))

/* x/2, rounded, below `lowest`: |x| in units of the smallest subnormal up to the second binade, then one binade less */
GV_DEVICE uint32_t gv_half_of(uint32_t magnitude, uint32_t sign) {
    uint32_t half = magnitude >> 1, odd = magnitude & (sign ? 0u : 1u);
    return sign | (magnitude < 2u << FRACTION ? half + odd : magnitude - (1u << FRACTION));
}

/* Where a function is simple; its other results are in the window: of positive inputs, then of negative ones. */
struct gv_limits {
    uint32_t gradient, lowest, beyond_positive, beyond_negative;
    GV_INSIDE uint32_t positive() const { return beyond_positive - lowest; }
    GV_INSIDE uint32_t size() const { return positive() + beyond_negative - lowest; }
};

GV_DEVICE void gv_fill_window(uint16_t *window, const uint16_t *results, gv_limits limits) {
    GV_UNROLLED_BY_8 /* so many loads at once: one after the other waits 27 times for the second-level cache */
        for (uint32_t k = gv_thread_of_block(); k < limits.size(); k += gv_threads_of_block()) window[k] =
            results[k < limits.positive() ? limits.lowest + k : SIGN + limits.lowest + k - limits.positive()];
    gv_wait_for_block();
}

GV_DEVICE uint32_t gv_tabled(const uint16_t *window, gv_limits limits, uint32_t bits) {
    uint32_t sign = bits & SIGN, magnitude = bits & ~SIGN;
    uint32_t beyond = sign ? limits.beyond_negative : limits.beyond_positive;
    if (magnitude < limits.lowest) return limits.gradient ? HALF : gv_half_of(magnitude, sign);
    if (magnitude < beyond) return window[magnitude - limits.lowest + (sign ? limits.positive() : 0u)];
    return magnitude > INFINITE ? NOT_A_NUMBER : sign ? SIGN : limits.gradient ? ONE : magnitude;
}

GV_DEVICE void gv_each_tabled(const uint16_t *x, uint16_t *y, gv_count n, const uint16_t *window, gv_limits limits) {
    gv_count first = (gv_count)gv_block() * gv_threads_of_block() + gv_thread_of_block();
    gv_count stride = (gv_count)gv_blocks() * gv_threads_of_block(), vectors = gv_vectors(x, y, n);
    for (gv_count i = first; i < vectors; i += stride) {
        gv_vector v = ((const gv_vector *)x)[i];
        GV_UNROLLED
        for (int k = 0; k < 4; k++) {
            uint32_t low = gv_tabled(window, limits, v.word[k] & 0xffff);
            v.word[k] = low | gv_tabled(window, limits, v.word[k] >> 16) << 16;
        }
        ((gv_vector *)y)[i] = v;
    }
    for (gv_count i = vectors * 8 + first; i < n; i += stride) y[i] = (uint16_t)gv_tabled(window, limits, x[i]);
}

#define KERNEL(name, gradient, lowest, beyond_positive, beyond_negative) \
    GV_ON_DEVICE uint16_t NAME(gv_results_##name)[1 << 16]; \
    GV_KERNEL(TABLE_THREADS) NAME(name##_cr)(const uint16_t *x, uint16_t *y, gv_count n) { \
        const gv_limits limits = {gradient, lowest, beyond_positive, beyond_negative}; \
        GV_SHARED_BY_LAUNCH(uint16_t, window, beyond_positive - lowest + beyond_negative - lowest) \
        gv_fill_window(window, NAME(gv_results_##name), limits); \
        gv_each_tabled(x, y, n, window, limits); \
    }
TABLES(KERNEL)

/* To be launched once before any other kernel of the module. */
#define FILL(name, gradient, lowest, beyond_positive, beyond_negative) \
    NAME(gv_results_##name)[bits] = RESULT(name)((uint16_t)bits);
GV_KERNEL(GV_THREADS) gv_prepare() {
    for (uint32_t bits = gv_block() * gv_threads_of_block() + gv_thread_of_block(); bits < 1 << 16;
         bits += gv_blocks() * gv_threads_of_block()) {
        TABLES(FILL)
    }
}

#define TEXT(s) TEXT_OF(s)
#define TEXT_OF(s) #s
#define ROW(name, gradient, lowest, beyond_positive, beyond_negative) \
    {TEXT(NAME(name##_cr)), \
     #name "_cr", \
     #name, \
     "cr", \
     DTYPE, \
     "correctly rounded, by table", \
     TABLE_THREADS, \
     2 * (beyond_positive - lowest + beyond_negative - lowest)},
extern "C" {
GV_ON_DEVICE gv_kernel_row gv_kernels[] = {TABLES(ROW) GV_END_OF_KERNELS};
}
