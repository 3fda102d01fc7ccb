/* Correctly rounded 16-bit formats by table: all 2^16 answers are computed on the device, once for each module, in
   double-double (../export/gelu_verify.h). Blocks copy to shared memory what is not simple:
     |x| < lowest          x/2, away from zero at ties for x > 0, towards it for x < 0 (f(x) = x/2 + c x^2); f' = 1/2
     |x| >= beyond         f = x, f' = 1; for x < 0 both are -0
   The includer defines DTYPE, NAME(f), FRACTION (bits of the significand's fraction), EMAX, ANSWER(function),
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

/* x/2 as it rounds below `lowest`: |x| in units of the smallest subnormal up to the second binade, then one binade less */
GV_DEVICE uint32_t gv_half_of(uint32_t magnitude, uint32_t sign)
{
    uint32_t half = magnitude >> 1, odd = magnitude & (sign ? 0u : 1u);
    return sign | (magnitude < 2u << FRACTION ? half + odd : magnitude - (1u << FRACTION));
}

#define CORRECTLY_ROUNDED(name, gradient, lowest, beyond_positive, beyond_negative)                                    \
    GV_ON_DEVICE uint16_t NAME(gv_answers_##name)[1 << 16];                                                            \
    GV_KERNEL(TABLE_THREADS) NAME(name##_cr)(const uint16_t *x, uint16_t *y, gv_count n)                               \
    {                                                                                                                  \
        const uint32_t positive = beyond_positive - lowest, room = positive + beyond_negative - lowest;                \
        GV_SHARED_BY_LAUNCH(uint16_t, window, room)                                                                    \
        GV_UNROLLED_BY_8 /* so many loads at once: one after the other waits 27 times for the second-level cache */    \
        for (uint32_t k = gv_thread_of_block(); k < room; k += gv_threads_of_block())                                  \
            window[k] = NAME(gv_answers_##name)[k < positive ? lowest + k : SIGN + lowest + k - positive];             \
        gv_wait_for_block();                                                                                           \
        gv_each_tabled(x, y, n, [=](uint32_t bits) -> uint32_t {                                                       \
            uint32_t sign = bits & SIGN, magnitude = bits & ~SIGN, beyond = sign ? beyond_negative : beyond_positive;  \
            if (magnitude < lowest)                                                                                    \
                return gradient ? HALF : gv_half_of(magnitude, sign);                                                  \
            if (magnitude < beyond)                                                                                    \
                return window[magnitude - lowest + (sign ? positive : 0u)];                                            \
            return magnitude > INFINITE ? NOT_A_NUMBER : sign ? SIGN : gradient ? ONE : magnitude;                     \
        });                                                                                                            \
    }

template <class Answer> GV_DEVICE void gv_each_tabled(const uint16_t *x, uint16_t *y, gv_count n, Answer answer)
{
    gv_count first = (gv_count)gv_block() * gv_threads_of_block() + gv_thread_of_block();
    gv_count stride = (gv_count)gv_blocks() * gv_threads_of_block(), vectors = gv_vectors(x, y, n);
    for (gv_count i = first; i < vectors; i += stride) {
        gv_vector v = ((const gv_vector *)x)[i];
        GV_UNROLLED
        for (int k = 0; k < 4; k++)
            v.word[k] = answer(v.word[k] & 0xffff) | answer(v.word[k] >> 16) << 16;
        ((gv_vector *)y)[i] = v;
    }
    for (gv_count i = vectors * 8 + first; i < n; i += stride)
        y[i] = (uint16_t)answer(x[i]);
}

TABLES(CORRECTLY_ROUNDED)

/* What has to be launched once before any other kernel of the module. */
#define FILL(name, gradient, lowest, beyond_positive, beyond_negative)                                                 \
    NAME(gv_answers_##name)[bits] = ANSWER(name)((uint16_t)bits);
GV_KERNEL(GV_THREADS) gv_prepare()
{
    for (uint32_t bits = gv_block() * gv_threads_of_block() + gv_thread_of_block(); bits < 1 << 16;
         bits += gv_blocks() * gv_threads_of_block()) {
        TABLES(FILL)
    }
}

#define TEXT(s) TEXT_OF(s)
#define TEXT_OF(s) #s
#define ROW(name, gradient, lowest, beyond_positive, beyond_negative)                                                  \
    {TEXT(NAME(name##_cr)), #name "_cr", #name, "cr", DTYPE, "correctly rounded, by table", TABLE_THREADS,             \
     2 * (beyond_positive - lowest + beyond_negative - lowest)},
extern "C" {
GV_ON_DEVICE gv_kernel_row gv_kernels[] = {TABLES(ROW) GV_END_OF_KERNELS};
}
