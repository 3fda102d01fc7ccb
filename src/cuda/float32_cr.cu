/* Correctly rounded float32: the brackets of the CPU (../bracket) decide, in double; what they leave open, of which
   ties and roots are usual, is decided in double-double (../export/gelu_verify.h), which decides every float. */
// build: -fmad=false
#define GV_LANES 1
#define GV_HAVE_FMA 1
#define GV_TYPED(name) name##_cuda
#include "enclosure/enclosures.h"
#include "export/gelu_verify.h"
#include "formats.h"
#include "queue.h"

/* near_limit: how far the near bracket holds. The far bracket has no part in what is near: few are left by then. */
#define CORRECTLY_ROUNDED(name, near_limit)                                                                            \
    struct name##_near {                                                                                               \
        GV_MEMBER bool decides(float x, float *y)                                                                      \
        {                                                                                                              \
            gv_interval v = GV_TYPED(gv_##name##_near)((double)x);                                                      \
            *y = (float)v.a;                                                                                           \
            return *y == (float)v.b && fabsf(x) <= near_limit;                                                         \
        }                                                                                                              \
    };                                                                                                                 \
    GV_SELDOM float gv_certain_##name(float x) { return gv_cr_##name##_f32(x); }                                       \
    struct name##_far {                                                                                                \
        GV_MEMBER float of(float x, gv_count)                                                                          \
        {                                                                                                              \
            gv_interval v = GV_TYPED(gv_##name##_enclosure)((double)x);                                                   \
            float y = (float)v.a;                                                                                      \
            return y == (float)v.b ? y : gv_certain_##name(x);                                                         \
        }                                                                                                              \
    };                                                                                                                 \
    GV_KERNEL(GV_THREADS) name##_cr_f32(const uint32_t *x, uint32_t *y, gv_count n)                                    \
    {                                                                                                                  \
        GV_SHARED gv_queue<uint32_t> queue;                                                                            \
        gv_each_queued<gv_float32, name##_near, name##_far>(x, y, n, &queue);                                          \
    }

#define ROWS(F)                                                                                                        \
    F(gelu, (float)GV_NEAR_LIMIT)                                                                                      \
    F(gelu_grad, (float)GV_NEAR_LIMIT)                                                                                 \
    F(gelu_tanh, GV_NEAR_GELU_TANH)                                                                                    \
    F(gelu_tanh_grad, GV_NEAR_GELU_TANH_GRAD)                                                                          \
    F(gelu_sigmoid, GV_NEAR_GELU_SIGMOID)                                                                              \
    F(gelu_sigmoid_grad, GV_NEAR_GELU_SIGMOID_GRAD)                                                                    \
    F(silu, GV_NEAR_SILU)                                                                                              \
    F(silu_grad, GV_NEAR_SILU_GRAD)
ROWS(CORRECTLY_ROUNDED)

#define ROW(name, near_limit)                                                                                          \
    {#name "_cr_f32", #name "_cr", #name, "cr", "float32", "correctly rounded, by brackets in double", GV_THREADS, 0},
extern "C" {
GV_ON_DEVICE gv_kernel_row gv_kernels[] = {ROWS(ROW) GV_END_OF_KERNELS};
}
