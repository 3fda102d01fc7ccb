"""Every option of every command is used, and says what it does."""

import ast
import inspect
import textwrap

import click
import pytest
from click.testing import CliRunner

from gelu_verify.cli import main


def commands(group, path=()):
    """Each command that does something, with the words that name it."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(commands(main))


def unused(function):
    """Arguments that the body of a function never reads."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body
    read = {node.id for each in tree.body for node in ast.walk(each) if isinstance(node, ast.Name)}
    return [each.arg for each in (*tree.args.args, *tree.args.kwonlyargs) if each.arg not in read]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_used(name):
    assert not unused(COMMANDS[name].callback)


def test_one_that_is_not_is_seen():
    def command(used, not_used, *, also_not):
        return used

    assert unused(command) == ["not_used", "also_not"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help(name):
    options = [each for each in COMMANDS[name].params if isinstance(each, click.Option) and not each.hidden]
    assert all(each.help for each in options)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_argument_that_is_given_as_an_option_is_told(name):
    """Some commands take --dtype, some DTYPE: whoever mixes them up is told how this one is called."""
    command = COMMANDS[name]
    options = {text for each in command.params for text in each.opts}
    for each in command.params:
        if isinstance(each, click.Argument) and f"--{each.name}" not in options:
            said = CliRunner().invoke(main, [*name.split(), f"--{each.name}", "float32"])
            assert said.exit_code == 2
            assert f"--{each.name} is no option here (gelu-verify {name} [OPTIONS]" in said.stderr
            assert each.make_metavar(click.Context(command)) in said.stderr


def test_what_an_option_is_given_may_look_like_an_argument():
    """--target is clang's, too, and a word after --cflags is its own."""
    said = CliRunner().invoke(main, ["attribute", "no_such_file.c:f", "--cflags", "--target=x86_64-linux-gnu"])
    assert "no option here" not in said.stderr
    assert "no_such_file.c" in said.stderr
