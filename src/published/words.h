/* Words that the present arithmetic does not define stand for nothing in it. */
#ifndef NATIVE
#define NATIVE SKIP
#endif
#ifndef NATIVE_TO_32
#define NATIVE_TO_32 SKIP
#endif
#ifndef HALVES
#define HALVES SKIP
#endif
#ifndef FLOAT16
#define FLOAT16 SKIP
#endif
#ifndef BFLOAT16
#define BFLOAT16 SKIP
#endif
#ifndef FLOAT32
#define FLOAT32 SKIP
#endif
#ifndef OPMATH
#define OPMATH SKIP
#endif
#ifndef FLOATMATH
#define FLOATMATH SKIP
#endif
#ifndef FLOATMATH_NO_BFLOAT16
#define FLOATMATH_NO_BFLOAT16 SKIP
#endif
#ifndef DOUBLEMATH
#define DOUBLEMATH SKIP
#endif
