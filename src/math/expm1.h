/* e^x - 1, for finite x != 0, any double

   |x| < 2^-200   beside x
   |x| < 2^-55    x + x^2/2
   x < -150       beside -1
   x < -1         -1 + e^x, truth/exp.h
   x <= 500       expm1(x), truth/exp.h
   x <= 800       e^x, of which 1 is less than 2^-720
   x > 800        above 2^1140

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above the function
   Test     against the oracle: tests/truth/test_values.py
   Stages   no kernel: for judging alone (truth/core.h), with GV_QUICK in double first, 2^-40 */
#ifndef GV_MATH_EXPM1_H
#define GV_MATH_EXPM1_H
#include "../truth/exp.h"
#include "../truth/value.h"

/* Error of expm1: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.24 err at -0x1.39df9d9b4213cp+4,
   >= 2^-98.6 |f| at 0x1.6f9dad4b0dceap-8 */
GV_INLINE gv_value gv_expm1_value(double x) {
    if (fabs(x) < 0x1p-200) return gv_beside_tiny(x, 1.0, 1.0);
    if (fabs(x) < 0x1p-55) return gv_next_to(x, 0.5 * x * x); /* the next term is x/3 of it */
    if (x < -150.0) return gv_beside(-1.0, 1.0);
    if (x < -1.0) return gv_sum(-1.0, gv_exp_plain(gv_dd_from(x)));
    if (x <= 500.0) return gv_sum(0.0, gv_expm1(gv_dd_from(x)));
    if (x > 800.0) return gv_huge();
    return gv_relative(gv_exp(gv_dd_from(x)));
}

#endif
