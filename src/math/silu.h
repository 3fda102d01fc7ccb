/* silu(x) = x sigmoid(x) and its derivative, for finite x != 0, any double. s(x) = x,
   a = |x|, t = s(a), q = e^-t/(1 + e^-t); the last two rows, and t < 1 of the derivative, are in truth/logistic.h

                         function                            derivative
   a < 2^-200 (2^-250)   x/2, and what follows is positive   beside 1/2, on the side of x
   a < 2^-40             x/2 + x^2/4                         1/2 + x/2
   t < 1                 x/2 + a/2 tanh(t/2)                 1/2 +- (tanh(t/2)/2 + a s'(a) q (1 - q))
   t >= 1, x > 0         x - a q; beside x for t > 200       1 + q (a s'(a) (1 - q) - 1); beside 1 for t > 200
   t >= 1, x < 0         -a q                                -q (a s'(a) (1 - q) - 1)
   a > 800               beside x; between -2^-1140 and 0    beside 1; between -2^-1140 and 0

   Bound    err: 2^-88 of what is added to the leading term where that is summed up, else as its constructor says
            (truth/value.h). Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section 4).
            Largest errors found: above each function
   Test     against the oracle: tests/truth/test_values.py
   Stages   This is the accurate path. The fast paths:
            float32: cr/float_sigmoid.h (silu) and float_pieces.h (silu_grad) with fma, else
            enclosure/logistic.h; stages in cr/float32.h
            float64: cr/logistic.h, in double and in double-double; stages in cr/float64.h
            With GV_QUICK the same formulas in double, 2^-40: the first stage of judging (truth/core.h) */
#ifndef GV_MATH_SILU_H
#define GV_MATH_SILU_H
#include "../truth/logistic.h"

/* Error of silu: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.25 err at 0x1.f62cbea011b2ep+4,
   >= 2^-94.5 |f| at 0x1.6d59baf10d1f0p-41 */
GV_INLINE gv_value gv_silu(double x) {
    double a = fabs(x);
    if (a < 0x1p-200) return gv_beside_tiny(x, 0.5, 1.0);
    if (a < 0x1p-40) return gv_next_to(0.5 * x, 0.25 * x * x);
    if (a > 800.0) return x > 0.0 ? gv_beside(x, -1.0) : gv_vanishing(-1.0);
    gv_dd t = gv_dd_from(a);
    return gv_scaled_logistic(x, t);
}

/* Error of silu_grad: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.24 err at 0x1.fe1c14845c578p-29,
   >= 2^-94.6 |f| at -0x1.4766388202440p+0 */
GV_INLINE gv_value gv_silu_grad(double x) {
    double a = fabs(x);
    if (a < 0x1p-250) return gv_beside(0.5, x);
    if (a < 0x1p-40) return gv_next_to(0.5, 0.5 * x);
    if (a > 800.0) return x > 0.0 ? gv_beside(1.0, 1.0) : gv_vanishing(-1.0);
    gv_dd t = gv_dd_from(a);
    gv_dd steep = t;
    return gv_scaled_logistic_grad(x, t, steep);
}

#endif
