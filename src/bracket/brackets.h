/* Two doubles around f(x), branch-free: for x a float32 number, in one double or in the lanes of a register.
   Instantiated by an includer that defines GV_LANES, GV_HAVE_FMA and GV_TYPED; may be included several times. */
#include "tables.h"

/* What the formulas claim; tests/prove certifies each. */
#define GV_NEAR_GELU_ERROR 0x1p-44 /* absolute, of Phi(x) */
#define GV_NEAR_GELU_GRAD_ERROR 0x1p-45 /* absolute */
#define GV_FAR_ERROR 0x1p-39 /* relative, of a Q(a); of phi(a) (a + M(a)) */
#define GV_LOGISTIC_ERROR 0x1p-39 /* relative, of sigmoid(s) */

#include "number.h"
#include "polynomial.h"
#include "gelu.h"
#include "logistic.h"
