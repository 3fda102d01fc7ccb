/* y = f(x) by a fast path that decides most elements; a block gathers the others until it has as many as threads, so
   that the accurate path is computed by whole warps, not by one thread while 31 wait. x == y is allowed. */
#ifndef GELU_VERIFY_CUDA_QUEUE_H
#define GELU_VERIFY_CUDA_QUEUE_H
#include "memory.h"

/* The elements of a block that are not decided yet: places and inputs (y may be x, and be overwritten by now) */
template <class Bits> struct gv_queue {
    enum { capacity = GV_THREADS * (1 + 16 / (int)sizeof(Bits)) };
    gv_count place[capacity];
    Bits x[capacity];
    unsigned count;
};

/* Fast: decides(number x, number *y); Accurate: of(number x, gv_count place) */
template <class Format, class Fast>
GV_DEVICE typename Format::bits gv_try(typename Format::bits x, gv_count place,
                                       gv_queue<typename Format::bits> *queue) {
    typename Format::bits y;
    typename Format::number v;
    if (!Fast::decides(Format::load(&x), &v)) {
        unsigned k = gv_add_one(&queue->count);
        queue->place[k] = place;
        queue->x[k] = x;
    }
    Format::store(&y, v);
    return y;
}

template <class Format, class Accurate>
GV_DEVICE void gv_decide(gv_queue<typename Format::bits> *queue, typename Format::bits *y, unsigned least) {
    gv_wait_for_block();
    unsigned count = queue->count;
    gv_wait_for_block(); /* all have read it before a thread adds to it */
    if (count < least) return;
    for (unsigned k = gv_thread_of_block(); k < count; k += gv_threads_of_block())
        Format::store(y + queue->place[k], Accurate::of(Format::load(queue->x + k), queue->place[k]));
    gv_wait_for_block();
    if (gv_thread_of_block() == 0) queue->count = 0;
    gv_wait_for_block();
}

template <class Format, class Fast, class Accurate>
GV_DEVICE void gv_each_queued(const typename Format::bits *x, typename Format::bits *y, gv_count n,
                              gv_queue<typename Format::bits> *queue) {
    typedef typename Format::bits bits;
    const int PER = 16 / sizeof(bits);
    unsigned threads = gv_threads_of_block(), thread = gv_thread_of_block();
    gv_count vectors = gv_vectors(x, y, n), stride = (gv_count)gv_blocks() * threads;
    if (thread == 0) queue->count = 0;
    gv_wait_for_block();
    for (gv_count first = (gv_count)gv_block() * threads; first < vectors; first += stride) { /* the same for a block */
        gv_count i = first + thread;
        if (i < vectors) {
            bits lane[PER];
            gv_read(x, i, lane);
            GV_UNROLLED
            for (int k = 0; k < PER; k++) lane[k] = gv_try<Format, Fast>(lane[k], i * PER + (gv_count)k, queue);
            gv_write(y, i, lane);
        }
        gv_decide<Format, Accurate>(queue, y, threads);
    }
    for (gv_count first = vectors * PER + (gv_count)gv_block() * threads; first < n; first += stride) {
        gv_count i = first + thread;
        if (i < n) y[i] = gv_try<Format, Fast>(x[i], i, queue);
        gv_decide<Format, Accurate>(queue, y, threads);
    }
    gv_decide<Format, Accurate>(queue, y, 1);
}

#endif
