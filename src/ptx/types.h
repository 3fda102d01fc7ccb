/* What a kernel is executed with (gelu_verify/ptx): types, what is found, the lanes of a block. C++17. */
#ifndef GELU_VERIFY_PTX_TYPES_H
#define GELU_VERIFY_PTX_TYPES_H
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

namespace ptx {
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;

#define PTX_COLD __attribute__((noinline, cold))
#define PTX_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* The bits of one type as another one */
template <class To, class From> static inline To bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "types of one size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

/* Kinds of fault: gelu_verify/ptx/faults.py has them in this order. */
enum kind {
    NOTHING,
    OUT_OF_BOUNDS,
    MISALIGNED,
    UNWRITTEN,
    RACE,
    DIVERGENT,
    NOT_A_MEMBER,
    INACTIVE,
    TRAPPED,
    ASSERTED,
    READ_ONLY,
};

/* Where and what: site, an index of the kernel's list of instructions; other: the lane that it collides with */
struct fault {
    u32 kind, site, other_site, other, block[3], lane, size, space;
    u64 address;
    char text[512];
};

struct stop {}; /* thrown: the launch ends */

enum space { GENERIC, GLOBAL, SHARED, LOCAL, PARAM };
/* Generic addresses of a block's shared memory, a lane's local memory, a kernel's parameters: the upper 16 bits */
enum : u64 { SHARED_WINDOW = 1, LOCAL_WINDOW = 2, PARAM_WINDOW = 3 };

/* Of each byte of global, shared and local memory */
enum : u8 { ALLOCATED = 1, WRITTEN = 2, CONSTANT = 4 };

struct memory {
    u8 *data, *state;
    u64 base, size;
};

/* The accesses to a byte of shared memory since the block's last barrier (epoch): who wrote it last, who has read it.
   Within a warp, time counts the synchronizations of the warp. is_word: of the first of four bytes, which stands for all
   of them while they are only used together. */
struct shared_byte {
    u32 write_epoch, read_epoch;
    u32 write_time, read_time;
    u32 write_site, read_site;
    u32 readers;   /* lanes of read_warp */
    u16 writer;    /* a lane */
    u16 read_warp; /* or MANY_WARPS */
    u8 state, write_is_strong, read_is_strong, is_word;
};
enum : u16 { MANY_WARPS = 0xffff };

enum state { RUNNING, AT_WARP, AT_BARRIER, ENDED };

struct lane {
    u32 index, tid[3];
    u32 pc, state, site;
    u32 op, mask;   /* that it waits for: of a warp */
    u32 barrier;    /* number of the barrier that it waits at */
    u32 threads;    /* that the barrier is for; 0: all */
    bool aligned;   /* all lanes of a warp must wait at one instruction */
    u64 a, b, c;    /* operands */
    u64 out;        /* result */
    bool out_flag;
    u32 local_top;
    u8 *local, *local_state;
};

struct warp {
    u32 time;
    u32 known[32][32]; /* known[b][a]: what lane a did before that time happened before what lane b does now */
};

struct environment {
    memory global;
    u8 *shared;
    shared_byte *shared_log;
    u32 shared_size, param_size;
    const u8 *params;
    const u64 *symbols;
    u32 ntid[3], nctaid[3], ctaid[3];
    u32 threads, epoch;
    bool watches_races;
    s32 approximations; /* approximate.h: which of the values that their bounds allow */
    bool fuses;         /* sums of products, where PTX leaves that open */
    lane *lanes;
    warp *warps;
    fault *found;
};

[[noreturn]] PTX_COLD static void fail(environment &e, const lane &l, u32 kind, u32 site, u64 address = 0, u32 size = 0,
                                       u32 space = GENERIC, u32 other = 0, u32 other_site = 0) {
    fault &f = *e.found;
    f.kind = kind;
    f.site = site;
    f.other_site = other_site;
    f.other = other;
    for (int k = 0; k < 3; k++) f.block[k] = e.ctaid[k];
    f.lane = l.index;
    f.size = size;
    f.space = space;
    f.address = address;
    throw stop();
}
} // namespace ptx

#endif
