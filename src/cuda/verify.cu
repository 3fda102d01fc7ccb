/* The judge on the device: reference values, errors and buckets are computed where the outputs are, and only records
   come back (gelu_verify/measure/gpu_judge.py). Compiled on demand for one function, with -fmad=false: every operation
   rounds as written, as on the CPU. */
#ifndef GV_JUDGED
#define GV_JUDGED gelu_tanh
#define GV_APPROXIMATED gelu
#endif
#include "verify.h"

#define GV_WARP 32
#define GV_WARPS (GV_STRIP / GV_WARP)
#define GV_BLOCKS 2 /* at once: while one waits for a barrier or memory, the other computes; rare data is spilled */

/* the tally of the lane so far above, word by word */
static __device__ void gv_take_from(gv_tally *from, const gv_tally *own, unsigned distance) {
    unsigned words[sizeof(gv_tally) / sizeof(unsigned)];
    memcpy(words, own, sizeof words);
    for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
        words[k] = __shfl_down_sync(0xffffffffu, words[k], distance);
    memcpy(from, words, sizeof words);
}

/* the tallies of all lanes; the sum is with the first */
static __device__ void gv_sum_lanes(gv_tally *own, gv_tally *warps) {
    gv_tally other;
    for (unsigned distance = GV_WARP / 2; distance; distance /= 2) {
        gv_take_from(&other, own, distance);
        gv_merge_tally(own, &other); /* lanes beyond the warp's end give their own: only the first lane's sum counts */
    }
    if (threadIdx.x % GV_WARP == 0) warps[threadIdx.x / GV_WARP] = *own;
    __syncthreads();
    if (threadIdx.x == 0)
        for (unsigned k = 1; k < GV_WARPS; k++) gv_merge_tally(own, &warps[k]);
}

extern "C" __global__ void __launch_bounds__(GV_STRIP) gv_fill_32(const gv_tile *tiles, uint32_t *x) {
    const gv_tile tile = tiles[blockIdx.x];
    for (int64_t j = threadIdx.x; j < tile.count; j += blockDim.x)
        x[tile.place + j] = (uint32_t)gv_bits_at(gv_input_of(&tile, j), 32);
}

extern "C" __global__ void __launch_bounds__(GV_STRIP) gv_fill_64(const gv_tile *tiles, uint64_t *x) {
    const gv_tile tile = tiles[blockIdx.x];
    for (int64_t j = threadIdx.x; j < tile.count; j += blockDim.x)
        x[tile.place + j] = gv_bits_at(gv_input_of(&tile, j), 64);
}

extern "C" __global__ void __launch_bounds__(GV_STRIP, GV_BLOCKS)
    gv_verify_32(const gv_rules *rules, const gv_tile *tiles, const uint32_t *x, const uint32_t *y, gv_tally *tallies,
                 gv_undecided_output *outputs, unsigned *count, unsigned capacity) {
    __shared__ gv_shared shared;
    __shared__ gv_tally warps[GV_WARPS];
    const gv_tile tile = tiles[blockIdx.x];
    gv_undecided_list undecided = {outputs, count, capacity};
    gv_tally own[GV_TALLIES];
    gv_begin_tile(&shared, own);
    gv_judge_strips(rules, &tile, &shared, own, y, undecided);
    gv_sum_lanes(own, warps);
    if (threadIdx.x) return;
    int64_t first = tile.place, last = first + tile.count - 1;
    gv_end_tile(&shared, own, x[first], x[last], y[first], y[last], 32);
    tallies[blockIdx.x] = *own;
}

extern "C" __global__ void __launch_bounds__(GV_STRIP, GV_BLOCKS)
    gv_verify_64(const gv_rules *rules, const gv_tile *tiles, const uint64_t *x, const uint64_t *y, gv_tally *tallies,
                 gv_undecided_output *outputs, unsigned *count, unsigned capacity) {
    __shared__ gv_shared shared;
    __shared__ gv_tally warps[GV_WARPS];
    const gv_tile tile = tiles[blockIdx.x];
    gv_undecided_list undecided = {outputs, count, capacity};
    gv_tally own[GV_TALLIES];
    gv_begin_tile(&shared, own);
    const int falls = gv_falls_in(rules, &tile);
    for (int64_t j = threadIdx.x; j < tile.count; j += GV_STRIP)
        gv_judge_drawn(rules, &tile, &shared, own, x, y, j, falls, undecided);
    gv_sum_lanes(own, warps);
    if (threadIdx.x) return;
    int64_t first = tile.place, last = first + tile.count - 1;
    gv_end_tile(&shared, own, x[first], x[last], y[first], y[last], 64);
    tallies[blockIdx.x] = *own;
}
