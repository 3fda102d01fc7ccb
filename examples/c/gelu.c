/* GELUs of the C ABI. 16-bit values travel as their bits. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* x/2 erfc(-x/sqrt 2): no cancellation for x < 0 */
void gelu_f32(const float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = 0.5f * x[i] * erfcf(-0x1.6a09e6p-1f /* sqrt(1/2) */ * x[i]);
}

/* One value: name it with :scalar */
double gelu_tanh_f64(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608028654 /* sqrt(2/pi) */ * (x + 0.044715 * x * x * x)));
}

static float f32_of_bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* Rounds to nearest, ties to even */
static uint16_t bf16_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void gelu_sigmoid_bf16(const uint16_t *x, uint16_t *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float value = f32_of_bf16(x[i]);
        y[i] = bf16_of_f32(value / (1 + expf(-1.702f * value)));
    }
}
