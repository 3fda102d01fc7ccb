"""The commands that there are, and a command line, called in this process."""

import click
from click.testing import CliRunner

from gelu_verify.cli import main


def call(*words):
    """Exit code and output; what is raised, other than the end of the program, is a failure."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def commands(group, path=()):
    """Each command that does something, with the words that name it."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command
