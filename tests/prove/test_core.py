"""The certificate of the native core (docs/proofs.md, sections 1 to 5)."""

import random

import pytest
from points import delicate_inputs
from prove import checks
from prove.core import SHARED, certify, core_source, thresholds
from prove.exact import Exact, from_bits, to_bits
from prove.interpreter import Interpreter
from prove.specifications import SPECIFICATIONS

from gelu_verify.formats import FORMATS
from gelu_verify.functions import FUNCTIONS
from gelu_verify.truth import _core

pytestmark = pytest.mark.prove
both = pytest.mark.parametrize("quick", [False, True], ids=["pair", "quick"])
each = pytest.mark.parametrize("specification", SPECIFICATIONS, ids=lambda s: s.name)


def test_every_function_has_a_certificate():
    assert {s.name for s in SPECIFICATIONS} == set(_core.functions())


def test_every_constant_is_the_nearest_to_its_definition():
    assert checks.literals() + checks.tables() == []


def test_every_algorithm_is_the_one_that_its_theorem_speaks_of():
    assert checks.algorithms() + checks.piece_algorithms() == []


@both
@each
def test_every_bound_holds_for_every_double(specification, quick):
    pieces, shares, _ = certify(specification, core_source(quick), quick)
    assert pieces > 0
    assert all(share < 1 for share in shares.values())


def inputs(specification, source):
    """Both sides of every threshold, delicate inputs, and random ones of every binade."""
    rng = random.Random(specification.name)
    edges = {abs(t) for t in thresholds(source, specification.c_name, *SHARED)}
    near = [from_bits(to_bits(t) + step) for t in edges for step in (-1, 0, 1)]
    fmt = FORMATS["float64"]
    delicate = [from_bits(bits) for bits in delicate_inputs(FUNCTIONS[specification.name], fmt, 200, 7)]
    anywhere = [rng.uniform(1, 2) * 2.0 ** rng.randint(-1074, 1022) for _ in range(100)]
    middle = [rng.uniform(1, 2) * 2.0 ** rng.randint(-12, 10) for _ in range(300)]
    positive = {abs(x) for x in near + delicate + anywhere + middle if x == x and 0 < abs(x) < float("inf")}
    return sorted(x for p in positive for x in (p, -p) if is_defined(specification.name, x))


def is_defined(name, x):
    return FUNCTIONS[name].is_defined(FORMATS["float64"], to_bits(x))


@both
@each
def test_what_is_proved_is_what_is_compiled(specification, quick):
    """The interpreter, in doubles, gives the bits of the compiled core: it understands the source."""
    source = core_source(quick)
    interpreter = Interpreter(source, Exact())
    for x in inputs(specification, source):
        value = interpreter.call(specification.c_name, x).fields
        got = tuple(value[field] for field in ("hi", "lo", "err", "k"))
        assert got == _core.value(specification.name, x, quick), x.hex()


@pytest.mark.parametrize("script", checks.GENERATORS)
def test_every_table_is_what_its_script_writes(script):
    assert checks.generator_agrees(script)


def test_the_errors_that_headers_state_are_those_found():
    assert checks.generator_agrees("state_core_errors.py")
