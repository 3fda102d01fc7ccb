/* silu(x) = x sigmoid(x) and its derivative, for finite x != 0, any double. t = |x|, q = e^-t/(1 + e^-t)
   |x| < 2^-40   x/2 + x^2/4, and what comes after it within err
   t < 1         x/2 + |x|/2 tanh(t/2)
   t >= 1        x > 0: x - x q; x < 0: -|x| q; both and the derivative in truth/logistic.h
   |x| > 800     beside x; between -2^-1140 and 0 */
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
