"""The command that shows one input of a result: what is returned for it, and what is right."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

from .result import Record

_OF_ALL_INPUTS = ("--dtype", "--plan", "--seed", "--budget", "--bits", "--policy")  # options of `run`, not of `ask`
# checks that fail where a result depends on more than its input: on the call, its length, those before
BY_CALL = ("lane", "lengths", "repeatable", "unrepeated", "growth", "in_place")
_COMPUTES = re.compile(r"computes (\w+), not |nor a relative of it, but (\w+)")


def as_computed_command(record: Record) -> str:
    """The command that judges a target as the function that it computes, where that is known and another than it says;
    empty elsewhere."""
    findings = (record.findings[name] for name in ("variant", "gradient_variant") if name in record.findings)
    found = next((match for each in findings if (match := _COMPUTES.search(each.detail))), None)
    try:
        words = shlex.split(record.repeat)
    except ValueError:  # a stored run may say anything
        return ""
    if found is None or words[:2] != ["gelu-verify", "run"] or "--function" not in words:
        return ""
    words[words.index("--function") + 1] = found[1] or found[2]
    return shlex.join(words)


def ask_command(record: Record, x_bits: str) -> str:
    """`gelu-verify ask torch.gelu float32 0xc0c00000 --function gelu`, and how the target is called.

    Empty where no command names the target: a function of the running program, outputs that were sent.
    """
    try:
        program, command, target, *words = shlex.split(record.repeat)
    except ValueError:  # a stored run may say anything
        return ""
    if (program, command) != ("gelu-verify", "run"):
        return ""
    kept = [
        record.judged_as if before == "--function" else word
        for before, word in zip(["", *words], words, strict=False)
        if word not in _OF_ALL_INPUTS and before not in _OF_ALL_INPUTS
    ]
    return shlex.join(["gelu-verify", "ask", target, record.dtype, x_bits, *kept])


def in_folder(command: str, folder: Path, here: Path) -> str:
    """The command, which is for one folder, as it is typed in another one: "(cd below && gelu-verify ask ...)"."""
    if not command or folder.resolve() == here.resolve():
        return command
    ways = (str(folder.resolve()), os.path.relpath(folder.resolve(), here.resolve()))
    return f"(cd {shlex.quote(min(ways, key=len))} && {command})"


def repeat_command(record: Record, x_bits: str | None) -> str:
    """The command that shows what an input gave; of the whole run where that depends on the call, or none is shown."""
    if not x_bits or not set(BY_CALL).isdisjoint(record.failed_checks):
        return record.repeat
    return ask_command(record, x_bits)
