"""C functions of straight lines, loops and branches, run on whatever numbers an `Arithmetic` brings.

The same tree is run in IEEE doubles (exact.py: the bits of the compiled core), in enclosures with error
bounds (tracked.py: the proof) and in symbols (symbols.py: which algorithm a function is).
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

from prove.source import Source, number, type_name
from pycparser import c_ast

INTEGERS = {"int", "uint64_t", "int64_t", "size_t", "unsigned char", "uint32_t"}
BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "%": operator.mod,
}
COMPARISONS = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class Struct:
    """A C structure: copied when it is assigned, passed or returned."""

    def __init__(self, kind: str, fields: dict[str, Any]) -> None:
        self.kind = kind
        self.fields = fields

    def copied(self) -> Struct:
        return Struct(self.kind, {name: value_of(value) for name, value in self.fields.items()})


def value_of(value: Any) -> Any:
    return value.copied() if isinstance(value, Struct) else copy.copy(value) if isinstance(value, list) else value


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class Arithmetic:
    """What `double` means. Every method may be replaced; `intrinsics` stand for C functions."""

    intrinsics: dict[str, Callable[..., Any]]

    def constant(self, value: float) -> Any:
        return value

    def table(self, name: str, path: tuple[Any, ...], value: Any) -> Any:
        """An entry of a table: `value` is its Struct or number in doubles."""
        return value

    def binary(self, op: str, a: Any, b: Any) -> Any:
        return BINARY[op](a, b)

    def compare(self, op: str, a: Any, b: Any) -> bool:
        return COMPARISONS[op](a, b)

    def negate(self, a: Any) -> Any:
        return -a

    def member(self, value: Any, name: str) -> Any:
        return value.fields[name]

    def truth(self, value: Any) -> bool:
        return bool(value)

    def to_integer(self, value: Any) -> Any:
        return int(value)

    def structure(self, kind: str, fields: dict[str, Any]) -> Any:
        return Struct(kind, fields)

    def select(self, condition: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        return yes() if self.truth(condition) else no()


class Table:
    """A global constant array or structure; indexing walks down, `Arithmetic.table` sees where it ends."""

    def __init__(self, name: str, data: Any, path: tuple[Any, ...] = ()) -> None:
        self.name, self.data, self.path = name, data, path


class Interpreter:
    def __init__(self, source: Source, arithmetic: Arithmetic) -> None:
        self.source = source
        self.arithmetic = arithmetic
        self.globals = {name: self._global(decl) for name, decl in source.variables.items()}

    def call(self, name: str, *arguments: Any) -> Any:
        if name in self.arithmetic.intrinsics:
            return self.arithmetic.intrinsics[name](*arguments)
        definition = self.source.functions[name]
        parameters = definition.decl.type.args.params if definition.decl.type.args else []
        scope: dict[str, Any] = {}
        for parameter, argument in zip(parameters, arguments, strict=False):
            if parameter.name is not None:
                scope[parameter.name] = self._converted(value_of(argument), type_name(parameter.type))
        try:
            self._block(definition.body, scope)
        except _Return as returned:
            return self._converted(returned.value, type_name(definition.decl.type))
        return None

    def plain(self, name: str) -> Any:
        """A table or constant in plain doubles, lists and Structs."""
        return self.globals[name].data

    def _global(self, decl: c_ast.Decl) -> Table:
        return Table(decl.name, self._literal(decl.init, decl.type))

    def _literal(self, node: c_ast.Node, kind: c_ast.Node | str) -> Any:
        if isinstance(node, c_ast.InitList):
            name = kind if isinstance(kind, str) else type_name(kind)
            if name.endswith("[]"):
                inner = name[:-2]
                return [self._literal(item, inner) for item in node.exprs]
            members = self.source.structures[name]
            return Struct(name, {m: self._literal(e, t) for (m, t), e in zip(members, node.exprs, strict=True)})
        if isinstance(node, c_ast.UnaryOp):
            return -self._literal(node.expr, kind)
        return number(node.value)

    def _converted(self, value: Any, kind: str) -> Any:
        is_integer = type(value) in (int, bool)
        if kind == "double" and is_integer:
            return self.arithmetic.constant(float(value))
        if kind in INTEGERS and not is_integer:
            return self.arithmetic.to_integer(value)
        if kind == "uint64_t" and is_integer:
            return value & 0xFFFFFFFFFFFFFFFF
        return value

    def _block(self, block: c_ast.Compound, scope: dict[str, Any]) -> None:
        for item in block.block_items or []:
            self._statement(item, scope)

    def _statement(self, node: c_ast.Node, scope: dict[str, Any]) -> None:
        match node:
            case c_ast.Return():
                raise _Return(value_of(self.value(node.expr, scope)))
            case c_ast.Decl():
                self._declare(node, scope)
            case c_ast.DeclList():
                for decl in node.decls:
                    self._declare(decl, scope)
            case c_ast.If():
                taken = node.iftrue if self.arithmetic.truth(self.value(node.cond, scope)) else node.iffalse
                if taken is not None:
                    self._statement(taken, scope)
            case c_ast.For():
                self._statement(node.init, scope)
                while self.arithmetic.truth(self.value(node.cond, scope)):
                    self._statement(node.stmt, scope)
                    self.value(node.next, scope)
            case c_ast.Compound():
                self._block(node, scope)
            case c_ast.EmptyStatement():
                pass
            case _:
                self.value(node, scope)

    def _declare(self, decl: c_ast.Decl, scope: dict[str, Any]) -> None:
        kind = type_name(decl.type)
        if decl.init is None:
            members = self.source.structures.get(kind)
            scope[decl.name] = Struct(kind, dict.fromkeys((m for m, _ in members), None)) if members else None
        elif isinstance(decl.init, c_ast.InitList):
            members = self.source.structures[kind]
            values = [
                self._converted(self.value(e, scope), t) for (_, t), e in zip(members, decl.init.exprs, strict=True)
            ]
            scope[decl.name] = self.arithmetic.structure(
                kind, {m: v for (m, _), v in zip(members, values, strict=True)}
            )
        else:
            scope[decl.name] = self._converted(value_of(self.value(decl.init, scope)), kind)

    def value(self, node: c_ast.Node, scope: dict[str, Any]) -> Any:
        match node:
            case c_ast.Constant():
                literal = number(node.value)
                return self.arithmetic.constant(literal) if isinstance(literal, float) else literal
            case c_ast.ID() if node.name in self.source.enumerators:
                return self.source.enumerators[node.name]
            case c_ast.CompoundLiteral():
                names = [m for m, _ in self.source.structures[type_name(node.type.type)]]
                values = [self.value(e, scope) for e in node.init.exprs]
                return Struct(type_name(node.type.type), dict(zip(names, values, strict=True)))
            case c_ast.ID():
                return self._entry(scope[node.name] if node.name in scope else self.globals[node.name])
            case c_ast.BinaryOp():
                return self._binary(node, scope)
            case c_ast.UnaryOp():
                return self._unary(node, scope)
            case c_ast.Assignment():
                return self._assign(node, scope)
            case c_ast.FuncCall():
                arguments = [self.value(a, scope) for a in node.args.exprs] if node.args else []
                return self.call(node.name.name, *arguments)
            case c_ast.TernaryOp():
                condition = self.value(node.cond, scope)
                return self.arithmetic.select(
                    condition, lambda: self.value(node.iftrue, scope), lambda: self.value(node.iffalse, scope)
                )
            case c_ast.StructRef():
                owner = self.value(node.name, scope)
                if isinstance(owner, Table):
                    inner = Table(owner.name, owner.data.fields[node.field.name], (*owner.path, node.field.name))
                    return self._entry(inner)
                return self.arithmetic.member(owner, node.field.name)
            case c_ast.ArrayRef():
                owner, index = self.value(node.name, scope), self.value(node.subscript, scope)
                if isinstance(owner, Table):
                    data = owner.data[index if isinstance(index, int) else 0]  # a symbol: any entry shows the kind
                    return self._entry(Table(owner.name, data, (*owner.path, index)))
                return owner[index]
            case c_ast.Cast():
                return self._converted(self.value(node.expr, scope), type_name(node.to_type.type))
            case c_ast.ExprList():
                return [self.value(e, scope) for e in node.exprs][-1]
        raise NotImplementedError(f"{type(node).__name__} at {node.coord}")

    def _entry(self, item: Any) -> Any:
        """A number or gv_dd at the end of a table's path; arrays and larger structures stay tables."""
        if not isinstance(item, Table):
            return item
        if isinstance(item.data, float) or (isinstance(item.data, Struct) and item.data.kind == "gv_dd"):
            return self.arithmetic.table(item.name, item.path, item.data)
        return item

    def _binary(self, node: c_ast.BinaryOp, scope: dict[str, Any]) -> Any:
        if node.op in ("&&", "||"):
            left = self.arithmetic.truth(self.value(node.left, scope))
            if left == (node.op == "||"):
                return left
            return self.arithmetic.truth(self.value(node.right, scope))
        a, b = self.value(node.left, scope), self.value(node.right, scope)
        if type(a) in (int, bool) and type(b) in (int, bool):
            if node.op == "/":
                return int(a / b)
            return (COMPARISONS.get(node.op) or BINARY[node.op])(a, b)
        a, b = (
            self.arithmetic.constant(float(v)) if type(v) in (int, bool) and node.op not in "&|^<<>>" else v
            for v in (a, b)
        )
        if node.op in COMPARISONS:
            return self.arithmetic.compare(node.op, a, b)
        return self.arithmetic.binary(node.op, a, b)

    def _unary(self, node: c_ast.UnaryOp, scope: dict[str, Any]) -> Any:
        if node.op == "&":
            return self.value(node.expr, scope)
        value = self.value(node.expr, scope)
        if node.op == "-":
            return -value if type(value) is int else self.arithmetic.negate(value)
        if node.op == "!":
            return not self.arithmetic.truth(value)
        if node.op == "~":
            return ~value
        if node.op in ("p++", "p--", "++", "--"):
            scope[node.expr.name] = value + (1 if "+" in node.op else -1)
            return value
        raise NotImplementedError(node.op)

    def _assign(self, node: c_ast.Assignment, scope: dict[str, Any]) -> Any:
        value = value_of(self.value(node.rvalue, scope))
        if node.op != "=":
            value = self._combined(node.op[:-1], self.value(node.lvalue, scope), value)
        if isinstance(node.lvalue, c_ast.StructRef):
            owner = scope[node.lvalue.name.name]
            kinds = dict(self.source.structures[owner.kind])
            owner.fields[node.lvalue.field.name] = self._converted(value, kinds[node.lvalue.field.name])
        else:
            scope[node.lvalue.name] = value
        return value

    def _combined(self, op: str, a: Any, b: Any) -> Any:
        if type(a) is int:
            return BINARY[op](a, int(b) if type(b) is bool else b)
        return self.arithmetic.binary(op, a, b)
