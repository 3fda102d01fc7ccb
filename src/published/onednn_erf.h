/* Coefficients of oneDNN's erf(x/sqrt 2) on AVX-512: a polynomial of degree 5 for each quarter of a binade of |x|.
   From uxlfoundation/oneDNN src/cpu/x64/injectors/jit_uni_eltwise_injector.cpp, gelu_erf_minimax_polynomial
   (Apache-2.0, Copyright Intel Corporation): the numbers as published, without the padding to 32. */
#ifndef GELU_VERIFY_PUBLISHED_ONEDNN_ERF_H
#define GELU_VERIFY_PUBLISHED_ONEDNN_ERF_H

static const float onednn_erf[25][6] = {
    {-0x1.e59728p-50f, 0x1.988454p-1f, -0x1.42e7e8p-19f, -0x1.103432p-3f, -0x1.7ac3b6p-11f, 0x1.6fb018p-6f},
    {0x1.04ef24p-26f, 0x1.98843ep-1f, 0x1.6bc99ep-17f, -0x1.108aep-3f, 0x1.e12f46p-12f, 0x1.36c0ap-6f},
    {0x1.039818p-24f, 0x1.98840ep-1f, 0x1.e5ff12p-16f, -0x1.10c736p-3f, 0x1.b08bb8p-11f, 0x1.2f1a22p-6f},
    {0x1.a47a94p-23f, 0x1.988396p-1f, 0x1.18477cp-14f, -0x1.11306ep-3f, 0x1.63f46ap-10f, 0x1.25d0ap-6f},
    {0x1.35889ap-21f, 0x1.988276p-1f, 0x1.2ea6b8p-13f, -0x1.11e812p-3f, 0x1.19df7p-9f, 0x1.1a0b16p-6f},
    {0x1.e6db1p-20f, 0x1.987f5ap-1f, 0x1.56556p-12f, -0x1.13572ap-3f, 0x1.ca756cp-9f, 0x1.0908a8p-6f},
    {0x1.dd0452p-18f, 0x1.98745ep-1f, 0x1.c1f5b6p-11f, -0x1.16cdap-3f, 0x1.95ca4ep-8f, 0x1.d9ac46p-7f},
    {0x1.714776p-16f, 0x1.985a8p-1f, 0x1.f372cp-10f, -0x1.1c8014p-3f, 0x1.442e24p-7f, 0x1.990496p-7f},
    {0x1.cf4426p-15f, 0x1.9828d4p-1f, 0x1.dca922p-9f, -0x1.249bfp-3f, 0x1.d8b08p-7f, 0x1.54f26ap-7f},
    {0x1.800676p-13f, 0x1.978682p-1f, 0x1.149d8ap-7f, -0x1.37bc04p-3f, 0x1.814e06p-6f, 0x1.c1672p-8f},
    {0x1.54b43ap-11f, 0x1.95a118p-1f, 0x1.4b5518p-6f, -0x1.5e3392p-3f, 0x1.3b9832p-5f, 0x1.0ca358p-9f},
    {0x1.c6b0c6p-10f, 0x1.91f19ep-1f, 0x1.4271b2p-5f, -0x1.92637ep-3f, 0x1.c6cadap-5f, -0x1.465ea6p-9f},
    {0x1.f051e4p-9f, 0x1.8bf58ep-1f, 0x1.0e6fa8p-4f, -0x1.d0bf78p-3f, 0x1.2ab20ep-4f, -0x1.a85f4p-8f},
    {0x1.116296p-7f, 0x1.809c0ep-1f, 0x1.bf6ccp-4f, -0x1.1392bep-2f, 0x1.7f322p-4f, -0x1.58a6ccp-7f},
    {0x1.a2bda6p-7f, 0x1.77301ep-1f, 0x1.1e4f56p-3f, -0x1.2d9794p-2f, 0x1.aa7ed2p-4f, -0x1.92593cp-7f},
    {-0x1.a0646cp-9f, 0x1.91bfe6p-1f, 0x1.280096p-4f, -0x1.008954p-2f, 0x1.6fb9dep-4f, -0x1.54f54cp-7f},
    {-0x1.1b1cbcp-4f, 0x1.f16436p-1f, -0x1.1dfbd6p-3f, -0x1.0aa1e4p-3f, 0x1.c73d7cp-5f, -0x1.aaba08p-8f},
    {-0x1.1579b2p-2f, 0x1.760e08p+0f, -0x1.3b2d86p-1f, 0x1.9fad42p-4f, -0x1.ddbc9p-11f, -0x1.0474ecp-10f},
    {-0x1.183344p-1f, 0x1.033864p+1f, -0x1.13b6bp+0f, 0x1.29904cp-2f, -0x1.457cd2p-5f, 0x1.20555p-9f},
    {-0x1.99665p-2f, 0x1.ca6dacp+0f, -0x1.db312ep-1f, 0x1.f268bep-3f, -0x1.0839e2p-5f, 0x1.c4b4fcp-10f},
    {0x1.2ed9dap-3f, 0x1.02663cp+0f, -0x1.ed3f7p-2f, 0x1.d9d922p-4f, -0x1.c9eb56p-7f, 0x1.63ef24p-11f},
    {0x1.8e1b32p-1f, 0x1.d90d08p-3f, -0x1.89f15p-4f, 0x1.48cadp-6f, -0x1.12f464p-9f, 0x1.7086eap-14f},
    {0x1.f5765p-1f, 0x1.31f26cp-6f, -0x1.bcc844p-8f, 0x1.43c014p-10f, -0x1.d7e7p-14f, 0x1.1376b4p-18f},
    {0x1p+0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f},
    {0.0f, 0x1p+0f, 0.0f, 0.0f, 0.0f, 0.0f},
};

#endif
