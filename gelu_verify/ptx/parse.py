"""From the text of PTX to its data (`ir.py`). What is not understood is an error that names it."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from .ir import (
    WIDTHS,
    Address,
    Immediate,
    Instruction,
    Label,
    Negated,
    Operand,
    ParsedFunction,
    PtxError,
    PtxModule,
    Register,
    SourceLine,
    Symbol,
    TwoResults,
    Variable,
    Vector,
)

_NAME = r"[%$]?[A-Za-z_$][\w$.]*"  # of special registers too: %tid.x
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_VARIABLE = re.compile(
    r"(?P<linkage>(?:\.(?:visible|extern|weak|common)\s+)*)\.(?P<space>global|const|shared|local|param)\s+"
    r"(?:\.attribute\([^)]*\)\s+)?(?:\.align\s+(?P<align>\d+)\s+)?(?:\.v(?P<vector>[24])\s+)?\.(?P<type>\w+)\s+"
    r"(?P<pointer>\.ptr\b[^%$A-Za-z_]*(?:\.(?:global|const|shared|local)\s*)?(?:\.align\s+\d+\s+)?)?"
    r"(?P<name>[\w$%]+)\s*(?:\[(?P<count>\d*)\])?\s*(?:=\s*(?P<initial>.*))?$",
    re.DOTALL,
)
_HEAD = re.compile(
    r"(?:\.(?:visible|extern|weak|common|noreturn)\s+)*\.(?P<kind>entry|func)\s*(?:\.noreturn\s*)?"
    r"(?:\((?P<returns>[^)]*)\))?\s*(?P<name>[\w$]+)\s*(?:\((?P<parameters>[^)]*)\))?(?P<rest>.*)$",
    re.DOTALL,
)
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', re.MULTILINE)
_REGISTER = re.compile(r"(%?[\w$]+)(?:<(\d+)>)?")
_LABEL = re.compile(r"([A-Za-z_$%][\w$]*)\s*:(?!:)")
_IGNORED = (".pragma", ".callprototype", ".byte")
_TOOLKIT = re.compile(r"/(?:targets|include)/.*cuda|/cuda|/nvidia/")


def text_of(path: Path) -> str:
    """What is in a file of PTX, whose comments may be in any encoding."""
    return path.read_text(encoding="utf-8", errors="replace")


def parse(text: str) -> PtxModule:
    """A module; PtxError names what is not understood."""
    text = _COMMENT.sub("", text)
    files = {int(number): name for number, name in _FILE.findall(text)}
    version, target = re.search(r"\.version\s+([\d.]+)", text), re.search(r"\.target\s+(\w+)", text)
    if version is None or target is None:
        raise PtxError("this is not PTX: it has no .version or no .target")
    module = PtxModule(target[1], version[1], {}, {})
    for head, body in _top_level(text):
        if match := _HEAD.match(head):
            function = _function(match, body, files)
            if module.functions.get(function.name, function).text is None or function.name not in module.functions:
                module.functions[function.name] = function
        else:
            variable = _variable(head)
            module.variables[variable.name] = variable
    return module


def _top_level(text: str) -> Iterator[tuple[str, str | None]]:
    """Each declaration, with its body where it has one."""
    place, skipped = (
        0,
        re.compile(r"\s*(?:\.(?:version|target|address_size|file|section\s+\S+\s*\{[^}]*\})[^\n]*\n?|;)"),
    )
    while True:
        while match := skipped.match(text, place):
            place = match.end()
        head = re.compile(r"\s*(?=\S)").match(text, place)
        if head is None:
            return
        place = head.end()
        semicolon, brace = text.find(";", place), text.find("{", place)
        is_function = re.match(r"(?:\.(?:visible|extern|weak|common)\s+)*\.(?:entry|func)\b", text[place : place + 200])
        if is_function and brace >= 0 and (brace < semicolon or semicolon < 0):
            end = _closing(text, brace)
            yield text[place:brace], text[brace + 1 : end]
            place = end + 1
        elif semicolon < 0:
            raise PtxError(f"not understood: {text[place : place + 60]!r}")
        else:
            yield text[place:semicolon], None
            place = semicolon + 1


def _closing(text: str, place: int) -> int:
    depth = 0
    for match in re.compile(r'[{}]|"[^"]*"').finditer(text, place):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if not depth:
            return match.start()
    raise PtxError("a brace is not closed")


# ---- variables -----------------------------------------------------------------------------------


def _variable(text: str) -> Variable:
    match = _VARIABLE.match(text.strip())
    if match is None or match["type"] not in WIDTHS:
        raise PtxError(f"not understood: {' '.join(text.split())[:120]!r}")
    width = WIDTHS[match["type"]] * int(match["vector"] or 1)
    count = 1 if match["count"] is None else int(match["count"] or 0)
    initial = tuple(_initial(match["initial"], match["type"])) if match["initial"] else ()
    return Variable(
        name=match["name"],
        space=match["space"],
        align=int(match["align"] or width),
        width=width,
        count=max(count, len(initial)) if match["count"] == "" else count,
        initial=initial,
        external="extern" in match["linkage"],
        type=match["type"],
        is_pointer=match["pointer"] is not None,
    )


def _initial(text: str, kind: str) -> Iterator[int | tuple[str, int]]:
    if re.fullmatch(r"\s*\{[\d,\s]*\}\s*", text) and not re.search(r"\b0\d", text):
        yield from map(int, text.strip()[1:-1].split(","))
        return
    for each in split(text.strip().replace("{", "").replace("}", "")):
        if found := re.fullmatch(r"(?:(generic)\()?([A-Za-z_$][\w$]*)\)?(?:\s*\+\s*(\d+))?", each):
            yield found[2], int(found[3] or 0)
        else:
            constant = immediate(each, kind)
            yield constant.value


def split(text: str) -> list[str]:
    """At the commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        if character in "[{(":
            depth += 1
        elif character in "]})":
            depth -= 1
        elif character == "," and not depth:
            parts.append(text[start:place].strip())
            start = place + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def immediate(text: str, kind: str = "") -> Immediate:
    """A constant; a decimal fraction is a double, or what `kind` says."""
    if found := re.fullmatch(r"0[fFdD]([0-9a-fA-F]+)", text):
        return Immediate(int(found[1], 16), 4 if text[1] in "fF" else 8)
    if re.fullmatch(r"-?\d+\.\d*(?:[eE][-+]?\d+)?", text):
        single = kind == "f32"
        return Immediate(
            int.from_bytes(struct.pack("<f" if single else "<d", float(text)), "little"), 4 if single else 8
        )
    negative, digits = text.startswith("-"), text.removeprefix("-").rstrip("U")
    value = int(digits, 8 if re.fullmatch(r"0[0-7]+", digits) else 0)
    return Immediate(-value if negative else value)


