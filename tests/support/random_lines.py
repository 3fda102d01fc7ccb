"""Command lines at random, by what the commands declare: mostly what they accept, now and then what nothing accepts."""

import click

FILES = ("k.c", "runs", "empty", "out", "nowhere/out", "-", "-x", ".")
NUMBERS = ("1", "2", "5", "0", "-1", "1e3", "nan", "99999999999999999999", "0.5", "x", " 2", "1_0")
ANYTHING = (*FILES, *NUMBERS, "gelu", "float16", "runs/a", "*", "²", "a\nb", "--json", "a=b", "a:b", "1,2", "1s", "1M")
DTYPES = ("float16", "bfloat16", "float32", "float64", "fp16")
FUNCTIONS = ("silu", "gelu", "gelu_tanh", "gelu_grad", "relu", "swish")
TARGETS = ("numpy.silu", "kernels.silu_exp", "k.c:silu_f32", "ops:silu", "ops:raises", "ops:half", "k.c:none", "none")
X = ("-6", "0", "inf", "-inf", "nan", "-0x1.ap+2", "0x3c00", "1e400", "-1e-400", "1/3")
RUNS = ("runs/a", "runs/b", "runs/torn", "a", "latest", "empty")
VALUES = {
    **dict.fromkeys(("targets", "target", "words", "--target"), TARGETS),
    **dict.fromkeys(("function", "functions", "about", "--function"), FUNCTIONS),
    **dict.fromkeys(("dtype", "--dtype", "--working"), DTYPES),
    **dict.fromkeys(("x", "-x"), X),
    **dict.fromkeys(("runs", "run", "parts", "names"), RUNS),
    **dict.fromkeys(("--runs", "--recorded", "--stored"), ("runs", "empty", "k.c")),
    "result": ("ops:silu/silu/float16", "ops:silu", "none"),
    "folder": ("out", "runs", "k.c"),
    "--plan": ("quick", "landmarks", "none"),
    "--bits": ("1:2", "-1:-0.9", "2", "2:1", "0x3c00:0x3d00"),
    "--param": ("beta=2", "mu=1/3", "beta=nan", "beta"),
    "--isa": ("all", "avx2", "sse4_2,avx2", "none"),
    "--array": ("numpy", "list", "scalar", "none"),
    "--call": ("f(x)", "f(x, out=y)", "f(", "g(x)"),
    "--cflags": ("-O0", "-O3 -ffast-math", "--none"),
    "--executor": ("threads", "none"),
    "--rounding": ("down", "up", "toward_zero", "none"),
    "--remote": ("http://127.0.0.1:1", "ftp://a"),
    "--fail-on": ("defect", "loss", "worse", "none"),
    "--format": ("markdown", "json", "html", "latex", "svg"),
    "--budget": ("0", "0.1", "1s", "3buckets", "x"),
}
QUICKLY = {  # what keeps a line short
    "run": ("--plan=quick", "--no-throughput", "--budget=0", "--workers=1"),
    "compare": ("--plan=quick",),
    "attribute": ("--plan=quick",),
    "search": ("--evaluations=1000", "--workers=1"),
    "stochastic": ("--plan",),
    "bench": ("--sizes=64",),
    "serve": ("--show-config",),
}


def value(random, parameter, name):
    if random.random() < 0.1:
        return random.choice(ANYTHING)
    if isinstance(parameter.type, click.Choice):
        return random.choice(parameter.type.choices)
    if name in VALUES:
        return random.choice(VALUES[name])
    return random.choice(FILES if isinstance(parameter.type, click.Path) else NUMBERS)


def line(random, name, command):
    """The words after `gelu-verify`."""
    words = [[said] for said in QUICKLY.get(name, ())]
    options = [each for each in command.params if isinstance(each, click.Option)]
    for option in random.sample(options, min(random.choice((0, 1, 1, 2, 3, 5)), len(options))):
        said = random.choice(option.opts)
        for _ in range(random.choice((1, 2)) if option.multiple else 1):
            words.append([said] if option.is_flag else [said, value(random, option, option.opts[-1])])
    for argument in command.params:
        if isinstance(argument, click.Argument):
            count = random.choice((0, 1, 1, 1, 2, 3) if argument.nargs == -1 else (1, 1, 1, 1, 1, 1, 0, 2))
            words += [[value(random, argument, argument.name)] for _ in range(count)]
    return [*name.split(), *(said for each in words for said in each)]
