/* Arithmetic of enclosed numbers: the gv_value of a sum, a product, an exponential of gv_values (value.h), each with a
   bound that holds whatever its operands are. Formulas are run in it that have no code of their own
   (gelu_verify/truth/carried.py), so nothing is assumed of them: err is the answer.

   known      1 <= |hi| < 2, |lo| <= ulp(hi)/2, |y 2^-k - (hi + lo)| <= err; 0 is {0, 0, 0, 0}
   one-sided  err = |hi| = 1, lo = 0: 0 < sign y < 2^(k + 1), as e^-1000 is; so it is 1 within 1, too
   huge       err = -1, |hi| = 1, lo = 0: sign y >= 2^k, as e^1000 is
   unknown    err = inf

   Bound    err, of every operation. In it the errors of dd.h as its head says, u = 2^-53; gv_exp is counted with
            2^-102 + |s| 2^-103, relative; gv_expm1, gv_log, gv_log_near, gv_log1p and gv_atan_near with 2^-94
   Proof    the functions, for every argument: tests/prove/test_carried.py; the operations, by hand: docs/proofs.md,
            section 10
   Test     tests/truth/test_carried.py, every operation against fractions and Arb, at the ends of its bounds too
   Used by  gelu_verify/truth/carried.py, over arrays */
#ifndef GV_CARRIED_H
#define GV_CARRIED_H
#include <float.h>
#include "../truth/clones.h"
#include "../math/erf.h"
#include "../math/erfc.h"
#include "../truth/exp.h"
#include "../truth/log.h"
#include "../truth/log1p.h"
#include "../truth/value.h"
#include "atan_table.h"

#define GV_RELATIVE 0x1p-94 /* of gv_expm1, gv_log, gv_log1p and gv_atan */
#define GV_APART 300 /* powers of two below which an operand counts as an error of its size */
#define GV_MOST (1 << 29) /* of |k| */
#define GV_LEAST 0x1p-500 /* of an err that is not 0 */

typedef enum { GV_UNKNOWN, GV_KNOWN, GV_ONE_SIDED, GV_HUGE } gv_kind;

GV_INLINE gv_value gv_no_number(void) { return gv_value_make(1.0, 0.0, INFINITY, 0); }

GV_INLINE gv_kind gv_kind_of(gv_value a) {
    if (a.err == -1.0) return GV_HUGE;
    if (a.err == 1.0 && fabs(a.hi) == 1.0 && a.lo == 0.0) return GV_ONE_SIDED;
    return a.err <= DBL_MAX ? GV_KNOWN : GV_UNKNOWN;
}

/* of hi + lo within err, times 2^k: normalized; the roundings of err itself, fewer than 2^10, are in the factor */
GV_INLINE gv_value gv_carried(gv_dd a, double err, int64_t k) {
    double size = fabs(a.hi), least = err == 0.0 ? 0.0 : GV_LEAST;
    if (!(size <= 0x1p900) || !(err >= 0.0 && err <= 0x1p900)) return gv_no_number();
    err *= 1.0 + 0x1p-40;
    if (err < least) err = least;
    if (size < 0x1p-800) { /* nothing, or nothing known but its size */
        if (size + err == 0.0) return gv_value_make(0.0, 0.0, 0.0, 0);
        size = err + 0x1p-700;
        a = gv_dd_from(size);
        err = 2.0 * size;
    }
    int e = gv_exponent(size);
    double scale = gv_power_of_two(-e);
    k += e;
    if (k > GV_MOST || k < -GV_MOST) return gv_no_number();
    err *= scale;
    if (err < least) err = least;
    gv_value v = gv_value_make(a.hi * scale, a.lo * scale, err, (int)k);
    if (v.err == 1.0 && fabs(v.hi) == 1.0) v.err = 1.0 + 0x1p-40; /* not to be taken for one-sided */
    return v;
}

GV_INLINE gv_value gv_one_sided(double sign, int64_t k) {
    if (k > GV_MOST) return gv_no_number();
    return gv_value_make(sign < 0.0 ? -1.0 : 1.0, 0.0, 1.0, k < -GV_MOST ? -GV_MOST : (int)k);
}

