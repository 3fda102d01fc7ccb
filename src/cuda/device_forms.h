/* Forms that only devices have functions for, written in ../kernels/arithmetic.h and forms.h. */

#ifdef __CUDACC__
/* CUDA's own distribution function, which does not cancel. */
KERNEL(gelu, normcdf, "x*normcdf(x)",
    return MUL(x, NORMCDF(x));
)

KERNEL(gelu_grad, normcdf, "normcdf(x) + x*exp(-x*x/2)/sqrt(2*pi)",
    return ADD(NORMCDF(x), MUL(x, MUL(INV_SQRT_2PI, EXP(MUL(MUL(x, x), -HALF)))));
)
#endif

#if TANH_APPROXIMATE && defined(__CUDACC__)
KERNEL(gelu_tanh, tanh_approx, "0.5*x*(1 + tanh.approx(u)), u = sqrt(2/pi)*(x + 0.044715*x*x*x)",
    return MUL(MUL(HALF, x), ADD(ONE, TANH_APPROX(NAME(gelu_tanh_inner)(x))));
)

KERNEL(gelu_tanh_grad, tanh_approx, "0.5*(1 + t) + 0.5*x*(1 - t*t)*u', t = tanh.approx(u)",
    T t = TANH_APPROX(NAME(gelu_tanh_inner)(x));
    T slope = MUL(SQRT_2_OVER_PI, ADD(ONE, MUL(MUL(THREE_CUBE, x), x)));
    return ADD(MUL(HALF, ADD(ONE, t)), MUL(MUL(MUL(HALF, x), SUB(ONE, MUL(t, t))), slope));
)
#endif

#if EXP_APPROXIMATE && defined(__CUDACC__)
KERNEL(gelu_tanh, sigmoid_exp_approx, "x/(1 + __expf(-2*u)), u = sqrt(2/pi)*(x + 0.044715*x*x*x)",
    return DIV(x, ADD(ONE, EXP_APPROX(MUL(-TWO, NAME(gelu_tanh_inner)(x)))));
)

KERNEL(gelu_sigmoid, exp_approx, "x*(1/(1 + __expf(-1.702*x)))",
    return MUL(x, DIV(ONE, ADD(ONE, EXP_APPROX(-MUL(SLOPE, x)))));
)

KERNEL(gelu_sigmoid_grad, exp_approx, "s + x*(s*(1 - s)*1.702), s = 1/(1 + __expf(-1.702*x))",
    T s = DIV(ONE, ADD(ONE, EXP_APPROX(-MUL(SLOPE, x))));
    return ADD(s, MUL(x, MUL(MUL(s, SUB(ONE, s)), SLOPE)));
)

KERNEL(silu, exp_approx, "x/(1 + __expf(-x))",
    return DIV(x, ADD(ONE, EXP_APPROX(-x)));
)

KERNEL(silu_grad, exp_approx, "s*(1 + x*(1 - s)), s = 1/(1 + __expf(-x))",
    T s = DIV(ONE, ADD(ONE, EXP_APPROX(-x)));
    return MUL(s, ADD(ONE, MUL(x, SUB(ONE, s))));
)
#endif
