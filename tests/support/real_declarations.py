"""How real projects declare their functions: project, file, declaration (written anew, bodies in short), and how each
is called. `ASK` stands before what is a question, with the lines that answer it."""

ASK = "?"

# project, file, symbol, declaration: the call, or ASK and the calls that are offered
C = {
    ("ggml", "vec.h", "ggml_vec_gelu_f32", "static void ggml_vec_gelu_f32(const int n, float *y, const float *x) {}"): "n, y, x",
    ("ggml", "vec.h", "ggml_vec_gelu_quick_f16",
     "typedef uint16_t ggml_fp16_t; static void ggml_vec_gelu_quick_f16(const int n, ggml_fp16_t *y, const ggml_fp16_t *x) {}"): "n, y, x",
    ("ggml", "vec.h", "ggml_gelu_f32", "static float ggml_gelu_f32(float x) { return x; }"): "x",
    ("ggml", "vec.h", "ggml_silu_backward_f32", "static float ggml_silu_backward_f32(float x, float dy) { return x * dy; }"): "x, dy",
    ("ggml", "vec.h", "ggml_vec_silu_backward_f32",
     "static void ggml_vec_silu_backward_f32(const int n, float *dx, const float *x, const float *dy) {}"): "n, y, x, dy",
    ("ggml", "vec.h", "ggml_vec_leaky_relu_f32",
     "void ggml_vec_leaky_relu_f32(const int n, float *y, const float *x, const float ns) { y[n] = x[n] * ns; }"):
        f"{ASK} f(n, y, x, ns=1.0f)",
    ("ggml", "ops.cpp", "ggml_vec_swiglu_f32",
     "void ggml_vec_swiglu_f32(const int n, float *y, const float *x, const float *g) { y[n] = x[n] * g[n]; }"):
        f"{ASK} f(n, y, x, g=NULL)",
    ("llm.c", "train_gpt2.c", "gelu_forward", "void gelu_forward(float *out, float *inp, int N) { out[0] = inp[N]; }"): "y, x, n",
    ("llm.c", "train_gpt2.c", "gelu_backward",
     "void gelu_backward(float *dinp, float *inp, float *dout, int N) { for (int i = 0; i < N; i++) dinp[i] += inp[i] * dout[i]; }"):
        "y=zeros, x, dy, n",
    ("XNNPACK", "f32-vgelu/scalar", "xnn_f32_vgelu_ukernel__scalar_u1",
     "struct xnn_f32_default_params; void xnn_f32_vgelu_ukernel__scalar_u1(size_t batch, const float *input, float *output, "
     "const struct xnn_f32_default_params *unused_params) { for (; batch >= sizeof(float); batch -= sizeof(float)) *output++ = *input++; }"):
        "bytes, x, y, unused_params=NULL",
    ("XNNPACK", "f32-vgelu/scalar of 2024", "xnn_f32_vgelu_ukernel__scalar",
     "union xnn_f32_default_params { int a; }; void xnn_f32_vgelu_ukernel__scalar(size_t batch, const float *input, float *output, "
     "const union xnn_f32_default_params unused_params[restrict 1]) { batch % sizeof(float); *output = *input; }"):
        "bytes, x, y, unused_params=NULL",
    ("XNNPACK", "f32-vhswish", "xnn_f32_vhswish_ukernel",
     "struct p { float v; }; void xnn_f32_vhswish_ukernel(size_t batch, const float *input, float *output, const struct p *params) "
     "{ batch -= 4 * sizeof(float); *output = *input * params->v; }"):
        f"{ASK} f(bytes, x, y, params=NULL)",
    ("XNNPACK", "vunary.h", "xnn_declared", "struct p; void xnn_declared(size_t batch, const float *input, float *output, const struct p *params);"):
        f"{ASK} f(n, x, y, params=NULL)",
    ("musl", "erff.c", "erff_", "float erff_(float x) { return x; }"): "x",
    ("musl", "exp.c", "exp_", "double exp_(double x) { return x; }"): "x",
    ("SLEEF", "sleef.h", "Sleef_expf8_u10", "typedef float __m256 __attribute__((vector_size(32))); __m256 Sleef_expf8_u10(__m256 x) { return x; }"): "x",
    ("libmvec", "svml", "vector_erf", "typedef double __m128d __attribute__((vector_size(16))); __m128d vector_erf(__m128d v) { return v; }"): "x",
    ("ncnn", "gelu.cpp", "ncnn_gelu", "static int ncnn_gelu(float *ptr, int size) { return 0; }"): "x, n",
    ("MNN", "CommonOptFunction.h", "MNNGelu", "void MNNGelu(float *dst, const float *src, size_t size) { dst[size] = *src; }"): "y, x, n",
    ("MNN", "CommonOptFunction.h of 2023", "MNNGelu4",
     "void MNNGelu4(float *dst, const float *src, size_t size, float *parameters) { dst[size] = *src * parameters[0]; }"):
        f"{ASK} f(y, x, n, parameters=NULL)",
    ("MNN", "CommonOptFunction.h", "MNNExp",
     "void MNNExp(float *dst, const float *src, float *offset, size_t dataSize) { dst[dataSize] = *src + *offset; }"):
        f"{ASK} f(y, x, offset=NULL, n)",
    ("MNN", "CommonOptFunction.h", "MNNAddC4WithStride",
     "void MNNAddC4WithStride(const float *source, float *dest, size_t srcStride, size_t dstStride, size_t count) "
     "{ dest[count * dstStride] += source[srcStride]; }"):
        f"{ASK} f(x, y=zeros, srcStride=1, dstStride=1, n)",
    ("darknet", "activations.h", "logistic_activate", "static inline float logistic_activate(float x) { return x; }"): "x",
    ("darknet", "activations.c", "activate_array",
     "typedef enum { RELU, TANH } ACTIVATION; void activate_array(float *x, const int n, const ACTIVATION a) { x[n] = a; }"):
        f"{ASK} f(x, n, a=(ACTIVATION)0)",
    ("darknet", "activations.c", "logistic_activate_array", "static void logistic_activate_array(float *x, const int n) { x[n] = 0; }"): "x, n",
    ("darknet", "activations.c", "gradient_array",
     "void gradient_array(const float *x, const int n, const int a, float *delta) { delta[n] *= x[n] * a; }"):
        f"{ASK} f(x, n, a=1, y)",
    ("fastapprox", "fasttanh.h", "fasttanh", "static inline float fasttanh(float p) { return p; }"): "x",
    ("fastapprox", "fasterf.h", "fasterf", "static inline float fasterf(float x) { return x; }"): "x",
    ("ARM Compute Library", "NEMath.inl", "vtanhq_f32", "typedef float float32x4_t __attribute__((vector_size(16))); float32x4_t vtanhq_f32(float32x4_t val) { return val; }"): "x",
    ("CMSIS-DSP", "arm_vexp_f32.c", "arm_vexp_f32",
     "typedef float float32_t; typedef uint32_t u; void arm_vexp_f32(const float32_t *pSrc, float32_t *pDst, uint32_t blockSize) { pDst[blockSize] = *pSrc; }"):
        f"{ASK} f(x, y, n)",
    ("CMSIS-NN", "arm_nn_activation", "arm_sigmoid", "void arm_sigmoid(const short *input, short *output, const int size) {}"):
        "! it takes no array and no number",
    ("MKL", "vml", "vsTanh", "void vsTanh(const int n, const float a[], float r[]);"): "n, x, y",
    ("MKL", "vml", "vdErf", "void vdErf(int n, const double *a, double *r);"): "n, x, y",
    ("Accelerate", "vForce", "vvtanhf", "void vvtanhf(float *y, const float *x, const int *n);"):
        f"{ASK} f(y, x, p3=(const int[]){{n}})",
    ("oneDNN", "ref_eltwise", "gelu_tanh_bwd", "float gelu_tanh_bwd(float dd, float s) { return dd * s; }"):
        f"{ASK} f(x, s=1.0f)",
    ("ONNX Runtime", "mlas.h", "MlasComputeErf", "void MlasComputeErf(const float *Input, float *Output, size_t N);"): "x, y, n",
    ("ONNX Runtime", "mlas.h", "MlasComputeSilu", "void MlasComputeSilu(const float *Input, float *Output, size_t N);"): "x, y, n",
    ("ONNX Runtime", "mlas.h", "MlasComputeSoftmax",
     "void MlasComputeSoftmax(const float *Input, float *Output, size_t N, size_t D, _Bool LogSoftmax);"):
        f"{ASK} f(x, y, n, D=1, LogSoftmax=false)",
    ("TFLite Micro", "hard_swish.c", "HardSwishFloat", "void HardSwishFloat(int flat_size, const float *input_data, float *output_data) { output_data[flat_size] = *input_data; }"):
        f"{ASK} f(n, x, y)",
    ("whisper.cpp", "ggml.c of 2022", "whisper_gelu", "static void whisper_gelu(const int n, float *y, const float *x) { y[n] = *x; }"): "n, y, x",
    ("llama2.c", "run.c", "softmax", "void softmax(float *x, int size) { x[size] = 0; }"): "x, n",
    ("llamafile", "vmathf.h", "v_expf", "void v_expf(float *a, float *b, long n) { b[n] = *a; }"): f"{ASK} f(x, y, n) f(y, x, n)",
    ("libxsmm", "math", "stride_x", "void stride_x(const float *in, float *out, int n, int ldi, int ldo) { out[n * ldo] = in[ldi]; }"):
        f"{ASK} f(x, y, n, ldi=1, ldo=1)",
    ("GSL", "specfunc", "gsl_sf_erf", "double gsl_sf_erf(double x);"): "x",
    ("Cephes", "ndtr.c", "ndtr", "double ndtr(double a) { return a; }"): "x",
    ("R", "pnorm.c", "pnorm5", "double pnorm5(double x, double mu, double sigma, int lower_tail, int log_p) { return x * mu * sigma * lower_tail * log_p; }"):
        f"{ASK} f(x, mu=1.0, sigma=1.0, lower_tail=1, log_p=1)",
    ("nnlib", "activations", "nn_gelu_out_first", "int nn_gelu_out_first(float *__restrict out, const float *__restrict in, unsigned long count) { return 0; }"): "y, x, n",
    ("kann", "kautodiff.c", "kad_gelu", "void kad_gelu(int n, const float *x, float *y, float *g) { for (int i = 0; i < n; i++) y[i] = x[i], g[i] = 1; }"):
        f"{ASK} f(n, x, y, g=NULL)",
}  # fmt: skip

