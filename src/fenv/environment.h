/* The floating-point environment of the caller: saved while we compute, which needs the default one, and restored
   afterwards, with the exceptions that were raised before and without those that we raised. A caller may flush
   subnormals (torch.set_flush_denormal), round another way, or have exceptions end its process (feenableexcept). */
#ifndef GV_FENV_ENVIRONMENT_H
#define GV_FENV_ENVIRONMENT_H

#if defined(__SSE2__) && defined(__x86_64__)
#include <xmmintrin.h>

typedef struct {
    unsigned mxcsr;
    unsigned short control, status; /* of the x87 unit, which long double is computed in */
} gv_environment;

enum { GV_MXCSR = 0x1f80, GV_CONTROL = 0x37f, GV_RAISED = 0x80ff }; /* to nearest, no traps, subnormals kept, 64 bits */

static unsigned short gv_x87_control(void) {
    unsigned short control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return control;
}

static unsigned short gv_x87_status(void) {
    unsigned short status;
    __asm__ volatile("fnstsw %0" : "=a"(status));
    return status;
}

/* Not fldcw: that would trap on an exception that is already raised and no longer masked. */
static void gv_set_x87(unsigned short control, unsigned short status) {
    struct { unsigned short control, unused, status, rest[11]; } x87;
    __asm__ volatile("fnstenv %0" : "=m"(x87));
    x87.control = control;
    x87.status = (unsigned short)((x87.status & ~GV_RAISED) | (status & GV_RAISED));
    __asm__ volatile("fldenv %0" : : "m"(x87));
}

static void gv_enter_default(gv_environment *callers) {
    callers->mxcsr = _mm_getcsr();
    callers->control = gv_x87_control();
    callers->status = gv_x87_status();
    _mm_setcsr(GV_MXCSR);
    if (callers->control != GV_CONTROL) gv_set_x87(GV_CONTROL, 0);
}

static void gv_leave_default(const gv_environment *callers) {
    if (gv_x87_control() != callers->control || (gv_x87_status() ^ callers->status) & GV_RAISED)
        gv_set_x87(callers->control, callers->status);
    _mm_setcsr(callers->mxcsr);
}
#elif defined(__aarch64__) && defined(__GNUC__)
#include <stdint.h>

/* Not fesetenv(FE_DFL_ENV), which leaves the flushing of half precision (FZ16) and the default NaN (DN) as they are. */
typedef struct { uint64_t fpcr, fpsr; } gv_environment;

static void gv_enter_default(gv_environment *callers) {
    const uint64_t none = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(callers->fpcr));
    __asm__ volatile("mrs %0, fpsr" : "=r"(callers->fpsr));
    __asm__ volatile("msr fpcr, %0" : : "r"(none) : "memory");
}

static void gv_leave_default(const gv_environment *callers) {
    __asm__ volatile("msr fpcr, %0" : : "r"(callers->fpcr) : "memory");
    __asm__ volatile("msr fpsr, %0" : : "r"(callers->fpsr) : "memory");
}
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
