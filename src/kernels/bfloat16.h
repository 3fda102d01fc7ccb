/* The format bfloat16, as float16.h. */
#define DTYPE "bfloat16"
#define IN_FORMAT(f) f##_bf16
#define BITS uint16_t
#define LOAD(b) f32_of_bf16(b)
#define NARROW(v) bf16_of_f32(v)
