/* What lanes do together: shuffles, votes, matches, reductions of a warp; barriers of a block. A lane that waits returns
   to the loop of launch.h, which runs the others, and goes on when all that must arrive have. */
#ifndef GELU_VERIFY_PTX_WARP_H
#define GELU_VERIFY_PTX_WARP_H
#include "types.h"

namespace ptx {
enum warp_op {
    SHFL_UP,
    SHFL_DOWN,
    SHFL_BFLY,
    SHFL_IDX,
    VOTE_ALL,
    VOTE_ANY,
    VOTE_UNI,
    VOTE_BALLOT,
    MATCH_ANY,
    MATCH_ALL,
    REDUX_ADD,
    REDUX_MIN,
    REDUX_MAX,
    REDUX_UMIN,
    REDUX_UMAX,
    REDUX_AND,
    REDUX_OR,
    REDUX_XOR,
    WARP_SYNC,
};
enum barrier_op { BARRIER_SYNC, BARRIER_POPC, BARRIER_AND, BARRIER_OR };

static inline void wait_for_warp(environment &e, lane &l, u32 op, u32 mask, u64 a, u64 b, u64 c, u32 site) {
    if (PTX_UNLIKELY(!(mask >> l.index % 32 & 1))) fail(e, l, NOT_A_MEMBER, site, mask);
    l.state = AT_WARP;
    l.site = site;
    l.op = op;
    l.mask = mask;
    l.a = a;
    l.b = b;
    l.c = c;
}

static inline void wait_at_barrier(environment &, lane &l, u32 op, u32 barrier, u32 threads, bool value, bool aligned,
                                   u32 site) {
    l.state = AT_BARRIER;
    l.site = site;
    l.op = op;
    l.barrier = barrier;
    l.threads = threads;
    l.a = value;
    l.aligned = aligned;
}

/* ---- warps ---- */

/* PTX ISA, shfl.sync: which lane each one reads, and whether that is in range */
static inline void shuffle(environment &e, lane *w, u32 members, u32 k) {
    lane &l = w[k];
    u32 b = (u32)l.b & 31, clamp = (u32)l.c & 31, segment = (u32)l.c >> 8 & 31;
    u32 highest = (k & segment) | (clamp & ~segment & 31), lowest = k & segment;
    s32 j;
    bool inside;
    switch (l.op) {
        case SHFL_UP:
            j = (s32)k - (s32)b;
            inside = j >= (s32)highest;
            break;
        case SHFL_DOWN:
            j = (s32)(k + b);
            inside = j <= (s32)highest;
            break;
        case SHFL_BFLY:
            j = (s32)(k ^ b);
            inside = j <= (s32)highest;
            break;
        default:
            j = (s32)(lowest | (b & ~segment & 31));
            inside = j <= (s32)highest;
            break;
    }
    if (!inside) j = (s32)k;
    if (PTX_UNLIKELY(!(members >> j & 1))) fail(e, l, INACTIVE, l.site, (u64)j, 0, GENERIC, w[0].index + (u32)j);
    l.out = w[j].a;
    l.out_flag = inside;
}

static inline u64 reduced(u32 op, u64 x, u64 y) {
    u32 a = (u32)x, b = (u32)y;
    switch (op) {
        case REDUX_ADD: return a + b;
        case REDUX_MIN: return (u32)((s32)a < (s32)b ? a : b);
        case REDUX_MAX: return (u32)((s32)a > (s32)b ? a : b);
        case REDUX_UMIN: return a < b ? a : b;
        case REDUX_UMAX: return a > b ? a : b;
        case REDUX_AND: return a & b;
        case REDUX_OR: return a | b;
        default: return a ^ b;
    }
}

/* All members have given their votes: p of each lane, as a mask */
static inline void vote(lane *w, u32 members, u32 k) {
    lane &l = w[k];
    u32 ballot = 0;
    for (u32 j = 0; j < 32; j++)
        if (members >> j & 1) ballot |= (u32)(w[j].a & 1) << j;
    l.out = ballot;
    l.out_flag = l.op == VOTE_ALL ? ballot == members : l.op == VOTE_ANY ? ballot != 0 : !ballot || ballot == members;
}

static inline void match(lane *w, u32 members, u32 k) {
    lane &l = w[k];
    u32 same = 0;
    for (u32 j = 0; j < 32; j++)
        if ((members >> j & 1) && w[j].a == l.a) same |= 1u << j;
    l.out_flag = same == members;
    l.out = l.op == MATCH_ALL && same != members ? 0 : same;
}

/* bar.warp.sync orders memory: what members did before, and what they knew, the others know now */
static inline void synchronize(warp &w, u32 members) {
    u32 now = ++w.time;
    for (u32 a = 0; a < 32; a++) {
        u32 latest = 0;
        for (u32 b = 0; b < 32; b++)
            if ((members >> b & 1) && w.known[b][a] > latest) latest = w.known[b][a];
        if (members >> a & 1) latest = now;
        for (u32 b = 0; b < 32; b++)
            if (members >> b & 1) w.known[b][a] = latest;
    }
}

static inline void finish_warp_op(environment &e, lane *w, u32 count, u32 members, u32 first) {
    u64 sum = w[first].a;
    u32 op = w[first].op;
    for (u32 k = first + 1; op >= REDUX_ADD && op <= REDUX_XOR && k < count; k++)
        if (members >> k & 1) sum = reduced(op, sum, w[k].a);
    for (u32 k = 0; k < count; k++) {
        if (!(members >> k & 1)) continue;
        if (op <= SHFL_IDX) shuffle(e, w, members, k);
        else if (op <= VOTE_BALLOT) vote(w, members, k);
        else if (op <= MATCH_ALL) match(w, members, k);
        else w[k].out = sum;
    }
    if (op == WARP_SYNC) synchronize(e.warps[w[0].index / 32], members);
    for (u32 k = 0; k < count; k++)
        if (members >> k & 1) w[k].state = RUNNING;
}

/* Lets those lanes of a warp go on for whom all others have arrived; whether there were any. */
static inline bool release_warp(environment &e, lane *w, u32 count) {
    u32 here = 0;
    bool released = false;
    for (u32 k = 0; k < count; k++)
        if (w[k].state != ENDED) here |= 1u << k;
    for (u32 k = 0; k < count; k++) {
        if (w[k].state != AT_WARP) continue;
        u32 members = w[k].mask & here, arrived = 0;
        for (u32 j = 0; j < count; j++)
            if (w[j].state == AT_WARP && w[j].op == w[k].op && w[j].mask == w[k].mask) arrived |= 1u << j;
        if (members & ~arrived) continue;
        finish_warp_op(e, w, count, members, k);
        released = true;
    }
    return released;
}

/* ---- barriers ---- */

/* Of those that wait at a barrier: which number, how many, what they gave */
struct barrier_state { u32 waiting, needed, first, trues; };

/* All lanes of a warp must wait at the same instruction where it is aligned, all of the block with the same operation. */
static inline void check_barrier(environment &e, u32 barrier, u32 first) {
    u32 of_warp = first;
    for (u32 k = first; k < e.threads; k++) {
        const lane &l = e.lanes[k];
        if (l.state != AT_BARRIER || l.barrier != barrier) continue;
        if (l.op != e.lanes[first].op) fail(e, l, DIVERGENT, l.site, 0, 0, GENERIC, first, e.lanes[first].site);
        if (k / 32 != of_warp / 32) of_warp = k;
        if (l.aligned && l.site != e.lanes[of_warp].site)
            fail(e, l, DIVERGENT, l.site, 0, 0, GENERIC, of_warp, e.lanes[of_warp].site);
    }
}

static inline void finish_barrier(environment &e, u32 barrier, const barrier_state &b) {
    for (u32 k = b.first; k < e.threads; k++) {
        lane &l = e.lanes[k];
        if (l.state != AT_BARRIER || l.barrier != barrier) continue;
        l.out = b.trues;
        l.out_flag = l.op == BARRIER_OR ? b.trues != 0 : b.trues == b.waiting;
        l.state = RUNNING;
    }
    if (b.waiting == e.threads) e.epoch++;
}

/* Lets the lanes go on for whose barriers all have arrived; whether there were any. */
static inline bool release_barriers(environment &e) {
    enum { BARRIERS = 16 };
    barrier_state found[BARRIERS];
    memset(found, 0, sizeof found);
    for (u32 k = 0; k < e.threads; k++) {
        const lane &l = e.lanes[k];
        if (l.state != AT_BARRIER) continue;
        if (PTX_UNLIKELY(l.barrier >= BARRIERS)) fail(e, l, DIVERGENT, l.site, 0, 0, GENERIC, k, l.site);
        barrier_state &b = found[l.barrier];
        if (!b.waiting++) b.first = k;
        b.needed = l.threads ? l.threads : e.threads;
        b.trues += (u32)l.a;
    }
    bool released = false;
    for (u32 barrier = 0; barrier < BARRIERS; barrier++) {
        const barrier_state &b = found[barrier];
        if (!b.waiting || b.waiting < b.needed) continue;
        check_barrier(e, barrier, b.first);
        finish_barrier(e, barrier, b);
        released = true;
    }
    return released;
}

/* No lane can go on: one that waits, and one that is not there, which has ended or waits elsewhere. */
[[noreturn]] PTX_COLD static void fail_waiting(environment &e) {
    u32 k = 0;
    while (e.lanes[k].state == ENDED) k++;
    const lane &l = e.lanes[k];
    u32 first = l.state == AT_WARP ? k / 32 * 32 : 0, end = l.state == AT_WARP ? first + 32 : e.threads;
    for (u32 j = first; j < end && j < e.threads; j++) {
        const lane &other = e.lanes[j];
        bool due = l.state == AT_BARRIER || (other.state != ENDED && (l.mask >> j % 32 & 1));
        bool with = other.state == l.state &&
                    (l.state == AT_BARRIER ? other.barrier == l.barrier : other.op == l.op && other.mask == l.mask);
        if (due && !with) fail(e, l, DIVERGENT, l.site, 0, 0, GENERIC, j, other.state == ENDED ? ~0u : other.site);
    }
    fail(e, l, DIVERGENT, l.site, 0, 0, GENERIC, k, l.site);
}
} // namespace ptx

#endif
