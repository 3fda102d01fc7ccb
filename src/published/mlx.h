/* MLX on Metal: ml-explore/mlx python/mlx/nn/layers/activations.py, mlx/backend/metal/kernels/erf.h (MIT). */

PART(mlx_metal_erf, v,
    float a = (float)v;
    float t = fabsf(a), s = a * a;
    if (t > 0.927734375f) {
        float r = fmaf(-1.72853470e-5f, t, 3.83197126e-4f), u = fmaf(-3.88396438e-3f, t, 2.42546219e-2f);
        r = fmaf(r, s, u);
        r = fmaf(r, t, -1.06777877e-1f);
        r = fmaf(r, t, -6.34846687e-1f);
        r = fmaf(r, t, -1.28717512e-1f);
        return copysignf(1.0f - expf(fmaf(r, t, -t)), a);
    }
    float r = fmaf(-5.96761703e-4f, s, 4.99119423e-3f);
    r = fmaf(r, s, -2.67681349e-2f);
    r = fmaf(r, s, 1.12819925e-1f);
    r = fmaf(r, s, -3.76125336e-1f);
    r = fmaf(r, s, 1.28379166e-1f);
    return fmaf(r, a, a);
)

/* float16: infinite for every x above 32752. */
NATIVE_TO_32(mlx, gelu_metal, gelu, "x*(1 + erf(x/sqrt(2)))/2",
    "ml-explore/mlx python/mlx/nn/layers/activations.py, mlx/backend/metal/kernels/erf.h; exp of the C library",
    T v = DIV(x, CONSTANT(0x1.6a09e667f3bcdp+0)); /* sqrt(2) */
    return DIV(MUL(x, ADD(ONE, ROUND(NAME(mlx_metal_erf)(v)))), TWO);
)
