"""Where an error comes from: the formula, its constants, its building blocks, or the rest of an implementation."""

from __future__ import annotations

from .attribute import Attribution, attribute

__all__ = ["Attribution", "attribute"]