CPP = {
    ("vectorclass", "vectormath_exp.h", "exp_scalar", "static inline double exp_scalar(double const x) { return x; }"): "x",
    ("OpenCV", "dnn elementwise", "gelu_float", "namespace cv { inline float gelu_float(float x) { return x; } }"): "x",
    ("Eigen", "functor", "scalar_logistic_op<float>",
     "template <class T> struct scalar_logistic_op { T operator()(const T &x) const { return x; } };"): "x",
    ("CTranslate2", "cpu/kernels.cc", "gelu", "namespace ct2 { template <typename T> void gelu(const T *x, T *y, long size) { *y = x[size]; } }"): "x, y, n",
    ("Highway", "math-inl.h", "Exp1", "namespace hwy { double Exp1(double x) { return x; } }"): "x",
    ("TensorFlow Lite", "reference_ops", "Tanh", "struct Shape {}; inline void Tanh(const Shape &a, const float *input_data, const Shape &b, float *output_data) { *output_data = *input_data; }"):
        "! a --call, in which n or bytes occurs",
    ("PyTorch", "vec", "gelu_default", "void gelu_default(float *out, const float *in, long n, bool approximate = false) { out[n] = *in * approximate; }"):
        "y, x, n, approximate=false",
    ("FBGEMM", "gelu", "overloaded", "float overloaded(float x); double overloaded(double x, double y);"): "x",
    ("BLIS", "addon", "silu", "static double silu(double x, double beta = 1) { return x * beta; }"): "x, beta=1",
}  # fmt: skip

