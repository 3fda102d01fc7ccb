/* Blocks of an array with any stride, in bytes, as contiguous ones. */
#ifndef GV_ARRAYS_STRIDED_H
#define GV_ARRAYS_STRIDED_H
#include <stddef.h>
#include <stdint.h>

static void gv_gather_float32(const char *x, ptrdiff_t stride, float *block, size_t n) {
    for (size_t i = 0; i < n; i++) block[i] = *(const float *)(const void *)(x + (ptrdiff_t)i * stride);
}

static void gv_gather_float64(const char *x, ptrdiff_t stride, double *block, size_t n) {
    for (size_t i = 0; i < n; i++) block[i] = *(const double *)(const void *)(x + (ptrdiff_t)i * stride);
}

static void gv_scatter_float32(const float *block, char *y, ptrdiff_t stride, size_t n) {
    for (size_t i = 0; i < n; i++) *(float *)(void *)(y + (ptrdiff_t)i * stride) = block[i];
}

static void gv_scatter_float64(const double *block, char *y, ptrdiff_t stride, size_t n) {
    for (size_t i = 0; i < n; i++) *(double *)(void *)(y + (ptrdiff_t)i * stride) = block[i];
}

static void gv_look_up_strided(const uint16_t *t, const char *x, ptrdiff_t x_stride, char *y, ptrdiff_t y_stride,
                               size_t n) {
    for (size_t i = 0; i < n; i++)
        *(uint16_t *)(void *)(y + (ptrdiff_t)i * y_stride) =
            t[*(const uint16_t *)(const void *)(x + (ptrdiff_t)i * x_stride)];
}

#endif
