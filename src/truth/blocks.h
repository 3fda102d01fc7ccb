/* erf, erfc, exp, expm1 and tanh at many inputs: the formulas of src/math, step by step over blocks, so that compilers
   make vectors of every step. Four to seven times as fast as one input after the other.

   Every input gets the operations of its formula in their order, so the same bits, and the proofs of src/math hold here
   too. An input goes to a block if its branch is one of those below, else to the formula itself.

   Test     tests/truth/test_clones.py: the same bytes as the formulas, at every instruction set
   Used by  truth/loops.h */
#ifndef GV_TRUTH_BLOCKS_H
#define GV_TRUTH_BLOCKS_H
#include "../math/functions.h"

#define GV_PLACES 128 /* inputs of a block */
#define GV_WORTH_A_BLOCK 24 /* fewer go through the formula */

typedef struct { double hi[GV_PLACES], lo[GV_PLACES]; } gv_dds;
typedef struct { gv_value at[GV_PLACES]; } gv_values;

GV_INLINE gv_dd gv_get(const gv_dds *a, int i) { return gv_dd_make(a->hi[i], a->lo[i]); }

GV_INLINE void gv_put(gv_dds *a, int i, gv_dd v) {
    a->hi[i] = v.hi;
    a->lo[i] = v.lo;
}

#define GV_EACH(i) for (int i = 0; i < GV_PLACES; i++)

/* e^s = m 2^k (gv_exp); `tiny`: e^r - 1 of the reduced r; `steps`: n of s = n log(2)/64 + r */
typedef struct {
    gv_dds m, tiny;
    double steps[GV_PLACES];
    int k[GV_PLACES];
} gv_exps;

GV_CLONES static void gv_block_exp(const gv_dds *s, gv_exps *e) {
    gv_dds r, t, p;
    double tail[GV_PLACES];
    int n[GV_PLACES];
    GV_EACH(i) e->steps[i] = gv_exp_steps(s->hi[i]);
    GV_EACH(i) n[i] = (int)e->steps[i];
    GV_EACH(i) e->k[i] = (int)floor(e->steps[i] * 0x1p-6);
    GV_EACH(i) gv_put(&t, i, gv_exp2_table[n[i] & 63]);
    GV_EACH(i) gv_put(&r, i, gv_exp_reduced(gv_get(s, i), e->steps[i]));
    GV_EACH(i) tail[i] = gv_exp_coefficient[GV_EXP_DEGREE].hi;
    for (int c = GV_EXP_DEGREE - 1; c >= GV_EXP_DOUBLES; c--)
        GV_EACH(i) tail[i] = fma(tail[i], r.hi[i], gv_exp_coefficient[c].hi);
    GV_EACH(i) gv_put(&p, i, gv_dd_from(tail[i]));
    for (int c = GV_EXP_DOUBLES - 1; c >= 1; c--)
        GV_EACH(i) gv_put(&p, i, gv_dd_add(gv_dd_mul(gv_get(&p, i), gv_get(&r, i)), gv_exp_coefficient[c]));
    GV_EACH(i) gv_put(&e->tiny, i, gv_dd_mul(gv_get(&p, i), gv_get(&r, i)));
    GV_EACH(i) gv_put(&e->m, i, gv_dd_add(gv_get(&t, i), gv_dd_mul(gv_get(&t, i), gv_get(&e->tiny, i))));
}

/* gv_exp_plain */
GV_INLINE gv_dd gv_block_plain(const gv_exps *e, int i) {
    return gv_dd_scale(gv_get(&e->m, i), gv_power_of_two(e->k[i]));
}

/* gv_expm1 */
GV_INLINE gv_dd gv_block_minus_1(const gv_exps *e, int i) {
    gv_dd tiny = gv_get(&e->tiny, i), plain = gv_dd_add_d(gv_block_plain(e, i), -1.0);
    int is_tiny = e->steps[i] == 0.0;
    return gv_dd_make(is_tiny ? tiny.hi : plain.hi, is_tiny ? tiny.lo : plain.lo);
}

/* gv_gauss_head */
GV_CLONES static void gv_block_head(const gv_dds *z, gv_dds *p) {
    double tail[GV_PLACES];
    GV_EACH(i) tail[i] = gv_head_coefficient[GV_HEAD_DEGREE].hi;
    for (int n = GV_HEAD_DEGREE - 1; n >= GV_HEAD_DOUBLES; n--)
        GV_EACH(i) tail[i] = fma(tail[i], z->hi[i], gv_head_coefficient[n].hi);
    GV_EACH(i) gv_put(p, i, gv_dd_from(tail[i]));
    for (int n = GV_HEAD_DOUBLES - 1; n >= 0; n--)
        GV_EACH(i) gv_put(p, i, gv_dd_add(gv_dd_mul(gv_get(p, i), gv_get(z, i)), gv_head_coefficient[n]));
}

