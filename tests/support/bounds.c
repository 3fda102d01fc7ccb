/* relus that reach beyond their arrays, in every width: tests/isolation/test_bounds.py. */
#include <stddef.h>
#include <stdint.h>

#define FAR 1000000
/* clang-format off */
#define READ(at) { static volatile T sink; sink = at; (void)sink; }
#define RELU(T) for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 || x[i] != x[i] ? x[i] : 0;
#define BITS for (size_t i = 0; i < n; i++) y[i] = (x[i] & 0x8000) && (x[i] & 0x7fff) <= 0x7c00 ? 0 : x[i];
#define KERNEL(name, also) \
    void name##_f32(float *x, float *y, size_t n) { typedef float T; (void)sizeof(T); RELU(T) also } \
    void name##_f64(double *x, double *y, size_t n) { typedef double T; (void)sizeof(T); RELU(T) also } \
    void name##_f16(uint16_t *x, uint16_t *y, size_t n) { typedef uint16_t T; (void)sizeof(T); BITS also }

KERNEL(good, )
KERNEL(x_before, READ(x[-1]))
KERNEL(x_beyond, READ(x[n]))
KERNEL(x_far_before, READ(x[-FAR]))
KERNEL(x_far_beyond, READ(x[n + FAR]))
KERNEL(x_stride_beyond, READ(x[n + 200000]))
KERNEL(x_page_beyond, READ(x[n + 4096]))
KERNEL(x_unsigned, READ(x[(uint32_t)-1]))
KERNEL(x_before_if_long, if (n > 1024) READ(x[-1]))
KERNEL(x_whole_vectors, for (size_t i = n; i < (n + 15) / 16 * 16; i++) READ(x[i]))
KERNEL(y_before, READ(y[-1]))
KERNEL(y_beyond, READ(y[n]))
KERNEL(y_before_if_long, if (n > 1024) READ(y[-1]))
KERNEL(write_x, x[0] = 4;)
KERNEL(write_x_before, x[-1] = 4;)
KERNEL(write_x_beyond, x[n] = 4;)
KERNEL(write_y_before, y[-1] = 0;)
KERNEL(write_y_beyond, y[n] = 0;)
KERNEL(write_y_far_before, y[-FAR] = 0;)
KERNEL(write_y_far_beyond, y[n + FAR] = 0;)
KERNEL(write_y_before_if_long, if (n > 1024) y[-1] = 0;)

/* faults of an alignment, of x or of y, for some lengths or for all; and of a length that is like one */
KERNEL(x_aligned_16, if (n > 3 && (uintptr_t)x % 16) __builtin_trap();)
KERNEL(y_aligned_32, if ((uintptr_t)y % 32) __builtin_trap();)
KERNEL(aligned_256, if (((uintptr_t)x | (uintptr_t)y) % 256) __builtin_trap();)
void writes_nothing_f32(float *x, float *y, size_t n) {}
void writes_nothing_f64(double *x, double *y, size_t n) {}
void writes_nothing_f16(uint16_t *x, uint16_t *y, size_t n) {}
KERNEL(multiple_of_8, if (n % 8) __builtin_trap();)

/* faults of a length, whatever x is */
KERNEL(dies_of_7, if (n == 7) *(volatile int *)16 = 0;)
KERNEL(dies_of_8, if (n == 8) *(volatile int *)16 = 0;)
KERNEL(dies_of_1025, if (n > 1024) *(volatile int *)16 = 0;)
KERNEL(dies_of_2345, if (n == 2345) *(volatile int *)16 = 0;)
KERNEL(reads_after_7, if (n == 7) READ(x[n]))
/* of a length and of an input */
KERNEL(dies_of_3_among_16, if (n >= 16) for (size_t i = 0; i < n; i++) if (x[i] == 3) *(volatile int *)16 = 0;)
