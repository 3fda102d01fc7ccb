/* Through memory by 16 bytes a thread where both arrays are aligned so, else and at the end by one element. */
#ifndef GELU_VERIFY_CUDA_MEMORY_H
#define GELU_VERIFY_CUDA_MEMORY_H
#include "kernel.h"

struct alignas(16) gv_vector { uint32_t word[4]; };

template <class Bits> GV_DEVICE int gv_is_aligned(const Bits *p) { return ((uintptr_t)p & 15) == 0; }

/* The vectors that n elements at x and y are */
template <class Bits> GV_DEVICE gv_count gv_vectors(const Bits *x, const Bits *y, gv_count n) {
    return gv_is_aligned(x) && gv_is_aligned(y) ? n / (16 / sizeof(Bits)) : 0;
}

template <class Bits> GV_DEVICE void gv_read(const Bits *x, gv_count i, Bits *lane) {
    gv_vector v = ((const gv_vector *)x)[i];
    memcpy(lane, &v, sizeof v);
}

template <class Bits> GV_DEVICE void gv_write(Bits *y, gv_count i, const Bits *lane) {
    gv_vector v;
    memcpy(&v, lane, sizeof v);
    ((gv_vector *)y)[i] = v;
}

/* y = f(x) of n elements; x == y is allowed. Format: bits, number, lanes, load, store; Form: of(number). */
template <class Format, class Form>
GV_DEVICE void gv_each(const typename Format::bits *x, typename Format::bits *y, gv_count n) {
    typedef typename Format::bits bits;
    const int PER = 16 / sizeof(bits);
    gv_count first = (gv_count)gv_block() * gv_threads_of_block() + gv_thread_of_block();
    gv_count stride = (gv_count)gv_blocks() * gv_threads_of_block(), vectors = gv_vectors(x, y, n);
    for (gv_count i = first; i < vectors; i += stride) {
        bits lane[PER];
        gv_read(x, i, lane);
        GV_UNROLLED
        for (int k = 0; k < PER; k += Format::lanes) Format::store(lane + k, Form::of(Format::load(lane + k)));
        gv_write(y, i, lane);
    }
    for (gv_count i = vectors * PER + first; i < n; i += stride) {
        bits lane[Format::lanes] = {x[i]};
        Format::store(lane, Form::of(Format::load(lane)));
        y[i] = lane[0];
    }
}

#endif
