"""Functions without native code: enclosures in the form of the native judge, shared among processes and stored."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from marking import NATIVE, NATIVE_FIRST
from points import delicate_inputs

from gelu_verify.formats import DTYPES, FORMATS
from gelu_verify.functions import FUNCTIONS, is_registered
from gelu_verify.truth import enclosed, values
from gelu_verify.truth.oracle import enclose
from gelu_verify.truth.values import judge, reference_bits

every_dtype = pytest.mark.parametrize("dtype", DTYPES)


@every_dtype
@pytest.mark.parametrize("name", NATIVE)
def test_judging_without_native_code_finds_the_same(name, dtype, monkeypatch):
    fmt = FORMATS[dtype]
    ends = [bits | sign for bits in (0, fmt.infinity, fmt.nan) for sign in (0, fmt.sign_mask)]
    x = np.array(delicate_inputs(FUNCTIONS[name], fmt, 150, 9) + ends, fmt.uint)
    right = reference_bits(name, dtype, x)
    for got in (right, right + fmt.uint.type(1)):
        native = judge(name, dtype, x, got)
        with monkeypatch.context() as without:
            without.setattr(values, "_NATIVE", frozenset())
            ours = judge(name, dtype, x, got)
        assert np.array_equal(native.want_bits, ours.want_bits)
        assert np.array_equal(native.faithful, ours.faithful)
        close = 2.0 ** (fmt.precision - 40) if fmt.precision <= 24 else 2.0**-30
        np.testing.assert_allclose(ours.error, native.error, rtol=1e-9, atol=close)


@every_dtype
@pytest.mark.parametrize("name", NATIVE_FIRST)
def test_a_value_lies_within_its_bound(name, dtype):
    fmt, function = FORMATS[dtype], FUNCTIONS[name]
    x = np.array([b for b in delicate_inputs(function, fmt, 60, 5) if abs(fmt.fraction(b)) < 30], fmt.uint)
    for bits, (hi, lo, err, k, _) in zip(x.tolist(), enclosed.values_of(function, fmt, x).tolist(), strict=True):
        y = [Fraction(0)] * 2 if hi == 0 else enclose(function, fmt.dyadic(bits), 400)
        middle = (Fraction(hi) + Fraction(lo)) * Fraction(2) ** k
        assert max(abs(end - middle) for end in y) <= (Fraction(err) + abs(Fraction(hi)) / 2**390) * Fraction(2) ** k


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(enclosed, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(enclosed, "_whole", {})
    return tmp_path / "values"


def test_values_are_shared_among_processes_and_stored(folder, monkeypatch):
    fmt, function = FORMATS["float32"], FUNCTIONS["gelu_sigmoid"]
    x = np.random.default_rng(1).integers(0, 1 << 32, enclosed.SHARED, dtype=np.uint32)
    alone = enclosed._computed(function, fmt, np.unique(x))
    assert np.array_equal(enclosed.values_of(function, fmt, np.unique(x)), alone)
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(enclosed, "_computed", None)  # nothing is computed again
    assert np.array_equal(enclosed.values_of(function, fmt, np.unique(x)), alone)
    monkeypatch.undo()


def test_a_damaged_file_is_not_believed(folder):
    fmt, function = FORMATS["float32"], FUNCTIONS["relu"]
    x = np.arange(enclosed.STORED, dtype=np.uint32) + np.uint32(0x40000000)
    first = enclosed.values_of(function, fmt, x)
    (path,) = folder.iterdir()
    for damaged in (path.read_bytes()[:-1], b"\x00" + path.read_bytes()[1:]):
        path.write_bytes(damaged)
        assert np.array_equal(enclosed.values_of(function, fmt, x), first)


def test_a_function_that_others_do_not_have_is_not_stored(folder):
    other = dataclasses.replace(FUNCTIONS["relu"])
    assert not is_registered(other)
    enclosed.values_of(other, FORMATS["float32"], np.arange(enclosed.STORED, dtype=np.uint32))
    assert not folder.exists()


def test_the_folder_has_a_bound(folder, monkeypatch):
    monkeypatch.setattr(enclosed, "MOST_BYTES", 3 * enclosed.STORED * enclosed.VALUE.itemsize)
    for start in range(6):
        x = np.arange(enclosed.STORED, dtype=np.uint32) + np.uint32(start << 20)
        enclosed.values_of(FUNCTIONS["relu"], FORMATS["float32"], x)
    assert 1 <= len(list(folder.iterdir())) <= 3
