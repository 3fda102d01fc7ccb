"""What the parameters of a declared function are: the input, the output, a gradient, the number of values.

Types, const and names decide (`targets/parameter_names.py`). What they leave open is a question: the error has the
`--call` lines, made from the declaration, that answer it. Nothing that is open becomes a result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

from ...errors import UsageError
from ..call_line import SECOND
from ..contract import NOTHING, Contract
from ..kinds.base import Asked, second_claimed
from ..parameter_names import OF_SECOND, counts_rows, is_added, is_factor, role_of, roles_of, words_of
from .parameters import VECTORS, CParameter, Declared, is_data
from .prototype import ADDED_TO, BESIDE, EXACTLY, Prototype, own_name, said_number

LAUNCH = "(n + 255) / 256, 256"  # of a kernel: a thread for each value
_WHOLE = re.compile(r"(?:(?:unsigned|signed|short|int|long|char) ?)+|__int128|size_t|ptrdiff_t|u?int\d+_t|ssize_t")
BITS = ("unsigned short", "uint16_t")
_STREAMS = ("cudaStream_t", "hipStream_t", "CUstream", "cudaStream_t &")
_NEITHER = {"weight", "weights", "bias", "mask", "gamma", "beta", "alpha", "gate", "up", "mean", "var", "scale",
            "residual", "tmp", "temp", "scratch", "workspace", "lut", "table", "sum", "max", "min", "norm"}  # fmt: skip

_FROM_ZERO = {"start", "begin", "first", "ith", "rank", "tid", "id", "idx", "index", "axis", "flags", "mode", "inverse",
              "approximate", "approx"}  # fmt: skip
_BOUNDS = {**dict.fromkeys(("lo", "low", "lower", "min", "minimum"), "-__builtin_inf()"),
           **dict.fromkeys(("hi", "high", "upper", "max", "maximum"), "__builtin_inf()")}  # fmt: skip
_NOT_COUNTED = {"start", "begin", "first", "ld", "lda", "ldb", "ldx", "ldy", "inc", "incx", "incy",
                "stride", "strides", "step", "pitch"}  # fmt: skip
_EXTENTS = {"shape", "dims", "dimensions", "sizes", "extents", "ne"}  # an array of them: of one dimension, of n
_ENDS = {"last", "end"}  # of the values that another pointer begins
_DIMENSIONS = {"ndim", "ndims", "nd", "rank", "numdims"}  # how many of these


@dataclass
class _Open:
    """What is known so far of each parameter, by its place, and why not all is."""

    names: dict[int, str]
    why: list[str]
    said: list[str]
    launch: str = ""
    also: str = ""
    perhaps: list[int] = field(default_factory=list)  # which may be the number of values instead
    is_likelier: bool = False  # that it is

    def ask(self, why: str) -> None:
        self.why.append(why)

    def counted_by(self, place: int) -> _Open:
        """The same where that parameter is the number of values."""
        names = {i: name for i, name in self.names.items() if name != "n"}
        return replace(self, names={**names, place: "n"}, why=[*self.why])


class OpenCall(UsageError):
    """A declaration that leaves open how it is called: `why`, and the `lines` of which one is to be given."""

    def __init__(self, declared: Declared, why: str, lines: Sequence[str], came: str = "") -> None:
        either = ", or ".join(f"--call {line!r}" for line in lines)
        either = either or f"a --call, in which n or bytes occurs{f', or {EXACTLY}' * (not declared.space)}"
        super().__init__(f"{why}: give {either}{f' ({came})' * bool(came)}")
        self.declared, self.why, self.lines = declared, why, lines


def prototype_for(declared: Declared, file: str, symbol: str, asked: Asked) -> Prototype:
    """How it is called: as `--call` says, else as it is declared."""
    if asked.call is not None:
        return Prototype.parsed(asked.call, symbol, declared)
    second = second_claimed(symbol.partition("<")[0].rpartition("::")[2], asked)
    return prototype_of(declared, file, second, is_open=not (asked.function and "[" in asked.function))


def prototype_of(declared: Declared, file: str, second: str = "", is_open: bool = True) -> Prototype:
    """How it is called; UsageError with the `--call` to be given where the declaration does not say. `second`: the
    second input of its function, of which, where that `is_open`, nothing has said a value."""
    by_name = [i for i, each in enumerate(declared.parameters) if second and OF_SECOND.get(each.name) == second]
    taken = {i: second for i in by_name[:1] if _is_data(declared.parameters[i])}
    parameters = [(i, each) for i, each in enumerate(declared.parameters) if i not in taken]
    pointers = [i for i, each in parameters if each.pointers == 1 and _is_data(each)]
    pointers = pointers or [i for i, each in parameters if each.pointers == 1 and each.element == "void"]
    numbers = [i for i, each in parameters if not each.pointers and _is_data(each)]
    of_a_value = is_data(declared.result) and numbers and not any(declared.parameters[i].is_const for i in pointers)
    is_array = bool(pointers) and declared.space != "device" and not of_a_value
    shown = f"{declared.symbol!r} in {file} is declared {declared.around or declared.shown}"
    found = _Open(dict(taken), [], [])
    orders = [found]
    if is_array:
        ends = _ends(declared, pointers, found)
        orders = _arrays(declared, [i for i in pointers if i not in ends], found, shown, second)
        for order in orders:
            _count(declared, order)
            _added(declared, order)
        others = [order.counted_by(place) for order in orders for place in order.perhaps]
        orders = others + orders if found.is_likelier else orders + others
    else:
        _values(declared, found, shown)
    launch = (declared.launch or LAUNCH) if declared.space == "global" else ""
    for order in orders:
        if second and is_open and not taken:
            _second(declared, order, second, is_array)
        _others(declared, order)
    if found.why:
        usable = [order for order in orders if not _made(declared, order, order.launch or launch).wrong()]
        lines = list(dict.fromkeys(_line(declared, order, launch) for order in usable))
        memory = "=zeros(bytes)" if is_array else "=zeros(64)"
        used = [f"{each.name}=NULL" for each in declared.parameters if not _is_unused(each.name, declared.body)]
        lines += [line.replace("=NULL", memory) for line in lines if any(each in line for each in used)]
        raise OpenCall(declared, f"{shown}: {'; '.join(dict.fromkeys(found.why))}", lines)
    made = _made(declared, orders[0], launch)
    if wrong := made.wrong():
        raise UsageError(f"{shown}, which {wrong}")
    return made


def _is_data(parameter: CParameter) -> bool:
    return parameter.dtype is not None or parameter.element in BITS


def is_end(name: str) -> bool:
    """Whether that names the end of the values that the parameter before it begins."""
    return bool(_ENDS & set(words_of(name)))


def _ends(declared: Declared, pointers: list[int], found: _Open) -> list[int]:
    """Which pointers are the end of the values that the one before them begins, as in C++'s algorithms."""
    parameters = declared.parameters
    ends = [i for i in pointers if i - 1 in pointers and is_end(parameters[i].name)]
    same = [replace(each, name="") for each in parameters]
    ends = [i for i in ends if same[i] == same[i - 1]]
    counted = any(role_of(each.name) == "n" and not each.pointers for each in parameters)
    if len(ends) != 1 or counted or declared.space == "global":
        return []
    found.ask(f"{_named(parameters[ends[0]])} may be the end of {_named(parameters[ends[0] - 1])}")
    found.names[ends[0]] = f"{parameters[ends[0]].name}=x + n"
    return ends


