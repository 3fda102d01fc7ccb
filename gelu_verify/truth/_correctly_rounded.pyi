"""Correctly rounded functions over arrays, compiled."""

from collections.abc import Callable
from typing import Any

import numpy as np

VERSION: str
BEST_LEVEL: int
HAS_NEON: bool
KINDS: tuple[str, str, str, str]

class Kernel:
    def __init__(
        self,
        function: str,
        array: type[np.ndarray],
        empty_like: Callable[[np.ndarray], np.ndarray],
        kinds: dict[np.dtype, int],
        load: Callable[[int], np.ndarray],
        oracle: Callable[[int], int],
        general: Callable[[Kernel, Any, np.ndarray | None], Any],
        level: int = 0,
    ) -> None: ...
    def __call__(self, x: Any, out: np.ndarray | None = None) -> Any: ...
    def run(self, kind: int, x: np.ndarray, y: np.ndarray) -> None: ...

class UFunc:
    ufunc: np.ufunc
    def __init__(self, kernel: Kernel, name: str, doc: str, bfloat16: int) -> None: ...
