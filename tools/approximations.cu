/* What a GPU computes where PTX leaves the bits open, held against the bounds of src/ptx/approximate.h.

       nvcc -O2 -std=c++17 -arch=native -Isrc -Xcompiler=-ffp-contract=off,-pthread tools/approximations.cu -o approximations
       ./approximations > data/approximations/NAME.json
       ./approximations OPCODE ...              of these alone
       ./approximations dump OPCODE FIRST COUNT      of so many words from FIRST (of float64 upper halves), in binary: how
                                                far each result is from the nearest, int16

   Of one argument: all inputs; of float64 all upper halves, with lower halves drawn at random, which PTX says are not
   read; with .ftz, and of sin and cos, one of each 16 neighbours. Of two: 2^28 pairs, half of them of any bits, half from
   [1, 4). `distances` are counted in numbers of the format from the value nearest to the exact one, for which the C
   library's double is taken; the errors in ulp, of results that are not the nearest, from that double. `hash` is the sum of
   a mixed word of every input and output: equal outputs have equal hashes. */
#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>
#include "ptx/approximate.h"

using namespace ptx;

#define CHECK(call) \
    do { \
        cudaError_t error_ = (call); \
        if (error_ != cudaSuccess) { \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_)); \
            exit(1); \
        } \
    } while (0)

static __host__ __device__ inline u64 mixed(u64 v) {
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
    v = (v ^ v >> 27) * 0x94d049bb133111ebull;
    return v ^ v >> 31;
}

/* ---- inputs: number `index` of all, as words a and b ---- */

struct every32 {
    typedef u32 word;
    typedef every32 consecutive;
    enum : u64 { COUNT = 1ull << 32 };
    static __host__ __device__ inline void at(u64 index, u32 *a, u32 *) { *a = (u32)index; }
};
struct some32 { /* one of each 16 neighbours */
    typedef u32 word;
    typedef every32 consecutive;
    enum : u64 { COUNT = 1ull << 28 };
    static __host__ __device__ inline void at(u64 index, u32 *a, u32 *) { *a = (u32)(index << 4 | (mixed(index) & 15)); }
};
struct every16 {
    typedef u16 word;
    typedef every16 consecutive;
    enum : u64 { COUNT = 1ull << 16 };
    static __host__ __device__ inline void at(u64 index, u16 *a, u16 *) { *a = (u16)index; }
};
struct every_upper_half {
    typedef u64 word;
    typedef every_upper_half consecutive;
    enum : u64 { COUNT = 1ull << 32 };
    static __host__ __device__ inline void at(u64 index, u64 *a, u64 *) { *a = index << 32 | mixed(index) >> 32; }
};
struct pairs {
    typedef u32 word;
    typedef pairs consecutive;
    enum : u64 { COUNT = 1ull << 28 };
    static __host__ __device__ inline void at(u64 index, u32 *a, u32 *b) {
        u64 drawn = mixed(index + 1);
        *a = (u32)drawn, *b = (u32)(drawn >> 32);
        if (index & 1) *a = 0x3f800000u | (*a & 0xffffffu), *b = 0x3f800000u | (*b & 0xffffffu);
    }
};

/* ---- instructions: on the device, the exact value, and within their bound ---- */

static f32 flushed(bool ftz_too, f32 v) { return ftz_too ? ftz(v) : v; }

#define UNARY32(NAME, INPUTS, FTZ, OPCODE, BOUNDED, EXACT) \
    struct NAME : INPUTS { \
        static constexpr const char *opcode = OPCODE; \
        static __device__ u32 run(u32 a, u32) { \
            float y; \
            asm(OPCODE " %0, %1;" : "=f"(y) : "f"(__uint_as_float(a))); \
            return __float_as_uint(y); \
        } \
        static u32 bound(u32 a, u32, s32 which) { \
            f32 x = flushed(FTZ, bits<f32>(a)); \
            return bits<u32>(flushed(FTZ, canonical(BOUNDED(x, which)))); \
        } \
        static f64 exact(u32 a, u32) { \
            f64 x = flushed(FTZ, bits<f32>(a)); \
            return EXACT; \
        } \
    }