def _arrays(declared: Declared, pointers: list[int], found: _Open, shown: str, second: str) -> list[_Open]:
    """Which pointers are x, y and dy. Where that is open, `found` has the first order that may be, and further ones
    follow."""
    parameters = declared.parameters
    roles = dict(zip(pointers, roles_of([parameters[i].name for i in pointers]), strict=True))
    const = {i: parameters[i].is_const for i in pointers}
    likely = [i for i in pointers if not set(words_of(parameters[i].name)) & _NEITHER]
    of_two = sorted(const[i] for i in likely) == [False, True]
    if of_two or (len(likely) == 1 and not const[likely[0]] and roles[likely[0]] == "x"):
        pointers = likely
    of = {role: [i for i in pointers if roles[i] == role] for role in ("x", "y", "dx", "dy")}
    if len(pointers) == 1:
        found.names[pointers[0]] = "x"
        if const[pointers[0]]:
            found.ask(f"it has no output, as {_named(parameters[pointers[0]])} is const")
        elif is_data(declared.result):
            found.ask("it returns a number and may change nothing")
        return [found]
    writable = [i for i in pointers if not const[i]]
    by_name = of["dx"] or [i for i in of["y"] if not const[i]]
    outputs = writable if len(writable) == 1 else by_name  # const says it, whatever the names of the others say
    gradients = [i for i in (*of["dy"], *of["dx"]) if i not in outputs]
    inputs = [i for i in of["x"] if i not in outputs]
    rest = [i for i in pointers if i not in (*outputs, *gradients)]
    if not inputs and len(rest) == 1 and not set(words_of(parameters[rest[0]].name)) & _NEITHER:
        inputs = rest
    if not outputs and len(inputs) == 1 and len(pointers) == 2:
        outputs = [i for i in pointers if i not in inputs and not const[i]]
    reads = len(outputs) == 1 and _reads_first(parameters[outputs[0]].name, declared.body)
    if reads and not _is_scaled(declared, outputs[0]):
        others = [i for i in pointers if i not in outputs]
        found.ask(f"it reads {_named(parameters[outputs[0]])} before it writes to it")
        if len(others) != 1:
            raise UsageError(f"{shown}: {found.why[0]}: give a --call in which y=dy, y=zeros or y=g says what is there")
        holding = [replace(found, names={outputs[0]: f"y={second or 'dy'}", others[0]: "x"}, said=[])]
        return [replace(found, names={outputs[0]: "x", others[0]: second}, said=[])] * bool(second) + holding
    if len({parameters[i].element for i in (*inputs, *outputs)}) > 1:
        raise UsageError(f"{shown}: its input and its output are of different types, which cannot be tested")
    clear = len(inputs) == len(outputs) == 1 and len(gradients) <= 1
    clear = clear and roles[outputs[0]] != "x" and not any(roles[i] == "y" for i in pointers if const[i])
    clear = clear and (len(writable) == 1 or any(roles.values()))
    clear = clear and not set(words_of(parameters[outputs[0]].name)) & _NEITHER
    if clear:
        found.names |= {inputs[0]: "x", outputs[0]: "y", **dict.fromkeys(gradients, "dy")}
        if len(writable) > 1 or gradients:
            named = [(found.names[i], parameters[i].name) for i in sorted(found.names)]
            found.said += [f"{role} is {name}" for role, name in named if role != name]
        return [found]
    found.ask("its names and const do not say which pointer is the input and which the output")
    if len(pointers) == 3 and len(writable) == 1 and not inputs:  # of two factors, or of a backward pass, as it seems
        one, two = (i for i in pointers if i not in writable)
        pairs = ((two, one), (one, two)) if second else ((one, two), (two, one))
        beside = second or "dy"
        return [replace(found, names={writable[0]: "y", i: beside, x: "x"}, said=[]) for i, x in pairs]
    first, other = ([i for i in pointers if i not in gradients] + gradients)[:2]
    orders = []
    for x, y in ((first, other), (other, first)):
        names = {x: "x", y: "y", **dict.fromkeys([i for i in gradients if i not in (x, y)][:1], "dy")}
        orders.append(replace(found, names=names, said=[]))
    orders = orders[::-1] if roles[first] in ("y", "dx") or const[other] else orders  # the likelier first
    in_place = [replace(found, names={likely[0]: "x"}, said=[])] if len(likely) == 1 and not const[likely[0]] else []
    return in_place + orders


