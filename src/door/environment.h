/* The floating-point environment of whoever calls: put aside while kernels run, which need the default one.
   A caller may flush subnormals (torch.set_flush_denormal) or round another way. */
#ifndef GV_DOOR_ENVIRONMENT_H
#define GV_DOOR_ENVIRONMENT_H

#if defined(__SSE2__) && defined(__x86_64__)
#include <xmmintrin.h>

typedef unsigned gv_environment;

static void gv_enter_default(gv_environment *callers) {
    *callers = _mm_getcsr();
    _mm_setcsr(0x1f80); /* to nearest, no traps, subnormals kept */
}

static void gv_leave_default(const gv_environment *callers) { _mm_setcsr(*callers); }
#else
#include <fenv.h>

typedef fenv_t gv_environment;

static void gv_enter_default(gv_environment *callers) {
    fegetenv(callers);
    fesetenv(FE_DFL_ENV);
}

static void gv_leave_default(const gv_environment *callers) { fesetenv(callers); }
#endif

#endif
