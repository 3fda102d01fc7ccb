"""Of random declarations of a correct C function: what is decided, or a line of what is offered, calls it correctly."""

import random
import re

import numpy as np
import pytest
from foreign import chosen, needs_cc

from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.isolation.hosts import Hosts
from gelu_verify.isolation.limits import Limits

pytestmark = needs_cc
COUNTS = ("n", "len", "count", "size", "num_elements", "total", "m")
NAMES = (("x", "in", "src", "input", "a", "data"), ("y", "out", "dst", "output", "b", "result"))
FURTHER = {  # a parameter, and what it does to a result r of element i that the offered values leave as it is
    "float alpha": "r *= alpha;",
    "double eps": "r = eps < 0 ? -1 : r;",
    "int verbose": "if (verbose > 5) r = 7;",
    "float *mask": "mask[i] += r > 0;",
    "unsigned char *keep": "keep[i] |= r > 0;",
    "const float *bias": "r += bias[i];",
    "const struct params *p": "r += p->offset;",
    "void *context": "",
    "float (*post)(float)": "r = post(r);",
}


def function(rng):
    """relu over arrays: in place or not, of any length, of a fixed size, or by rows."""
    (x, y), size = (rng.choice(names) for names in NAMES), rng.choice((4, 8, 12))
    count = f"{rng.choice(('int', 'unsigned', 'long'))} {rng.choice(COUNTS)}"
    form, n = rng.choice([
        ([f"const float *{x}", f"float *{y}", count], count.split()[1]),
        ([f"float *{x}", count], count.split()[1]),
        ([f"const float *{x}", f"float *{y}", "unsigned long bytes"], "bytes / 4"),
        ([f"const float {x}[{size}]", f"float {y}[{size}]"], size),
        ([f"const float {x}[3][{size}]", f"float {y}[3][{size}]"], 3 * size),
        ([f"const float {x}[][{size}]", f"float {y}[][{size}]", "int rows"], f"rows * {size}"),
    ])  # fmt: skip
    to = x if len(form) == 2 and f"float *{x}" in form else y
    further = rng.sample(list(FURTHER), rng.choice((0, 1, 1, 2)))
    parameters = form + further
    if rng.random() < 0.3:
        rng.shuffle(parameters)
    does = " ".join(FURTHER[each] for each in further)
    return f"""struct params {{ float offset, scale; }};
float same(float v) {{ return v; }}
void relu({", ".join(parameters)})
{{
    const float *from = (const float *){x};
    float *to = (float *){to};
    for (int i = 0; i < (int)({n}); i++) {{ float r = from[i] > 0 ? from[i] : 0; {does} to[i] = r; }}
}}
"""


def computes_relu(name, call):
    x = np.linspace(-1, 1, 40, dtype=np.float32)
    with Hosts(Limits(seconds=5)) as hosts:
        (target,), _ = hosts.select([name], call=call)
        try:
            got = target.evaluate("float32", x.view(np.uint32)).view(np.float32)
        except TargetFailure:
            return False
    return np.array_equal(got, np.maximum(x, 0))


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(80))
def test_what_is_offered_can_be_typed_and_is_right(tmp_path, seed):
    rng = random.Random(seed)
    file = tmp_path / f"k{rng.choice(('.c', '.cpp'))}"
    file.write_text(function(rng))
    lines, question = [None], ""
    try:
        chosen(f"{file}:relu")
    except UsageError as error:
        question = str(error)
        lines = [line.replace("NAME", "same") for line in re.findall(r"--call '([^']*)'", question)]
    assert any(computes_relu(f"{file}:relu", line) for line in lines), question