def _count(declared: Declared, found: _Open) -> None:
    """Which whole number is the number of values, or of bytes."""
    parameters = declared.parameters
    if any(name.endswith("=x + n") for name in found.names.values()):
        return
    rows = next((prod(p.shape[1:]) for i, p in enumerate(parameters) if i in found.names and p.shape[1:]), 0)
    whole = [i for i, each in enumerate(parameters) if not each.pointers and _WHOLE.fullmatch(each.element)]
    used = [i for i in whole if not parameters[i].value and not _is_unused(parameters[i].name, declared.body)]
    whole = used if len(whole) > 1 and used else whole
    if extents := _extents(declared, found, whole):
        found.ask(f"{parameters[extents[0]].name} may be that of one dimension, of as many values as x has")
        found.names |= {i: f"{parameters[i].name}=&n" for i in extents}
        return
    there = [i for i, each in enumerate(parameters) if i not in found.names and _may_point_to_number(each)]
    if not whole and len(there) == 1 and not declared.space:
        if not _is_only_read(parameters[there[0]], declared.body):
            found.ask(f"{parameters[there[0]].name} may point to the number of values or not")
        whole = there
    roles = {i: _size_of(parameters[i].name, declared.body) for i in whole}
    sized = [i for i in whole if roles[i]]
    behind = [i for i in whole if i - 1 in found.names and not _NOT_COUNTED & set(words_of(parameters[i].name))]
    if len(whole) == len(behind) == 2 and not sized and found.names[whole[0] - 1] != found.names[whole[1] - 1]:
        one, two = (_named(parameters[i]) for i in whole)
        found.ask(f"{one} and {two} may both be the number of values")
        found.names |= {whole[0]: "n", whole[1]: f"{own_name(parameters[whole[1]].name, whole[1])}=n"}
    elif len(sized) == 1:
        found.names[sized[0]] = roles[sized[0]]
    elif len(whole) == 1 and parameters[whole[0]].name in ("", "k"):  # k of ggml's kernels
        found.names[whole[0]] = "n"
    elif whole:
        of_rows = [i for i in whole if rows and counts_rows(parameters[i].name)]
        lasting = [i for i in whole if not _NOT_COUNTED & set(words_of(parameters[i].name))] or whole
        taken = (sized or of_rows or lasting)[-1]
        if not sized and _number(declared, found):
            found.perhaps = [taken]
        else:
            found.perhaps = [i for i in reversed(lasting) if i != taken and not sized]
            found.names[taken] = roles[taken] or "n"
        if len(whole) > 1:
            each = ", ".join(_named(parameters[i]) for i in whole)
            found.ask(f"it does not say which of {each} is the number of values")
        elif not rows:
            found.ask(f"{_named(parameters[taken])} may be the number of values or not")
    elif declared.space or not _number(declared, found):
        found.ask("it does not say how many values there are")
        sizes = {parameters[i].size for i in found.names} - {0}
        found.also = f"; exactly={min(sizes)}" if sizes and not declared.space else ""
        if declared.space == "global":
            found.launch, found.also = "n / 256, 256", "; multiple_of=256"
    counts = [i for i in found.names if found.names[i] in ("n", "bytes")]
    vectors = next((p.vector for i, p in enumerate(parameters) if found.names.get(i) in ("x", "y") and p.vector), "")
    name = parameters[counts[0]].name if counts else ""
    if lanes := (VECTORS[vectors][1] if vectors else rows or _group(name, declared.body)) * bool(counts):
        what = "vectors" if vectors else "rows" if rows else "groups"
        found.ask(f"{_named(parameters[counts[0]])} may count values or {what} of {lanes}")
        found.perhaps, found.is_likelier = [counts[0]], _is_divided(name, lanes, declared.body)
        found.names[counts[0]] = f"{own_name(name, counts[0])}=n / {lanes}"
        found.also = f"; multiple_of={lanes}"
        found.launch = f"(n / {lanes} + 255) / 256, 256" * (declared.space == "global")
    if declared.space == "global" and declared.body and counts:
        name = parameters[counts[0]].name
        if not re.search(rf"\b{re.escape(name)}\b", declared.body):
            found.ask(f"it does not use {name}, so its grid must be said")


