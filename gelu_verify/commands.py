"""Other programs, asked for one line: nvcc, nvidia-smi, git, sysctl."""

from __future__ import annotations

import subprocess


def output_of(*command: str) -> str | None:
    """What a command prints, None when it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
