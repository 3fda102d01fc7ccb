/* Every function of the core: its name and what evaluates it, in double-double. */
#ifndef GV_MATH_FUNCTIONS_H
#define GV_MATH_FUNCTIONS_H
#include "elu.h"
#include "erf.h"
#include "erfc.h"
#include "exp.h"
#include "expm1.h"
#include "gelu.h"
#include "gelu_sigmoid.h"
#include "gelu_tanh.h"
#include "mish.h"
#include "normcdf.h"
#include "relu.h"
#include "sigmoid.h"
#include "silu.h"
#include "softplus.h"
#include "tanh.h"

#define GV_FUNCTIONS(F) \
    F(gelu, gv_gelu) \
    F(gelu_grad, gv_gelu_grad) \
    F(gelu_tanh, gv_gelu_tanh) \
    F(gelu_tanh_grad, gv_gelu_tanh_grad) \
    F(gelu_sigmoid, gv_gelu_sigmoid) \
    F(gelu_sigmoid_grad, gv_gelu_sigmoid_grad) \
    F(silu, gv_silu) \
    F(silu_grad, gv_silu_grad) \
    F(relu, gv_relu) \
    F(elu, gv_elu) \
    F(elu_grad, gv_elu_grad) \
    F(mish, gv_mish) \
    F(mish_grad, gv_mish_grad) \
    F(softplus, gv_softplus) \
    F(softplus_grad, gv_sigmoid) \
    F(erf, gv_erf) \
    F(erfc, gv_erfc) \
    F(normcdf, gv_normcdf) \
    F(tanh, gv_tanh_value) \
    F(sigmoid, gv_sigmoid) \
    F(exp, gv_exp_value) \
    F(expm1, gv_expm1_value)

#endif
