"""What an entry of `FORMS` says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..expression import Node, contracted, leftward, nodes, text


@dataclass(frozen=True, kw_only=True)
class Form:
    """One way to compute one function, rounding by rounding.

    `name` begins with the function's. `private`: building blocks that the implementation computes by itself, as trees
    of their argument. `spellings` and `targets`: by which description, and by which name, a target is known to use it;
    where several forms fit, the one that explains the measured results best is taken.
    """

    name: str
    function: str
    root: Node
    private: Mapping[str, Callable[[Node], Node]] = field(default_factory=dict)
    private_text: str = ""
    spellings: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    def variants(self) -> Iterator[Form]:
        """The same with products from the left, with a*b + c rounded once, with both: where that is another form."""
        left = self._changed("left", leftward)
        for form in (self, left):
            yield from filter(None, (left if form is self else None, form and form._changed("fma", contracted)))

    def _changed(self, how: str, change: Callable[[Node], Node]) -> Form | None:
        trees = [self.root, *(build(Node("x")) for build in self.private.values())]
        if all(change(tree) is tree for tree in trees):
            return None
        private = {name: _after(change, build) for name, build in self.private.items()}
        root = change(self.root)
        return replace(self, name=f"{self.name}+{how}", root=root, private=private, spellings=(), targets=())

    @property
    def text(self) -> str:
        """The formula in one line, with what its names stand for."""
        named = [node for node in nodes(self.root) if node.name]
        return ", ".join([text(self.root), *(f"{node.name} = {text(node)}" for node in reversed(named))])


def _after(change: Callable[[Node], Node], build: Callable[[Node], Node]) -> Callable[[Node], Node]:
    return lambda x: change(build(x))
