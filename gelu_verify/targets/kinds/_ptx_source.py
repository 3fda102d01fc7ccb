"""A kernel of a PTX file, as Triton and nvcc write them: "kernel.ptx:gelu_kernel", executed on the CPU."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import MissingMeasurement, UsageError
from ...gpu.ptx_device import ALL
from ...gpu.ptx_device import device as ptx_device
from ...ptx.ir import PtxError
from ...ptx.parse import parse, text_of
from ..base import Target
from ..contract import Contracted
from ..declarations.prototype import Prototype, target_fields
from ..declarations.ptx_kernels import declared_by, dtype_of
from ..declarations.roles import OpenCall, prototype_for
from ._launch import is_launched, launches_of
from ._names import exported
from ._ptx_function import PtxFunction, answerable, in_a_launch, ptx_function
from .base import Asked, existing, hash_of


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    file, symbol = match["file"], match["symbol"]
    path = existing(file)
    if not symbol:
        raise UsageError(f"{name!r} names no kernel (accepted: {file}:kernel)")
    try:
        functions = parse(text_of(path)).functions.values()
        kernels = {each.name: each for each in functions if each.is_kernel}
        own = symbol if symbol in kernels else exported(list(kernels), symbol)
        if own is None:
            raise UsageError(f"no kernel {symbol!r} in {file} (it has {', '.join(kernels) or 'none'})")
        dtype = dtype_of(name, symbol, kernels[own], asked)
        declared = declared_by(kernels[own], dtype)
    except PtxError as error:
        raise UsageError(f"{file}: {error}") from None

    def called(asked: Asked) -> PtxFunction:
        said = prototype_for(declared, file, symbol, asked)
        said = said if said.launch else replace(said, launch=declared.launch)
        return _loaded(name, path, own, said, said.data.dtype or dtype, asked)

    try:
        function = called(asked)
    except OpenCall as question:
        raise answerable(question, symbol, lambda line: called(replace(asked, call=line)), kernels[own]) from None
    others = () if is_launched(asked.call) else launches_of(function.prototype, symbol, declared, kernels[own])
    made = in_a_launch(function, others)
    contract = function.prototype.contract
    return [Contracted.of(made, contract) if contract.demands else made]


def _loaded(name: str, path: Path, symbol: str, said: Prototype, dtype: str, asked: Asked) -> PtxFunction:
    device = ptx_device(asked.approximations or ALL, compiles=False)
    try:
        module = device.loaded(path)
        kernel = module.function(symbol)
    except device.driver.Error as error:
        raise MissingMeasurement(f"{name}: {error}") from error
    fields = {**target_fields(said, symbol, asked), "dtypes": (dtype,), "note": said.called}
    return ptx_function(name, said, device, (module, symbol), kernel, hash_of(path), **fields)
