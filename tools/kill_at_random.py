"""Kill a command at 50 random moments: `python tools/kill_at_random.py run|search threads|processes|dask` (minutes).

Each time it is given again, until it ends; what it stores must be what an undisturbed command stores. Workers of
`processes` and `dask` are killed and stopped for a while meanwhile. Prints how often, as JSON; fails where it shows.
The nightly tests do the same a few times.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from killing import COMMANDS, disturbed, slow_target


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("executor", choices=["threads", "processes", "dask"])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=17)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        counts = disturbed(asked.command, asked.executor, slow_target(folder), folder, asked.kills, asked.seed)
    print(json.dumps({"command": asked.command, "executor": asked.executor, **asdict(counts)}))


if __name__ == "__main__":
    main()
