"""What nvcc makes of the CUDA kernels: registers, stack, spills, and the instructions that an ordinary element costs.

    python tools/count_sass.py                    the correctly rounded kernels, and the judge
    python tools/count_sass.py float32_cr.cu      one source
    python tools/count_sass.py --arch sm_80

Needs nvcc, and nvdisasm beside it or from PyPI (`pip install nvidia-cuda-nvdisasm`). No device.

"of a vector": the instructions of one turn of the loop over vectors along its common way, and how many of them are for
the double unit: a conditional branch over what is seldom (a part with barriers; a short one with an atomic operation or
a call) is taken. Divide by the elements of a vector.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from gelu_verify.functions import get_function
from gelu_verify.gpu import nvcc
from gelu_verify.measure.gpu_judge import flags
from gelu_verify.paths import resource

SOURCES = ("float16_cr.cu", "bfloat16_cr.cu", "float32_cr.cu", "float64_cr.cu", "verify.cu")
DOUBLE = frozenset({"DADD", "DMUL", "DFMA", "DSETP", "DMNMX"})
LOCAL = frozenset({"LDL", "STL"})
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
SHORT = 40  # instructions
_LINE = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(@!?\S+\s+)?([A-Z0-9]+)(.*)")
_LABEL = re.compile(r"^(\.L_x_\d+):")
_TARGET = re.compile(r"\.L_x_\d+")
_SECTION = re.compile(r"\.section\s+\.text\.(\w+),.*?(?=\.section\s|\Z)", re.DOTALL)
_USED = re.compile(
    r"Compiling entry function '(\w+)'.*?\n.*?\n *(\d+) bytes stack frame, (\d+) bytes spill stores, "
    r"(\d+) bytes spill loads\n.*?Used (\d+) registers"
)


@dataclass(frozen=True)
class Instruction:
    """`to`: index of the instruction that a branch goes to, else -1."""

    name: str
    conditional: bool
    to: int


def listing(text: str) -> list[Instruction]:
    """The instructions of a section, in order."""
    lines, labels = [], {}
    for line in text.splitlines():
        if label := _LABEL.match(line):
            labels[label[1]] = len(lines)
        elif found := _LINE.match(line):
            lines.append(found)
    return [
        Instruction(
            found[2],
            bool(found[1]),
            labels.get(target[0], -1) if found[2] == "BRA" and (target := _TARGET.search(found[3])) else -1,
        )
        for found in lines
    ]


def common_way(code: list[Instruction]) -> list[Instruction]:
    """Along the first loop that reads memory and writes it; where there is one with a barrier, along that."""
    loops = [(each.to, end) for end, each in enumerate(code) if 0 <= each.to < end]
    names = [{each.name for each in code[start:end]} for start, end in loops]
    for wanted in ({"LDG", "STG", "BAR"}, {"LDG", "STG"}):
        for (start, end), seen in zip(loops, names, strict=True):
            if wanted <= seen:
                return list(_walked(code, start, end))
    return []


def _walked(code: list[Instruction], start: int, end: int) -> Iterator[Instruction]:
    at = start
    while at <= end:
        each = code[at]
        yield each
        skipped = {other.name for other in code[at + 1 : each.to]}
        short = each.to - at < SHORT
        seldom = "BAR" in skipped or (short and bool(skipped & {"ATOMS", "CALL"}))
        at = each.to if each.to > at and (not each.conditional or seldom) else at + 1


def disassembler() -> str:
    """nvdisasm: in PATH, beside nvcc, in the wheel."""
    places = ["nvdisasm", str(Path(nvcc.command()[0]).with_name("nvdisasm"))]
    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        places += map(str, sorted(Path(folder).glob("*/bin/nvdisasm")))
    found = next(filter(None, map(shutil.which, places)), None)
    if found is None:
        raise SystemExit("nvdisasm is not here (pip install nvidia-cuda-nvdisasm)")
    return found


@dataclass(frozen=True)
class Used:
    """What ptxas says of a kernel; bytes, of a thread."""

    registers: int
    stack: int
    stores: int
    loads: int

    def __str__(self) -> str:
        return f"{self.registers} registers, {self.stack} bytes of stack, {self.stores} + {self.loads} bytes spilled"


def compiled(source: Path, arch: str, binary: Path) -> dict[str, Used]:
    """Write the code of a source; what each kernel of it uses."""
    options = flags(get_function("gelu")) if source.name == "verify.cu" else ["-fmad=false", f"-I{resource('src')}"]
    words = [*nvcc.command(), "-cubin", f"-arch={arch}", "-O3", "-Xptxas", "-v", *options, source, "-o", binary]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    return {name: Used(int(registers), *map(int, rest)) for name, *rest, registers in _USED.findall(printed)}


def lines_of(source: Path, arch: str) -> Iterator[str]:
    """A line for each kernel of a source."""
    with tempfile.TemporaryDirectory() as scratch:
        binary = Path(scratch) / "kernels.cubin"
        used = compiled(source, arch, binary)
        sass = subprocess.run([disassembler(), "-c", binary], capture_output=True, text=True, check=True).stdout
    for section in _SECTION.finditer(sass):
        if section[1] not in used:
            continue
        code, size = listing(section[0]), BYTES.get(section[1].rpartition("_")[2])
        line = f"{section[1]}\t{used[section[1]]}\t{len(code)} instructions"
        if size and (way := common_way(code)):
            names = [each.name for each in way]
            double, local = (sum(name in kind for name in names) for kind in (DOUBLE, LOCAL))
            line += f"\tof a vector of {16 // size}: {len(way)}, {double} double, {local} local"
        yield line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", default=SOURCES)
    parser.add_argument("--arch", default="sm_90")
    asked = parser.parse_args()
    for name in asked.sources:
        for line in lines_of(resource(f"src/cuda/{name}"), asked.arch):
            print(line, flush=True)


if __name__ == "__main__":
    main()
