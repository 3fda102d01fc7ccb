/* src/cuda/verify.h as it runs on the device, on the CPU: block after block, lane after lane; for tests/measure/test_gpu_judge.py. */
#include <cmath>
#include <cstdint>
#include <cstring>
#include "cuda/verify.h"

extern "C" void gv_fill_32(const gv_tile *tiles, size_t blocks, uint32_t *x) {
    for (size_t b = 0; b < blocks; b++)
        for (int64_t j = 0; j < tiles[b].count; j++)
            x[tiles[b].place + j] = (uint32_t)gv_bits_at(gv_input_of(&tiles[b], j), 32);
}

extern "C" void gv_fill_64(const gv_tile *tiles, size_t blocks, uint64_t *x) {
    for (size_t b = 0; b < blocks; b++)
        for (int64_t j = 0; j < tiles[b].count; j++) x[tiles[b].place + j] = gv_bits_at(gv_input_of(&tiles[b], j), 64);
}

template <class Bits, class Judge>
static void verify(const gv_rules *rules, const gv_tile *tiles, size_t blocks, const Bits *x, const Bits *y,
                   gv_tally *tallies, Judge judge) {
    static gv_tally lanes[GV_TALLIES];
    for (size_t b = 0; b < blocks; b++) {
        const gv_tile tile = tiles[b];
        gv_shared shared;
        gv_begin_tile(&shared, lanes);
        judge(tile, &shared, lanes);
        for (unsigned lane = GV_STRIP - 1; lane > 0; lane--)
            gv_merge_tally(lanes, &lanes[lane]); /* any order will do */
        int64_t first = tile.place, last = first + tile.count - 1;
        gv_end_tile(&shared, lanes, x[first], x[last], y[first], y[last], rules->fmt.width);
        tallies[b] = *lanes;
    }
}

extern "C" void gv_verify_32(const gv_rules *rules, const gv_tile *tiles, size_t blocks, const uint32_t *x,
                             const uint32_t *y, gv_tally *tallies, gv_undecided_output *outputs, unsigned *count,
                             unsigned capacity) {
    gv_undecided_list undecided = {outputs, count, capacity};
    verify(rules, tiles, blocks, x, y, tallies, [&](const gv_tile &tile, gv_shared *shared, gv_tally *own) {
        gv_judge_strips(rules, &tile, shared, own, y, undecided);
    });
}

extern "C" void gv_verify_64(const gv_rules *rules, const gv_tile *tiles, size_t blocks, const uint64_t *x,
                             const uint64_t *y, gv_tally *tallies, gv_undecided_output *outputs, unsigned *count,
                             unsigned capacity) {
    gv_undecided_list undecided = {outputs, count, capacity};
    verify(rules, tiles, blocks, x, y, tallies, [&](const gv_tile &tile, gv_shared *shared, gv_tally *own) {
        const int falls = gv_falls_in(rules, &tile);
        for (int64_t j = 0; j < tile.count; j++)
            gv_judge_drawn(rules, &tile, shared, &own[j % GV_STRIP], x, y, j, falls, undecided);
    });
}

extern "C" size_t gv_size_of(int which) {
    const size_t sizes[] = {sizeof(gv_rules), sizeof(gv_tile), sizeof(gv_tally), sizeof(gv_undecided_output)};
    return sizes[which];
}
