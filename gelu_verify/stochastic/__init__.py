"""The stochastic map m x, m ~ Bernoulli(Phi(x)), dropout, zoneout and the like: samplers, and their verification."""

from .sampler import adaptive_dropout, dropout, gelu, relu_dropout, zoneout

__all__ = ["adaptive_dropout", "dropout", "gelu", "relu_dropout", "zoneout"]