GV_INLINE gv_value gv_beyond(double sign, int64_t k) {
    if (k < -GV_MOST) return gv_no_number();
    return gv_value_make(sign < 0.0 ? -1.0 : 1.0, 0.0, -1.0, k > GV_MOST ? GV_MOST : (int)k);
}

GV_INLINE gv_dd gv_pair(gv_value a) { return gv_dd_make(a.hi, a.lo); }
GV_INLINE int gv_is_zero(gv_value a) { return a.hi == 0.0; }
/* the sign is that of hi, and 0 is outside */
GV_INLINE int gv_has_sign(gv_value a) {
    gv_kind kind = gv_kind_of(a);
    return kind == GV_ONE_SIDED || kind == GV_HUGE || (kind == GV_KNOWN && fabs(a.hi) * (1.0 - 0x1p-50) > a.err);
}
GV_INLINE double gv_size(gv_value a) { return fabs(a.hi) * (1.0 + 0x1p-50); }

GV_INLINE gv_value gv_negative(gv_value a) {
    if (a.hi == 0.0) return a;
    a.hi = -a.hi;
    a.lo = -a.lo;
    return a;
}

GV_INLINE gv_value gv_absolute(gv_value a) {
    if (gv_is_zero(a)) return a;
    if (!gv_has_sign(a)) return gv_no_number();
    return a.hi < 0.0 ? gv_negative(a) : a;
}

GV_INLINE gv_value gv_add_values(gv_value a, gv_value b) {
    gv_kind one = gv_kind_of(a), other = gv_kind_of(b);
    if (one == GV_UNKNOWN || other == GV_UNKNOWN) return gv_no_number();
    if (gv_is_zero(a)) return b;
    if (gv_is_zero(b)) return a;
    if (one == GV_HUGE || other == GV_HUGE) { /* of one sign, or the other one is a quarter at most */
        if (one == GV_HUGE && other == GV_HUGE)
            return a.hi == b.hi ? gv_beyond(a.hi, a.k > b.k ? a.k : b.k) : gv_no_number();
        gv_value large = one == GV_HUGE ? a : b, small = one == GV_HUGE ? b : a;
        if (gv_has_sign(small) && (small.hi < 0.0) == (large.hi < 0.0)) return large;
        double most = gv_size(small) + small.err;
        return most <= 4.0 && small.k + 4 < large.k ? gv_beyond(large.hi, (int64_t)large.k - 1) : gv_no_number();
    }
    if (one == GV_ONE_SIDED && other == GV_ONE_SIDED)
        return a.hi == b.hi ? gv_one_sided(a.hi, (int64_t)(a.k > b.k ? a.k : b.k) + 1) : gv_no_number();
    if (a.k < b.k) {
        gv_value c = a;
        a = b;
        b = c;
    }
    int64_t apart = (int64_t)a.k - b.k;
    if (apart > GV_APART) {
        if (a.lo != 0.0 || a.err != 0.0 || !gv_has_sign(b))
            return gv_carried(gv_pair(a), a.err + (gv_size(b) + b.err) * gv_power_of_two(-GV_APART), a.k);
        gv_value beside = gv_beside(a.hi, b.hi);
        beside.k = a.k;
        return beside;
    }
    double scale = gv_power_of_two((int)-apart);
    gv_dd c = gv_dd_scale(gv_pair(b), scale);
    double err = a.err + b.err * scale;
    if (a.lo == 0.0 || b.lo == 0.0) {
        gv_dd top = gv_two_sum(a.hi, c.hi), low = gv_two_sum(top.lo, a.lo + c.lo);
        return gv_carried(gv_two_sum(top.hi, low.hi), err + fabs(low.lo) + (b.lo == 0.0 ? 0.0 : 0x1p-700), a.k);
    }
    gv_dd s = gv_dd_add(gv_pair(a), c);
    return gv_carried(s, err + fabs(s.hi) * 0x1p-103 + 0x1p-700, a.k);
}

/* +- a power of two, exactly */
GV_INLINE int gv_is_power(gv_value a) { return fabs(a.hi) == 1.0 && a.lo == 0.0 && a.err == 0.0; }

