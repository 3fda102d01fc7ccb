/* Correctly rounded float32: the enclosures of the CPU (../enclosure) decide, in double; what they leave open, of which
   ties and roots are usual, is decided in double-double (../export/gelu_verify.h), which decides every float.
   Bounds: those of the enclosures, proved in tests/prove/test_enclosures.py. Tests: tests/gpu/test_cuda_bits.py on the CPU,
   tests/gpu/test_cuda_device.py, all 2^32 inputs, on a device. */
// build: -fmad=false
#define GV_LANES 1
#define GV_HAVE_FMA 1
#define GV_TYPED(name) name##_cuda
#include "enclosure/enclosures.h"
#include "export/gelu_verify.h"
#include "formats.h"
#include "queue.h"

/* gelu_function, ...: its enclosures in double, its value in double-double, and how far the near enclosure holds. What few
   threads need is not inlined: its registers would be those of all. */
#define FUNCTION(name, limit) \
    struct name##_function { \
        GV_MEMBER gv_interval near(double x) { return GV_TYPED(gv_##name##_near)(x); } \
        GV_MEMBER gv_interval far(double x) { return GV_TYPED(gv_##name##_enclosure)(x); } \
        GV_OUT_OF_LINE float accurate(float x) { return gv_cr_##name##_f32(x); } \
        GV_MEMBER float near_limit() { return limit; } \
    };

/* The far enclosure has no part in what is near: few inputs are left by then. */
template <class Function> struct near_enclosure {
    GV_MEMBER bool decides(float x, float *y) {
        gv_interval v = Function::near((double)x);
        *y = (float)v.a;
        return *y == (float)v.b && fabsf(x) <= Function::near_limit();
    }
};

template <class Function> struct far_enclosure {
    GV_MEMBER float of(float x, gv_count) {
        gv_interval v = Function::far((double)x);
        float y = (float)v.a;
        return y == (float)v.b ? y : Function::accurate(x);
    }
};

#define KERNEL(name, limit) \
    GV_KERNEL(GV_THREADS) name##_cr_f32(const uint32_t *x, uint32_t *y, gv_count n) { \
        GV_SHARED gv_queue<uint32_t> queue; \
        gv_each_queued<gv_float32, near_enclosure<name##_function>, far_enclosure<name##_function>>(x, y, n, &queue); \
    }

#define ROWS(F) \
    F(gelu, (float)GV_NEAR_LIMIT) \
    F(gelu_grad, (float)GV_NEAR_LIMIT) \
    F(gelu_tanh, GV_NEAR_GELU_TANH) \
    F(gelu_tanh_grad, GV_NEAR_GELU_TANH_GRAD) \
    F(gelu_sigmoid, GV_NEAR_GELU_SIGMOID) \
    F(gelu_sigmoid_grad, GV_NEAR_GELU_SIGMOID_GRAD) \
    F(silu, GV_NEAR_SILU) \
    F(silu_grad, GV_NEAR_SILU_GRAD)
ROWS(FUNCTION)
ROWS(KERNEL)

#define ROW(name, near_limit) \
    {#name "_cr_f32", #name "_cr", #name, "cr", "float32", "correctly rounded, by enclosures in double", GV_THREADS, 0},
extern "C" {
GV_ON_DEVICE gv_kernel_row gv_kernels[] = {ROWS(ROW) GV_END_OF_KERNELS};
}
