"""Other programs, asked for one line: nvcc, nvidia-smi, git, sysctl."""

from __future__ import annotations

import os
import subprocess

# What git sets for a hook: with these, `git -C FOLDER` asks the repository of the hook and not that of the folder.
_OF_A_HOOK = {
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_WORK_TREE",
    "GIT_PREFIX",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
}


def environment() -> dict[str, str]:
    """Ours, in which git finds the repository of a folder by itself."""
    return {name: value for name, value in os.environ.items() if name not in _OF_A_HOOK}


def output_of(*command: str) -> str | None:
    """What a command prints, None when it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False, env=environment())
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
