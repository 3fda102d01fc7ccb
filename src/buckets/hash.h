/* A hash of the results of a bucket, as a sum, which does not depend on their order or on how they are split: the bits
   in which a result differs from the correctly rounded one, times a weight of x, modulo 2^64. A correctly rounded
   result adds 0, and so costs nothing; a NaN where NaN is required counts as one, whatever its payload.

   A single result that changes always changes the hash: weights are odd, and a product with an odd number is 0 modulo
   2^64 only where the other factor is. Several changes may cancel out, about once in 2^64 (not proved). In a product
   the high bits of a factor reach high bits only: differences of 64 bits are mixed first. Tests:
   test_the_hash_of_results_sees_what_changes_and_nothing_else in tests/buckets/test_reducer.py. */
#ifndef GV_BUCKETS_HASH_H
#define GV_BUCKETS_HASH_H
#include "ulp_error.h"

#define GV_HASH_BLOCK 256 /* inputs that share all bits but the last 8 */

/* the finaliser of splitmix64 (Steele, Lea and Flood): one to one, and 0 for 0 */
GV_INLINE uint64_t gv_mix(uint64_t z) {
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The weight of x is that of its place in its block, which has 32 bits, times that of the block, which has 64. */
GV_INLINE uint32_t gv_weight_in_block(uint64_t x) {
    return (uint32_t)(gv_mix((x % GV_HASH_BLOCK + 1) * UINT64_C(0x9e3779b97f4a7c15)) >> 32) | 1u;
}

GV_INLINE uint64_t gv_weight_of_block(uint64_t x) {
    return gv_mix(~(x / GV_HASH_BLOCK) * UINT64_C(0x9e3779b97f4a7c15)) | 1u;
}

/* what one result adds; infinity: its bits */
GV_INLINE uint64_t gv_hash_result(uint64_t x, uint64_t got, uint64_t want, uint64_t infinity, int width) {
    const uint64_t mask = (UINT64_C(1) << (width - 1)) - 1;
    if ((got & mask) > infinity) got = mask; /* any NaN */
    if ((want & mask) > infinity) want = mask;
    if (got == want) return 0;
    uint64_t difference = width > 32 ? gv_mix(got ^ want) : got ^ want;
    return difference * gv_weight_in_block(x) * gv_weight_of_block(x);
}

/* The weights of a block in the order of the inputs on the line: of positive and of negative ones; and their sum. */
typedef struct {
    uint32_t along[2][GV_HASH_BLOCK];
    uint64_t sum;
} gv_weights;

GV_INLINE void gv_fill_weights(gv_weights *weights) {
    weights->sum = 0;
    for (uint32_t k = 0; k < GV_HASH_BLOCK; k++) {
        weights->along[0][k] = weights->along[1][GV_HASH_BLOCK - 1 - k] = gv_weight_in_block(k);
        weights->sum += weights->along[0][k];
    }
}

#endif
