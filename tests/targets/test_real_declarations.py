"""What is decided of declarations of real projects, and what is asked: `real_declarations.py`."""

import random
import re

import pytest
import requiring
from real_declarations import ASK, CPP, CUDA, C

from gelu_verify.errors import UsageError
from gelu_verify.targets.kinds._prototype import Prototype
from gelu_verify.targets.kinds._roles import prototype_of
from gelu_verify.targets.kinds._symbols import SourceText
from gelu_verify.targets.kinds.base import Asked
from gelu_verify.targets.kinds.c_source import TYPES
from gelu_verify.targets.kinds.cuda_source import CUDA_TYPES, source_text

TYPEDEFS = (
    "typedef unsigned long size_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;\n"
    "#define NULL ((void *)0)\n"
)


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
        return prototype_of(declared, file), "", declared
    except UsageError as error:
        return None, str(error), declared


def check(file, symbol, text, cpp, types, expected):
    prototype, error, declared = decided(file, text, symbol, cpp, types)
    if expected.startswith("!"):
        assert expected[2:] in error
        return
    if not expected.startswith(ASK):
        assert not error
        assert ", ".join(f"{p.name}{f'={p.value}' * bool(p.value)}" for p in prototype.parameters) == expected
        return
    offered = re.findall(r"--call '(.*?)'", error)
    assert offered, error
    assert expected == " ".join([ASK, *offered])
    for line in offered:
        assert Prototype.parsed(line, symbol, declared).parameters, "what is offered can be used"


@pytest.mark.parametrize("key", C, ids=lambda key: f"{key[0]}-{key[2]}")
def test_c(key):
    project, file, symbol, text = key
    check(f"{project}/{file}", symbol, TYPEDEFS.partition("#")[0] + text, False, TYPES, C[key])


@pytest.mark.parametrize("key", CPP, ids=lambda key: f"{key[0]}-{key[2]}")
def test_cplusplus(key):
    project, file, symbol, text = key
    check(f"{project}/{file}", symbol, text, True, TYPES, CPP[key])


@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    """All declarations as a compiler's preprocessor has them, each in a namespace of its own."""
    requiring.program("c++", "g++", "clang++")
    file = tmp_path_factory.mktemp("cuda") / "all.cu"
    file.write_text("".join(f"\nnamespace gv_{i} {{ {key[3]} }}\n" for i, key in enumerate(CUDA)))
    return source_text(file, str(file), Asked()).text


@pytest.mark.parametrize("key", CUDA, ids=lambda key: f"{key[0]}-{key[2]}")
def test_cuda(cuda, key):
    check(key[1], f"gv_{list(CUDA).index(key)}::{key[2]}", cuda, True, CUDA_TYPES, CUDA[key])


def test_most_need_nothing_and_nearly_all_others_one_line():
    every = [*C.values(), *CPP.values(), *CUDA.values()]
    assert len(every) >= 60
    assert sum(not each.startswith((ASK, "!")) for each in every) > len(every) / 2
    assert sum(each.startswith("!") for each in every) <= 4


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


@pytest.mark.parametrize("seed", range(60))
def test_an_order_is_known_or_asked_and_never_wrong(seed):
    """By const, or by both names, whatever the order; a name that says nothing, beside one, is asked unless const
    says it; what is decided is right."""
    draw = random.Random(seed)
    order = draw.sample(("x", "y", "n"), 3)
    const, clear = draw.random() < 0.5, draw.random() < 0.5
    x, y = draw.sample(UNCLEAR, 2)
    names = {"x": draw.choice(INPUTS) if clear else x, "y": draw.choice(OUTPUTS) if clear else y}
    names |= {"n": draw.choice(COUNTS), "type": draw.choice(("int", "size_t", "long", "unsigned"))}
    text = TYPEDEFS.partition("#")[0] + declaration(order, names, const)
    prototype, error, _ = decided("random.c", text, "f", False, TYPES)
    if const or clear:
        assert [each.name for each in prototype.parameters] == order
    else:
        assert sorted(re.findall(r"--call '(.*?)'", error)) == sorted(
            f"f({', '.join({'x': i, 'y': o}.get(each, each) for each in order)})" for i, o in ("xy", "yx")
        )