GV_INLINE gv_value gv_multiply_values(gv_value a, gv_value b) {
    gv_kind one = gv_kind_of(a), other = gv_kind_of(b);
    if (one == GV_UNKNOWN || other == GV_UNKNOWN) return gv_no_number();
    if (gv_is_zero(a) || gv_is_zero(b)) return gv_value_make(0.0, 0.0, 0.0, 0);
    int64_t k = (int64_t)a.k + b.k;
    if (one != GV_KNOWN || other != GV_KNOWN) {
        double sign = (a.hi < 0.0) == (b.hi < 0.0) ? 1.0 : -1.0;
        if (!gv_has_sign(a) || !gv_has_sign(b)) return gv_no_number();
        if (one != GV_HUGE && other != GV_HUGE) return gv_one_sided(sign, k + 2); /* below 2^(k + 1) 2 (1 + err) */
        if (one == GV_ONE_SIDED || other == GV_ONE_SIDED) return gv_no_number();
        if (one == GV_HUGE && other == GV_HUGE) return gv_beyond(sign, k);
        gv_value known = one == GV_KNOWN ? a : b;
        return known.err <= 0.5 ? gv_beyond(sign, k - 2) : gv_no_number(); /* hi + lo may be below 1 */
    }
    double err = a.err * (gv_size(b) + b.err) + b.err * gv_size(a);
    if (gv_is_power(b)) return gv_carried(gv_dd_scale(gv_pair(a), b.hi), err, k);
    if (gv_is_power(a)) return gv_carried(gv_dd_scale(gv_pair(b), a.hi), err, k);
    if (a.lo == 0.0 || b.lo == 0.0) { /* low.hi is one product, or 0 */
        gv_dd top = gv_two_prod(a.hi, b.hi), more = gv_two_prod(a.lo + b.lo, a.lo == 0.0 ? a.hi : b.hi);
        gv_dd low = gv_two_sum(top.lo, more.hi);
        err += fabs(low.lo) + fabs(more.lo) + (a.lo + b.lo == 0.0 ? 0.0 : 0x1p-700);
        return gv_carried(gv_two_sum(top.hi, low.hi), err, k);
    }
    gv_dd p = gv_dd_mul(gv_pair(a), gv_pair(b));
    return gv_carried(p, err + fabs(p.hi) * 0x1p-103, k);
}

GV_INLINE gv_value gv_divide_values(gv_value a, gv_value b) {
    gv_kind one = gv_kind_of(a), other = gv_kind_of(b);
    if (one == GV_UNKNOWN || !gv_has_sign(b)) return gv_no_number();
    if (gv_is_zero(a)) return a;
    int64_t k = (int64_t)a.k - b.k;
    if (one != GV_KNOWN || other != GV_KNOWN) {
        double sign = (a.hi < 0.0) == (b.hi < 0.0) ? 1.0 : -1.0;
        if (!gv_has_sign(a)) return gv_no_number();
        if (one != GV_HUGE && other == GV_HUGE) return gv_one_sided(sign, k + 2);
        if (one == GV_HUGE && other != GV_HUGE) return gv_beyond(sign, k - 2);
        if (one == GV_ONE_SIDED && other == GV_KNOWN && b.err <= 0.5) return gv_one_sided(sign, k + 2);
        if (one == GV_KNOWN && other == GV_ONE_SIDED && a.err <= 0.5) return gv_beyond(sign, k - 3);
        return gv_no_number();
    }
    if (gv_is_power(b)) return gv_carried(gv_dd_scale(gv_pair(a), b.hi), a.err, k);
    double least = fabs(b.hi) * (1.0 - 0x1p-50) - b.err;
    double err = (a.err + gv_size(a) / fabs(b.hi) * (1.0 + 0x1p-40) * b.err) / least;
    if (b.lo == 0.0) {
        double q = a.hi / b.hi;
        gv_dd rest = gv_two_sum(fma(-q, b.hi, a.hi), a.lo); /* the remainder, exactly */
        double low = rest.hi / b.hi;
        err += fabs(low) * 0x1p-53 + fabs(rest.lo) + (rest.hi == 0.0 ? 0.0 : 0x1p-700);
        return gv_carried(gv_two_sum(q, low), err, k);
    }
    gv_dd q = gv_dd_div(gv_pair(a), gv_pair(b));
    return gv_carried(q, err + fabs(q.hi) * 0x1p-101, k);
}

