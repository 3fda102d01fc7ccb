/* Tests gelu_verify.h (with -DGV_TEST_KERNELS: the kernels of cr/cr.h) against the results in test_table.h. A float64
   that is not decided is counted, and is not an error. Ends with 1 when a result differs. */
#include <stdio.h>
#include "gelu_verify.h"
#include "test_table.h"
#ifdef GV_TEST_KERNELS
#include "cr/cr.h"
#endif

typedef uint64_t (*gv_test_call)(uint64_t x_bits, int *decided);

static unsigned long gv_tested = 0, gv_undecided = 0, gv_wrong = 0;

static void gv_test(const char *name, gv_test_call call, const uint64_t (*rows)[2], size_t count) {
    for (size_t i = 0; i < count; i++) {
        int decided = 1;
        uint64_t got = call(rows[i][0], &decided);
        gv_tested++;
        gv_undecided += !decided;
        if (!decided || got == rows[i][1]) continue;
        gv_wrong++;
        printf("%s at 0x%llx: got 0x%llx, want 0x%llx\n", name, (unsigned long long)rows[i][0], (unsigned long long)got,
               (unsigned long long)rows[i][1]);
    }
}

#ifdef GV_TEST_KERNELS
static uint64_t gv_kernel_f32(const char *name, uint64_t x_bits) {
    float x = gv_f32_from_bits((uint32_t)x_bits), y;
    gv_cr_find(name, 0)->f32(&x, &y, 1);
    return gv_f32_to_bits(y);
}

static uint64_t gv_kernel_f64(const char *name, uint64_t x_bits, int *decided) {
    double x = gv_from_bits(x_bits), y;
    size_t place;
    *decided = !gv_cr_find(name, 0)->f64(&x, &y, 1, &place);
    return gv_to_bits(y);
}

#define GV_CALL_f32(name) gv_kernel_f32(#name, x_bits)
#define GV_CALL_f64(name) gv_kernel_f64(#name, x_bits, decided)
#else
#define GV_CALL_f32(name) gv_f32_to_bits(gv_cr_##name##_f32(gv_f32_from_bits((uint32_t)x_bits)))
#define GV_CALL_f64(name) gv_to_bits(gv_cr_##name##_f64(gv_from_bits(x_bits), decided))
#endif
#define GV_CALL_f16(name) gv_cr_##name##_f16((uint16_t)x_bits)
#define GV_CALL_bf16(name) gv_cr_##name##_bf16((uint16_t)x_bits)

#define GV_DEFINE_TEST(name, type) \
    static uint64_t gv_call_##name##_##type(uint64_t x_bits, int *decided) { \
        *decided = 1; \
        return GV_CALL_##type(name); \
    }
GV_TEST_TABLES(GV_DEFINE_TEST)

#define GV_RUN_TEST(name, type) \
    gv_test(#name "_" #type, gv_call_##name##_##type, gv_test_##name##_##type, \
            sizeof gv_test_##name##_##type / sizeof gv_test_##name##_##type[0]);

int main(void) {
    GV_TEST_TABLES(GV_RUN_TEST)
    printf("%lu results: %lu differ, %lu undecided\n", gv_tested, gv_wrong, gv_undecided);
    return gv_wrong != 0 || gv_undecided > gv_tested / 25; /* the hardest float64 are there */
}
