"""What public functions answer in each floating-point environment, as hashes: run by test_fenv.py.

With names of environments, answers in each of them, and in the default one. With `--first` and the name of one, goes
there before our package is imported, and answers there only.
"""

import json
import os
import pickle
import sys
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
    from gelu_verify import export, formats, kernels, ufunc
    from gelu_verify.attribution import attribute
    from gelu_verify.buckets import analytic_spans
    from gelu_verify.cli.terminal import result_lines
    from gelu_verify.functions import get_function, regions
    from gelu_verify.gate import budgets as gate
    from gelu_verify.inputs import special as points
    from gelu_verify.inputs.plans import make_plan
    from gelu_verify.measure.sweep import sweep
    from gelu_verify.records.serialize import to_json
    from gelu_verify.service.encoding import look_up
    from gelu_verify.show.terminal import in_ascii
    from gelu_verify.targets import select
    from gelu_verify.targets.frameworks.kernels import discover
    from gelu_verify.truth import lookup, oracle
    from gelu_verify.truth.values import judge, zero_threshold

    x64 = np.array(X, np.uint64)
    x32 = np.linspace(0, 2**32 - 1, 5000).astype(np.uint32)
    x16 = np.arange(0, 65536, 13, dtype=np.uint16)
    floats = {"float64": x64.view(np.float64), "float32": x32.view(np.float32)}
    many = np.random.default_rng(0).integers(0, 2**64, 6000, np.uint64, endpoint=False)
    by_name = {target.name: target for target in discover()}

    def swept(name, dtype, plan):
        found = sweep(by_name[name], make_plan(plan, "gelu", dtype), workers=2)
        return to_json(found.record), found.table.flat, in_ascii(result_lines([found.record]))

    def relu(x):
        return np.maximum(x, 0)

    def run(name, dtype, x):
        y = np.empty_like(x)
        kernels.run(name, dtype, x, y)
        return y

    asked = {
        "reference_bits erf of 8": lambda: gv.reference_bits("erf", "float64", 8),
        "reference one": lambda: gv.reference("gelu", 1e-310),
        "reference array": lambda: gv.reference("erfc", floats["float64"]),
        "exact": lambda: gv.exact("gelu", -6.5, 30),
        "exact 0.1": lambda: gv.exact("normcdf", "0.1", 30, "float32"),
        "ulp_error": lambda: gv.ulp_error("gelu", floats["float64"], floats["float64"]),
        "zero_threshold": lambda: zero_threshold("gelu", "float64"),
        "verify relu": lambda: to_json(gv.verify(relu, "relu", "float32", "landmarks").record),
        "verify kernel": lambda: to_json(gv.verify("kernels.gelu_erfc", "gelu", "bfloat16", "exhaustive").record),
        "sweep float64": lambda: swept("kernels.gelu_erf", "float64", "landmarks"),
        "sweep float32": lambda: swept("kernels.gelu_tanh_tanh", "float32", "landmarks"),
        "lookup": lambda: [lookup.answer("gelu", "float64", bits) for bits in X],
        "lookup bfloat16": lambda: [lookup.answer("silu", "bfloat16", bits) for bits in (1, 0x3DCD, 0xC0D0)],
        "lookup elsewhere": lambda: lookup.answer_in_dtypes("gelu_tanh", ["float16", "float64"], "0.1", "float64"),
        "service": lambda: look_up("gelu", "float32", 0xC0D00000, 20),
        "plans": lambda: [c.x_bits()[c.order()] for c in make_plan("strata", "gelu", "float64", 3).chunks][:2],
        "points": lambda: points.fixed_bits("gelu_tanh", "float64"),
        "formats": lambda: formats.to_float64(formats.get_format("bfloat16"), x16),
        "formats parse": lambda: [formats.get_format(d).parse("0.3") for d in formats.FORMATS],
        "regions": lambda: regions.region_edges("float32"),
        "analytic spans": lambda: analytic_spans.spans_of("gelu"),
        "oracle": lambda: oracle.judge_exactly(get_function("gelu"), formats.get_format("float64"), X[2], X[2] - 9),
        "gate": lambda: [gate.round_up(ulp) for ulp in (0.50000001, 1.2345, 9.4e6)],
        "attribute": lambda: attribute(select(["kernels.gelu_erf"])[0][0], "bfloat16", "landmarks").record,
        "export": lambda: export.__name__,
    }
    for function in ("erf", "gelu", "tanh", "elu"):
        asked[f"judge {function} float64"] = lambda f=function: judge(f, "float64", x64, x64)
        asked[f"judge {function} bfloat16"] = lambda f=function: judge(f, "bfloat16", x16, x16)
        asked[f"reference_bits {function}"] = lambda f=function: gv.reference_bits(f, "float32", x32)
    asked["judge many"] = lambda: judge("gelu", "float64", many, many)  # values that are kept
    for name in ("gelu_erf", "gelu_tanh_tanh", "silu_exp"):
        asked[f"kernels {name}"] = lambda n=name: (run(n, "float64", x64), run(n, "bfloat16", x16))
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
    if sys.argv[1] == "--first":
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