/* a 2^shift */
GV_INLINE gv_value gv_scaled_value(gv_value a, int64_t shift) {
    gv_kind kind = gv_kind_of(a);
    if (kind == GV_UNKNOWN || gv_is_zero(a)) return a;
    if (kind == GV_ONE_SIDED) return gv_one_sided(a.hi, a.k + shift);
    if (kind == GV_HUGE) return gv_beyond(a.hi, a.k + shift);
    if (a.k + shift > GV_MOST || a.k + shift < -GV_MOST) return gv_no_number();
    a.k += (int)shift;
    return a;
}

GV_INLINE gv_value gv_of_double(double a) { return gv_carried(gv_dd_from(a), 0.0, 0); }

GV_INLINE gv_value gv_sqrt_value(gv_value a) {
    if (gv_is_zero(a)) return a;
    if (gv_kind_of(a) != GV_KNOWN || !gv_has_sign(a) || a.hi < 0.0) return gv_no_number();
    int odd = a.k & 1;
    gv_dd m = gv_dd_scale(gv_pair(a), odd ? 2.0 : 1.0);
    double err = odd ? 2.0 * a.err : a.err, s = sqrt(m.hi);
    gv_dd square = gv_two_prod(s, s);
    double rest = ((m.hi - square.hi) - square.lo) + m.lo; /* |m - s^2| <= 2^-51 s^2: within 2^-103 m */
    gv_dd root = gv_fast_two_sum(s, rest / (2.0 * s)); /* less rest^2/(8 s^3) < 2^-104 s */
    double least = m.hi * (1.0 - 0x1p-50) - err;
    return gv_carried(root, fabs(s) * 0x1p-100 + err / sqrt(least) * (1.0 + 0x1p-40), ((int64_t)a.k - odd) / 2);
}

/* s as a double-double and its error, where 2^-GV_APART <= |s| < 2^10 or so */
typedef struct {
    gv_dd s;
    double err;
} gv_argument;

GV_INLINE gv_argument gv_argument_of(gv_value a) {
    double scale = gv_power_of_two(a.k);
    gv_argument t = {gv_dd_scale(gv_pair(a), scale), a.err * scale};
    return t;
}

/* a (1 + half), with what a series leaves out beside 1 + half, up to a^2/2: a.k < -54, and |a| < 6 2^a.k if err <= 4 */
GV_INLINE gv_value gv_small(gv_value a, gv_value half) {
    gv_value sum = gv_add_values(gv_of_double(1.0), half);
    if (a.err > 4.0 || gv_kind_of(sum) != GV_KNOWN) return gv_no_number();
    sum.err += a.k < -250 ? GV_LEAST : gv_power_of_two(2 * a.k + 5);
    return gv_multiply_values(a, sum);
}

/* e^s - 1 = s (1 + s/2) within s^2/5 of it */
GV_INLINE gv_value gv_expm1_small(gv_value a) { return gv_small(a, gv_scaled_value(a, -1)); }

/* e^s for |s| > least >= 0, known by its size: 2^(1.44 |s|) < e^|s| */
GV_INLINE gv_value gv_exp_far(double sign, double least) {
    int64_t k = (int64_t)(1.44 * (least < 0x1p28 ? least : 0x1p28));
    return sign < 0.0 ? gv_one_sided(1.0, -k - 1) : gv_beyond(1.0, k);
}

GV_CALLED gv_value gv_exp_of(gv_value a) {
    gv_kind kind = gv_kind_of(a);
    if (gv_is_zero(a)) return gv_of_double(1.0);
    if (kind == GV_UNKNOWN) return a;
    if (kind == GV_HUGE) return a.k < 0 ? gv_no_number() : gv_exp_far(a.hi, a.k > 40 ? 0x1p40 : ldexp(1.0, a.k));
    if (a.k < -54) return gv_add_values(gv_of_double(1.0), gv_expm1_small(a));
    if (a.k > 40) return gv_has_sign(a) && a.err <= 0.5 ? gv_exp_far(a.hi, 0x1p40) : gv_no_number();
    gv_argument t = gv_argument_of(a);
    double least = fabs(t.s.hi) * (1.0 - 0x1p-48) - t.err;
    if (least > 790.0) return gv_exp_far(a.hi, least);
    if (!(fabs(t.s.hi) <= 800.0) || !(t.err < 0x1p-10)) return gv_no_number();
    gv_scaled_dd e = gv_exp(t.s);
    double relative = 0x1p-102 + fabs(t.s.hi) * 0x1p-103 + t.err * (1.0 + 0x1p-9);
    return gv_carried(e.m, fabs(e.m.hi) * relative, e.k);
}

