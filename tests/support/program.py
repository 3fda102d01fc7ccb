"""`gelu-verify` in a process of its own, with no time for inputs beyond its plan's: `--budget` says of more."""

import sys

_CODE = """
import sys
from gelu_verify.measure import budget
budget.EACH_S = budget.ALONE_S = 0.0
from gelu_verify.cli import main
sys.argv[0] = "gelu-verify"
sys.exit(main())
"""
PROGRAM = [sys.executable, "-P", "-c", _CODE]  # -P: the package under test, not the folder that tests run in
