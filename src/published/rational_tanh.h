/* tanh of Eigen 3.4, which MLAS and ncnn took over (eigen.h, mlas.h, ncnn.h): v*P(v^2)/Q(v^2) of degrees 13 and 6 with
   MAC for a*b + c, in the arithmetic of the moment. */
#ifndef GELU_VERIFY_PUBLISHED_RATIONAL_TANH_H
#define GELU_VERIFY_PUBLISHED_RATIONAL_TANH_H

#define MUL_ADD(a, b, c) ADD(MUL(a, b), c) /* without fma */
#define RATIONAL_TANH(MAC, v)                                                                                          \
    T v2 = MUL(v, v);                                                                                                  \
    T p = MAC(v2, CONSTANT(-2.76076847742355e-16f), CONSTANT(2.00018790482477e-13f));                                  \
    p = MAC(p, v2, CONSTANT(-8.60467152213735e-11f));                                                                  \
    p = MAC(p, v2, CONSTANT(5.12229709037114e-08f));                                                                   \
    p = MAC(p, v2, CONSTANT(1.48572235717979e-05f));                                                                   \
    p = MAC(p, v2, CONSTANT(6.37261928875436e-04f));                                                                   \
    p = MUL(MAC(p, v2, CONSTANT(4.89352455891786e-03f)), v);                                                           \
    T q = MAC(v2, CONSTANT(1.19825839466702e-06f), CONSTANT(1.18534705686654e-04f));                                   \
    q = MAC(q, v2, CONSTANT(2.26843463243900e-03f));                                                                   \
    q = MAC(q, v2, CONSTANT(4.89352518554385e-03f));                                                                   \
    return DIV(p, q)

#endif
