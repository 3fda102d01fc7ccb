"""Re-implementations of published GELUs that do not install here, compiled from src/published/.

Formula, constants, dtype and order of rounding are the library's, as its source says; the code is ours.
"""

from __future__ import annotations

from . import KernelTable, _published

_PUBLISHED = KernelTable(_published)
PUBLISHED = _PUBLISHED.kernels
run = _PUBLISHED.run
