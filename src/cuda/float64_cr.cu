/* Correctly rounded float64: by pieces, as on the CPU (../cr/float64.h); what these do not decide, by the same pieces in
   double-double, then by src/math. What that does not decide either (../export/gelu_verify.h says how seldom) is written
   as the nearest of the candidates, and its place goes to `gv_undecided`: an oracle has to look at it. */
// build: -fmad=false
#define GV_HAVE_FMA 1
#define GV_F64_LANES 1
#define GV_PIECES_ONLY
#include "cr/float64.h"
#include "export/gelu_verify.h"
#include "formats.h"
#include "queue.h"

#define GV_UNDECIDED_ROOM 65535

extern "C" {
/* How many were not decided since somebody wrote 0 here, then the places of the first of them */
GV_ON_DEVICE gv_count gv_undecided[1 + GV_UNDECIDED_ROOM];
}

GV_DEVICE void gv_note_undecided(gv_count place)
{
    gv_count k = gv_add_one(gv_undecided);
    if (k < GV_UNDECIDED_ROOM)
        gv_undecided[1 + k] = place;
}

#define CORRECTLY_ROUNDED(name, NAME, whole, derivative)                                                               \
    GV_DEVICE gv_piecewise gv_##name##_pieces_here()                                                                   \
    {                                                                                                                  \
        gv_piecewise f = {gv_##name##_pieces,     gv_##name##_rest,   GV_##NAME##_PIECES, GV_##NAME##_WIDE,            \
                          GV_##NAME##_PER_UNIT, GV_##NAME##_Q_LOSS, whole,              derivative};                   \
        return f;                                                                                                      \
    }                                                                                                                  \
    struct name##_pieces {                                                                                             \
        GV_MEMBER bool decides(double x, double *y)                                                                    \
        {                                                                                                              \
            gv_piecewise f = gv_##name##_pieces_here();                                                                \
            double step = gv_lanes_min(fabs(x), (f.count - 1) / f.per_unit) * f.per_unit + 0x1.8p52;                   \
            return gv_piece_lanes(&f, x, &step, y) == 0;                                                               \
        }                                                                                                              \
    };                                                                                                                 \
    GV_SELDOM double gv_certain_##name(double x, gv_count place)                                                       \
    {                                                                                                                  \
        int decided;                                                                                                   \
        double y = gv_cr_##name##_f64(x, &decided);                                                                    \
        if (!decided)                                                                                                  \
            gv_note_undecided(place);                                                                                  \
        return y;                                                                                                      \
    }                                                                                                                  \
    struct name##_wide {                                                                                               \
        GV_MEMBER double of(double x, gv_count place)                                                                  \
        {                                                                                                              \
            gv_piecewise f = gv_##name##_pieces_here();                                                                \
            double y;                                                                                                  \
            if (gv_wide_has(&f, x) && gv_round_wide(gv_wide(&f, x), &y))                                               \
                return y;                                                                                              \
            if (x >= whole)                                                                                            \
                return derivative ? 1.0 : x;                                                                           \
            return gv_certain_##name(x, place);                                                                        \
        }                                                                                                              \
    };                                                                                                                 \
    GV_KERNEL(GV_THREADS) name##_cr_f64(const uint64_t *x, uint64_t *y, gv_count n)                                    \
    {                                                                                                                  \
        GV_SHARED gv_queue<uint64_t> queue;                                                                            \
        gv_each_queued<gv_float64, name##_pieces, name##_wide>(x, y, n, &queue);                                       \
    }
GV_PIECEWISE_FUNCTIONS(CORRECTLY_ROUNDED)

#define ROW(name, NAME, whole, derivative)                                                                             \
    {#name "_cr_f64", #name "_cr", #name, "cr", "float64", "correctly rounded, by pieces in double-double",            \
     GV_THREADS, 0},
extern "C" {
GV_ON_DEVICE gv_kernel_row gv_kernels[] = {GV_PIECEWISE_FUNCTIONS(ROW) GV_END_OF_KERNELS};
}
