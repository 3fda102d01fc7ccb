/* What a kernel is to the outside: a row of its module's table `gv_kernels`. */
#ifndef GELU_VERIFY_CUDA_KERNEL_H
#define GELU_VERIFY_CUDA_KERNEL_H
#include "device.h"

#define GV_THREADS 256 /* of a block, at most */

/* Text ends with zeros. threads: of a block, at most; shared: bytes of dynamic shared memory that a launch needs. */
struct gv_kernel_row {
    char symbol[56], name[56], function[24], form[24], dtype[12], note[180];
    uint32_t threads, shared;
};

#ifndef GV_SUFFIX /* that of the build */
#define GV_SUFFIX ""
#endif

#ifdef __CUDACC__
#define GV_END_OF_KERNELS
#else /* a module says how large its table is, a library does not */
#define GV_END_OF_KERNELS {"", "", "", "", "", "", 0, 0},
#endif

#endif
