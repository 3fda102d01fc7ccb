"""The values at -0 and +0, bit for bit where f has the sign of x; max(-0, 0) may be either zero."""

from .base import Check, Evidence, Finding


def run(evidence: Evidence) -> Finding:
    fmt = evidence.fmt
    if evidence.function.has_pole_at_zero:
        return Finding("not applicable", f"{evidence.function.name} has a pole at zero, at which check finite looks")
    x = [fmt.sign_mask, 0]
    got = [int(bits) for bits in evidence.probe(x)]
    want = [evidence.function.limit_bits(fmt, bits) for bits in x]
    for x_bits, got_bits, want_bits in zip(x, got, want, strict=True):
        if not evidence.function.is_due(fmt, x_bits, got_bits):
            got_text, want_text = evidence.texts(got_bits, want_bits)
            detail = f"f({evidence.text(x_bits)}) = {got_text}, must be {want_text}"
            return Finding("fail", detail, x_bits, got_bits, want_bits)
    return Finding("pass", "", x[0], got[0], want[0])


CHECK = Check(
    "signed_zero",
    "fma and 1+erf forms turn -0 into +0 (opencv#25147, webnn-polyfill#144)",
    run,
    severity="convention",
    remedy=(
        "Keep the product with x as the last step: x * 0.5 has the sign of x, a sum or an fma that adds +0 has not."
    ),
)