def _group(name: str, body: str) -> int:
    """How many values each thing may have of which that is the number, as n4 that of float4; 0 where it says none."""
    found = re.fullmatch(r"(?:n|num|cnt|count)_?(2|4|8|16)", name, re.IGNORECASE)
    if not found or (body and not re.search(rf"\b{found[1]}\b|<<", body)):
        return 0
    return int(found[1])


def _added(declared: Declared, found: _Open) -> None:
    """Whether it adds to its output."""
    for i, role in found.names.items():
        if role == "y" and (_adds(declared.parameters[i].name, declared.body) or _is_scaled(declared, i)):
            found.names[i] = f"y={ADDED_TO}"
            found.said.append("it adds to y, which is zero before")


def _may_point_to_number(parameter: CParameter) -> bool:
    """Whether it may point to the number of values, as in Fortran."""
    return parameter.pointers == 1 and bool(_WHOLE.fullmatch(parameter.element)) and role_of(parameter.name) == "n"


def _extents(declared: Declared, found: _Open, whole: list[int]) -> list[int]:
    """Which parameters are arrays of the lengths of so many dimensions as another one says, where none is the number
    of values. A kernel cannot read our n, nor is there more than one of it."""
    parameters, body = declared.parameters, declared.body
    if declared.space == "global" or any(role_of(parameters[i].name) == "n" for i in whole):
        return []
    if not any(_is_rank(parameters[i]) for i in whole):
        return []
    arrays = [i for i, each in enumerate(parameters) if i not in found.names and each.pointers == 1]
    arrays = [i for i in arrays if _WHOLE.fullmatch(parameters[i].element) and not parameters[i].size]
    arrays = [i for i in arrays if _EXTENTS & set(words_of(parameters[i].name))]
    # read, and not only at places that are numbers: then there are that many dimensions
    return [i for i in arrays if not body or re.search(rf"\b{re.escape(parameters[i].name)}\b(?!\s*\[\s*\d)", body)]


