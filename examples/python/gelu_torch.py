"""The erf form: eager, torch rounds after every operation; compiled, inductor keeps 16-bit values in float32."""

import torch


def gelu(x):
    return 0.5 * x * (1 + torch.erf(x * 0.5**0.5))
