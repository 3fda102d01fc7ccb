/* Eigen 3.4: libeigen/eigen Eigen/src/Core/MathFunctionsImpl.h, generic_fast_tanh_float (MPL-2.0), which XLA, MLAS and
   ncnn took over: x*P(x^2)/Q(x^2) of degrees 13 and 6. The limit is where the quotient is 1; MLAS and ncnn kept 9. */

FLOAT32(eigen, tanh, tanh, "x*P(x*x)/Q(x*x), |x| limited to 7.99881 or x itself below 0.0004, with fma",
    "libeigen/eigen 3.4 Eigen/src/Core/MathFunctionsImpl.h, generic_fast_tanh_float",
    const T limit = 7.99881172180175781f;
    if (fabsf(x) < 0.0004f)
        return x;
    T v = x < -limit ? -limit : limit < x ? limit : x;
    RATIONAL_TANH(FMA, v);
)

FLOAT32(eigen, tanh_nofma, tanh, "x*P(x*x)/Q(x*x), |x| limited to 7.90531 or x itself below 0.0004, without fma",
    "libeigen/eigen 3.4 Eigen/src/Core/MathFunctionsImpl.h, generic_fast_tanh_float",
    const T limit = 7.90531110763549805f;
    if (fabsf(x) < 0.0004f)
        return x;
    T v = x < -limit ? -limit : limit < x ? limit : x;
    RATIONAL_TANH(MUL_ADD, v);
)
