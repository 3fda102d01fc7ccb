/* Two doubles around f(x), branch-free: for x a float32 number, in one double or in the lanes of a register.
   Instantiated by an includer that defines GV_LANES, GV_HAVE_FMA and GV_TYPED; may be included several times. */
#include "tables.h"

/* What the formulas claim; tests/prove certifies each. */
#define GV_NEAR_GELU_ERROR 0x1p-44 /* absolute, of Phi(x) */
#define GV_NEAR_GELU_GRAD_ERROR 0x1p-45 /* absolute */
#define GV_FAR_ERROR 0x1p-44 /* relative, of a Q(a); of phi(a) (a + M(a)) */
#define GV_LOGISTIC_ERROR 0x1p-42 /* relative, of sigmoid(s) */
#define GV_NEAR_LOGISTIC_ERROR 0x1.2p-34 /* relative, of sigmoid(s) */
#define GV_NEAR_STEEP_ERROR 0x1.8p-34 /* of 1 + steep (1 - q), relative to q times it, |steep| <= 56 */

#include "number.h"
#include "polynomial.h"
#include "gelu.h"
#include "logistic.h"