def _is_rank(parameter: CParameter) -> bool:
    """Whether it says how many dimensions there are."""
    return "".join(words_of(parameter.name)) in _DIMENSIONS


def _is_only_read(parameter: CParameter, body: str) -> bool:
    """Whether nothing is written to where it points to, as far as that is known."""
    written = rf"\*\s*{re.escape(parameter.name)}\s*\)?\s*(?:[-+*/%]?=(?!=)|\+\+|--)"
    return parameter.is_const or (bool(body) and not re.search(written, body))


def _number(declared: Declared, found: _Open) -> int | None:
    """The number of values that its arrays are declared with."""
    return said_number([replace(each, name=found.names.get(i, "")) for i, each in enumerate(declared.parameters)])


def _size_of(name: str, body: str) -> str:
    """Whether a whole number counts values or bytes: "n", "bytes"; by its name, and by what the body does with it."""
    if name and re.search(rf"\b{re.escape(name)}\s*(?:%|>=|-=|/)\s*\(?[\w\s*]*\bsizeof\b", body):
        return "bytes"
    role = role_of(name)
    return role if role in ("n", "bytes") else ""


def _is_divided(name: str, by: int, body: str) -> bool:
    """Whether the body divides a whole number by another one."""
    return bool(re.search(rf"\b{re.escape(name)}\s*(?:/\s*{by}\b|>>\s*{by.bit_length() - 1}\b)", body)) and bool(name)


def _reads_first(name: str, body: str) -> bool:
    """Whether the first statement with an element of the array uses what is there, and does not only add to it."""
    place = rf"\b{re.escape(name)}\s*\["
    statement = next((each for each in re.split(r"[;{}]", body) if name and re.search(place, each)), "")
    assigned = re.search(rf"{place}[^\]]*\]+(?:\s*\[[^\]]*\]+)*\s*([*/]?)=(?!=)(.*)", statement, re.DOTALL)
    return assigned is not None and bool(assigned[1] or re.search(place, assigned[2])) and not _adds(name, body)


