"""What a form's file says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..expression import Node, text


@dataclass(frozen=True, kw_only=True)
class Form:
    """One way to compute one function, rounding by rounding.

    `name` is that of its file. `private`: building blocks that the implementation computes by itself, as trees of
    their argument. `spellings` and `targets`: by which description, and by which name, a target is known to use it;
    where several forms fit, the one that explains the measured results best is taken.
    """

    name: str
    function: str
    root: Node
    private: Mapping[str, Callable[[Node], Node]] = field(default_factory=dict)
    private_text: str = ""
    spellings: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The formula in one line, with what its names stand for."""
        from ..expression import nodes

        named = [node for node in nodes(self.root) if node.name]
        return ", ".join([text(self.root), *(f"{node.name} = {text(node)}" for node in reversed(named))])
