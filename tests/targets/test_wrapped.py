"""What a target in another one has of its own, it keeps there."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from threading import Lock

import numpy as np
import pytest

from gelu_verify.targets.base import Target
from gelu_verify.targets.extra_outputs import ExtraOutputs
from gelu_verify.targets.recorded import Recorded
from gelu_verify.targets.wrapped import TakingTurns

MEMORY, ALONE = np.zeros(3, np.uint32), nullcontext()


@dataclass(frozen=True, kw_only=True)
class Peculiar(Target):
    """Unlike a plain target in everything that one may have of its own."""

    family = "peculiar"
    environment_words = ("flushes",)
    why_not_in_place = "it is peculiar"

    def load(self, dtype, x_bits):
        return x_bits

    def call(self, loaded):
        return loaded + 1

    def store(self, dtype, loaded, result):
        return result + 1

    def input_memory(self, dtype, n):
        return MEMORY

    def fresh(self):
        return True

    def search_seconds(self, dtype):
        return 7.0

    def alone(self):
        return ALONE


INNER = Peculiar(name="peculiar.gelu", function="gelu", dtypes=("float32",), version="1")
WRAPPED = [Recorded.around(INNER, others=ExtraOutputs()), TakingTurns.around(INNER, turn=Lock())]


@pytest.mark.parametrize("target", WRAPPED, ids=lambda target: type(target).__name__)
def test_a_target_in_another_one_keeps_what_it_has(target):
    assert target.search_seconds("float32") == 7.0
    assert target.why_not_in_place == "it is peculiar"
    assert (target.family, target.environment_words, target.fresh()) == ("peculiar", ("flushes",), True)
    assert target.input_memory("float32", 9) is MEMORY
    assert target.alone() is ALONE
    assert target.evaluate("float32", np.arange(4, dtype=np.uint32)).tolist() == [2, 3, 4, 5]
