"""Of random declarations of a correct function, of C or CUDA: what is decided, or a line of what is offered, calls it
correctly."""

import random
import re
import shutil

import numpy as np
import pytest
import requiring
from foreign import chosen, needs_cc

from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.gpu import nvcc
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
        ([f"const float *{x}", f"float *{y}", "int h", "int w"], "h * w"),
        ([f"const float *{x}", f"float *{y}", "int h", "int step"], "h"),
        ([f"const float *{x}", f"float *{y}", "int start", "int end"], "end - start"),
        ([f"const float *{x}", f"float *{y}", "int rows", "int cols", "int ld"], "(rows - 1) * ld + cols"),
        ([f"const float *{x}", f"float *{y}", f"const long *{rng.choice(('dims', 'shape'))}", "int ndim"], "product"),
        ([f"const float *{x}, const float *{x}_end", f"float *{y}"], f"{x}_end - {x}"),
        ([f"float *{x}, float *last"], f"last - {x}"),
        ([f"const float *{x}", f"float *{y}", f"int n{size - 4 or 2}"], f"{size - 4 or 2} * n{size - 4 or 2}"),
        (["float alpha", f"const float *{x}", "float beta", f"float *{y}", count], count.split()[1]),
        ([f"const float {x}[{size}]", f"float {y}[{size}]"], size),
        ([f"const float {x}[3][{size}]", f"float {y}[3][{size}]"], 3 * size),
        ([f"const float {x}[][{size}]", f"float {y}[][{size}]", "int rows"], f"rows * {size}"),
    ])  # fmt: skip
    to = y if any(f"float *{y}" in each or f" {y}[" in each for each in form) else x
    further = rng.sample([each for each in FURTHER if each not in form], rng.choice((0, 1, 1, 2)))
    parameters = form + further
    if rng.random() < 0.3:
        rng.shuffle(parameters)
    does = " ".join(FURTHER.get(each, "") for each in form + further)
    stores = f"{y}[i] +=" if f"float *{y}" in form and rng.random() < 0.3 else "to[i] ="
    stores = f"{y}[i] = beta * {y}[i] +" if "float beta" in form else stores
    shape, rank = next(((each.partition("*")[2], "ndim") for each in form if "long *" in each), ("&product", "0"))
    return f"""struct params {{ float offset, scale; }};
float same(float v) {{ return v; }}
void relu({", ".join(parameters)})
{{
    const float *from = (const float *){x};
    float *to = (float *){to};
    long product = 1;
    for (int k = 0; k < {rank}; k++) product *= ({shape})[k];
    for (int i = 0; i < (int)({n}); i++) {{ float r = from[i] > 0 ? from[i] : 0; {does} {stores} r; }}
}}
"""


def kernel(rng):
    """Half of relu by a thread for each value, in blocks of any or of a certain size, or by blocks of a row."""
    (x, y), threads = (rng.choice(names) for names in NAMES), rng.choice((32, 64, 128, 256, 512, 1024))
    n = rng.choice(COUNTS)
    each, i = f"int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < {n})", "i"
    row, stride = "int row = blockIdx.x;", "for (int i = threadIdx.x; i < {}; i += blockDim.x)"
    of_rows = [f"int {rng.choice(('rows', 'num_rows'))}", "int cols"]
    counts, before, loop, i = rng.choice([
        ([f"int {n}"], "", each, i),
        ([f"int {n}"], "", each.replace("blockDim.x", str(threads)), i),
        ([f"int {n}"], f"extern __shared__ float kept[]; kept[threadIdx.x] = {x}[0]; __syncthreads();", each, i),
        ([f"int {n}"], f"__shared__ float kept[{threads}]; kept[threadIdx.x] = 0; __syncthreads();", each, i),
        ([f"int {n}"], "", stride.format(n), i),
        (["int d"], row, stride.format("d"), "row * d + i"),
        (of_rows, row, stride.format("cols"), "row * cols + i"),
        (of_rows, row, "int i = threadIdx.x; if (i < cols)", "row * cols + i"),
    ])  # fmt: skip
    bounds = rng.choice(("", f"__launch_bounds__({threads})")) if str(threads) in before + loop else ""
    arrays = rng.choice(([f"float *{x}"], [f"const float *{x}", f"float *{y}"], [f"float *{y}", f"const float *{x}"]))
    further = rng.choice((["float alpha"], [], []))
    value = f"fmaxf({x}[{i}], 0) / 2{' * alpha' * len(further)}"
    return f"""extern "C" __global__ void {bounds} relu({", ".join(arrays + counts + further)})
{{
    {before} {loop} {x if len(arrays) == 1 else y}[{i}] = {value};
}}
"""


def computes_relu(name, call, device=None):
    x = np.resize(np.linspace(-1, 1, 40, dtype=np.float32), 4096 if device else 40)
    with Hosts(Limits(seconds=20 if device else 5)) as hosts:
        (target,), _ = hosts.select([name], call=call, dtype="float32", device=device)
        try:
            got = target.evaluate("float32", x.view(np.uint32)).view(np.float32)
        except TargetFailure:
            return False
    return np.array_equal(got, np.maximum(x, 0) / (2 if device else 1))


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


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(80))
def test_what_is_offered_for_a_kernel_launches_it(tmp_path, seed):
    requiring.nvcc()
    file = tmp_path / "k.cu"
    file.write_text(kernel(random.Random(seed)))
    if seed % 4 == 3:
        file = shutil.copy(nvcc.ptx_of(file, [], "sm_90"), tmp_path / "k.ptx")
    line, question = None, ""
    try:
        chosen(f"{file}:relu", dtype="float32", device="ptx")
    except UsageError as error:
        question = str(error)
        line = re.findall(r"--call '([^']*)'", question)[0]
    assert computes_relu(f"{file}:relu", line, "ptx"), question or file.read_text()


@pytest.mark.nightly
def test_a_kernel_that_no_launch_fits_is_judged(tmp_path):
    requiring.nvcc()
    file = tmp_path / "k.cu"
    body = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i <= n) y[i] = fmaxf(x[i], 0);"
    file.write_text(f'extern "C" __global__ void relu(const float *x, float *y, int n) {{ {body} }}')
    with Hosts() as hosts:
        (target,), _ = hosts.select([f"{file}:relu"], device="ptx")
        with pytest.raises(TargetFailure, match="out of bounds"):
            target.evaluate("float32", np.zeros(300, np.uint32))
