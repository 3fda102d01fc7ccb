"""The certificate of the brackets that the float32 kernels are made of (docs/proofs.md, section 6)."""

import ctypes
import os
import random
import subprocess
import sysconfig

import numpy as np
import pytest
from prove import checks
from prove.brackets import AFTER_ROUNDING, MOST, NAMES, bracket_source, certify_bracket, near_limits
from prove.exact import Exact
from prove.interpreter import Interpreter
from prove.source import ROOT
from prove.specifications import SPECIFICATIONS

pytestmark = pytest.mark.prove
BY_NAME = {s.name: s for s in SPECIFICATIONS}
every = pytest.mark.parametrize("name", NAMES)
fmas = pytest.mark.parametrize("fma", [False, True], ids=["two roundings", "fma"])
ends = pytest.mark.parametrize("end", ["near", "bracket"])


@fmas
@ends
@every
def test_the_value_lies_between_the_ends(name, end, fma):
    """For every float32 x, or |x| within what the kernel trusts `near` with."""
    source = bracket_source(fma)
    most = near_limits(source)[name] if end == "near" else MOST
    pieces, shares = certify_bracket(BY_NAME[name], source, end, most)
    assert pieces > 0
    assert all(share < 1 for share in shares.values())
    assert AFTER_ROUNDING not in shares or (end, name) in (("bracket", "gelu"), ("bracket", "gelu_grad"))


def test_errors_are_known_by_their_value():
    assert checks.claims() == []


def compiled(fma, folder):
    """A library with `run(index, x, a, b, n)` over the brackets of NAMES, near and everywhere."""
    calls = [f"gv_{name}_{end}" for name in NAMES for end in ("near", "bracket")]
    cases = "".join(f"case {i}: y = {call}_one(x[k]); break;\n" for i, call in enumerate(calls))
    code = f"""#define GV_LANES 1
#define GV_HAVE_FMA {int(fma)}
#define GV_TYPED(name) name##_one
#include "enclosure/brackets.h"
void run(int index, const double *x, double *a, double *b, int n);
void run(int index, const double *x, double *a, double *b, int n) {{
    for (int k = 0; k < n; k++) {{
        gv_bracket_one y = {{0, 0}};
        switch (index) {{ {cases} }}
        a[k] = y.a;
        b[k] = y.b;
    }}
}}
"""
    source, library = folder / "brackets.c", folder / "brackets.so"
    source.write_text(code)
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    flags = ["-std=c99", "-O2", "-ffp-contract=off", "-shared", "-fPIC", f"-I{ROOT / 'src'}"]
    subprocess.run([*compiler, *flags, str(source), "-o", str(library), "-lm"], check=True)
    return calls, ctypes.CDLL(str(library)).run


@fmas
def test_what_is_proved_is_what_is_compiled(fma, tmp_path):
    calls, run = compiled(fma, tmp_path)
    rng = random.Random(6)
    positive = [rng.uniform(1, 2) * 2.0 ** rng.choice([rng.randint(-149, 126), rng.randint(-4, 5)]) for _ in range(120)]
    x = np.array([np.float32(sign * v) for v in positive for sign in (1, -1)], np.float64)
    a, b = np.empty_like(x), np.empty_like(x)
    pointer = ctypes.POINTER(ctypes.c_double)
    interpreter = Interpreter(bracket_source(fma), Exact())
    for index, call in enumerate(calls):
        run(index, *(array.ctypes.data_as(pointer) for array in (x, a, b)), len(x))
        for k, value in enumerate(x.tolist()):
            if call.endswith("near") and abs(value) > 9:
                continue
            got = interpreter.call(call, value).fields
            assert (got["a"], got["b"]) == (a[k], b[k]), (call, value.hex())
