/* Loads and stores, each checked: within an allocation, aligned, written before it is read, and, in shared memory, not
   in a race with another lane. */
#ifndef GELU_VERIFY_PTX_MEMORY_H
#define GELU_VERIFY_PTX_MEMORY_H
#include "types.h"

namespace ptx {
enum access { LOAD, STORE, LOAD_COPIED }; /* LOAD_COPIED: what is read is only stored elsewhere, as padding may be */

template <u32 N> static inline bool all_have(const u8 *state, u8 flags) {
    u64 mask = 0x0101010101010101ull * flags, found = 0, more;
    if (N == 16) {
        memcpy(&found, state, 8);
        memcpy(&more, state + 8, 8);
        return (found & more & mask) == mask;
    }
    memcpy(&found, state, N < 8 ? N : 8);
    mask = N >= 8 ? mask : mask & ((1ull << (8 * (N & 7))) - 1);
    return (found & mask) == mask;
}

[[noreturn]] PTX_COLD static void fail_by_state(environment &e, const lane &l, const u8 *state, u64 address, u32 size,
                                                u32 space, access how, u32 site) {
    u8 every = 0xff;
    for (u32 k = 0; k < size; k++) every &= state[k];
    u32 kind = !(every & ALLOCATED) ? OUT_OF_BOUNDS : how == STORE ? READ_ONLY : UNWRITTEN;
    fail(e, l, kind, site, address, size, space);
}

/* ---- global ---- */

template <u32 N> static inline u8 *at_global(environment &e, const lane &l, u64 address, access how, u32 site) {
    u64 offset = address - e.global.base;
    if (PTX_UNLIKELY(address % N)) fail(e, l, MISALIGNED, site, address, N, GLOBAL);
    if (PTX_UNLIKELY(offset >= e.global.size)) fail(e, l, OUT_OF_BOUNDS, site, address, N, GLOBAL);
    u8 *state = e.global.state + offset;
    if (how == STORE) {
        if (PTX_UNLIKELY(!all_have<N>(state, ALLOCATED) || (state[0] & CONSTANT)))
            fail_by_state(e, l, state, address, N, GLOBAL, how, site);
        memset(state, ALLOCATED | WRITTEN, N);
    } else if (PTX_UNLIKELY(!all_have<N>(state, ALLOCATED | WRITTEN))) {
        fail_by_state(e, l, state, address, N, GLOBAL, how, site);
    }
    return e.global.data + offset;
}

/* ---- shared ---- */

static inline bool is_known(const environment &e, u32 by, u32 of, u32 time) {
    return by == of || (by / 32 == of / 32 && time < e.warps[by / 32].known[by % 32][of % 32]);
}

/* Whether what other lanes have read of this byte happened before what `l` does. */
static inline bool are_reads_known(const environment &e, const lane &l, const shared_byte &b) {
    u32 mine = l.index / 32;
    if (b.read_warp != mine) return false;
    for (u32 k = 0; k < 32; k++)
        if ((b.readers >> k & 1) && !is_known(e, l.index, mine * 32 + k, b.read_time)) return false;
    return true;
}

static inline void note_read(environment &e, const lane &l, shared_byte &b, u64 address, u32 size, bool strong,
                             u32 site) {
    bool written_now = b.write_epoch == e.epoch && b.writer != l.index;
    if (PTX_UNLIKELY(written_now && !(strong && b.write_is_strong) && !is_known(e, l.index, b.writer, b.write_time)))
        fail(e, l, RACE, site, address, size, SHARED, b.writer, b.write_site);
    u32 mine = l.index / 32, bit = 1u << l.index % 32;
    if (b.read_epoch != e.epoch || are_reads_known(e, l, b)) {
        b.read_epoch = e.epoch;
        b.read_warp = (u16)mine;
        b.readers = bit;
        b.read_is_strong = strong;
    } else {
        if (b.read_warp != mine) b.read_warp = MANY_WARPS;
        b.readers |= bit;
        b.read_is_strong &= strong;
    }
    b.read_time = e.warps[mine].time;
    b.read_site = site;
}

static inline void note_write(environment &e, const lane &l, shared_byte &b, bool same, u64 address, u32 size,
                              bool strong, u32 site) {
    bool written_now = b.write_epoch == e.epoch && b.writer != l.index && (b.state & WRITTEN);
    if (PTX_UNLIKELY(written_now && !same && !(strong && b.write_is_strong) &&
                     !is_known(e, l.index, b.writer, b.write_time)))
        fail(e, l, RACE, site, address, size, SHARED, b.writer, b.write_site);
    if (PTX_UNLIKELY(b.read_epoch == e.epoch && !same && !(strong && b.read_is_strong) && !are_reads_known(e, l, b))) {
        u32 other = b.read_warp == MANY_WARPS ? ~0u : b.read_warp * 32u + (u32)__builtin_ctz(b.readers);
        fail(e, l, RACE, site, address, size, SHARED, other, b.read_site);
    }
    b.write_epoch = e.epoch;
    b.writer = (u16)l.index;
    b.write_time = e.warps[l.index / 32].time;
    b.write_site = site;
    b.write_is_strong = strong;
    b.state = ALLOCATED | WRITTEN;
}

/* Each byte of a word has an entry of its own from now on. */
static inline void split_word(shared_byte *word) {
    if (!word->is_word) return;
    word->is_word = 0;
    for (int k = 1; k < 4; k++) word[k] = word[0];
}

/* The entry of the first byte stands for all again, where they are the same. */
static inline void join_word(shared_byte *word) {
    for (int k = 1; k < 4; k++)
        if (memcmp(word, word + k, sizeof *word)) return;
    word->is_word = 1;
}

static inline void note(environment &e, const lane &l, shared_byte &b, access how, bool same, u64 address, u32 size,
                        bool strong, u32 site) {
    if (PTX_UNLIKELY(!(b.state & ALLOCATED))) fail(e, l, OUT_OF_BOUNDS, site, address, size, SHARED);
    if (how == STORE) {
        if (e.watches_races) note_write(e, l, b, same, address, size, strong, site);
        else b.state |= WRITTEN;
        return;
    }
    if (PTX_UNLIKELY(!(b.state & WRITTEN))) fail(e, l, UNWRITTEN, site, address, size, SHARED);
    if (e.watches_races) note_read(e, l, b, address, size, strong, site);
}

/* value: what is written. strong: volatile, relaxed or atomic, which do not race with each other. */
template <u32 N>
static inline u8 *at_shared(environment &e, const lane &l, u64 offset, access how, const void *value, bool strong,
                            u32 site) {
    if (PTX_UNLIKELY(offset % N)) fail(e, l, MISALIGNED, site, offset, N, SHARED);
    if (PTX_UNLIKELY(offset >= e.shared_size || offset + N > e.shared_size))
        fail(e, l, OUT_OF_BOUNDS, site, offset, N, SHARED);
    shared_byte *log = e.shared_log + offset;
    u8 *data = e.shared + offset;
    const u8 *given = (const u8 *)value;
    if (N < 4) split_word(e.shared_log + (offset & ~3ull));
    for (u32 first = 0; first < N; first += 4) {
        bool whole = N >= 4 && log[first].is_word;
        for (u32 k = first; k < (whole ? first + 1 : first + (N < 4 ? N : 4)); k++) {
            bool same = given && !memcmp(data + k, given + k, whole ? 4 : 1);
            note(e, l, log[k], how, same, offset, N, strong, site);
        }
        if (N >= 4 && !whole) join_word(log + first);
    }
    return data;
}

/* ---- local, parameters ---- */

template <u32 N> static inline u8 *at_local(environment &e, const lane &l, u64 offset, access how, u32 site) {
    if (PTX_UNLIKELY(offset % N)) fail(e, l, MISALIGNED, site, offset, N, LOCAL);
    if (PTX_UNLIKELY(offset >= l.local_top || offset + N > l.local_top))
        fail(e, l, OUT_OF_BOUNDS, site, offset, N, LOCAL);
    u8 *state = l.local_state + offset;
    if (how == STORE) memset(state, ALLOCATED | WRITTEN, N);
    else if (PTX_UNLIKELY(how == LOAD && !all_have<N>(state, ALLOCATED | WRITTEN)))
        fail(e, l, UNWRITTEN, site, offset, N, LOCAL);
    return l.local + offset;
}

template <u32 N> static inline const u8 *at_param(environment &e, const lane &l, u64 offset, access how, u32 site) {
    if (PTX_UNLIKELY(how == STORE)) fail(e, l, READ_ONLY, site, offset, N, PARAM);
    if (PTX_UNLIKELY(offset % N)) fail(e, l, MISALIGNED, site, offset, N, PARAM);
    if (PTX_UNLIKELY(offset >= e.param_size || offset + N > e.param_size))
        fail(e, l, OUT_OF_BOUNDS, site, offset, N, PARAM);
    return e.params + offset;
}

template <u32 N>
static inline u8 *at(environment &e, const lane &l, u32 space, u64 address, access how, const void *value, bool strong,
                     u32 site) {
    if (space == GENERIC) {
        u64 window = address >> 48;
        space = window == SHARED_WINDOW  ? SHARED
                : window == LOCAL_WINDOW ? LOCAL
                : window == PARAM_WINDOW ? PARAM
                                         : GLOBAL;
        if (space != GLOBAL) address &= 0xffffffffffffull;
    }
    if (space == GLOBAL) return at_global<N>(e, l, address, how, site);
    if (space == SHARED) return at_shared<N>(e, l, address, how, value, strong, site);
    if (space == LOCAL) return at_local<N>(e, l, address, how, site);
    return (u8 *)at_param<N>(e, l, address, how, site);
}

/* N bytes, of one value or of the values of a vector */
template <u32 N>
static inline void load(environment &e, const lane &l, u32 space, u64 address, void *to, u32 site, bool strong = false,
                        access how = LOAD) {
    memcpy(to, at<N>(e, l, space, address, how, nullptr, strong, site), N);
}

template <u32 N>
static inline void store(environment &e, const lane &l, u32 space, u64 address, const void *from, u32 site,
                         bool strong = false) {
    memcpy(at<N>(e, l, space, address, STORE, from, strong, site), from, N);
}

/* Read, changed and written as one: `change` gives the new value of the old one, which is returned. */
template <class T, class Change>
static inline T atomic(environment &e, const lane &l, u32 space, u64 address, u32 site, Change change) {
    T old, now;
    load<sizeof(T)>(e, l, space, address, &old, site, true);
    now = change(old);
    store<sizeof(T)>(e, l, space, address, &now, site, true);
    return old;
}

/* The local memory of a function, which ends with it */
struct frame {
    lane &l;
    u32 base;
    frame(lane &of, u32 size) : l(of), base((of.local_top + 15) & ~15u) {
        memset(l.local_state + base, ALLOCATED, size);
        l.local_top = base + size;
    }
    ~frame() { l.local_top = base; }
    frame(const frame &) = delete;
};
} // namespace ptx

#endif
