"""The test that runs now, as the command that repeats it, and the folder where that is typed: set by the pytest plugin,
shown by a failed assertion."""

from pathlib import Path

command, started_in = "", Path()  # of no test: where we are
