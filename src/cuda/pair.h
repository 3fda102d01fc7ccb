/* Two numbers of 16 bits in one register, every operation rounded to the format: half2 and bfloat162 arithmetic.
   + - * / and exp are the device's own (exp: h2exp, for which CUDA states no bound); erf, erfc, normcdf and tanh are
   float's, rounded. Without the device: floats, rounded after every operation, which gives the same bits where no
   a*b + c is contracted (../kernels/arithmetic.h). */
#ifndef GELU_VERIFY_CUDA_PAIR_H
#define GELU_VERIFY_CUDA_PAIR_H
#include "approximate.h"
#include "formats.h"

#ifdef __CUDACC__
GV_DEVICE float2 gv_floats(__half2 v) { return __half22float2(v); }
GV_DEVICE float2 gv_floats(__nv_bfloat162 v) { return __bfloat1622float2(v); }
GV_DEVICE void gv_round(float2 v, __half2 *to) { *to = __floats2half2_rn(v.x, v.y); }
GV_DEVICE void gv_round(float2 v, __nv_bfloat162 *to) { *to = __floats2bfloat162_rn(v.x, v.y); }

GV_DEVICE __half2 gv_tanh_approx(__half2 v) {
    uint32_t in, out;
    memcpy(&in, &v, sizeof in);
    asm("tanh.approx.f16x2 %0, %1;" : "=r"(out) : "r"(in));
    memcpy(&v, &out, sizeof v);
    return v;
}

GV_DEVICE __nv_bfloat162 gv_tanh_approx(__nv_bfloat162 v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    uint32_t in, out;
    memcpy(&in, &v, sizeof in);
    asm("tanh.approx.bf16x2 %0, %1;" : "=r"(out) : "r"(in));
    memcpy(&v, &out, sizeof v);
#else
    float2 wide = gv_floats(v);
    gv_round(make_float2(gv_tanh_approx(wide.x), gv_tanh_approx(wide.y)), &v);
#endif
    return v;
}

/* Of native: __half2 or __nv_bfloat162 */
template <class Native> struct gv_pair {
    Native v;
    GV_INSIDE gv_pair() {}
    GV_INSIDE gv_pair(Native both) : v(both) {}
    GV_INSIDE explicit gv_pair(double c) { gv_round(make_float2((float)c, (float)c), &v); }
    GV_INSIDE gv_pair operator+(gv_pair b) const { return __hadd2(v, b.v); }
    GV_INSIDE gv_pair operator-(gv_pair b) const { return __hsub2(v, b.v); }
    GV_INSIDE gv_pair operator*(gv_pair b) const { return __hmul2(v, b.v); }
    GV_INSIDE gv_pair operator/(gv_pair b) const { return __h2div(v, b.v); }
    GV_INSIDE gv_pair operator-() const { return __hneg2(v); }
};
typedef gv_pair<__half2> gv_f16x2;
typedef gv_pair<__nv_bfloat162> gv_bf16x2;

template <class Pair, float f(float)> GV_DEVICE Pair gv_by_float(Pair a) {
    float2 wide = gv_floats(a.v);
    gv_round(make_float2(f(wide.x), f(wide.y)), &a.v);
    return a;
}

