/* e^x, for finite x != 0, any double

   |x| < 2^-250   beside 1
   |x| < 2^-5     1 + expm1(x), truth/exp.h
   |x| <= 800     e^x, truth/exp.h
   |x| > 800      above 2^1140; between 0 and 2^-1140

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above the function
   Test     against the oracle: tests/truth/test_values.py
   Stages   no kernel: for judging alone (truth/core.h), with GV_QUICK in double first, 2^-40 */
#ifndef GV_MATH_EXP_H
#define GV_MATH_EXP_H
#include "../truth/exp.h"
#include "../truth/value.h"

/* Error of exp: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.24 err at 0x1.3d6a049b0136ap-39,
   >= 2^-100.9 |f| at 0x1.02d61da696ab2p+5 */
GV_INLINE gv_value gv_exp_value(double x) {
    if (fabs(x) < 0x1p-250) return gv_beside(1.0, x);
    if (fabs(x) < 0x1p-5) return gv_sum(1.0, gv_expm1(gv_dd_from(x)));
    if (x > 800.0) return gv_huge();
    if (x < -800.0) return gv_vanishing(1.0);
    return gv_relative(gv_exp(gv_dd_from(x)));
}

#endif
