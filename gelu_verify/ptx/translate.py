"""A kernel of a module as C++: one lane runs until it waits or ends (src/ptx/launch.h runs them all).

What waits, a barrier or a shuffle, is a place where the function returns and is entered again; the registers that live
there are kept meanwhile. A branch is a goto: lanes diverge as they like, since each runs alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from .contraction import Products
from .emit import VariableLayout, WrittenFunction, ctype, identifier, is_float
from .ir import Instruction, Label, Negated, ParsedFunction, PtxError, PtxModule, Symbol, Variable, Vector
from .liveness import copied_only, live_where_it_waits
from .opcodes import emitter_of
from .opcodes.control import ASSERT, PRINT, label
from .opcodes.memory import array
from .opcodes.together import WAIT, waits

_HEAD = '#include "kernel.h"\nusing namespace ptx;\n'
_END = """
extern "C" int gelu_verify_launch(const launch_arguments *a, fault *found)
{
    return launched<kept, kernel>(a, found);
}
"""
APPROXIMATIONS = {"lowest": -1, "nearest": 0, "highest": 1, "mixed": 2}  # src/ptx/approximate.h
FUSED = "-fused"  # sums of products in one rounding
EXECUTIONS = tuple(f"{taken}{how}" for how in ("", FUSED) for taken in APPROXIMATIONS)
RED_ZONE = 16  # bytes that nothing may touch, between the variables of shared memory


@dataclass(frozen=True)
class Translated:
    """A kernel in C++, and what its launch needs.

    `parameters` are offsets and sizes; `shared_ranges` the first and the end of each variable in shared memory, before
    the part that the launch asks for; `symbols` the global variables, in the order of their indices; `sites` opcode and
    place of what may fail; `approximations` opcodes whose bits PTX does not specify, with their places; `contractible`
    products and sums of which it does not say whether they are rounded apart.
    """

    name: str
    code: str
    parameters: tuple[tuple[int, int], ...]
    shared_ranges: tuple[tuple[int, int], ...]
    shared_static: int
    local_size: int
    entry_local: int
    most_threads: int
    symbols: tuple[str, ...]
    sites: tuple[tuple[str, str], ...]
    approximations: tuple[tuple[str, str], ...]
    contractible: tuple[tuple[str, str], ...]
    races_unseen: str

    @property
    def executions(self) -> tuple[str, ...]:
        """Those of `EXECUTIONS` whose results may differ; none where PTX specifies all bits."""
        if not self.approximations and not self.contractible:
            return ()
        taken = APPROXIMATIONS if self.approximations else ("nearest",)
        return tuple(f"{each}{how}" for how in ("", FUSED)[: 1 + bool(self.contractible)] for each in taken)

    def why_not_determined(self) -> str:
        """Why PTX does not specify the bits of the results; an empty text where it does."""
        found = self.approximations or self.contractible
        if not found:
            return ""
        opcode, place = found[0]
        others = f" and {len(found) - 1} more" if len(found) > 1 else ""
        if self.approximations:
            why = "an approximation, of which PTX specifies a bound and no bits"
            return f"{self.name} computes {opcode} ({place}){others}: {why}"
        why = "PTX does not say whether they are rounded apart or as one fma (-fmad=false decides that)"
        return f"{self.name} computes {opcode} ({place}){others}, and {why}"


def translate(module: PtxModule, name: str) -> Translated:
    """The kernel of that name; PtxError names what is not supported."""
    kernel = module.functions[name]
    called = _called(module, kernel)
    symbols = [v.name for v in module.variables.values() if v.space in ("global", "const")]
    shared, ranges, static = _shared(module, [*called, kernel])
    layout = VariableLayout({name: k for k, name in enumerate(symbols)}, shared, static, module.functions)
    functions = [_function(layout, function) for function in called]
    parameters = _placed(kernel.parameters)
    entry = _Kernel(layout, kernel, dict(zip((p.name for p in kernel.parameters), parameters, strict=True)))
    body = entry.code()
    frames = [_local(function)[1] for function in called]
    own = _local(kernel)[1]
    return Translated(
        name=name,
        code="\n".join([_HEAD, *functions, body, _END]),
        parameters=tuple((offset, p.nbytes) for offset, p in zip(parameters, kernel.parameters, strict=True)),
        shared_ranges=tuple(ranges),
        shared_static=static,
        local_size=own + sum(size + 16 for size in frames),
        entry_local=own,
        most_threads=kernel.most_threads,
        symbols=tuple(symbols),
        sites=tuple(layout.sites),
        approximations=tuple(dict.fromkeys(layout.approximations)),
        contractible=tuple(dict.fromkeys(each for function in (*called, kernel) for each in Products(function).sums())),
        races_unseen=layout.races_unseen,
    )


def _called(module: PtxModule, kernel: ParsedFunction) -> list[ParsedFunction]:
    """All functions that a kernel calls, those that others call first."""
    graph: dict[str, set[str]] = {}
    pending = [kernel]
    while pending:
        function = pending.pop()
        if function.name in graph:
            continue
        graph[function.name] = set()
        for ins in function.body:
            if isinstance(ins, Instruction) and ins.parts[0] == "call":
                name = next(each for each in ins.operands if not isinstance(each, Vector))
                callee = module.functions.get(name.name) if isinstance(name, Symbol) else None
                if callee is not None and callee.text is not None and callee.name not in (PRINT, ASSERT):
                    graph[function.name].add(callee.name)
                    pending.append(callee)
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise PtxError(f"{' calls '.join(error.args[1])}: recursion is not supported") from None
    return [module.functions[name] for name in order if name != kernel.name]


def _aligned(place: int, align: int) -> int:
    return -(-place // align) * align


def _placed(variables: list[Variable]) -> list[int]:
    """The offset of each parameter."""
    place, offsets = 0, []
    for variable in variables:
        offsets.append(_aligned(place, variable.align))
        place = offsets[-1] + variable.nbytes
    return offsets


def _shared(module: PtxModule, functions: list[ParsedFunction]) -> tuple[dict[str, int], list[tuple[int, int]], int]:
    """Offsets, ranges and size of what is in shared memory; what the launch sizes comes after all others."""
    every = [v for v in module.variables.values() if v.space == "shared"]
    every += [v for function in functions for v in function.variables if v.space == "shared"]
    place, offsets, ranges = 0, {}, []
    text = " ".join(function.text or "" for function in functions)
    for variable in every:
        if not variable.external and variable.count and variable.name in text:
            offsets[variable.name] = _aligned(place, max(variable.align, 16))
            ranges.append((offsets[variable.name], offsets[variable.name] + variable.nbytes))
            place = ranges[-1][1] + RED_ZONE
    static = _aligned(place, 128) if any(not variable.count for variable in every) or place else 0
    offsets |= {variable.name: static for variable in every if variable.external or not variable.count}
    return offsets, ranges, static


def _local(function: ParsedFunction) -> tuple[dict[str, int], int]:
    """Offsets and size of local memory."""
    place, offsets = 0, {}
    for variable in function.variables:
        if variable.space == "local":
            offsets[variable.name] = _aligned(place, variable.align)
            place = offsets[variable.name] + variable.nbytes
    return offsets, _aligned(place, 16)


# ---- functions -----------------------------------------------------------------------------------


def _statement(c: WrittenFunction, ins: Instruction, products: Products) -> str:
    c.ins = ins
    emitter = emitter_of(ins.parts)
    if emitter is None:
        raise c.unknown()
    try:
        code = products.followed(c, ins, emitter(c, ins))
    except (IndexError, ValueError, KeyError, StopIteration, AssertionError) as error:
        raise c.unknown(f"its operands: {error}") from error
    if ins.guard is None:
        return code
    name = ins.guard.register.name if isinstance(ins.guard, Negated) else ins.guard.name
    return f"if ({'!' if isinstance(ins.guard, Negated) else ''}{identifier(name)}) {{ {code} }}"


def _declarations(function: ParsedFunction, at_start: set[str]) -> list[str]:
    """Registers; those that may be read before they are written begin with a value that is nobody's."""
    lines = []
    for register in function.registers.values():
        kind, name = ctype(register.type), identifier(register.name)
        unset = "false" if kind == "bool" else f"bits<{kind}>((u{kind[1:]})0xcdcdcdcdcdcdcdcdull)"
        lines.append(f"{kind} {name}{f' = {unset}' if register.name in at_start or not is_float(kind) else ''};")
    lines.append("u32 cc_ = 0; (void)cc_;")
    arrays: dict[str, int] = {}  # calls, each in a scope of its own, use the same names
    for variable in function.variables:
        if variable.space == "param":
            arrays[variable.name] = max(arrays.get(variable.name, 1), variable.nbytes)
    return lines + [f"alignas(16) u8 {array(name)}[{nbytes}];" for name, nbytes in arrays.items()]