GV_CALLED gv_value gv_expm1_of(gv_value a) {
    if (gv_is_zero(a)) return a;
    gv_kind kind = gv_kind_of(a);
    if (kind == GV_UNKNOWN || kind == GV_ONE_SIDED) return gv_no_number();
    if (kind == GV_KNOWN && a.k < -54) return gv_expm1_small(a);
    if (kind == GV_HUGE || a.k > 8) return gv_add_values(gv_exp_of(a), gv_of_double(-1.0));
    gv_argument t = gv_argument_of(a);
    if (!(t.err < 0x1p-10)) return gv_no_number();
    gv_dd e = gv_expm1(t.s);
    double slope = (1.0 + fabs(e.hi)) * (1.0 + 0x1p-9); /* e^s <= 1 + |e^s - 1| */
    return gv_carried(e, fabs(e.hi) * GV_RELATIVE + slope * t.err, 0);
}

/* log(1 + u) = u (1 - u/2) within u^2/2 of it */
GV_INLINE gv_value gv_log1p_small(gv_value a) { return gv_small(a, gv_negative(gv_scaled_value(a, -1))); }

GV_CALLED gv_value gv_log_of(gv_value a) {
    if (gv_kind_of(a) != GV_KNOWN || !gv_has_sign(a) || a.hi < 0.0 || a.k > 1 << 20 || a.k < -(1 << 20))
        return gv_no_number();
    gv_dd y = a.k == -1 && a.hi >= 1.5 ? gv_log_near(0.5 * a.hi)
              : a.k == 0 && a.hi < 1.5 ? gv_log_near(a.hi)
                                       : gv_log(a.hi, a.k);
    double q = a.lo / a.hi, rest = q - 0.5 * q * q; /* log(1 + lo/hi), within 2^-51 |q| */
    gv_dd s = gv_dd_add_d(y, rest);
    double least = a.hi * (1.0 - 0x1p-50) - a.err;
    return gv_carried(s, fabs(y.hi) * GV_RELATIVE + fabs(s.hi) * 0x1p-104 + fabs(q) * 0x1p-51 + a.err / least, 0);
}

GV_CALLED gv_value gv_log1p_of(gv_value a) {
    gv_kind kind = gv_kind_of(a);
    if (gv_is_zero(a) || kind == GV_UNKNOWN) return a;
    if (kind == GV_ONE_SIDED) { /* between u/2 and u, or u and 2 u */
        if (a.k > -3) return gv_no_number();
        return gv_one_sided(a.hi, a.hi > 0.0 ? a.k : (int64_t)a.k + 1);
    }
    if (kind == GV_KNOWN && a.k < -54) return gv_log1p_small(a);
    if (kind == GV_HUGE || a.k > 60 || !gv_has_sign(a)) return gv_log_of(gv_add_values(gv_of_double(1.0), a));
    gv_argument t = gv_argument_of(a);
    if (a.hi > 0.0) {
        if (!(t.s.hi < 1.0)) return gv_log_of(gv_add_values(gv_of_double(1.0), a));
        gv_dd y = gv_log1p(t.s);
        return gv_carried(y, fabs(y.hi) * GV_RELATIVE + t.err / (1.0 - t.err), 0);
    }
    if (!(t.s.hi > -0.49)) return gv_log_of(gv_add_values(gv_of_double(1.0), a));
    gv_value v = gv_divide_values(gv_negative(a), gv_add_values(gv_of_double(1.0), a)); /* -log(1 + v), v < 0.97 */
    if (gv_kind_of(v) != GV_KNOWN || !gv_has_sign(v) || v.k >= 0) return gv_no_number();
    t = gv_argument_of(v);
    gv_dd y = gv_log1p(t.s);
    return gv_carried(gv_dd_neg(y), fabs(y.hi) * GV_RELATIVE + t.err / (1.0 - t.err), 0);
}

