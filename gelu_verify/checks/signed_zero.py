"""The values at -0 and +0, bit for bit: f(-0) = -0 where f(x) ~ x/2."""

from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    fmt = evidence.fmt
    x = [fmt.sign_mask, 0]
    got = [int(bits) for bits in evidence.probe(x)]
    want = [evidence.function.limit_bits(fmt, bits) for bits in x]
    for x_bits, got_bits, want_bits in zip(x, got, want, strict=True):
        if got_bits != want_bits:
            said = f"f({evidence.text(x_bits)}) = {evidence.text(got_bits)}, must be {evidence.text(want_bits)}"
            return Finding("fail", said, x_bits, got_bits, want_bits)
    return Finding("pass", "", x[0], got[0], want[0])


CHECK = Check("signed_zero", "fma and 1+erf forms turn -0 into +0 (opencv#25147, webnn-polyfill#144)", run)