def _function(layout: VariableLayout, function: ParsedFunction) -> str:
    """One that is called: results and parameters are arrays of bytes."""
    offsets, size = _local(function)
    c = WrittenFunction(layout, function, offsets, copied_only(function))
    body = function.body
    for ins in body:
        if isinstance(ins, Instruction) and waits(ins):
            c.ins = ins
            raise c.unknown(f"within {function.name}, which is called and not inlined")
    arrays = [f"u8 *{array(v.name)}" for v in function.returns] + [f"u8 *{array(v.name)}" for v in function.parameters]
    head = f"static void f_{identifier(function.name)}({', '.join(['environment &e', 'lane &l', *arrays])})"
    products = Products(function)
    lines = [
        head,
        "{",
        "(void)e; (void)l;",
        *_declarations(function, set(function.registers)),
        *products.declarations(),
    ]
    lines += [f"frame frame_(l, {size});"] if size else []
    lines += [f"{label(each.name)}:;" if isinstance(each, Label) else _statement(c, each, products) for each in body]
    return "\n".join([*lines, "return;", "}"])


class _Kernel:
    """The function of one lane."""

    def __init__(self, layout: VariableLayout, function: ParsedFunction, parameters: dict[str, int]) -> None:
        offsets, _ = _local(function)
        self._function, self._parameters = function, parameters
        self._context = WrittenFunction(layout, function, {**offsets, **parameters}, copied_only(function))
        self._live, self._at_start = live_where_it_waits(function)
        self._products = Products(function)

    def code(self) -> str:
        """The struct of what is kept, and the function."""
        places = sorted(self._live)
        kept = sorted(set().union(*self._live.values())) if places else []
        registers = self._function.registers
        fields = " ".join(f"{ctype(registers[name].type)} {identifier(name)};" for name in kept)
        lines = [f"struct kept {{ {fields} }};", "static void kernel(environment &e, lane &l, kept &k)", "{"]
        lines += ["(void)e; (void)l; (void)k;", *_declarations(self._function, self._at_start)]
        lines += self._products.declarations()
        lines += ["switch (l.pc) {", "default: break;"]
        lines += [f"case {n}: {self._restored(index)} goto W{n};" for n, index in enumerate(places, 1)]
        lines += ["}"]
        number = {index: n for n, index in enumerate(places, 1)}
        for index, each in enumerate(self._function.body):
            if isinstance(each, Label):
                lines.append(f"{label(each.name)}:;")
            else:
                code = _statement(self._context, each, self._products)
                lines.append(code.replace(WAIT, self._waiting(index, number.get(index, 0))))
        return "\n".join([*lines, "l.state = ENDED;", "}"])

    def _restored(self, index: int) -> str:
        return " ".join(f"{identifier(name)} = k.{identifier(name)};" for name in sorted(self._live[index]))

    def _waiting(self, index: int, number: int) -> str:
        kept = " ".join(f"k.{identifier(name)} = {identifier(name)};" for name in sorted(self._live.get(index, ())))
        return f"{kept} l.pc = {number}; return; W{number}:;"
