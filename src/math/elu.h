/* elu(x) = x for x > 0, e^x - 1 below, and its derivative, 1 for x > 0, e^x below, for finite x != 0, any double

   x > 0          x, exact
   x > -2^-200    beside x
   x > -2^-55     x + x^2/2
   x >= -1        expm1(x), truth/exp.h
   x < -1         e^x - 1; beside -1 below -150
   derivative     exp.h

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above each function
   Test     against the oracle: tests/truth/test_values.py
   Stages   no kernel: for judging alone (truth/core.h), with GV_QUICK in double first, 2^-40 */
#ifndef GV_MATH_ELU_H
#define GV_MATH_ELU_H
#include "../truth/exp.h"
#include "../truth/value.h"
#include "exp.h"

/* Error of elu: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.24 err at -0x1.39df9d9b4213cp+4,
   >= 2^-99.3 |f| at -0x1.67da56ab1f552p-8 */
GV_INLINE gv_value gv_elu(double x) {
    if (x > 0.0) return gv_exact(x);
    if (x > -0x1p-200) return gv_beside_tiny(x, 1.0, 1.0);
    if (x > -0x1p-55) return gv_next_to(x, 0.5 * x * x); /* the next term is x/3 of it */
    if (x < -150.0) return gv_beside(-1.0, 1.0);
    if (x < -1.0) return gv_sum(-1.0, gv_exp_plain(gv_dd_from(x)));
    return gv_sum(0.0, gv_expm1(gv_dd_from(x)));
}

/* Error of elu_grad: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.23 err at -0x1.329f20454ad34p-37,
   >= 2^-100.9 |f| at -0x1.02c9c42a6bb83p+5 */
GV_INLINE gv_value gv_elu_grad(double x) {
    if (x > 0.0) return gv_exact(1.0);
    return gv_exp_value(x);
}

#endif
