/* softplus(x) = log(1 + e^x), for finite x != 0, any double. a = |x|; its derivative is sigmoid (sigmoid.h)

   x > 0      x + log(1 + e^-a), truth/log1p.h; beside x from 200 on
   x >= -200  log(1 + e^-a)
   x < -200   e^-a, of which the next term, e^-2a/2, is less than 2^-288; between 0 and 2^-1140 from a = 800 on

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above the function
   Test     against the oracle: tests/truth/test_values.py
   Stages   no kernel: for judging alone (truth/core.h), with GV_QUICK in double first, 2^-40 */
#ifndef GV_MATH_SOFTPLUS_H
#define GV_MATH_SOFTPLUS_H
#include "../truth/log1p.h"
#include "../truth/value.h"
#include "sigmoid.h"

/* Error of softplus: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.25 err at 0x1.2049b1fda45d1p+5,
   >= 2^-97.7 |f| at 0x1.9681dc40fc761p-20 */
GV_INLINE gv_value gv_softplus(double x) {
    double a = fabs(x);
    if (x > 200.0) return gv_beside(x, 1.0);
    if (x < -800.0) return gv_vanishing(1.0);
    gv_scaled_dd e = gv_exp(gv_dd_from(-a));
    if (x < -200.0) return gv_relative(e);
    gv_dd c = gv_log1p(gv_dd_scale(e.m, gv_power_of_two(e.k)));
    return gv_sum(x > 0.0 ? x : 0.0, c);
}

#endif