/* gv_mills */
GV_CLONES static void gv_block_mills(const gv_dds *a, gv_dds *p) {
    const gv_mills_piece *piece[GV_PLACES];
    gv_dds u, c;
    double tail[GV_PLACES];
    GV_EACH(i) {
        int octave = gv_exponent(a->hi[i]);
        int place = (int)(a->hi[i] * gv_power_of_two(4 - octave)) - GV_MILLS_PIECES;
        piece[i] = &gv_mills_table[(octave + 1) * GV_MILLS_PIECES + place];
        gv_put(&u, i, gv_dd_scale(gv_dd_add_d(gv_get(a, i), -piece[i]->centre), gv_power_of_two(5 - octave)));
    }
    GV_EACH(i) {
        tail[i] = piece[i]->rest[GV_MILLS_DEGREE - GV_MILLS_PAIRS];
        for (int n = GV_MILLS_DEGREE - GV_MILLS_PAIRS - 1; n >= 0; n--)
            tail[i] = fma(tail[i], u.hi[i], piece[i]->rest[n]);
    }
    GV_EACH(i) gv_put(p, i, gv_dd_from(tail[i]));
    for (int n = GV_MILLS_PAIRS - 1; n >= 0; n--) {
        GV_EACH(i) gv_put(&c, i, piece[i]->pair[n]);
        GV_EACH(i) gv_put(p, i, gv_dd_add(gv_dd_mul(gv_get(p, i), gv_get(&u, i)), gv_get(&c, i)));
    }
}

/* gv_erf_head */
GV_INLINE void gv_block_erf_head(const double *x, gv_dds *y) {
    gv_dds z, p;
    GV_EACH(i) gv_put(&z, i, gv_dd_scale(gv_two_prod(x[i], x[i]), 2.0));
    gv_block_head(&z, &p);
    GV_EACH(i) gv_put(y, i, gv_dd_mul_d(gv_dd_mul(gv_get(&p, i), gv_2_rsqrt_pi), x[i]));
}

/* gv_erfc_tail of |x|: y 2^k */
GV_INLINE void gv_block_erfc_tail(const double *x, gv_dds *y, int *k) {
    gv_dds s, a, m;
    gv_exps e;
    GV_EACH(i) gv_put(&s, i, gv_dd_neg(gv_two_prod(x[i], x[i])));
    GV_EACH(i) gv_put(&a, i, gv_dd_mul_d(gv_sqrt2, fabs(x[i])));
    gv_block_exp(&s, &e);
    gv_block_mills(&a, &m);
    GV_EACH(i) {
        gv_dd density = gv_dd_mul(gv_get(&e.m, i), gv_rsqrt_2pi);
        gv_put(y, i, gv_dd_scale(gv_dd_mul(density, gv_get(&m, i)), 2.0));
    }
    GV_EACH(i) k[i] = e.k[i];
}

/* ---- the functions: which branch an input takes (0: the formula), and the branches ---------------- */

GV_INLINE int gv_branch_erf(double x) {
    double a = fabs(x);
    return a >= 0x1p-300 && a < 0.7 ? 1 : a >= 0.7 && a <= 13.0 ? 2 : 0;
}

GV_INLINE void gv_block_erf(int branch, const double *x, gv_value *y) {
    gv_dds c;
    int k[GV_PLACES];
    if (branch == 1) {
        gv_block_erf_head(x, &c);
        GV_EACH(i) y[i] = gv_sum(0.0, gv_get(&c, i));
        return;
    }
    gv_block_erfc_tail(x, &c, k);
    GV_EACH(i) {
        double sign = x[i] < 0.0 ? -1.0 : 1.0;
        y[i] = gv_leading_minus(sign, gv_scaled(gv_dd_scale(gv_get(&c, i), sign), k[i]));
    }
}

GV_INLINE int gv_branch_erfc(double x) {
    double a = fabs(x);
    return a >= 0x1p-250 && a < 0.7 ? 1 : x >= 0.7 && x <= 28.2 ? 2 : x <= -0.7 && x >= -13.0 ? 3 : 0;
}

GV_INLINE void gv_block_erfc(int branch, const double *x, gv_value *y) {
    gv_dds c;
    int k[GV_PLACES];
    if (branch == 1) {
        gv_block_erf_head(x, &c);
        GV_EACH(i) y[i] = gv_sum(1.0, gv_dd_neg(gv_get(&c, i)));
        return;
    }
    gv_block_erfc_tail(x, &c, k);
    if (branch == 2) GV_EACH(i) y[i] = gv_relative(gv_scaled(gv_get(&c, i), k[i]));
    else GV_EACH(i) y[i] = gv_leading_minus(2.0, gv_scaled(gv_get(&c, i), k[i]));
}