/* tanh: (e^2t - 1)/(e^2t + 1) near 0, else 1 - 2 q/(1 + q), q = e^-2|t| */
GV_CALLED gv_value gv_tanh_of(gv_value a) {
    if (gv_is_zero(a)) return a;
    if (!gv_has_sign(a)) return gv_no_number();
    gv_value one = gv_of_double(1.0);
    if (gv_kind_of(a) == GV_KNOWN && a.k < 0) {
        gv_value e = gv_expm1_of(gv_scaled_value(a, 1));
        return gv_divide_values(e, gv_add_values(e, gv_of_double(2.0)));
    }
    if (gv_kind_of(a) == GV_ONE_SIDED) return a; /* |tanh t| < |t| */
    gv_value q = gv_exp_of(gv_negative(gv_scaled_value(gv_absolute(a), 1)));
    gv_value y = gv_add_values(one, gv_negative(gv_divide_values(gv_scaled_value(q, 1), gv_add_values(one, q))));
    return a.hi < 0.0 ? gv_negative(y) : y;
}

/* atan s for 2^-60 <= s <= 1: atan c + atan((s - c)/(1 + s c)), c the nearest k/32, |r| <= 1/64: r - r^3/3 + ... */
GV_INLINE gv_dd gv_atan_near(gv_dd s) {
    int j = (int)rint(s.hi * 32.0);
    double c = (double)j / 32.0;
    gv_dd r = j ? gv_dd_div(gv_dd_add_d(s, -c), gv_dd_add_d(gv_dd_mul_d(s, c), 1.0)) : s;
    gv_dd z = gv_dd_mul(r, r), p = gv_atan_coefficient[GV_ATAN_DEGREE];
    for (int n = GV_ATAN_DEGREE - 1; n >= 0; n--) p = gv_dd_add(gv_dd_mul(p, z), gv_atan_coefficient[n]);
    gv_dd y = gv_dd_mul(p, r);
    return j ? gv_dd_add(gv_atan_table[j], y) : y;
}

/* for 0 < s <= 1 */
GV_INLINE gv_value gv_atan_small(gv_value a) {
    if (gv_kind_of(a) == GV_ONE_SIDED) return a;
    if (gv_kind_of(a) != GV_KNOWN || !gv_has_sign(a)) return gv_no_number();
    if (a.k < -54) return gv_multiply_values(a, gv_value_make(1.0, 0.0, 0x1p-107, 0)); /* s - s^3/3 ..., s < 2^-53 */
    gv_argument t = gv_argument_of(a);
    if (!(t.s.hi <= 1.0)) return gv_no_number();
    gv_dd y = gv_atan_near(t.s);
    return gv_carried(y, fabs(y.hi) * GV_RELATIVE + t.err, 0);
}

GV_INLINE gv_value gv_atan_of(gv_value a) {
    if (gv_is_zero(a)) return a;
    if (!gv_has_sign(a)) return gv_no_number();
    gv_value size = gv_absolute(a), y;
    if (gv_kind_of(a) == GV_ONE_SIDED) return a; /* |atan s| < |s| */
    if (gv_kind_of(a) != GV_HUGE && (size.k < 0 || (size.k == 0 && size.hi == 1.0 && size.lo == 0.0))) {
        y = gv_atan_small(size);
    } else {
        gv_value quarter = gv_carried(gv_half_pi, gv_half_pi.hi * 0x1p-106, 0);
        y = gv_add_values(quarter, gv_negative(gv_atan_small(gv_divide_values(gv_of_double(1.0), size))));
    }
    return a.hi < 0.0 ? gv_negative(y) : y;
}

GV_INLINE gv_value gv_of_core(gv_value v) { return gv_carried(gv_pair(v), v.err, v.k); }

