"""What is decided of declarations of real projects, and what is asked: tests/data/real_declarations.toml."""

import random
import re
import tomllib

import pytest
import requiring
from repository import ROOT

from gelu_verify.errors import UsageError
from gelu_verify.targets.declarations.prototype import Prototype
from gelu_verify.targets.declarations.roles import prototype_for
from gelu_verify.targets.declarations.symbols import SourceText
from gelu_verify.targets.kinds._c_source import TYPES
from gelu_verify.targets.kinds._cuda_source import CUDA_TYPES, source_text
from gelu_verify.targets.kinds.base import Asked

REAL = tomllib.loads((ROOT / "tests" / "data" / "real_declarations.toml").read_text(encoding="utf-8"))
TYPEDEFS = "typedef unsigned long size_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;\n"


def decided(file, text, symbol, cpp, types, dtype="float32"):
    """The prototype of a symbol; the error where there is none, and its declaration."""
    source, asked = SourceText(file, text, [], cpp, types), Asked(dtype=dtype)
    try:
        declared = source.declared(symbol, asked)
    except UsageError as error:
        return None, str(error), None
    if declared is None:
        return None, str(source.no_function(symbol)), None
    try:
        return prototype_for(declared, file, symbol, asked), "", declared
    except UsageError as error:
        return None, str(error), declared


def check(case, text, cpp, types, symbol=None):
    symbol = symbol or case["symbol"]
    prototype, error, declared = decided(f"{case['project']}/{case['file']}", text, symbol, cpp, types)
    if "call" in case:
        assert not error
        said = (f"{each.name}{f'={each.value}' * bool(each.value)}" for each in prototype.parameters)
        assert ", ".join(said) == case["call"]
        return
    offered = re.findall(r"--call '(.*?)'", error)
    assert offered == case.get("ask", []), error
    assert case.get("refused", "") in error
    for line in offered:
        assert Prototype.parsed(line, symbol, declared).parameters, "what is offered can be used"


def of(language):
    return pytest.mark.parametrize("case", REAL[language], ids=lambda case: f"{case['project']}-{case['symbol']}")


@of("c")
def test_c(case):
    check(case, TYPEDEFS + case["code"], False, TYPES)


@of("cpp")
def test_cplusplus(case):
    check(case, case["code"], True, TYPES)


@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    """All declarations as a compiler's preprocessor has them, each in a namespace of its own."""
    requiring.program("c++", "g++", "clang++")
    file = tmp_path_factory.mktemp("cuda") / "all.cu"
    file.write_text("".join(f"\nnamespace gv_{i} {{ {case['code']} }}\n" for i, case in enumerate(REAL["cuda"])))
    return source_text(file, str(file), "all", Asked()).text


@pytest.mark.few(8)
@of("cuda")
def test_cuda(cuda, case):
    check(case, cuda, True, CUDA_TYPES, f"gv_{REAL['cuda'].index(case)}::{case['symbol']}")


def test_most_need_nothing_and_nearly_all_others_one_line():
    every = [case for cases in REAL.values() for case in cases]
    assert len(every) >= 60
    assert len({case["project"] for case in every}) >= 26
    assert sum("call" in case for case in every) > len(every) / 2
    assert sum("refused" in case for case in every) <= 5


# ---- random declarations ------------------------------------------------------------------------

INPUTS, OUTPUTS = ("x", "in", "inp", "input", "src", "pSrc", "x_ptr"), ("y", "out", "output", "dst", "pDst", "result")
UNCLEAR, COUNTS = ("a", "b", "buf", "p", "q", "data0", "values"), ("n", "N", "len", "count", "size", "numel")


def declaration(order, names, const):
    words = {
        "x": f"{'const ' * const}float *{names['x']}",
        "y": f"float *{names['y']}",
        "n": f"{names['type']} {names['n']}",
    }
    return f"void f({', '.join(words[each] for each in order)}) {{ {names['y']}[{names['n']}] = {names['x']}[0]; }}"


@pytest.mark.parametrize("seed", range(40))
def test_an_order_is_known_or_asked_and_never_wrong(seed):
    """By const, or by both names, whatever the order; a name that says nothing, beside one, is asked unless const
    says it; what is decided is right."""
    draw = random.Random(seed)
    order = draw.sample(("x", "y", "n"), 3)
    const, clear = draw.random() < 0.5, draw.random() < 0.5
    x, y = draw.sample(UNCLEAR, 2)
    names = {"x": draw.choice(INPUTS) if clear else x, "y": draw.choice(OUTPUTS) if clear else y}
    names |= {"n": draw.choice(COUNTS), "type": draw.choice(("int", "size_t", "long", "unsigned"))}
    text = TYPEDEFS + declaration(order, names, const)
    prototype, error, _ = decided("random.c", text, "f", False, TYPES)
    if const or clear:
        assert [each.name for each in prototype.parameters] == order
    else:
        assert sorted(re.findall(r"--call '(.*?)'", error)) == sorted(
            f"f({', '.join({'x': i, 'y': o}.get(each, each) for each in order)})" for i, o in ("xy", "yx")
        )
