"""What `tox -e types` checks as a user's program is one."""

import runpy

from repository import ROOT


def test_the_program_runs(capsys):
    runpy.run_path(str(ROOT / "tests" / "typed" / "program.py"), run_name="__main__")
    assert "correctly_rounded 0.5" in capsys.readouterr().out