/* erf, from the core's at s.hi; erf' = 2/sqrt(pi) e^(-s^2), and |erf''| < 1 */
GV_CALLED gv_value gv_erf_of(gv_value a) {
    if (gv_is_zero(a)) return a;
    if (!gv_has_sign(a)) return gv_no_number();
    gv_kind kind = gv_kind_of(a);
    gv_value slope = gv_carried(gv_2_rsqrt_pi, gv_2_rsqrt_pi.hi * 0x1p-106, 0);
    if (kind == GV_ONE_SIDED) return a.k < -2 ? gv_one_sided(a.hi, (int64_t)a.k + 1) : gv_no_number();
    if (kind == GV_KNOWN && a.k < -54)
        return gv_multiply_values(gv_multiply_values(a, slope), gv_value_make(1.0, 0.0, 0x1p-107, 0));
    if (kind == GV_HUGE || a.k >= 5) { /* from nearly 16 on: between 1 - e^-255 and 1 */
        if (kind == GV_KNOWN ? a.err > 0.5 : a.k < 6) return gv_no_number();
        gv_value y = gv_add_values(gv_of_double(1.0), gv_negative(gv_one_sided(1.0, -300)));
        return a.hi < 0.0 ? gv_negative(y) : y;
    }
    gv_argument t = gv_argument_of(a);
    gv_value density = gv_multiply_values(
        slope, gv_exp_of(gv_negative(gv_multiply_values(gv_of_double(t.s.hi), gv_of_double(t.s.hi)))));
    double off = fabs(t.s.lo) + t.err;
    gv_value rest = gv_multiply_values(density, gv_of_double(t.s.lo));
    gv_value y = gv_add_values(gv_of_core(gv_erf(t.s.hi)), rest);
    return gv_kind_of(y) == GV_KNOWN
               ? gv_carried(gv_pair(y), y.err + (1.13 * t.err + off * off) * gv_power_of_two(-y.k), y.k)
               : gv_no_number();
}

/* erfc for s > 0, below e^(-s^2): at s + d it is erfc(s) + erfc'(s) d (1 - s d), within (1 + s^2) d^2 of the last term
   for |d| < 2^-40/(1 + s) */
GV_CALLED gv_value gv_erfc_of(gv_value a) {
    gv_value one = gv_of_double(1.0);
    if (gv_is_zero(a)) return one;
    if (!gv_has_sign(a)) return gv_no_number();
    if (a.hi < 0.0 || a.k < -4) return gv_add_values(one, gv_negative(gv_erf_of(a)));
    if (gv_kind_of(a) == GV_HUGE || a.k >= 5 || (a.k == 4 && a.hi >= 1.75)) { /* below e^(-s^2) */
        gv_value e = gv_exp_of(gv_negative(gv_multiply_values(a, a)));
        if (gv_kind_of(e) == GV_ONE_SIDED) return e;
    }
    if (gv_kind_of(a) != GV_KNOWN || a.k >= 5) return gv_no_number();
    gv_argument t = gv_argument_of(a);
    double off = fabs(t.s.lo) + t.err;
    gv_value head = gv_of_double(t.s.hi), slope = gv_carried(gv_2_rsqrt_pi, gv_2_rsqrt_pi.hi * 0x1p-106, 0);
    gv_value density = gv_multiply_values(slope, gv_exp_of(gv_negative(gv_multiply_values(head, head))));
    if (!(off * (1.0 + t.s.hi) < 0x1p-40) || gv_kind_of(density) != GV_KNOWN) return gv_no_number();
    gv_dd bent = gv_two_sum(1.0, -t.s.hi * t.s.lo);
    gv_value rest = gv_multiply_values(
        density, gv_carried(bent, off * off * (2.0 + t.s.hi * t.s.hi) + t.s.hi * t.err + 0x1p-96, 0));
    gv_value moved = gv_multiply_values(rest, gv_carried(gv_dd_from(t.s.lo), t.err, 0));
    return gv_add_values(gv_of_core(gv_erfc(t.s.hi)), gv_negative(moved));
}

/* a pair, 1 <= |hi| < 2, with something below 2^-203 on one side: 3x may be a midpoint of a format, with x of 53 bits. The
   step is 2 to 4 units of the last place of lo, so that lo moves by it exactly. */
GV_INLINE gv_value gv_beside_pair(gv_dd a, double side) {
    double step = fabs(a.lo * (1.0 + 0x1p-51) - a.lo);
    if (!(step >= 0x1p-203)) return gv_value_make(a.hi, a.lo, fabs(a.hi) * 0x1p-200, 0);
    gv_dd y = gv_two_sum(a.hi, side < 0.0 ? a.lo - step : a.lo + step);
    return gv_value_make(y.hi, y.lo, step, 0);
}

