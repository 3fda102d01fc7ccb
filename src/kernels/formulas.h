/* Every header of formulas: a new one is one line here. */
#include "gelu.h"
#include "gelu_tanh.h"
#include "gelu_sigmoid.h"
#include "silu.h"