GV_DEVICE float gv_normcdf_of_float(float v) { return normcdff(v); }
template <class Pair> GV_DEVICE Pair normcdf_pair(Pair a) { return gv_by_float<Pair, gv_normcdf_of_float>(a); }
template <class Pair> GV_DEVICE Pair tanh_approx_pair(Pair a) { return gv_tanh_approx(a.v); }
template <class Pair> GV_DEVICE Pair exp_pair(Pair a) { return h2exp(a.v); }
template <class Pair> GV_DEVICE Pair fabs_pair(Pair a) { return __habs2(a.v); }
#else
template <float widen(uint16_t), uint16_t narrow(float)> struct gv_pair {
    float v[2];
    gv_pair() {}
    gv_pair(float a, float b) : v{widen(narrow(a)), widen(narrow(b))} {}
    explicit gv_pair(double c) : gv_pair((float)c, (float)c) {}
    gv_pair operator+(gv_pair b) const { return gv_pair(v[0] + b.v[0], v[1] + b.v[1]); }
    gv_pair operator-(gv_pair b) const { return gv_pair(v[0] - b.v[0], v[1] - b.v[1]); }
    gv_pair operator*(gv_pair b) const { return gv_pair(v[0] * b.v[0], v[1] * b.v[1]); }
    gv_pair operator/(gv_pair b) const { return gv_pair(v[0] / b.v[0], v[1] / b.v[1]); }
    gv_pair operator-() const { return gv_pair(-v[0], -v[1]); }
};
typedef gv_pair<f32_of_f16, f16_of_f32> gv_f16x2;
typedef gv_pair<f32_of_bf16, bf16_of_f32> gv_bf16x2;

template <class Pair, float f(float)> GV_DEVICE Pair gv_by_float(Pair a) { return Pair(f(a.v[0]), f(a.v[1])); }
template <class Pair> GV_DEVICE Pair exp_pair(Pair a) { return gv_by_float<Pair, expf>(a); }
template <class Pair> GV_DEVICE Pair fabs_pair(Pair a) { return gv_by_float<Pair, fabsf>(a); }
#endif

GV_DEVICE float gv_erf_of_float(float v) { return erff(v); }
GV_DEVICE float gv_erfc_of_float(float v) { return erfcf(v); }
GV_DEVICE float gv_tanh_of_float(float v) { return tanhf(v); }
template <class Pair> GV_DEVICE Pair erf_pair(Pair a) { return gv_by_float<Pair, gv_erf_of_float>(a); }
template <class Pair> GV_DEVICE Pair erfc_pair(Pair a) { return gv_by_float<Pair, gv_erfc_of_float>(a); }
template <class Pair> GV_DEVICE Pair tanh_pair(Pair a) { return gv_by_float<Pair, gv_tanh_of_float>(a); }

template <class Format>
GV_DEVICE typename Format::number gv_copysign_pair(typename Format::number a, typename Format::number b) {
    uint16_t magnitude[2], sign[2];
    Format::store(magnitude, a);
    Format::store(sign, b);
    for (int k = 0; k < 2; k++) magnitude[k] = (uint16_t)((magnitude[k] & 0x7fff) | (sign[k] & 0x8000));
    return Format::load(magnitude);
}

/* Two neighbours in memory, 4 bytes */
#define GV_PAIR_FORMAT(name, Number, widen, narrow) \
    struct name { \
        typedef uint16_t bits; \
        typedef Number number; \
        enum { lanes = 2 }; \
        GV_MEMBER number load(const bits *b){GV_LOAD_PAIR(Number, widen)} GV_MEMBER void store(bits *b, number a) { \
            GV_STORE_PAIR(narrow) \
        } \
    }; \
    GV_DEVICE Number copysign_pair(Number a, Number b) { return gv_copysign_pair<name>(a, b); }

#ifdef __CUDACC__
#define GV_LOAD_PAIR(Number, widen) \
    Number a; \
    memcpy(&a.v, b, sizeof a.v); \
    return a;
#define GV_STORE_PAIR(narrow) memcpy(b, &a.v, sizeof a.v);
#else
#define GV_LOAD_PAIR(Number, widen) return Number(widen(b[0]), widen(b[1]));
#define GV_STORE_PAIR(narrow) \
    for (int k = 0; k < 2; k++) b[k] = narrow(a.v[k]);
#endif

GV_PAIR_FORMAT(gv_float16x2, gv_f16x2, f32_of_f16, f16_of_f32)
GV_PAIR_FORMAT(gv_bfloat16x2, gv_bf16x2, f32_of_bf16, bf16_of_f32)

#endif
