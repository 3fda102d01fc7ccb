/* Functions with parameters as one would write them, and others that no deployed kernel of src/kernels computes.
   Written in ../kernels/arithmetic.h, with the parameters of the function as MU and SIGMA, BETA, ALPHA: each rounded to the
   format once. How wrong they are is for a run to say: `gelu-verify run kernels --function gelu --param mu=0.5`. */
#define MU first
#define SIGMA second
#define BETA first
#define ALPHA first
#define STANDARDIZED DIV(SUB(x, MU), SIGMA)
#define DENSITY(t) MUL(INV_SQRT_2PI, EXP(MUL(-HALF, MUL(t, t))))
#define EXPM1(v) ROUND(LIBM(expm1)(v))
#define ATAN(v) ROUND(LIBM(atan)(v))
#define ATAN2(a, b) ROUND(LIBM(atan2)(a, b))
#define INV_PI CONSTANT(0x1.45f306dc9c883p-2) /* 1/pi */

KERNEL(gelu, erfc, "0.5*x*erfc(-t*sqrt(1/2)), t = (x - mu)/sigma",
    T t = STANDARDIZED;
    return MUL(MUL(HALF, x), ERFC(MUL(-SQRT_HALF, t)));
)

KERNEL(gelu, erf, "0.5*x*(1 + erf(t*sqrt(1/2))), t = (x - mu)/sigma",
    T t = STANDARDIZED;
    return MUL(MUL(HALF, x), ADD(ONE, ERF(MUL(SQRT_HALF, t))));
)

KERNEL(gelu_grad, erfc, "0.5*erfc(-t*sqrt(1/2)) + x/sigma*exp(-t*t/2)/sqrt(2*pi), t = (x - mu)/sigma",
    T t = STANDARDIZED;
    return ADD(MUL(HALF, ERFC(MUL(-SQRT_HALF, t))), MUL(DIV(x, SIGMA), DENSITY(t)));
)

KERNEL(gelu_grad_mu, exp, "-x/sigma*exp(-t*t/2)/sqrt(2*pi), t = (x - mu)/sigma",
    T t = STANDARDIZED;
    return MUL(-DIV(x, SIGMA), DENSITY(t));
)

KERNEL(gelu_grad_sigma, exp, "-x/sigma*t*exp(-t*t/2)/sqrt(2*pi), t = (x - mu)/sigma",
    T t = STANDARDIZED;
    return MUL(MUL(-DIV(x, SIGMA), t), DENSITY(t));
)

KERNEL(silu, exp, "x/(1 + exp(-beta*x))",
    return DIV(x, ADD(ONE, EXP(-MUL(BETA, x))));
)

KERNEL(silu_grad, exp, "s*(1 + beta*x*(1 - s)), s = 1/(1 + exp(-beta*x))",
    T s = DIV(ONE, ADD(ONE, EXP(-MUL(BETA, x))));
    return MUL(s, ADD(ONE, MUL(MUL(BETA, x), SUB(ONE, s))));
)

KERNEL(silu_grad_beta, exp, "x*s*(x*(1 - s)), s = 1/(1 + exp(-beta*x))",
    T s = DIV(ONE, ADD(ONE, EXP(-MUL(BETA, x))));
    return MUL(MUL(x, s), MUL(x, SUB(ONE, s)));
)

KERNEL(elu, expm1, "x > 0 ? x : alpha*expm1(x)",
    return x > 0 ? x : MUL(ALPHA, EXPM1(x));
)

/* The difference cancels near 0. */
KERNEL(elu, exp, "x > 0 ? x : alpha*(exp(x) - 1)",
    return x > 0 ? x : MUL(ALPHA, SUB(EXP(x), ONE));
)

KERNEL(elu_grad, exp, "x >= 0 ? 1 : alpha*exp(x)",
    return x >= 0 ? ONE : MUL(ALPHA, EXP(x));
)

/* The sum cancels in the left tail. */
KERNEL(cauchy_unit, atan, "x*(0.5 + atan(x)/pi)",
    return MUL(x, ADD(HALF, MUL(ATAN(x), INV_PI)));
)

KERNEL(cauchy_unit, atan2, "x*(atan2(1, -x)/pi)",
    return MUL(x, MUL(ATAN2(ONE, -x), INV_PI));
)

KERNEL(cauchy_unit_grad, atan, "0.5 + atan(x)/pi + x/(pi*(1 + x*x))",
    return ADD(ADD(HALF, MUL(ATAN(x), INV_PI)), MUL(INV_PI, DIV(x, ADD(ONE, MUL(x, x)))));
)

#undef MU
#undef SIGMA
#undef BETA
#undef ALPHA
#undef STANDARDIZED
#undef DENSITY
#undef EXPM1
#undef ATAN
#undef ATAN2
#undef INV_PI
