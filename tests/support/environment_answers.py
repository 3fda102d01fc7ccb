"""What public functions answer in each floating-point environment, as hashes: run by test_fenv.py.

With names of environments, answers in each of them, and in the default one. With `--first` and the name of one, goes
there before our package is imported, and answers there only.
"""

import io
import json
import os
import pickle
import sys
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
import floating_environments as floating

ENVIRONMENTS = {None: floating.default, **floating.environments()}
X = [0x0000000000000001, 0x8000000000000008, 0x3FD5555555555555, 0xC01A000000000000, 0x0010000000000000]


def cases():
    """{what is asked: a function without arguments}; nothing is computed yet."""
    import numpy as np

    import gelu_verify as gv
    from gelu_verify import formats, stochastic, ufunc
    from gelu_verify.cli import main
    from gelu_verify.records.serialize import to_json
    from gelu_verify.testing import assert_gelu_accurate

    x64 = np.array(X, np.uint64)
    x32 = np.linspace(0, 2**32 - 1, 5000).astype(np.uint32)
    x16 = np.arange(0, 65536, 13, dtype=np.uint16)
    floats = {"float64": x64.view(np.float64), "float32": x32.view(np.float32)}

    def relu(x):
        return np.maximum(x, 0)

    def typed(*words):
        """What a command prints, and its exit code."""
        printed = io.StringIO()
        with redirect_stdout(printed):
            try:
                main(list(words))
            except SystemExit as done:
                return printed.getvalue(), done.code

    asked = {
        "reference_bits erf of 8": lambda: gv.reference_bits("erf", "float64", 8),
        "reference one": lambda: gv.reference("gelu", 1e-310),
        "reference array": lambda: gv.reference("erfc", floats["float64"]),
        "exact": lambda: gv.exact("gelu", -6.5, digits=30),
        "exact 0.1": lambda: gv.exact("normcdf", "0.1", "float32", digits=30),
        "ulp_error": lambda: gv.ulp_error("gelu", floats["float64"], floats["float64"]),
        "verify relu": lambda: to_json(gv.verify(relu, "relu", "float32", "landmarks").record),
        "verify kernel": lambda: gv.verify("kernels.gelu_erfc", "gelu", "bfloat16").frame(),
        "verify float64": lambda: repr(gv.verify("kernels.gelu_erf", "gelu", "float64", "landmarks")),
        "assert_gelu_accurate": lambda: to_json(assert_gelu_accurate(gv.gelu, "gelu", "float16").record),
        "lookup": lambda: [typed("lookup", "gelu", "float64", hex(bits), "--json") for bits in X],
        "lookup bfloat16": lambda: [typed("lookup", "silu", "bfloat16", x) for x in ("0x1", "0.1", "-6.5")],
        "facts": lambda: typed("facts", "gelu_tanh"),
        "attribute": lambda: typed("attribute", "kernels.gelu_erf", "--dtype", "bfloat16", "--plan", "landmarks"),
        "stochastic": lambda: [f(floats["float32"], 1) for f in (stochastic.gelu, stochastic.dropout)],
        "formats": lambda: formats.to_float64(formats.get_format("bfloat16"), x16),
        "formats parse": lambda: [formats.get_format(d).parse("0.3") for d in formats.FORMATS],
    }
    for function in ("erf", "gelu", "tanh", "elu"):
        asked[f"reference_bits {function}"] = lambda f=function: gv.reference_bits(f, "float32", x32)
    for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu"):
        for function in (name, f"{name}_grad"):
            for dtype, x in floats.items():
                asked[f"{function} {dtype}"] = lambda f=function, x=x: getattr(gv, f)(x)
                asked[f"ufunc.{function} {dtype}"] = lambda f=function, x=x: getattr(ufunc, f)(x)
    return asked


def outcome(name, asked):
    """Each is asked twice: in the environment, and in the default one, where what was kept must be right."""
    answers = {}
    for case, ask in asked.items():
        ENVIRONMENTS[name]()
        first = ask()
        floating.default()
        answers[case] = [sha256(pickle.dumps(found)).hexdigest() for found in (first, ask())]
    print(json.dumps({"environment": name, "answers": answers}), flush=True)


def main():
    if sys.argv[1:2] == ["--first"]:
        (name,) = sys.argv[2:]
        ENVIRONMENTS[name]()

        floating.default()
        outcome(name, cases())
        return
    asked = cases()
    for name in (None, *sys.argv[1:]):  # nothing was asked yet: each child has caches of its own
        if not (child := os.fork()):
            outcome(name, asked)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            raise SystemExit(f"died in the environment {name!r}")


main()
