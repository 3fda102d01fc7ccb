"""A command line, called in this process."""

from click.testing import CliRunner

from gelu_verify.cli import main


def call(*words):
    """Exit code and output; what is raised, other than the end of the program, is a failure."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output