def _adds(name: str, body: str) -> bool:
    """Whether the body only ever adds to what the pointer points to."""
    if not name:
        return False
    place = rf"(?:\b{re.escape(name)}\s*\[[^\]]*\]|\*\s*{re.escape(name)}(?:\s*\+\+)?)\s*"
    adds = re.search(rf"{place}\+=|\batomicAdd\s*\(\s*&?\s*\(?\s*{re.escape(name)}\b", body)
    return bool(adds) and not re.search(rf"{place}=(?!=)", body)


def _is_scaled(declared: Declared, y: int) -> bool:
    """Whether it gives alpha f(x) + beta y, as those of BLAS do: hard_sigmoid has both names, and reads no y."""
    numbers = {each.name for each in declared.parameters if not each.pointers and _is_data(each)}
    if "beta" not in numbers or not ("alpha" in numbers or declared.body):
        return False
    if not declared.body:
        return y > 0 and declared.parameters[y - 1].name == "beta"
    place = rf"\b{re.escape(declared.parameters[y].name)}\s*\[[^\]]*\]"
    return bool(re.search(rf"\bbeta\s*\*\s*{place}|{place}\s*\*\s*beta\b", declared.body))


def _values(declared: Declared, found: _Open, shown: str) -> None:
    """Which of its numbers is x, and which dy."""
    parameters = declared.parameters
    numbers = [i for i, each in enumerate(parameters) if not each.pointers and _is_data(each)]
    if not numbers or declared.space == "global":
        what = "array" if declared.space == "global" else "array and no number"
        raise UsageError(f"{shown}: it takes no {what} of a format that is known here (float16 to float64)")
    numbers = [i for i in numbers if i not in found.names]
    roles = {i: role_of(parameters[i].name) for i in numbers}
    dy, x = ([i for i in numbers if roles[i] == role] for role in ("dy", "x"))
    rest = [i for i in numbers if i not in dy]
    if len(numbers) == 1:
        found.names[numbers[0]] = "x"
    elif len(dy) == 1 and len(rest) == 1:
        found.names |= {dy[0]: "dy", rest[0]: "x"}
        found.said += [f"dy is {parameters[dy[0]].name}"] * (parameters[dy[0]].name != "dy")
    else:
        taken = x[0] if len(x) == 1 else numbers[0]
        found.names[taken] = "x"
        if any(not _is_known(parameters[i], declared) for i in numbers if i != taken):
            found.ask("it takes more than one number")


def _second(declared: Declared, found: _Open, second: str, is_array: bool) -> None:
    """Which parameter may be the second input, where none is called so; where none may, both may be in one array."""
    free = [
        i for i, each in enumerate(declared.parameters)
        if i not in found.names and _is_data(each) and each.pointers <= is_array and not each.value
    ]  # fmt: skip
    if not {second, f"y={second}"}.isdisjoint(found.names.values()):
        return
    if free:
        found.names[free[0]] = second
    else:
        found.names = {i: f"x{second}" if role == "x" else role for i, role in found.names.items()}
    found.ask(f"nothing says how it takes {second}")


def _others(declared: Declared, found: _Open) -> None:
    """What has a default or no meaning here gets its value; what has none is open, with a value as an example."""
    missing: list[str] = []
    functions: list[str] = []
    for i, each in enumerate(declared.parameters):
        if i in found.names:
            continue
        name = each.name if each.name in BESIDE[1:] else own_name(each.name, i)
        value = each.value or (
            "0"
            if each.base in _STREAMS
            else _example(each, declared, has_second=not {*SECOND}.isdisjoint(found.names.values()))
        )
        if not _is_known(each, declared):
            (functions if each.is_function else missing).append(_named(each))
        elif not each.value and each.base not in _STREAMS:
            found.said.append(f"{name} is not used")
        found.names[i] = f"{name}={value}"
    if missing:
        found.ask(f"{' and '.join(missing)} need{'s' * (len(missing) == 1)} a value")
    if functions:
        found.ask(f"{' and '.join(functions)} need{'s' * (len(functions) == 1)} a function, whose name replaces NAME")


