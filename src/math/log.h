/* log x, for finite x != 0, any double

   x < 0            not defined
   x = 1            0
   3/4 <= x < 3/2   by log1p, truth/log.h
   all others       k log 2 + log m, truth/log.h

   Bound    err: 2^-88 of log x. Every branch, every double: proved by tests/prove/test_core.py (docs/proofs.md, section
            4). Largest errors found: above the function
   Test     against the oracle: tests/truth/test_values.py
   Stages   no kernel: for judging alone (truth/core.h), with GV_QUICK in double first, 2^-40 */
#ifndef GV_MATH_LOG_H
#define GV_MATH_LOG_H
#include "../truth/log.h"
#include "../truth/value.h"

/* Error of log: |hi + lo - f| <= err, proved (tox -e prove; docs/proofs.md, section 4). Found in
   20,000 inputs by tools/state_core_errors.py: >= 0.0041 err at 0x1.fc4020b06a6f8p-1,
   >= 2^-95.9 |f| at 0x1.fc4020b06a6f8p-1 */
GV_INLINE gv_value gv_log_value(double x) {
    if (x < 0.0) return gv_undefined();
    if (x == 1.0) return gv_exact(0.0);
    if (x < 0x1p-500) return gv_sum(0.0, gv_log(x * 0x1p600, -600));
    if (x > 0x1p500) return gv_sum(0.0, gv_log(x * 0x1p-600, 600));
    if (x >= 0.75 && x < 1.5) return gv_sum(0.0, gv_log_near(x));
    return gv_sum(0.0, gv_log(x, 0));
}

#endif
