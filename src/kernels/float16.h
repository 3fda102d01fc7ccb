/* The format float16, whose values are carried in a float: every_operation.h, by_float32.h or by_float64.h says when it
   is rounded to. */
#define DTYPE "float16"
#define IN_FORMAT(f) f##_f16
#define BITS uint16_t
#define LOAD(b) f32_of_f16(b)
#define NARROW(v) f16_of_f32(v)
