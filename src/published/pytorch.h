/* PyTorch on CUDA: pytorch/pytorch aten/src/ATen/native/cuda/ActivationGeluKernel.cu (BSD-3-Clause), with the functions
   of the C library: CUDA's erf and tanh differ in last bits. */

#define BETA CONSTANT(0x1.9884533d43651p-1) /* sqrt(2/pi) */

OPMATH(pytorch, gelu_cuda, gelu, "x*0.5*(1 + erf(x*sqrt(1/2)))",
    "pytorch/pytorch aten/src/ATen/native/cuda/ActivationGeluKernel.cu; erf of the C library",
    return MUL(MUL(x, HALF), ADD(ONE, ERF(MUL(x, SQRT_HALF))));
)

OPMATH(pytorch, gelu_tanh_cuda, gelu_tanh, "0.5*x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x*x*x)))",
    "pytorch/pytorch aten/src/ATen/native/cuda/ActivationGeluKernel.cu; tanh of the C library",
    T u = MUL(BETA, ADD(x, MUL(CUBE, MUL(MUL(x, x), x))));
    return MUL(MUL(HALF, x), ADD(ONE, TANH(u)));
)

OPMATH(pytorch, gelu_grad_cuda, gelu_grad, "0.5*(1 + erf(x*sqrt(1/2))) + x*exp(-0.5*x*x)/sqrt(2*pi)",
    "pytorch/pytorch aten/src/ATen/native/cuda/ActivationGeluKernel.cu; erf and exp of the C library",
    T cdf = MUL(HALF, ADD(ONE, ERF(MUL(x, SQRT_HALF))));
    T pdf = MUL(EXP(MUL(MUL(-HALF, x), x)), INV_SQRT_2PI);
    return ADD(cdf, MUL(x, pdf));
)

OPMATH(pytorch, gelu_tanh_grad_cuda, gelu_tanh_grad,
    "0.5*(1 + t) + 0.5*x*((1 - t*t)*u'), u' = sqrt(2/pi)*(1 + 3*0.044715*(x*x))",
    "pytorch/pytorch aten/src/ATen/native/cuda/ActivationGeluKernel.cu; tanh of the C library",
    T square = MUL(x, x);
    T t = TANH(MUL(BETA, ADD(x, MUL(CUBE, MUL(square, x)))));
    T left = MUL(HALF, x);
    T slope = MUL(BETA, ADD(ONE, MUL(MUL(CONSTANT(3), CUBE), square)));
    return ADD(MUL(HALF, ADD(ONE, t)), MUL(MUL(left, SUB(ONE, MUL(t, t))), slope));
)

#undef BETA