# ---- functions -----------------------------------------------------------------------------------


def _function(match: re.Match[str], body: str | None, files: dict[int, str]) -> ParsedFunction:
    returns, parameters = ([_variable(each) for each in split(match[what] or "")] for what in ("returns", "parameters"))
    function = ParsedFunction(
        name=match["name"],
        is_kernel=match["kind"] == "entry",
        returns=returns,
        parameters=parameters,
        text=body,
        reader=lambda function: _Body(function, files).read(function.text or ""),
    )
    if threads := re.search(r"\.(?:maxntid|reqntid)\s+([\d,\s]+)", match["rest"]):
        sizes = [int(each) for each in threads[1].split(",")]
        function.most_threads = sizes[0] * (sizes[1] if len(sizes) > 1 else 1) * (sizes[2] if len(sizes) > 2 else 1)
    return function


@dataclass
class _Scope:
    number: int
    names: dict[str, Register] = field(default_factory=dict)


class _Body:
    """Statements of a function: registers and labels of inner scopes get names of their own."""

    def __init__(self, function: ParsedFunction, files: dict[int, str]) -> None:
        self._function, self._files = function, files
        self._scopes, self._count = [_Scope(0)], 0
        self._place = SourceLine()
        self._inlined: dict[tuple[int, int, int], tuple[int, int, int]] = {}
        self._branches: list[tuple[int, str, tuple[int, ...]]] = []  # of code: the label that it names, in which scopes
        self._labels: dict[tuple[int, str], str] = {}
        self._code: list[Instruction | Label] = []

    def read(self, text: str) -> list[Instruction | Label]:
        place, space = 0, re.compile(r"\s*")
        while True:
            found = space.match(text, place)
            place = found.end() if found else place
            if place >= len(text):
                break
            if text[place] in "{}":
                self._enter() if text[place] == "{" else self._scopes.pop()
                place += 1
            elif label := _LABEL.match(text, place):
                place = self._label(label, text)
            else:
                end = self._end(text, place)
                self._statement(" ".join(text[place:end].split()))
                place = end + 1
        self._resolve()
        return self._code

    def _end(self, text: str, place: int) -> int:
        if re.match(r"\.loc\s", text[place : place + 5]):
            return text.index("\n", place)
        end = text.find(";", place)
        if end < 0:
            raise PtxError(f"not understood: {text[place : place + 60]!r}")
        return end

    def _enter(self) -> None:
        self._count += 1
        self._scopes.append(_Scope(self._count))

    def _label(self, match: re.Match[str], text: str) -> int:
        rest = text[match.end() : match.end() + 80].lstrip()
        if rest.startswith((".branchtargets", ".calltargets", ".callprototype")):
            end = text.index(";", match.end())
            if rest.startswith(".branchtargets"):
                names = split(text[match.end() : end].split(".branchtargets")[1])
                self._function.tables[match[1]] = tuple(names)
            return end + 1
        scope = self._scopes[-1].number
        name = match[1] if scope == 0 else f"{match[1]}__{scope}"
        self._labels[scope, match[1]] = name
        self._code.append(Label(name))
        return match.end()

    def _statement(self, text: str) -> None:
        if text.startswith(".reg"):
            self._declare(text)
        elif text.startswith(".loc "):
            self._locate(text)
        elif text.startswith((".local", ".shared", ".param")):
            self._function.variables.append(_variable(text))
        elif text.startswith(_IGNORED) or not text:
            pass
        else:
            self._instruction(text)

    def _declare(self, text: str) -> None:
        match = re.fullmatch(r"\.reg\s*\.(\w+)\s+(.*)", text)
        if match is None or match[1] not in WIDTHS:
            raise PtxError(f"not understood: {text!r}")
        for each in split(match[2]):
            found = _REGISTER.fullmatch(each)
            if found is None:
                raise PtxError(f"not understood: {text!r}")
            names = [f"{found[1]}{k}" for k in range(int(found[2]))] if found[2] else [found[1]]
            scope = self._scopes[-1]
            for name in names:
                inner = name if scope.number == 0 else f"{name}__{scope.number}"
                scope.names[name] = self._function.registers[inner] = Register(inner, match[1])

    def _locate(self, text: str) -> None:
        match = _LOC.match(text)
        if match is None:
            return
        here = (int(match[1]), int(match[2]), int(match[3]))
        chain = [here]
        if match[4]:
            self._inlined[here] = (int(match[4]), int(match[5]), int(match[6]))
        else:
            self._inlined.pop(here, None)
        while (above := self._inlined.get(chain[-1])) and above not in chain:
            chain.append(above)
        named = [(self._files.get(number, "?"), line) for number, line, _ in chain]
        own = [(path, line) for path, line in named if not _TOOLKIT.search(path)] or named
        self._place = SourceLine(tuple((PurePath(path).name, line) for path, line in own))

    def _instruction(self, text: str) -> None:
        guard: Register | Negated | None = None
        if match := re.match(r"@(!?)\s*([%\w$]+)\s+", text):
            register = self._operand(match[2], "")
            assert isinstance(register, Register)
            guard, text = Negated(register) if match[1] else register, text[match.end() :]
        match = re.match(r"([a-z_][\w.:]*)\s*(.*)$", text)
        if match is None:
            raise PtxError(f"not understood: {text[:80]!r} ({self._place})")
        parts = tuple(match[1].replace("::", "__").split("."))
        words = split(match[2])
        if parts[0] in ("bra", "brx"):
            scopes = tuple(scope.number for scope in reversed(self._scopes))
            self._branches.append((len(self._code), words[-1], scopes))
        kind = parts[-1]
        operands = tuple(self._operand(word, kind) for word in words)
        self._code.append(Instruction(parts, operands, guard, self._place))

    def _operand(self, text: str, kind: str) -> Operand:
        if text.startswith("["):
            return self._address(text[1:-1].strip())
        if text[0] in "{(":
            return Vector(tuple(self._operand(each, kind) for each in split(text[1:-1])))
        if "|" in text:
            first, second = text.split("|")
            return TwoResults(self._operand(first.strip(), kind), self._operand(second.strip(), kind))
        if text.startswith("!"):
            register = self._operand(text[1:].strip(), kind)
            assert isinstance(register, Register)
            return Negated(register)
        if re.match(r"-?\d", text):
            return immediate(text, kind)
        for scope in reversed(self._scopes):
            if text in scope.names:
                return scope.names[text]
        if re.fullmatch(_NAME, text):
            return Symbol(text)
        raise PtxError(f"operand not understood: {text!r} ({self._place})")

    def _address(self, text: str) -> Address:
        match = re.fullmatch(rf"({_NAME}|-?\d\w*)\s*(?:\+\s*(-?\s*\w+))?", text)
        if match is None:
            raise PtxError(f"address not understood: {text!r} ({self._place})")
        base = self._operand(match[1], "")
        assert isinstance(base, Register | Symbol | Immediate)
        return Address(base, int(match[2].replace(" ", ""), 0) if match[2] else 0)

    def _resolve(self) -> None:
        """Labels are those of the innermost scope that has them."""
        for index, name, scopes in self._branches:
            instruction = self._code[index]
            assert isinstance(instruction, Instruction)
            if instruction.parts[0] == "brx":
                continue
            found = next((self._labels[scope, name] for scope in scopes if (scope, name) in self._labels), None)
            if found is None:
                raise PtxError(f"{instruction.opcode}: there is no label {name!r} ({instruction.place})")
            operands = (*instruction.operands[:-1], Symbol(found))
            self._code[index] = Instruction(instruction.parts, operands, instruction.guard, instruction.place)
