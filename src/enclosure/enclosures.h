/* Enclosures of f(x): two doubles with the exact value between them, branch-free, for x a float32 number, in one double
   or in the lanes of a register. gelu.h and logistic.h have a formula, a bound and its proof for each function.
   Instantiated by an includer that defines GV_LANES, GV_HAVE_FMA and GV_TYPED; may be included several times. */
#include "tables.h"
#include "number.h"
#include "polynomial.h"
#include "gelu.h"
#include "logistic.h"