CUDA = {
    ("llm.c", "gelu_forward.cu", "gelu_forward_kernel",
     "__global__ void gelu_forward_kernel(float *out, const float *inp, int N) { int i = blockIdx.x * blockDim.x; if (i < N) out[i] = inp[i]; }"): "y, x, n",
    ("llm.c", "gelu_forward.cu", "gelu_forward_kernel2",
     "typedef float floatX; __global__ void gelu_forward_kernel2(floatX *out, const floatX *inp) { out[threadIdx.x] = inp[threadIdx.x]; }"):
        f"{ASK} f<<<n / 256, 256>>>(y, x); multiple_of=256",
    ("llm.c", "gelu_backward.cu", "gelu_backward1",
     "__global__ void gelu_backward1(float *dinp, const float *inp, const float *dout, int N) { if (threadIdx.x < N) dinp[0] = inp[0] * dout[0]; }"): "y, x, dy, n",
    ("llm.c", "gelu.cuh", "gelu_backward_inplace_kernel",
     "__global__ void gelu_backward_inplace_kernel(float *d_in_out, const float *inp) { d_in_out[0] = inp[0]; }"):
        f"{ASK} f<<<n / 256, 256>>>(y, x); multiple_of=256",
    ("ggml", "ggml-cuda/unary.cu", "gelu_f32",
     "static __global__ void gelu_f32(const float *x, float *dst, const int k) { const int i = threadIdx.x; if (i >= k) return; dst[i] = x[i]; }"): "x, y, n",
    ("vLLM", "activation_kernels.cu", "gelu_kernel",
     "template <typename T> __device__ __forceinline__ T gelu_kernel(const T &x) { return x; }"): "x",
    ("vLLM", "activation_kernels.cu of 2025", "silu_kernel",
     "template <typename T> __device__ __forceinline__ T silu_kernel(const T &x, const float alpha) { return x * T(alpha); }"):
        f"{ASK} f(x, alpha=1.0f)",
    ("vLLM", "activation_kernels.cu of 2025", "gelu_kernel_unused",
     "template <typename T> __device__ T gelu_kernel_unused(const T &x, const float) { return x; }"): "x, p2=1.0f",
    ("vLLM", "activation_kernels.cu", "act_and_mul_kernel<float>",
     "template <typename scalar_t> __global__ void act_and_mul_kernel(scalar_t *__restrict__ out, const scalar_t *__restrict__ input, const int d) { out[d] = input[d]; }"):
        f"{ASK} f<<<(n + 255) / 256, 256>>>(y, x, n)",
    ("DeepSpeed", "gelu.cu", "gelu", "inline __device__ float gelu(const float x) { return x; }"): "x",
    ("DeepSpeed", "gelu.cu", "fused_bias_gelu<float>",
     "template <typename T> __global__ void fused_bias_gelu(T *input, const T *bias, int total_count, int intermediate_size) { input[total_count] = bias[intermediate_size]; }"):
        f"{ASK} f<<<(n + 255) / 256, 256>>>(y, x, n, intermediate_size=1)",
    ("FasterTransformer", "activation_kernels.cu", "GeluActivation",
     "template <typename T> struct GeluActivation { static __device__ __forceinline__ T apply(const T &val) { return val; } };"): "! no function",
    ("FasterTransformer", "activation_kernels.cu", "GeluActivation<float>::apply",
     "template <typename T> struct GeluActivation { static __device__ __forceinline__ T apply(const T &val) { return val; } };"): "x",
    ("FasterTransformer", "gelu", "gelu2", "template <typename T> __inline__ __device__ T gelu2(T x) { return x; }"): "x",
    ("CUTLASS", "activation.h", "GELU_taylor<float>",
     "template <typename T> struct GELU_taylor { struct Params {}; __device__ T operator()(T const &z) const { return z; } "
     "__device__ T operator()(T const &z, Params const &p) const { return z; } };"): "x",
    ("CUTLASS", "fast_math.h", "fast_tanh", "__device__ float fast_tanh(float x) { return x; }"): "x",
    ("Megatron-LM", "fused_kernels", "gelu_half2", "__device__ __half2 gelu_half2(__half2 x) { return x; }"): "x",
    ("TensorRT", "geluKernel.cu", "geluKernel",
     "template <typename T, unsigned TPB> __global__ void geluKernel(const T a, const T b, const T c, int n, const T *input, T *output) { output[n] = input[n] * a * b * c; }"):
        "! name what it is made for",
    ("TensorRT", "geluKernel.cu", "geluKernel<float, 256>",
     "template <typename T, unsigned TPB> __global__ void geluKernel(const T a, const T b, const T c, int n, const T *input, T *output) { output[n] = input[n] * a * b * c; }"):
        f"{ASK} f<<<(n + 255) / 256, 256>>>(a=1.0f, b=1.0f, c=1.0f, n, x, y)",
    ("Caffe", "elu_layer.cu", "ELUForward<float>",
     "template <typename Dtype> __global__ void ELUForward(const int n, const Dtype *in, Dtype *out, Dtype alpha) { out[n] = in[n] * alpha; }"):
        f"{ASK} f<<<(n + 255) / 256, 256>>>(n, x, y, alpha=1.0f)",
    ("Caffe", "relu_layer.cu", "ReLUBackward<float>",
     "template <typename Dtype> __global__ void ReLUBackward(const int n, const Dtype *in_diff, const Dtype *in_data, Dtype *out_diff) { out_diff[n] = in_diff[n] * in_data[n]; }"):
        "n, dy, x, y",
    ("MXNet", "gelu", "gelu_host", "void gelu_host(const float *x, float *y, int n, cudaStream_t stream);"): "x, y, n, stream=0",
    ("novigrad", "gelu_kernel.cu", "gelu_kernel_plain", "extern \"C\" __global__ void gelu_kernel_plain(float *input, float *output, int n) { if (threadIdx.x < n) output[0] = input[0]; }"): "x, y, n",
    ("uhop", "gelu.cu", "gelu_in_place", "extern \"C\" __global__ void gelu_in_place(float *X, int N) { if (threadIdx.x < N) X[0] = 0; }"): "x, n",
}  # fmt: skip
