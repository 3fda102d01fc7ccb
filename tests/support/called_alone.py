"""Functions of other projects, called without gelu-verify, and their errors against mpmath."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

_PYTHON = """
import ctypes, os, sys
import ml_dtypes
import numpy as np
x = np.frombuffer(sys.stdin.buffer.read(), {dtype!r}).copy()
g = b = np.full_like(x, {second})
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # where a library prints
def scalar(library, symbol, *first):
    f = ctypes.CDLL(library)[symbol]
    f.restype = ctypes.c_{type}
    f.argtypes = [f.restype]
    return [f(v) for v in x.tolist()]
{code}
answers.write(np.ascontiguousarray(y, {dtype!r}).tobytes())
"""
_C = """#include <stdio.h>
{declare}
int main(void) {{
    {type} x, y;
    while (fread(&x, sizeof x, 1, stdin)) {{ {code} fwrite(&y, sizeof y, 1, stdout); }}
}}
"""
# Each reads the file $X and writes the file $Y.
_SCRIPTS = {
    "javascript": (
        """const fs = require("fs"), x = new {array}(Uint8Array.from(fs.readFileSync(process.env.X)).buffer);
const y = {code};
fs.writeFileSync(process.env.Y, new Uint8Array(y.buffer, y.byteOffset, y.byteLength));""",
        'node -e "$SCRIPT"',
    ),
    "r": (
        """x <- readBin(Sys.getenv("X"), "double", 1e7); writeBin({code}, Sys.getenv("Y"))""",
        'Rscript -e "$SCRIPT"',
    ),
    "octave": (
        """x = fread(fopen(getenv("X")), Inf, "{single}=>{single}");
fwrite(fopen(getenv("Y"), "w"), {code}, "{single}");""",
        'octave-cli --eval "$SCRIPT"',
    ),
    "go": (
        """package main
