"""The certificate of the enclosures that the float32 kernels are made of (docs/proofs.md, section 6)."""

import random

import numpy as np
import pytest
from compiled_enclosures import NAMES, STAGES, compile_enclosures
from prove import checks
from prove.enclosures import AFTER_ROUNDING, MOST, certify_enclosure, enclosure_source, near_limits
from prove.exact import Exact
from prove.interpreter import Interpreter
from prove.specifications import SPECIFICATIONS

pytestmark = pytest.mark.prove
BY_NAME = {s.name: s for s in SPECIFICATIONS}
every = pytest.mark.parametrize("name", NAMES)
fmas = pytest.mark.parametrize("fma", [False, True], ids=["two roundings", "fma"])
stages = pytest.mark.parametrize("stage", STAGES)


@fmas
@stages
@every
def test_the_value_lies_between_the_ends(name, stage, fma):
    """For every float32 x, or for |x| up to the limit of the near enclosure."""
    source = enclosure_source(fma)
    most = near_limits(source)[name] if stage == "near" else MOST
    pieces, shares = certify_enclosure(BY_NAME[name], source, stage, most)
    assert pieces > 0
    assert all(share < 1 for share in shares.values())
    assert AFTER_ROUNDING not in shares or (stage, name) in (("enclosure", "gelu"), ("enclosure", "gelu_grad"))


def test_errors_are_identified_by_their_value():
    assert checks.claims() == []


@fmas
def test_what_is_proved_is_what_is_compiled(fma, tmp_path):
    evaluate, _ = compile_enclosures(fma, tmp_path)
    rng = random.Random(6)
    positive = [rng.uniform(1, 2) * 2.0 ** rng.choice([rng.randint(-149, 126), rng.randint(-4, 5)]) for _ in range(120)]
    x = np.array([np.float32(sign * v) for v in positive for sign in (1, -1)], np.float64)
    interpreter = Interpreter(enclosure_source(fma), Exact())
    for call in (f"gv_{name}_{stage}" for name in NAMES for stage in STAGES):
        a, b = evaluate(call, x)
        for k, value in enumerate(x.tolist()):
            if call.endswith("near") and abs(value) > 9:
                continue
            got = interpreter.call(call, value).fields
            assert (got["a"], got["b"]) == (a[k], b[k]), (call, value.hex())
