/* x sigmoid(s(x)) and its derivative for odd increasing s, from t = s(|x|) and steep = |x| s'(|x|).
   q = sigmoid(-t) = e^-t / (1 + e^-t). Each function that is such a product has its table and bound in src/math. */
#ifndef GV_TRUTH_LOGISTIC_H
#define GV_TRUTH_LOGISTIC_H
#include "exp.h"
#include "value.h"

/* q 2^-k, and 1 - q; 0 < t <= 800 */
typedef struct {
    gv_scaled_dd q;
    gv_dd rest;
} gv_shares;

GV_INLINE gv_shares gv_logistic(gv_dd t) {
    gv_scaled_dd e = gv_exp(gv_dd_neg(t));
    gv_dd plain = e.k < -1000 ? gv_dd_from(0.0) : gv_dd_scale(e.m, gv_power_of_two(e.k));
    gv_dd below = gv_dd_add_d(plain, 1.0);
    gv_shares shares = {gv_scaled(gv_dd_div(e.m, below), e.k), gv_dd_div(gv_dd_from(1.0), below)};
    return shares;
}

/* t < 1: x/2 + |x|/2 tanh(t/2); above: x - x q; below: -|x| q */
GV_INLINE gv_value gv_scaled_logistic(double x, gv_dd t) {
    double a = fabs(x);
    if (t.hi < 1.0) return gv_sum(0.5 * x, gv_dd_mul_d(gv_tanh(gv_dd_scale(t, 0.5)), 0.5 * a));
    if (x > 0.0 && t.hi > 200.0) return gv_beside(x, -1.0);
    if (t.hi > 800.0) return gv_vanishing(-1.0);
    gv_scaled_dd q = gv_logistic(t).q;
    q.m = gv_dd_mul_d(q.m, a);
    if (x > 0.0) return gv_leading_minus(x, q);
    return gv_relative(gv_scaled(gv_dd_neg(q.m), q.k));
}

/* t < 1: 1/2 +- (tanh(t/2)/2 + steep q (1-q)); above: 1 + q (steep (1-q) - 1); below: -q (steep (1-q) - 1),
   which has a zero: the bound is on what is subtracted */
GV_INLINE gv_value gv_scaled_logistic_grad(double x, gv_dd t, gv_dd steep) {
    if (x > 0.0 && t.hi > 200.0) return gv_beside(1.0, 1.0);
    if (t.hi > 800.0) return gv_vanishing(-1.0);
    gv_shares s = gv_logistic(t);
    if (t.hi < 1.0) {
        gv_dd q = gv_dd_scale(s.q.m, gv_power_of_two(s.q.k));
        gv_dd c = gv_dd_scale(gv_tanh(gv_dd_scale(t, 0.5)), 0.5);
        c = gv_dd_add(c, gv_dd_mul(steep, gv_dd_mul(q, s.rest)));
        return gv_sum(0.5, x > 0.0 ? c : gv_dd_neg(c));
    }
    gv_dd rest = gv_dd_mul(s.q.m, gv_dd_add_d(gv_dd_mul(steep, s.rest), -1.0));
    double weight = 2.0 * s.q.m.hi * (steep.hi + 1.0);
    if (x < 0.0) return gv_times(gv_dd_neg(rest), weight, s.q.k);
    double scale = gv_power_of_two(s.q.k);
    return gv_sum_weighted(1.0, gv_dd_scale(rest, scale), weight * scale);
}

#endif
