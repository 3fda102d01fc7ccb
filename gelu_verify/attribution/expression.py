"""Formulas as data: trees whose nodes are the operations that an implementation rounds, one after the other.

A node that is used twice is computed once. `SQRT_HALF * X` is the tree, not the product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

BLOCKS = ("erf", "erfc", "exp", "normcdf", "sigmoid", "tanh")  # what a library has as a function of its own


@dataclass(frozen=True)
class FormulaConstant:
    """A number of the formula.

    `exact(mp)` gives it to the precision of an mpmath context; `also` are the decimals that libraries store instead.
    """

    text: str
    exact: Callable[[Any], Any]
    also: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Node:
    """One operation on the values of other nodes: `x`, `constant`, a block, or one of `operations.OPERATIONS`.

    `name` is what the text calls it where it has a name of its own (u, s).
    """

    operation: str
    arguments: tuple[Node, ...] = ()
    constant: FormulaConstant | None = None
    name: str = ""

    def __add__(self, other: Operand) -> Node:
        return Node("add", (self, lifted(other)))

    def __radd__(self, other: Operand) -> Node:
        return Node("add", (lifted(other), self))

    def __sub__(self, other: Operand) -> Node:
        return Node("sub", (self, lifted(other)))

    def __rsub__(self, other: Operand) -> Node:
        return Node("sub", (lifted(other), self))

    def __mul__(self, other: Operand) -> Node:
        return Node("mul", (self, lifted(other)))

    def __rmul__(self, other: Operand) -> Node:
        return Node("mul", (lifted(other), self))

    def __truediv__(self, other: Operand) -> Node:
        return Node("div", (self, lifted(other)))

    def __rtruediv__(self, other: Operand) -> Node:
        return Node("div", (lifted(other), self))

    def __neg__(self) -> Node:
        return Node("neg", (self,))

    def called(self, name: str) -> Node:
        """The same node under a name."""
        return replace(self, name=name)


Operand = Node | int | str  # a decimal, exactly


def lifted(value: Operand) -> Node:
    """A node of a node, or of an exact decimal."""
    return value if isinstance(value, Node) else decimal(str(value))


def decimal(text: str, *also: str) -> Node:
    """The constant that a decimal names, exactly."""
    number = Fraction(text)
    return constant(text, lambda mp: mp.mpf(number.numerator) / number.denominator, *also)


def constant(text: str, exact: Callable[[Any], Any], *also: str) -> Node:
    """A constant such as sqrt(1/2)."""
    return Node("constant", constant=FormulaConstant(text, exact, also))


def fma(a: Operand, b: Operand, c: Operand) -> Node:
    """a*b + c, rounded once."""
    return Node("fma", (lifted(a), lifted(b), lifted(c)))


def absolute(v: Node) -> Node:
    return Node("abs", (v,))


def copysign(v: Node, sign: Node) -> Node:
    return Node("copysign", (v, sign))


def select(condition: Node, negative: Operand, other: Operand) -> Node:
    """`negative` where the condition is below zero, else `other`."""
    return Node("select", (condition, lifted(negative), lifted(other)))


def cube(v: Node) -> Node:
    """v^3, rounded once, as pow(v, 3) gives it."""
    return Node("cube", (v,))


def contracted(root: Node) -> Node:
    """The same formula where a*b + c is one fma, as compilers make it where the processor has one."""
    done: dict[Node, Node] = {}
    for node in nodes(root):
        arguments = tuple(done[each] for each in node.arguments)
        new = node if arguments == node.arguments else replace(node, arguments=arguments)
        product = next((each for each in arguments if each.operation == "mul"), None)
        if node.operation == "add" and product is not None:
            other = arguments[1] if arguments[0] is product else arguments[0]
            new = Node("fma", (*product.arguments, other), name=node.name)
        if node.operation == "sub" and arguments[1].operation == "mul":  # c - a*b
            a, b = arguments[1].arguments
            new = Node("fma", (-a, b, arguments[0]), name=node.name)
        done[node] = new
    return done[root]


def leftward(root: Node) -> Node:
    """The same formula where every product is taken from the left, as C reads c*x*x*x."""
    done: dict[Node, Node] = {}
    for node in nodes(root):
        arguments = tuple(done[each] for each in node.arguments)
        done[node] = node if arguments == node.arguments else replace(node, arguments=arguments)
        if node.operation == "mul":
            first, *others = _factors(done[node])
            product = first
            for factor in others:
                product = product * factor
            done[node] = done[node] if _same(product, done[node]) else product.called(node.name)
    return done[root]


def _factors(node: Node) -> list[Node]:
    """What a product is made of; a part with a name of its own is one factor."""
    return [
        f for each in node.arguments for f in (_factors(each) if each.operation == "mul" and not each.name else [each])
    ]


def _same(a: Node, b: Node) -> bool:
    """Whether two trees do the same to the same nodes."""
    return a is b or (a.operation == b.operation == "mul" and all(map(_same, a.arguments, b.arguments)))


def block(function: str, v: Node) -> Node:
    """A building block: one of BLOCKS."""
    return Node(function, (v,))


X = Node("x")
SQRT_HALF = constant("sqrt(1/2)", lambda mp: mp.sqrt(mp.mpf(1) / 2), "0.70710678", "0.7071067811", "0.70710678118")
SQRT_2_OVER_PI = constant(
    "sqrt(2/pi)", lambda mp: mp.sqrt(2 / mp.pi), "0.797885", "0.79788456", "0.79788458347", "0.7978845608"
)
TWO_OVER_SQRT_PI = constant("2/sqrt(pi)", lambda mp: 2 / mp.sqrt(mp.pi), "1.128379167")
INV_SQRT_2PI = constant("1/sqrt(2*pi)", lambda mp: 1 / mp.sqrt(2 * mp.pi), "0.398942", "0.3989422804")


def nodes(root: Node) -> list[Node]:
    """Every node under `root`, arguments before what uses them."""
    found: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node not in found:
            for argument in node.arguments:
                visit(argument)
            found[node] = None

    visit(root)
    return list(found)


def constants(root: Node) -> Iterator[FormulaConstant]:
    """The constants that rounding may change; whole numbers and powers of two are not among them."""
    found: dict[str, FormulaConstant] = {}
    for node in nodes(root):
        if node.constant is not None and not _is_short(node.constant):
            found.setdefault(node.constant.text, node.constant)
    yield from found.values()


def _is_short(each: FormulaConstant) -> bool:
    try:
        number = Fraction(each.text)
    except ValueError:
        return False
    return number.denominator & (number.denominator - 1) == 0 and abs(number.numerator) < 128


_SIGNS = {"add": (" + ", 1), "sub": (" - ", 1), "mul": ("*", 2), "div": ("/", 2)}


def text(node: Node, whole: bool = True) -> str:
    """The formula under a node; `whole`: written out at the top even where it has a name."""
    return _written(node, whole)[0]


def _written(node: Node, whole: bool) -> tuple[str, int]:
    """Text and how tightly it binds: 1 sum, 2 product, 3 anything else."""
    if node.name and not whole:
        return node.name, 3
    if node.constant is not None:
        return node.constant.text, 2 if "/" in node.constant.text.partition("(")[0] else 3
    parts = [_written(argument, False) for argument in node.arguments]
    if node.operation in _SIGNS:
        sign, binds = _SIGNS[node.operation]
        (left, how_left), (right, how_right) = parts
        left = left if how_left >= binds else f"({left})"
        right = right if how_right > binds else f"({right})"  # a + (b + c) rounds otherwise than a + b + c
        return left + sign + right, binds
    if node.operation == "neg":
        return "-" + (parts[0][0] if parts[0][1] >= 2 else f"({parts[0][0]})"), 2
    if node.operation == "x":
        return "x", 3
    if node.operation == "select":
        condition, negative, other = (part for part, _ in parts)
        return f"({negative} if {condition} < 0 else {other})", 3
    return f"{node.operation}({', '.join(part for part, _ in parts)})", 3
