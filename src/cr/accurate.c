#include "accurate.h"
#include "../truth/judge.h"
#include "../truth/loops.h"

static const gv_format gv_binary32 = {32, 24, -126, 127};

static float gv_cr_accurate(gv_loop loop, float x) {
    uint64_t bits = 0x7fc00000;
    if (x == x) {
        double wide = (double)x;
        gv_value y;
        loop(&wide, &y, 1);
        gv_units u = gv_in_units(y, &gv_binary32);
        gv_round(&u, &gv_binary32, 0x7f800000, &bits);
    }
    uint32_t narrow = (uint32_t)bits;
    float result;
    memcpy(&result, &narrow, sizeof result);
    return result;
}

#define GV_DEFINE_ACCURATE(name) \
    gv_value gv_value_of_##name(double x) { \
        gv_value y; \
        gv_loop_##name(&x, &y, 1); \
        return y; \
    } \
    float gv_cr_##name##_accurate(float x) { return gv_cr_accurate(gv_loop_##name, x); }
GV_CR_FUNCTIONS(GV_DEFINE_ACCURATE)