GV_INLINE int gv_branch_exp(double x) {
    double a = fabs(x);
    return a >= 0x1p-250 && a < 0x1p-5 ? 1 : a >= 0x1p-5 && a <= 800.0 ? 2 : 0;
}

GV_INLINE void gv_block_exp_value(int branch, const double *x, gv_value *y) {
    gv_dds s;
    gv_exps e;
    GV_EACH(i) gv_put(&s, i, gv_dd_from(x[i]));
    gv_block_exp(&s, &e);
    if (branch == 1) GV_EACH(i) y[i] = gv_sum(1.0, gv_block_minus_1(&e, i));
    else GV_EACH(i) y[i] = gv_relative(gv_scaled(gv_get(&e.m, i), e.k[i]));
}

GV_INLINE int gv_branch_expm1(double x) {
    return x < -1.0 && x >= -150.0 ? 1 : fabs(x) >= 0x1p-55 && x >= -1.0 && x <= 500.0 ? 2 : 0;
}

GV_INLINE void gv_block_expm1(int branch, const double *x, gv_value *y) {
    gv_dds s;
    gv_exps e;
    GV_EACH(i) gv_put(&s, i, gv_dd_from(x[i]));
    gv_block_exp(&s, &e);
    if (branch == 1) GV_EACH(i) y[i] = gv_sum(-1.0, gv_block_plain(&e, i));
    else GV_EACH(i) y[i] = gv_sum(0.0, gv_block_minus_1(&e, i));
}

GV_INLINE int gv_branch_tanh(double x) {
    double a = fabs(x);
    return a >= 0x1p-26 && a < 1.0 ? 1 : a >= 1.0 && a <= 100.0 ? 2 : 0;
}

GV_INLINE void gv_block_tanh(int branch, const double *x, gv_value *y) {
    gv_dds s;
    gv_exps e;
    if (branch == 1) {
        GV_EACH(i) gv_put(&s, i, gv_dd_scale(gv_dd_from(x[i]), 2.0));
        gv_block_exp(&s, &e);
        GV_EACH(i) {
            gv_dd m = gv_block_minus_1(&e, i);
            y[i] = gv_sum(0.0, gv_dd_div(m, gv_dd_add_d(m, 2.0)));
        }
        return;
    }
    GV_EACH(i) gv_put(&s, i, gv_dd_neg(gv_dd_from(2.0 * fabs(x[i]))));
    gv_block_exp(&s, &e);
    GV_EACH(i) {
        double sign = x[i] < 0.0 ? -1.0 : 1.0;
        gv_dd q = gv_dd_div(gv_get(&e.m, i), gv_dd_add_d(gv_block_plain(&e, i), 1.0));
        y[i] = gv_leading_minus(sign, gv_scaled(gv_dd_scale(q, 2.0 * sign), e.k[i]));
    }
}

/* ---- inputs sorted by branch ------------------------------------------------------------------------- */

/* The inputs of a branch are gathered in a block, the rest of which is filled with the first of them. The loop of the
   formula and GV_CLONES: truth/loops.h. */
#define GV_DEFINE_BLOCK_LOOP(name, function, branches) \
    GV_CLONES static void gv_loop_##name##_in_blocks(const double *x, gv_value *y, size_t n) { \
        while (n >= GV_WORTH_A_BLOCK) { \
            size_t block = n < GV_PLACES ? n : GV_PLACES; \
            unsigned char branch[GV_PLACES], rest[GV_PLACES]; \
            GV_EACH(i) branch[i] = (size_t)i < block ? (unsigned char)gv_branch_##name(x[i]) : 255; \
            for (size_t i = 0; i < block; i++) rest[i] = 1; \
            for (int b = 1; b <= branches; b++) { \
                double chosen[GV_PLACES]; \
                gv_values value; \
                unsigned char place[GV_PLACES]; \
                int count = 0; \
                for (size_t i = 0; i < block; i++) \
                    if (branch[i] == b) place[count++] = (unsigned char)i; \
                if (count < GV_WORTH_A_BLOCK) continue; \
                GV_EACH(i) chosen[i] = x[place[i < count ? i : 0]]; \
                function(b, chosen, value.at); \
                for (int i = 0; i < count; i++) y[place[i]] = value.at[i], rest[place[i]] = 0; \
            } \
            for (size_t i = 0; i < block; i++) \
                if (rest[i]) gv_loop_##name(x + i, y + i, 1); \
            x += block, y += block, n -= block; \
        } \
        gv_loop_##name(x, y, n); \
    }

#define GV_BLOCK_FUNCTIONS(F) \
    F(erf, gv_block_erf, 2) \
    F(erfc, gv_block_erfc, 3) \
    F(exp, gv_block_exp_value, 2) \
    F(expm1, gv_block_expm1, 2) \
    F(tanh, gv_block_tanh, 2)

#endif