/* leading + correction as the core writes values down (value.h); the leading term is exact, and 0 where there is none.
   `exactly`: there is no correction. */
GV_INLINE gv_value gv_total(gv_value leading, gv_value c, int exactly) {
    gv_value y = leading;
    if (!exactly) {
        if (!gv_has_sign(c)) return gv_no_number();
        if (leading.err != 0.0) { /* a factor of more than 106 bits */
            y = gv_add_values(leading, c);
        } else if (gv_is_zero(leading)) {
            y = c;
        } else if (gv_kind_of(c) != GV_HUGE && (int64_t)c.k + 4 < (int64_t)leading.k - 201) { /* |c| < 2^-204 leading */
            y = leading.lo == 0.0 ? gv_beside(leading.hi, c.hi) : gv_beside_pair(gv_pair(leading), c.hi);
            y.k = leading.k;
        } else {
            y = gv_add_values(leading, c);
        }
    }
    gv_kind kind = gv_kind_of(y);
    if (gv_is_zero(y)) return y;
    if (!gv_has_sign(y)) return gv_no_number();
    if (kind == GV_HUGE || y.k > 1140) {
        if (y.k <= 1140 || y.err > 0.25) return gv_no_number(); /* y.k > 1140 says little of it else */
        return gv_value_make(y.hi < 0.0 ? -1.0 : 1.0, 0.0, 0.5, 2001);
    }
    if (y.k < -1142) return gv_vanishing(y.hi < 0.0 ? -1.0 : 1.0);
    if (y.k < -1139) { /* at -1140 records say that they vanish */
        double scale = gv_power_of_two(y.k + 1139);
        return gv_value_make(y.hi * scale, y.lo * scale, y.err * scale, -1139);
    }
    return y;
}

/* ---- arrays: operands of n numbers, or of one ---- */

#define GV_CARRIED_BINARY(name, operation) \
    GV_FMA_CLONES static void gv_all_##name(const gv_value *a, size_t da, const gv_value *b, size_t db, gv_value *y, \
                                            size_t n) { \
        for (size_t i = 0; i < n; i++) y[i] = operation(a[i * da], b[i * db]); \
    }
#define GV_CARRIED_UNARY(name, operation) \
    GV_FMA_CLONES static void gv_all_##name(const gv_value *a, gv_value *y, size_t n) { \
        for (size_t i = 0; i < n; i++) y[i] = operation(a[i]); \
    }

GV_CARRIED_BINARY(add, gv_add_values)
GV_CARRIED_BINARY(multiply, gv_multiply_values)
GV_CARRIED_BINARY(divide, gv_divide_values)
GV_CARRIED_UNARY(negative, gv_negative)
GV_CARRIED_UNARY(absolute, gv_absolute)
GV_CARRIED_UNARY(sqrt, gv_sqrt_value)
GV_CARRIED_UNARY(exp, gv_exp_of)
GV_CARRIED_UNARY(expm1, gv_expm1_of)
GV_CARRIED_UNARY(log, gv_log_of)
GV_CARRIED_UNARY(log1p, gv_log1p_of)
GV_CARRIED_UNARY(tanh, gv_tanh_of)
GV_CARRIED_UNARY(atan, gv_atan_of)
GV_CARRIED_UNARY(erf, gv_erf_of)
GV_CARRIED_UNARY(erfc, gv_erfc_of)

static void gv_all_totals(const gv_value *leading, size_t dl, const gv_value *c, size_t dc, int exactly, gv_value *y,
                          size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = gv_total(leading[i * dl], c[i * dc], exactly);
}

/* m 2^e, m a finite double */
static void gv_all_exact(const double *m, const int64_t *e, gv_value *y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = gv_scaled_value(gv_of_double(m[i]), e[i]);
}

/* -1, 0, 1: the sign of each; 2 where it is not known */
static void gv_all_signs(const gv_value *a, signed char *sign, size_t n) {
    for (size_t i = 0; i < n; i++) sign[i] = a[i].hi == 0.0 ? 0 : !gv_has_sign(a[i]) ? 2 : a[i].hi < 0.0 ? -1 : 1;
}

#endif
