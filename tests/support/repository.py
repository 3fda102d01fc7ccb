"""Places in the checkout that the tests run in."""

from pathlib import Path

TESTS = Path(__file__).parent.parent
ROOT = TESTS.parent
SUPPORT = TESTS / "support"
