/* A launch: block after block, warp after warp, lane after lane until it waits or ends. */
#ifndef GELU_VERIFY_PTX_LAUNCH_H
#define GELU_VERIFY_PTX_LAUNCH_H
#include <exception>
#include <fenv.h>
#include <new>
#include <stdlib.h>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif
#include "memory.h"
#include "warp.h"

namespace ptx {
/* What Python gives: gelu_verify/ptx/executor.py has the same fields */
struct launch_arguments {
    u8 *data, *state;
    u64 base, size;
    const u64 *symbols;
    const u8 *params;
    u32 param_size, shared_static, shared_dynamic, shared_ranges;
    const u32 *shared_range; /* first and end of each variable in the static part */
    u32 grid[3], block[3];
    u32 local_size, entry_local;
    s32 approximations, fuses, watches_races;
};

/* The default floating-point environment, whatever the caller's is */
struct default_floats {
    fenv_t before;
    default_floats() {
        fegetenv(&before);
        fesetenv(FE_DFL_ENV);
#if defined(__x86_64__)
        _mm_setcsr(0x1f80);
#endif
    }
    ~default_floats() { fesetenv(&before); }
};

template <class Frame> struct block_memory {
    std::vector<lane> lanes;
    std::vector<warp> warps;
    std::vector<Frame> frames;
    std::vector<u8> shared, local, local_state;
    std::vector<shared_byte> shared_log, fresh_log;
};

static inline void prepare_shared(const launch_arguments &a, std::vector<shared_byte> &fresh) {
    u32 size = a.shared_static + a.shared_dynamic;
    shared_byte none;
    memset(&none, 0, sizeof none);
    fresh.assign((size + 3) & ~3u, none); /* whole words */
    for (u32 k = 0; k < a.shared_ranges; k++)
        for (u32 byte = a.shared_range[2 * k]; byte < a.shared_range[2 * k + 1]; byte++) fresh[byte].state = ALLOCATED;
    for (u32 byte = a.shared_static; byte < size; byte++) fresh[byte].state = ALLOCATED;
    for (u32 byte = 0; byte + 4 <= size; byte += 4) join_word(&fresh[byte]);
}

template <class Frame> static void begin_block(environment &e, const launch_arguments &a, block_memory<Frame> &m) {
    e.epoch = 1;
    if (!m.shared.empty()) {
        memset(m.shared.data(), 0xcd, m.shared.size());
        m.shared_log = m.fresh_log;
    }
    if (e.watches_races) memset((void *)m.warps.data(), 0, m.warps.size() * sizeof(warp));
    for (u32 k = 0; k < e.threads; k++) {
        lane &l = m.lanes[k];
        l.index = k;
        l.tid[0] = k % a.block[0];
        l.tid[1] = k / a.block[0] % a.block[1];
        l.tid[2] = k / a.block[0] / a.block[1];
        l.pc = 0;
        l.state = RUNNING;
        l.local = m.local.data() + (size_t)k * a.local_size;
        l.local_state = m.local_state.data() + (size_t)k * a.local_size;
        l.local_top = a.entry_local;
        if (a.entry_local) {
            memset(l.local, 0xcd, a.entry_local);
            memset(l.local_state, ALLOCATED, a.entry_local);
        }
    }
}

template <class Frame, void kernel(environment &, lane &, Frame &)>
static void run_block(environment &e, block_memory<Frame> &m) {
    for (;;) {
        bool ended = true;
        for (u32 first = 0; first < e.threads; first += 32) {
            u32 count = e.threads - first < 32 ? e.threads - first : 32;
            lane *w = m.lanes.data() + first;
            do {
                for (u32 k = 0; k < count; k++)
                    if (w[k].state == RUNNING) kernel(e, w[k], m.frames[first + k]);
            } while (release_warp(e, w, count));
            for (u32 k = 0; k < count; k++) ended &= w[k].state == ENDED;
        }
        if (ended) return;
        if (!release_barriers(e)) fail_waiting(e);
    }
}

template <class Frame, void kernel(environment &, lane &, Frame &)>
static void run_grid(environment &e, const launch_arguments &a) {
    block_memory<Frame> m;
    m.lanes.resize(e.threads);
    m.warps.resize((e.threads + 31) / 32);
    m.frames.resize(e.threads);
    m.shared.resize(a.shared_static + a.shared_dynamic);
    m.local.resize((size_t)e.threads * a.local_size);
    m.local_state.resize(m.local.size());
    prepare_shared(a, m.fresh_log);
    m.shared_log = m.fresh_log;
    e.shared = m.shared.data();
    e.shared_log = m.shared_log.data();
    e.lanes = m.lanes.data();
    e.warps = m.warps.data();
    for (e.ctaid[2] = 0; e.ctaid[2] < a.grid[2]; e.ctaid[2]++)
        for (e.ctaid[1] = 0; e.ctaid[1] < a.grid[1]; e.ctaid[1]++)
            for (e.ctaid[0] = 0; e.ctaid[0] < a.grid[0]; e.ctaid[0]++) {
                begin_block(e, a, m);
                run_block<Frame, kernel>(e, m);
            }
}

/* 0, or 1 with what was found, or 2 where there is no memory left */
template <class Frame, void kernel(environment &, lane &, Frame &)>
static int launched(const launch_arguments *a, fault *found) {
    default_floats floats;
    environment e;
    memset((void *)&e, 0, sizeof e);
    e.global = {a->data, a->state, a->base, a->size};
    e.shared_size = a->shared_static + a->shared_dynamic;
    e.params = a->params;
    e.param_size = a->param_size;
    e.symbols = a->symbols;
    for (int k = 0; k < 3; k++) {
        e.ntid[k] = a->block[k];
        e.nctaid[k] = a->grid[k];
    }
    e.threads = a->block[0] * a->block[1] * a->block[2];
    e.watches_races = a->watches_races != 0;
    e.approximations = a->approximations;
    e.fuses = a->fuses != 0;
    e.found = found;
    try {
        run_grid<Frame, kernel>(e, *a);
    } catch (const stop &) {
        return 1;
    } catch (const std::bad_alloc &) {
        return 2;
    }
    return 0;
}
} // namespace ptx

#endif
