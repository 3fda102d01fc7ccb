"""A result that gets a budget, and the machine that it is from."""

from gelu_verify.records.parts import FindingRecord, Witness
from gelu_verify.records.result import Record

MACHINE = {"libm": "glibc 2.36", "architecture": "x86_64", "isa": ["avx2", "fma"]}


def result(**changes):
    measured = {
        "target": "kernels.gelu_erf", "family": "kernels", "function": "gelu", "dtype": "float32",
        "plan": "default", "seed": 0, "n": 262144, "bound": ">=", "max_ulp": 3.2109,
        "witness": Witness("0xc0d00000", "0x80000000", "0xaf8f821f"),
        "checks": {"nan": "pass", "monotone": "pass", "minus_infinity": "fail"},
        "findings": {name: FindingRecord("wrong", "0x7fc00000", None, None) for name in ("nan", "monotone")},
        "form": "erf", "note": "", "version": "1", "repeat": "again",
    }  # fmt: skip
    return Record(**{**measured, **changes})
