"""The right bits without the kernels, which `reference_bits` asks where it can."""

from gelu_verify.truth.values import judge


def core_bits(function, dtype, x):
    """Correctly rounded result bits from the values and bounds of the native core."""
    return judge(function, dtype, x, x).want_bits
