/* Philox4x32-10: 128 bits from a counter of 128 bits and a key of 64, ten rounds of two multiplications.
   J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11. For one key it is a
   bijection of the 2^128 counters: over all of them every result occurs once.
   Test     tests/stochastic/test_philox.py: the vectors of Random123, and NumPy's Philox4x64-10 by the same rounds */
#ifndef GV_STOCHASTIC_PHILOX_H
#define GV_STOCHASTIC_PHILOX_H
#include "../truth/dd.h"

typedef struct { uint32_t word[4]; } gv_philox_block;

GV_INLINE gv_philox_block gv_philox(gv_philox_block counter, uint32_t key0, uint32_t key1) {
    uint32_t c0 = counter.word[0], c1 = counter.word[1], c2 = counter.word[2], c3 = counter.word[3];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = UINT64_C(0xD2511F53) * c0, p1 = UINT64_C(0xCD9E8D57) * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ key0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ key1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        key0 += 0x9E3779B9; /* golden ratio */
        key1 += 0xBB67AE85; /* sqrt(3) - 1 */
    }
    gv_philox_block out = {{c0, c1, c2, c3}};
    return out;
}

/* The 128 bits of element i of call `call` for a seed: nothing else decides them. */
GV_INLINE gv_philox_block gv_element_bits(uint64_t i, uint64_t call, uint64_t seed) {
    gv_philox_block counter = {{(uint32_t)i, (uint32_t)(i >> 32), (uint32_t)call, (uint32_t)(call >> 32)}};
    return gv_philox(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
}

#endif
