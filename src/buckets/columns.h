/* Records as columns: the numbers of each, `wide` of eight bytes and then `narrow` of four, in an array for each place.
   Sixteen records at a time: of each column that is a cache line or two. */
#ifndef GV_BUCKETS_COLUMNS_H
#define GV_BUCKETS_COLUMNS_H
#include <stddef.h>
#include <stdint.h>

enum { GV_LINE = 16 };

static void gv_copy_columns(const char *records, size_t n, size_t wide, size_t narrow, uint64_t *columns,
                            uint32_t *narrow_columns) {
    const size_t size = 8 * wide + 4 * narrow;
    for (size_t first = 0; first < n; first += GV_LINE) {
        const size_t end = n - first < GV_LINE ? n : first + GV_LINE;
        for (size_t place = 0; place < wide; place++)
            for (size_t i = first; i < end; i++)
                columns[place * n + i] = ((const uint64_t *)(records + i * size))[place];
        for (size_t place = 0; place < narrow; place++)
            for (size_t i = first; i < end; i++)
                narrow_columns[place * n + i] = ((const uint32_t *)(records + i * size + 8 * wide))[place];
    }
}

#endif