#define BOTH32(NAME, INPUTS, EXACT) \
    UNARY32(NAME##_32, INPUTS, false, #NAME ".approx.f32", NAME##_approx, EXACT); \
    UNARY32(NAME##_ftz_32, some32, true, #NAME ".approx.ftz.f32", NAME##_approx, EXACT)
BOTH32(ex2, every32, __builtin_exp2(x));
BOTH32(lg2, every32, __builtin_log2(x));
BOTH32(rcp, every32, 1.0 / x);
BOTH32(sqrt, every32, __builtin_sqrt(x));
BOTH32(rsqrt, every32, 1.0 / __builtin_sqrt(x));
BOTH32(sin, some32, __builtin_sin(x));
BOTH32(cos, some32, __builtin_cos(x));
UNARY32(tanh_32, every32, false, "tanh.approx.f32", tanh_approx, __builtin_tanh(x));

#define BINARY32(NAME, FTZ, OPCODE, BOUNDED) \
    struct NAME : pairs { \
        static constexpr const char *opcode = OPCODE; \
        static __device__ u32 run(u32 a, u32 b) { \
            float y; \
            asm(OPCODE " %0, %1, %2;" : "=f"(y) : "f"(__uint_as_float(a)), "f"(__uint_as_float(b))); \
            return __float_as_uint(y); \
        } \
        static u32 bound(u32 a, u32 b, s32 which) { \
            f32 v = BOUNDED(flushed(FTZ, bits<f32>(a)), flushed(FTZ, bits<f32>(b)), which); \
            return bits<u32>(flushed(FTZ, canonical(v))); \
        } \
        static f64 exact(u32 a, u32 b) { return (f64)flushed(FTZ, bits<f32>(a)) / (f64)flushed(FTZ, bits<f32>(b)); } \
    }
BINARY32(div_32, false, "div.approx.f32", div_approx);
BINARY32(div_ftz_32, true, "div.approx.ftz.f32", div_approx);
BINARY32(div_full_32, false, "div.full.f32", div_full);
BINARY32(div_full_ftz_32, true, "div.full.ftz.f32", div_full);

#define UNARY64(NAME, OPCODE, BOUNDED, EXACT) \
    struct NAME : every_upper_half { \
        static constexpr const char *opcode = OPCODE; \
        static __device__ u64 run(u64 a, u64) { \
            double y; \
            asm(OPCODE " %0, %1;" : "=d"(y) : "d"(__longlong_as_double((long long)a))); \
            return (u64)__double_as_longlong(y); \
        } \
        static u64 bound(u64 a, u64, s32 which) { return bits<u64>(BOUNDED(bits<f64>(a), which)); } \
        static f64 exact(u64 a, u64) { \
            f64 x = upper_half(bits<f64>(a)); \
            return EXACT; \
        } \
    }
UNARY64(rcp_64, "rcp.approx.ftz.f64", rcp_approx_ftz, 1.0 / x);
UNARY64(rsqrt_64, "rsqrt.approx.ftz.f64", rsqrt_approx_ftz, 1.0 / __builtin_sqrt(x));

#define UNARY16(NAME, FORMAT, FTZ, OPCODE, BOUNDED, EXACT) \
    struct NAME : every16 { \
        typedef FORMAT format; \
        static constexpr const char *opcode = OPCODE; \
        static __device__ u16 run(u16 a, u16) { \
            u16 y; \
            asm(OPCODE " %0, %1;" : "=h"(y) : "h"(a)); \
            return y; \
        } \
        static u16 bound(u16 a, u16, s32 which) { \
            u16 y = BOUNDED<format>(FTZ ? half_ftz<format>(a) : a, which); \
            return FTZ ? half_ftz<format>(y) : y; \
        } \
        static f64 exact(u16 a, u16) { \
            f64 x = widened<format>(FTZ ? half_ftz<format>(a) : a); \
            return EXACT; \
        } \
    }
UNARY16(ex2_f16, f16_format, false, "ex2.approx.f16", ex2_half, __builtin_exp2(x));
UNARY16(ex2_bf16, bf16_format, true, "ex2.approx.ftz.bf16", ex2_half, __builtin_exp2(x));
UNARY16(tanh_f16, f16_format, false, "tanh.approx.f16", tanh_half, __builtin_tanh(x));
UNARY16(tanh_bf16, bf16_format, false, "tanh.approx.bf16", tanh_half, __builtin_tanh(x));

template <class Op, class Inputs> __global__ void run(u64 first, u64 n, typename Op::word *y) {
    for (u64 k = blockIdx.x * (u64)blockDim.x + threadIdx.x; k < n; k += (u64)gridDim.x * blockDim.x) {
        typename Op::word a, b = 0;
        Inputs::at(first + k, &a, &b);
        y[k] = Op::run(a, b);
    }
}

/* ---- what is found ---- */

template <class Word> static s64 ordinal(Word v) {
    const Word sign = (Word)1 << (8 * sizeof v - 1);
    s64 size = (s64)(v & (Word)~sign);
    return v & sign ? -size : size;
}
static bool is_nan(u16 v, int infinite) { return (v & 0x7fff) > infinite; }
template <class Op> static bool is_nan(typename Op::word v) {
    if constexpr (sizeof v == 2) return is_nan(v, Op::format::INFINITE);
    else if constexpr (sizeof v == 4) return (v & 0x7fffffffu) > 0x7f800000u;
    else return (v & ~(1ull << 63)) > 0x7ffull << 52;
}
/* so many numbers of the format that a unit of `distance` is: the lower half of a double is not written */
template <class Op> static s64 unit() { return sizeof(typename Op::word) == 8 ? 1ll << 32 : 1; }

/* The value of a result, and one unit in the last place of the exact value in its format */
template <class Op> static f64 value(typename Op::word v) {
    if constexpr (sizeof v == 2) return widened<typename Op::format>(v);
    else if constexpr (sizeof v == 4) return bits<f32>(v);
    else return bits<f64>(v);
}
template <class Op> static f64 ulp(f64 exact) {
    int precision = 24, least = -149, exponent;
    if constexpr (sizeof(typename Op::word) == 2)
        precision = Op::format::PRECISION, least = Op::format::EMIN - (Op::format::PRECISION - 1);
    if constexpr (sizeof(typename Op::word) == 8) precision = 21, least = -1042; /* of the upper half */
    frexp(exact, &exponent);
    return ldexp(1.0, std::max(exponent - precision, least));
}

template <class Op> struct found {
    typedef typename Op::word word;
    struct witness {
        bool is_there = false;
        word a = 0, b = 0, got = 0, lowest = 0, highest = 0;
        f64 size = 0;
    };
    u64 n = 0, hash = 0, nans = 0, other_nans = 0, rises[2] = {}, falls[2] = {}, lower_halves = 0;
    enum { NEAR = 8 };
    u64 distances[2 * NEAR + 1] = {}, far = 0, below = 0, above = 0;
    witness lowest_error, highest_error, first_below, last_below, first_above, last_above, nan;

    void note(witness *w, word a, word b, word got, f64 size) {
        w->is_there = true, w->a = a, w->b = b, w->got = got, w->size = size;
        w->lowest = Op::bound(a, b, LOWEST), w->highest = Op::bound(a, b, HIGHEST);
    }
    void add(word a, word b, word got) {
        n++;
        hash += mixed(mixed((u64)a << 32 ^ b) + got);
        word nearest = Op::bound(a, b, NEAREST);
        if (is_nan<Op>(got) || is_nan<Op>(nearest)) {
            if (is_nan<Op>(got) != is_nan<Op>(nearest)) note(&nan, a, b, got, 0), other_nans++;
            else nans += got != nearest;
            return;
        }
        if (sizeof got == 8) lower_halves += (u32)got != 0;
        s64 distance = (ordinal(got) - ordinal(nearest)) / unit<Op>();
        if (distance >= -NEAR && distance <= NEAR) distances[NEAR + distance]++;
        else far++;
        if (got == nearest) return;
        word low = Op::bound(a, b, LOWEST), high = Op::bound(a, b, HIGHEST);
        if (ordinal(got) < ordinal(low)) {
            if (!first_below.is_there) note(&first_below, a, b, got, 0);
            note(&last_below, a, b, got, 0), below++;
        }
        if (ordinal(got) > ordinal(high)) {
            if (!first_above.is_there) note(&first_above, a, b, got, 0);
            note(&last_above, a, b, got, 0), above++;
        }
        f64 exact = Op::exact(a, b), y = value<Op>(got);
        if (!(fabs(exact) < HUGE_VAL && fabs(y) < HUGE_VAL)) return;
        f64 error = (y - exact) / ulp<Op>(exact);
        if (error < lowest_error.size) note(&lowest_error, a, b, got, error);
        if (error > highest_error.size) note(&highest_error, a, b, got, error);
    }
    void merge(const found &o) {
        n += o.n, hash += o.hash, nans += o.nans, other_nans += o.other_nans, far += o.far;
        below += o.below, above += o.above, lower_halves += o.lower_halves;
        for (int k = 0; k < 2; k++) rises[k] += o.rises[k], falls[k] += o.falls[k];
        for (int k = 0; k <= 2 * NEAR; k++) distances[k] += o.distances[k];
        if (o.lowest_error.size < lowest_error.size) lowest_error = o.lowest_error;
        if (o.highest_error.size > highest_error.size) highest_error = o.highest_error;
        if (!first_below.is_there) first_below = o.first_below;
        if (!first_above.is_there) first_above = o.first_above;
        if (o.last_below.is_there) last_below = o.last_below;
        if (o.last_above.is_there) last_above = o.last_above;
        if (!nan.is_there) nan = o.nan;
    }
};

template <class W> static void print(const char *name, const W &w) {
    if (!w.is_there) return;
    const int digits = 2 * (int)sizeof w.a;
    auto hex = [&](u64 v) { printf("\"0x%0*llx\"", digits, (unsigned long long)v); };
    printf(", \"%s\": {\"x\": ", name);
    hex(w.a);
    if (w.b) printf(", \"y\": "), hex(w.b);
    printf(", \"got\": "), hex(w.got);
    printf(", \"bounds\": ["), hex(w.lowest), printf(", "), hex(w.highest);
    printf("]");
    if (w.size) printf(", \"ulp\": %.9g", w.size);
    printf("}");
}

template <class Op> static void print(const found<Op> &all) {
    auto number = [](u64 v) { return (unsigned long long)v; };
    printf("\"%s\": {\"n\": %llu, \"hash\": \"%016llx\"", Op::opcode, number(all.n), number(all.hash));
    printf(", \"outside\": %llu", number(all.below + all.above + all.other_nans));
    printf(", \"distances\": {");
    const char *comma = "";
    for (int k = -found<Op>::NEAR; k <= found<Op>::NEAR; k++)
        if (u64 many = all.distances[found<Op>::NEAR + k]) printf("%s\"%d\": %llu", comma, k, number(many)), comma = ", ";
    printf("}, \"farther\": %llu", number(all.far));
    if (all.nans) printf(", \"other_nan_bits\": %llu", number(all.nans));
    if (all.lower_halves) printf(", \"lower_halves\": %llu", number(all.lower_halves));
    printf(", \"rises\": [%llu, %llu], \"falls\": [%llu, %llu]", number(all.rises[0]), number(all.rises[1]),
           number(all.falls[0]), number(all.falls[1]));
    print("lowest_error", all.lowest_error), print("highest_error", all.highest_error);
    print("first_below", all.first_below), print("last_below", all.last_below);
    print("first_above", all.first_above), print("last_above", all.last_above);
    print("nan", all.nan);
    printf("}");
    fflush(stdout);
}

static const u64 CHUNK = 1ull << 27;

template <class Op, class Inputs>
static void on_device(u64 first, u64 n, typename Op::word *room, std::vector<typename Op::word> *y) {
    run<Op, Inputs><<<1024, 256>>>(first, n, room);
    CHECK(cudaGetLastError());
    y->resize(n);
    CHECK(cudaMemcpy(y->data(), room, n * sizeof *room, cudaMemcpyDeviceToHost));
}

template <class Op> static found<Op> measured() {
    typedef typename Op::word word;
    found<Op> all;
    std::vector<word> y;
    word *room;
    CHECK(cudaMalloc(&room, std::min<u64>(CHUNK, Op::COUNT) * sizeof *room));
    for (u64 first = 0; first < Op::COUNT; first += CHUNK) {
        u64 n = std::min<u64>(CHUNK, Op::COUNT - first), threads = std::max(1u, std::thread::hardware_concurrency());
        on_device<Op, Op>(first, n, room, &y);
        const u64 PARTS = n < 4096 ? 1 : 4096 / 8;
        std::vector<found<Op>> parts(PARTS);
        std::vector<std::thread> workers;
        for (u64 t = 0; t < threads; t++)
            workers.emplace_back([&, t] {
                for (u64 part = t; part < PARTS; part += threads)
                    for (u64 k = n * part / PARTS; k < n * (part + 1) / PARTS; k++) {
                        word a, b = 0;
                        Op::at(first + k, &a, &b);
                        parts[part].add(a, b, y[k]);
                        if (!k || is_nan<Op>(y[k]) || is_nan<Op>(y[k - 1])) continue;
                        int side = a >> (8 * sizeof a - 1);
                        parts[part].rises[side] += ordinal(y[k]) > ordinal(y[k - 1]);
                        parts[part].falls[side] += ordinal(y[k]) < ordinal(y[k - 1]);
                    }
            });
        for (auto &each : workers) each.join();
        for (auto &each : parts) all.merge(each);
    }
    CHECK(cudaFree(room));
    return all;
}

template <class Op> static void dumped(u64 first, u64 n) {
    typename Op::word *room, a, b = 0;
    std::vector<typename Op::word> y;
    CHECK(cudaMalloc(&room, n * sizeof *room));
    on_device<Op, typename Op::consecutive>(first, n, room, &y);
    std::vector<s16> distances(n);
    for (u64 k = 0; k < n; k++) {
        Op::consecutive::at(first + k, &a, &b);
        s64 distance = (ordinal(y[k]) - ordinal(Op::bound(a, b, NEAREST))) / unit<Op>();
        distances[k] = (s16)std::min<s64>(std::max<s64>(distance, -32768), 32767);
    }
    fwrite(distances.data(), sizeof(s16), n, stdout);
    CHECK(cudaFree(room));
}

template <class... Ops> static int all(int argc, char **argv) {
    const bool dumps = argc == 5 && !strcmp(argv[1], "dump");
    for (int k = dumps ? 2 : 1; k < (dumps ? 3 : argc); k++)
        if (!(!strcmp(argv[k], Ops::opcode) || ...)) {
            fprintf(stderr, "unknown: %s (accepted:", argv[k]);
            (fprintf(stderr, " %s", Ops::opcode), ...);
            fprintf(stderr, ")\n");
            return 2;
        }
    if (dumps) {
        u64 first = strtoull(argv[3], nullptr, 0), n = strtoull(argv[4], nullptr, 0);
        ((strcmp(argv[2], Ops::opcode) ? void() : dumped<Ops>(first, n)), ...);
        return 0;
    }
    auto is_asked_for = [&](const char *opcode) {
        return argc == 1 || std::any_of(argv + 1, argv + argc, [&](const char *word) { return !strcmp(word, opcode); });
    };
    cudaDeviceProp device;
    int driver = 0, runtime = 0;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    printf("{\"device\": \"%s\", \"architecture\": \"sm_%d%d\", \"driver_cuda\": %d, \"nvcc\": \"%d.%d.%d\"", device.name,
           device.major, device.minor, driver, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__);
    ((is_asked_for(Ops::opcode) ? (printf(",\n"), print(measured<Ops>())) : void()), ...);
    printf("}\n");
    return 0;
}

int main(int argc, char **argv) {
    return all<ex2_f16, ex2_bf16, tanh_f16, tanh_bf16, ex2_32, ex2_ftz_32, tanh_32, rcp_32, rcp_ftz_32, rcp_64, rsqrt_64,
               sqrt_32, sqrt_ftz_32, rsqrt_32, rsqrt_ftz_32, lg2_32, lg2_ftz_32, div_32, div_ftz_32, div_full_32,
               div_full_ftz_32, sin_32, sin_ftz_32, cos_32, cos_ftz_32>(argc, argv);
}
