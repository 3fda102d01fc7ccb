"""Where an error comes from: formula, constants, building blocks, or unexplained."""

from __future__ import annotations

from .attribute import Attribution, attribute

__all__ = ["Attribution", "attribute"]