import ("bytes"; "encoding/binary"; "math"; "os")
func main() {{
    data, _ := os.ReadFile(os.Getenv("X"))
    values := make([]{dtype}, len(data) / binary.Size({dtype}(0)))
    binary.Read(bytes.NewReader(data), binary.LittleEndian, values)
    var y bytes.Buffer
    for _, x := range values {{ binary.Write(&y, binary.LittleEndian, {code}) }}
    os.WriteFile(os.Getenv("Y"), y.Bytes(), 0600)
}}""",
        'echo "$SCRIPT" > $X.go && go run $X.go',
    ),
    "rust": (
        """fn main() {{
    let name = |key| std::env::var(key).unwrap();
    let x = std::fs::read(name("X")).unwrap();
    let values = x.chunks(size_of::<{short}>()).map(|bits| {short}::from_le_bytes(bits.try_into().unwrap()));
    std::fs::write(name("Y"), values.flat_map(|x| ({code}).to_le_bytes()).collect::<Vec<u8>>()).unwrap();
}}""",
        'echo "$SCRIPT" > $X.rs && rustc -O --edition 2021 {flags} -o $X.program $X.rs && $X.program',
    ),
}
_WORDS = {
    "float32": {"array": "Float32Array", "single": "single", "short": "f32"},
    "float64": {"array": "Float64Array", "single": "double", "short": "f64"},
}
_FORMATS = {
    "bfloat16": (8, -126),
    "float32": (24, -126),
    "float64": (53, -1022),
}  # significant bits, exponent of the smallest normal number

# Each in a form that cancels nowhere.
EXACT: dict[str, Callable[[Any], Any]] = {
    "erf": mpmath.erf,
    "exp": mpmath.exp,
    "normcdf": lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "tanh": mpmath.tanh,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "gelu_sigmoid": lambda x: x / (1 + mpmath.exp(-mpmath.mpf("1.702") * x)),
    "gelu_tanh": lambda x: x * _rising(x)[0],
    "gelu_tanh_grad": lambda x: _rising(x)[0] + x * _rising(x)[1],
}


EXACT_OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "swiglu": lambda x, g: g * EXACT["silu"](x),
    "geglu": lambda x, g: g * EXACT["gelu"](x),
    "geglu_tanh": lambda x, g: g * EXACT["gelu_tanh"](x),
    "bias_gelu": lambda x, b: EXACT["gelu"](x + b),
    "bias_gelu_tanh": lambda x, b: EXACT["gelu_tanh"](x + b),
}


def exact(function: str, x: float, second: float | None = None) -> Any:
    """Of x, and of a second input where it takes one."""
    at = mpmath.mpf(float(x))
    return EXACT[function](at) if second is None else EXACT_OF_TWO[function](at, mpmath.mpf(second))


def smallest_normal(dtype: str) -> float:
    return float(2.0 ** _FORMATS[dtype][1])


def _rising(x: Any) -> tuple[Any, Any]:
    """The factor of x in gelu_tanh, (1 + tanh u)/2 = 1/(1 + e^-2u), and its derivative."""
    root, cubic = mpmath.sqrt(2 / mpmath.pi), mpmath.mpf("0.044715")
    power = mpmath.exp(-2 * root * (x + cubic * x**3))
    return 1 / (1 + power), 2 * root * (1 + 3 * cubic * x**2) * power / (1 + power) ** 2


def called_alone(
    target: Mapping[str, Any], dtype: str, x: np.ndarray, folder: Path, scratch: Path, second: float = 1.0
) -> np.ndarray:
    """What the library's own call gives for x, and one second input where it takes one, in a process of its own."""
    if language := next(filter(target.__contains__, _SCRIPTS), None):
        return _of_a_script(*_SCRIPTS[language], target[language], target, dtype, x, folder, scratch)
    typed = {"float32": "float", "float64": "double"}.get(dtype)
    if "python" in target:
        words = [sys.executable, "-c", _PYTHON.format(dtype=dtype, type=typed, code=target["python"], second=second)]
    else:
        cpp = "c++" in target
        source, program = scratch / f"alone.{'cpp' if cpp else 'c'}", scratch / "alone"
        code = target["c++" if cpp else "c"]
        source.write_text(_C.format(declare=target["declare"], type=typed, code=code))
        compiler = ["c++" if cpp else "cc", source, "-w", "-I.", *shlex.split(target["flags"]), "-lm", "-o", program]
        subprocess.run(compiler, cwd=folder, check=True)
        words = [str(program)]
    data = np.ascontiguousarray(x, dtype).tobytes()
    variables = {**os.environ, "JAX_PLATFORMS": "cpu"} | ({} if "python" in target else {"LD_LIBRARY_PATH": "."})
    answer = subprocess.run(words, cwd=folder, input=data, capture_output=True, env=variables, check=False)
    assert not answer.returncode, answer.stderr.decode()[-2000:]
    return np.frombuffer(answer.stdout, dtype)


def _of_a_script(
    source: str,
    command: str,
    code: str,
    target: Mapping[str, Any],
    dtype: str,
    x: np.ndarray,
    folder: Path,
    scratch: Path,
) -> np.ndarray:
    np.ascontiguousarray(x, dtype).tofile(scratch / "x")
    path = f"{(folder / target.get('path', '.')).resolve()}{os.pathsep}{os.environ['PATH']}"
    script = source.format(code=code, dtype=dtype, **_WORDS[dtype])
    variables = {**os.environ, "PATH": path, "X": str(scratch / "x"), "Y": str(scratch / "y"), "SCRIPT": script}
    command = command.format(flags=target.get("flags", ""))
    done = subprocess.run(command, shell=True, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr[-2000:]
    return np.fromfile(scratch / "y", dtype)


def error_in_ulp(function: str, dtype: str, x: float, got: float, second: float | None = None) -> float:
    """Distance from the exact value, in units of the last place of that; NaN of NaN.

    What overflows is 2^(1 + emax), and so is an infinity.
    """
    if np.isnan(float(got)):
        return float("nan")
    significant, emin = _FORMATS[dtype]
    with mpmath.workdps(60):
        emax = 1 - emin
        most = mpmath.ldexp(1, emax + 1)
        due, given = (max(-most, min(value, most)) for value in (exact(function, x, second), mpmath.mpf(float(got))))
        exponent = mpmath.frexp(due)[1] - 1 if due else emin
        ulp = mpmath.ldexp(1, min(max(exponent, emin), emax) - significant + 1)
        return float(abs(given - due) / ulp)
