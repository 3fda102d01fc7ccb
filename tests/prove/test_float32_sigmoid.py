"""The certificate of silu and gelu_sigmoid in float32 (docs/proofs.md, section 9)."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from flint import arb
from prove import checks
from prove.sigmoid32 import STEP, VALUES, algorithm, defined, exp_loss, r_is_exact, read_rate, read_steps, slope_loss
from prove.sigmoid32 import value_loss
from prove.source import ROOT
from prove.symbols import Symbol
from repository import SUPPORT

pytestmark = pytest.mark.prove
rates = pytest.mark.parametrize("name", VALUES)


@rates
def test_bounds(name):
    for x in (exp_loss(name)[0], value_loss(name), slope_loss(name)):
        print(name, float(x), np.log2(float(x)))
