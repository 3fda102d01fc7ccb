"""Every option of every command is used, and says what it does."""

import ast
import inspect
import textwrap

import click
import pytest
from click.testing import CliRunner
from commands import commands

from gelu_verify.cli import main

COMMANDS = dict(commands(main))
APART = [
    "run numpy --all",
    "run --throughput full --no-throughput",
    "run --fail-on defect --strict",
    "run --in-process --time-limit 5",
    "run --in-process --memory-limit 1G",
    "ask numpy.silu float32 1 --in-process --time-limit 5",
    "stochastic gelu --in-process --memory-limit 1G",
    "stochastic gelu --bias 1e-3 --quick",
    "stochastic gelu --seed 1 --no-seed",
    "hardest gelu float16 --top 3 --all",
    "gate --base HEAD --no-base",
    "gate --own --base HEAD",
    "gate --own --no-base",
    "gate --own --budgets budgets.toml",
    "budget --resolve a_run",
    "budget --resolve --accept nan=known",
    "runs prune --keep 3 --dry-run --yes",
    "trend --format html --json",
    "compare a b --json --format markdown",
]
UNUSED = [  # the last option of each
    "run numpy --item-seconds",
    "run numpy --plan quick --budget",
    "run numpy --length 7 --budget",
    "run numpy --dtype float32 --bits 1:2 --budget",
    "run numpy --executor processes --budget",
    "gate a_run --own --workers",
    "gate a_run --own --seed",
    "budget a_run --workers",
    "stochastic gelu --quick --plan --rate",
    "serve --show-config --unix-socket a_socket --port",
    "serve --show-config --store-bytes",
]


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


SEVERAL = [
    (name, each)
    for name, command in COMMANDS.items()
    for each in command.params
    if isinstance(each, click.Option) and "," in (each.metavar or "")
]


@pytest.mark.parametrize(("name", "option"), SEVERAL, ids=lambda each: getattr(each, "name", each))
def test_names_may_be_typed_together_or_apart(name, option):
    typed = option.opts[-1]
    words = [typed, "gelu[mu=0,sigma=2], silu", typed, "silu", f"{typed}=a"]
    context = COMMANDS[name].make_context(name, words, resilient_parsing=True)
    assert context.params[option.name] == ("gelu[mu=0,sigma=2]", "silu", "a")


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


@pytest.mark.parametrize("line", APART)
def test_what_would_not_be_used_is_refused(line):
    """Of two options of which one alone decides, neither is ignored."""
    words = line.split()
    said = CliRunner().invoke(main, words)
    assert said.exit_code == 2
    named = [word for word in words if word.startswith("--") and word in said.stderr]
    assert len(named) + ("TARGET" in said.stderr) + ("RUN" in said.stderr) == 2, said.stderr
    assert "would not be used" in said.stderr or "excludes" in said.stderr


@pytest.mark.parametrize("line", UNUSED)
def test_nor_is_an_option_ignored_beside_a_value_of_another(line):
    *_, option = line.split()
    said = CliRunner().invoke(main, [*line.split(), "1M" if option == "--store-bytes" else "1"])
    assert said.exit_code == 2
    assert f"error: {option}" in said.stderr
    assert "would not be used" in said.stderr or "no inputs are added" in said.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_a_variable_that_is_not_set_is_not_taken_for_a_value(name, tmp_path, monkeypatch):
    """`--out "$OUT"`, which would be the folder that one is in."""
    monkeypatch.chdir(tmp_path)
    for each in COMMANDS[name].params:
        option = each.opts[-1] if isinstance(each, click.Option) and not each.is_flag else ""
        for words in [[option, ""], [f"{option}="]] if option else [[""]]:
            said = CliRunner().invoke(main, [*name.split(), *words])
            before = option or name.split()[-1]
            assert (
                said.stderr
                == f"gelu-verify: error: {before}: an empty text follows (accepted: a value; is a variable not set?)\n"
            )
    assert not [*tmp_path.iterdir()]