def _is_known(parameter: CParameter, declared: Declared) -> bool:
    """Whether a value can be given to it that nobody has to say."""
    return bool(parameter.value) or parameter.base in _STREAMS or _is_unused(parameter.name, declared.body)


def _is_unused(name: str, body: str) -> bool:
    """Whether the body, which is known, does nothing with a parameter: its value cannot matter."""
    uses = re.sub(rf"\(\s*(?:void|\(void\))\s*\)?\s*{re.escape(name)}\s*\)?\s*;", "", body) if name else ""
    return bool(body) and not (name and re.search(rf"\b{re.escape(name)}\b", uses))


_OF_A_ROW = {"hidden", "dim", "dims", "cols", "columns", "width", "features", "channels", "period"}  # a bias is so long


def _example(parameter: CParameter, declared: Declared, has_second: bool = False) -> str:
    """A value that a parameter may have; `has_second`: beside an array of second inputs, which may repeat."""
    of_a_value = is_data(declared.result)
    if _may_point_to_number(parameter):
        return "&n"
    if parameter.is_function:
        return "NAME"
    if parameter.pointers:
        is_memory = _is_data(parameter) or _WHOLE.fullmatch(parameter.element) or parameter.element in ("bool", "_Bool")
        if not is_memory or (of_a_value and parameter.is_const):
            return "NULL"
        return "zeros(8)" if of_a_value else "zeros(bytes)"
    if parameter.canonical.startswith("enum "):
        return f"({parameter.base})0"
    if parameter.element in ("bool", "_Bool"):
        return "false"
    if _WHOLE.fullmatch(parameter.element):
        words = set(words_of(parameter.name))
        if "bytes" in words and not of_a_value:
            return "bytes"
        if has_second and words & _OF_A_ROW:
            return "n"
        is_rank = _is_rank(parameter) and any(_EXTENTS & set(words_of(each.name)) for each in declared.parameters)
        return "0" if (words & _FROM_ZERO or is_added(parameter.name)) and not is_rank else "1"
    if not _is_data(parameter):
        return "{}"
    bounds = [_BOUNDS[each] for each in words_of(parameter.name) if each in _BOUNDS]
    if bounds and not (declared.space or is_factor(parameter.name)):
        return bounds[0]
    return f"{0 if is_added(parameter.name) else 1}.0{'f' * (parameter.element == 'float')}"


def _named(parameter: CParameter) -> str:
    return parameter.name or parameter.type


def _line(declared: Declared, found: _Open, launch: str) -> str:
    """The `--call` that says it."""
    given = ", ".join(found.names[i] for i in range(len(declared.parameters)))
    grid = f"<<<{found.launch or launch}>>>" if launch else ""
    return f"f{grid}({given}){found.also}"


def _made(declared: Declared, found: _Open, launch: str) -> Prototype:
    """The prototype of what is known."""
    parts = [found.names[i].partition("=") for i in range(len(declared.parameters))]
    named = [
        replace(each, name=name, value=value) for each, (name, _, value) in zip(declared.parameters, parts, strict=True)
    ]
    shown = ", ".join(f"{_spelled(each)}{f'={each.value}' * bool(each.value)}" for each in named)
    grid = f"<<<{launch}>>>" if launch else ""
    agreed = Contract.parsed(found.also) or NOTHING
    return Prototype(
        f"{declared.result} {declared.symbol}{grid}({shown})".replace("* ", "*"),
        declared.result,
        tuple(named),
        replace(agreed, exactly=agreed.exactly or (None if declared.space else said_number(named))),
        launch=launch,
        restricted=declared.restricted,
        said=", ".join(found.said),
    )


def _spelled(parameter: CParameter) -> str:
    if parameter.shape:
        return parameter.shown
    typed = parameter.type.replace(" *__restrict", " *").replace("*restrict", "*")
    return f"{typed}{'' if typed.endswith(('*', '&')) else ' '}{parameter.name}"
