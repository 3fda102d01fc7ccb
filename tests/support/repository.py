"""Places in the checkout that the tests run in."""

import importlib.util
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).parent.parent
ROOT = TESTS.parent
SUPPORT = TESTS / "support"


def tool(name: str) -> ModuleType:
    """A program of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
