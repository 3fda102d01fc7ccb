/* A function with one clone for each instruction set: the loader takes that of the processor. */
#ifndef GV_TRUTH_CLONES_H
#define GV_TRUTH_CLONES_H

#ifdef GV_CLONES
/* set by the compiler's command line: tests/truth/test_clones.py */
#elif defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ >= 12 /* arch=haswell would be for Intel's Haswell alone */
#define GV_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#define GV_FMA_CLONES __attribute__((target_clones("default", "arch=x86-64-v3"))) /* loops that are not vectors */
#else
#define GV_CLONES __attribute__((target_clones("default", "fma")))
#endif
#else
#define GV_CLONES
#endif
#ifndef GV_FMA_CLONES
#define GV_FMA_CLONES GV_CLONES
#endif

/* What many formulas need, called instead of copied into each: half of the time to compile them. A clone calls those of
   its own instruction set. In double (GV_QUICK) a call would take as long as what is called. */
#ifndef GV_QUICK
#define GV_CALLED GV_FMA_CLONES static
#endif

#endif
