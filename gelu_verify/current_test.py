"""The test that runs now, as the command that repeats it: set by the pytest plugin, shown by a failed assertion."""

command = ""
