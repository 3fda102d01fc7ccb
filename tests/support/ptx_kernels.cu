/* What the executor of PTX must find, each fault in a case of its own; and what lanes do together.
   tests/ptx/test_faults.py says of each `fault N` which line is named. */
#include <assert.h>
#include <stdio.h>

extern "C" __global__ void faulty(int which, int n, const float *x, float *y) {
    __shared__ float s[64];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = i < n ? x[i] : 0.0f;
    switch (which) {
        case 0: /* right: all is written, then waited for */
            s[t] = v;
            __syncthreads();
            v = s[63 - t];
            break;
        case 1: /* right: a warp waits for itself */
            s[t] = v;
            __syncwarp();
            v = s[t ^ 1];
            break;
        case 2:
            s[t] = v;
            v = s[63 - t]; // fault 2: unwritten memory is read
            break;
        case 3:
            if (t < 32) s[t] = v;
            __syncthreads();
            v = s[t]; // fault 3: unwritten memory is read
            break;
        case 4:
            v = x[n]; // fault 4: out of bounds
            break;
        case 5: {
            float4 q = *(const float4 *)(x + 1); // fault 5: misaligned address
            v = q.x + q.y + q.z + q.w;
            break;
        }
        case 6:
            s[t] = v;
            if (t != 17) __syncthreads(); // fault 6: divergent barrier
            break;
        case 7:
            if (i >= 40) return;
            __syncthreads(); // fault 7: divergent barrier
            break;
        case 8:
            if (t < 8) v = __shfl_sync(0xff, v, 9); // fault 8: a lane that does not take part is read
            break;
        case 9:
            v = __shfl_sync(0xfffffffe, v, 3); // fault 9: a lane that is not a member of its mask
            break;
        case 10:
            assert(v > 1e30f); // fault 10: device-side assert triggered
            break;
        case 11:
            if (t == 5) __trap(); // fault 11: unspecified launch failure
            break;
        case 12:
            v += y[i]; // fault 12: unwritten memory is read
            break;
        case 13:
            if (t < 16) __syncwarp(); // fault 13: divergent barrier
            else __syncthreads();
            break;
        case 14:
            s[t] = v;
            v = __shfl_sync(0xffffffff, v, 0);
            v += s[t ^ 1]; // fault 14: data race on shared memory
            break;
        case 15:
            __syncthreads();
            s[t & 31] = v; // fault 15: data race on shared memory
            break;
        case 16: printf("lane %d of %s: %.2f %lld\n", t, "sixteen", v, 1ll << 40); break;
        case 17:
            s[t] = v;
            __syncthreads();
            v = s[t ^ 1];
            s[t] = 2.0f * v; // fault 17: data race on shared memory
            break;
        case 18: /* right: each thread has a byte, then a word */
            ((unsigned char *)s)[t] = (unsigned char)t;
            __syncthreads();
            v = ((unsigned char *)s)[t ^ 1];
            __syncthreads();
            s[t] = v;
            __syncthreads();
            v = s[63 - t];
            break;
        case 19:
            s[t] = v; // fault 19: data race on shared memory
            if (t == 3) ((unsigned char *)s)[4 * 5 + 1] = 1;
            break;
    }
    if (i < n) y[i] = v;
}

struct result { unsigned up, down, xor_, index, ballot, any, all, same, every, sum, least, count, both, either; };

extern "C" __global__ void together(const unsigned *x, result *y, unsigned *total, float *mean) {
    __shared__ unsigned most;
    const unsigned t = threadIdx.x, v = x[t], full = 0xffffffff;
    if (t == 0) most = 0;
    result r;
    r.up = __shfl_up_sync(full, v, 3);
    r.down = __shfl_down_sync(full, v, 5, 16);
    r.xor_ = __shfl_xor_sync(full, v, 6);
    r.index = __shfl_sync(full, v, 2, 8);
    r.ballot = __ballot_sync(full, v & 1);
    r.any = __any_sync(full, v > 90);
    r.all = __all_sync(full, v < 95);
    r.same = __match_any_sync(full, v % 4);
    int every;
    r.every = __match_all_sync(full, v / 1000, &every) + every;
    r.sum = __reduce_add_sync(full, v);
    r.least = __reduce_min_sync(full, v);
    r.count = __syncthreads_count(v & 1);
    r.both = __syncthreads_and(v < 100);
    r.either = __syncthreads_or(v == 1000);
    atomicMax(&most, v);
    atomicAdd(&total[0], v);
    atomicMin(&total[1], v);
    atomicInc(&total[2], 40);
    atomicCAS(&total[3], 0, v);
    atomicAdd(mean, 0.5f);
    __syncthreads();
    if (t == 0) total[4] = most;
    y[t] = r;
}
