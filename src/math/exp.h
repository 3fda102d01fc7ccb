/* e^x, for finite x != 0 */
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
