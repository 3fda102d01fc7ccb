/* All that the C++ of a kernel includes. */
#ifndef GELU_VERIFY_PTX_KERNEL_H
#define GELU_VERIFY_PTX_KERNEL_H
#include "approximate.h"
#include "launch.h"
#include "memory.h"
#include "print.h"
#include "warp.h"
#endif
