/* Tenstorrent: tenstorrent/tt-metal tt_metal/hw/ckernels/wormhole_b0/metal/llk_api/llk_sfpu/ckernel_sfpu_gelu.h
   (Apache-2.0), as models: the SFPU's multiply-add, reciprocal and flushing of subnormals are not IEEE 754's. */

/* Accurate mode until 2026 (tt-metal#35290): a constant term of 3e-5 whatever x is, and zero below -5.5. */
BFLOAT16(ttnn, gelu_chebyshev, gelu, "sign(x)*|P(x)| of degree 15 for -5.5 <= x < 3, 0 below, x above",
    "tenstorrent/tt-metal ckernel_sfpu_gelu.h, calculate_gelu_chebyshev; a model: fused multiply-add, rounded once",
    static const float c[] = {-1.81205228163e-09f, -4.59055119276e-08f, -3.74540617693e-07f, -2.29754133825e-07f,
                              1.19076782913e-05f, 4.25116466215e-05f, -0.000138391838381f, -0.000862052441087f,
                              0.000768340223025f, 0.0092074331601f, -0.00208478037614f, -0.0656369476513f,
                              0.00244542739174f, 0.398579460781f, 0.499174645395f, 2.98325768482e-05f};
    if (x == 0 || x < -5.5f)
        return 0;
    if (!(x < 3))
        return x;
    float p = c[0];
    for (int i = 1; i < 16; i++)
        p = fmaf(p, x, c[i]);
    return copysignf(p, x);
)

/* Fast mode: x/2 plus an even function by six straight lines. */
BFLOAT16(ttnn, gelu_lut, gelu, "x/2 + (slope*|x| + offset), six lines with float16 coefficients",
    "tenstorrent/tt-metal ckernel_sfpu_gelu.h, calculate_gelu_appx; a model: rounded once",
    static const float slope[] = {0.1928f, 0.4939f, 0.6188f, 0.6099f, 0.5402f, 0.5f};
    static const float offset[] = {-0.00010443f, -0.1604f, -0.2796f, -0.2635f, -0.1194f, 0.0f};
    float a = fabsf(x);
    int line = a < 2 ? (int)(2 * a) : a < 3 ? 4 : 5;
    return 0.5f * x + (f32_of_f16(f16_of_f32(slope[line])) * a + f32_of_f16(f16_of_f32(offset[line])));
)

FLOAT32(ttnn, gelu_erf, gelu, "x*(0.5 + 0.5*erf(x/sqrt(2))), erf rational of degrees 15 and 16, 0 below -5.5426",
    "tenstorrent/tt-metal ckernel_sfpu_gelu.h, float32; a model: the reciprocal taken as an exact division",
    static const float n[] = {-2.8632063387e-10f, 2.7384647439e-08f, 1.7678321456e-05f, 6.1307044234e-04f,
                              5.6230435148e-03f, 6.2133435160e-02f, 2.1477432549e-01f, 1.1283791065e+00f};
    static const float d[] = {-6.7350725691e-12f, -3.5153888689e-09f, 1.3156344494e-06f, 1.3179056987e-04f,
                              1.9545555115e-03f, 1.9642570987e-02f, 1.2961706519e-01f, 5.2367275953e-01f, 1.0f};
    if (x <= -5.54259443f)
        return 0;
    float v = x * 0x1.6a09e6p-1f; /* sqrt(1/2) */
    v = v < 10 ? v : 10;
    float p = n[0], q = d[0];
    for (int i = 1; i < 8; i++)
        p = fmaf(p, v * v, n[i]);
    for (int i = 1; i < 9; i++)
        q = fmaf(q, v * v, d[i]);
    float erf = p * v / q;
    erf = erf < -1 ? -1 : erf > 1 ? 1 : erf;
    return erf == -1 ? x * 0x1p-25f : x * (0.5f + 0.5f * erf);
)
