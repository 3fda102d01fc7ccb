/* Where kernels run: on a device; or, for tests, on the CPU as a block of one thread, compiled as C++17.

   A line `// build SUFFIX: FLAGS` of a .cu file says that it is compiled with these flags, and what its kernels' names
   end with then. A module lists its kernels in `gv_kernels` (kernel.h), and there is no other list. */
#ifndef GELU_VERIFY_CUDA_DEVICE_H
#define GELU_VERIFY_CUDA_DEVICE_H
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef unsigned long long gv_count; /* of elements, and their places */

#ifdef __CUDACC__
#define GV_DEVICE static __device__ __forceinline__
#define GV_MEMBER static __device__ __forceinline__ /* of a class */
#define GV_INSIDE __device__ __forceinline__ /* of an object */
#define GV_OUT_OF_LINE static __device__ __noinline__ /* for few threads: inlined, it would take registers of all */
#define GV_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define GV_ON_DEVICE __device__
#define GV_UNROLLED _Pragma("unroll")
#define GV_UNROLLED_BY_8 _Pragma("unroll 8")
#define GV_SHARED __shared__
#define GV_SHARED_BY_LAUNCH(type, name, size) extern __shared__ type name[];

GV_DEVICE unsigned gv_thread_of_block() { return threadIdx.x; }
GV_DEVICE unsigned gv_threads_of_block() { return blockDim.x; }
GV_DEVICE unsigned gv_block() { return blockIdx.x; }
GV_DEVICE unsigned gv_blocks() { return gridDim.x; }
GV_DEVICE void gv_wait_for_block() { __syncthreads(); }
GV_DEVICE unsigned gv_add_one(unsigned *count) { return atomicAdd(count, 1u); }
GV_DEVICE gv_count gv_add_one(gv_count *count) { return atomicAdd(count, (gv_count)1); }
#else
#define GV_DEVICE static inline
#define GV_MEMBER static inline
#define GV_INSIDE inline
#define GV_OUT_OF_LINE static __attribute__((noinline))
#define GV_KERNEL(threads) extern "C" void
#define GV_ON_DEVICE
#define GV_UNROLLED
#define GV_UNROLLED_BY_8
#define GV_SHARED static
#define GV_SHARED_BY_LAUNCH(type, name, size) static type name[size];

GV_DEVICE unsigned gv_thread_of_block() { return 0; }
GV_DEVICE unsigned gv_threads_of_block() { return 1; }
GV_DEVICE unsigned gv_block() { return 0; }
GV_DEVICE unsigned gv_blocks() { return 1; }
GV_DEVICE void gv_wait_for_block() {}
GV_DEVICE unsigned gv_add_one(unsigned *count) { return (*count)++; }
GV_DEVICE gv_count gv_add_one(gv_count *count) { return (*count)++; }
#endif

#endif
