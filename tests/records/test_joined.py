"""A table with outputs beside it."""

from dataclasses import replace

import numpy as np

from gelu_verify.buckets.reducer import reduce
from gelu_verify.buckets.table import MonotonePieces
from gelu_verify.formats import get_format
from gelu_verify.functions import get_function
from gelu_verify.records.beside import joined, judged
from gelu_verify.records.bucket_errors import BucketErrors
from gelu_verify.records.parts import Beside
from gelu_verify.truth.values import judge, reference_bits

FMT, GELU = get_format("float32"), get_function("gelu")


def test_an_input_that_is_wrong_in_two_calls_is_one_exception():
    x = np.arange(0x3F800000, 0x3F800100, dtype=np.uint32)
    want = reference_bits("gelu", "float32", x)
    got = want.copy()
    got[[3, 5]] += np.uint32(20)
    table = reduce(FMT, GELU, MonotonePieces.of(GELU, FMT), judged(GELU, "float32", x, got))
    beside = Beside(*map(FMT.bits_text, (int(x[3]), int(want[3]) + 70, int(want[3]))), 70.0, "in a call of 100")
    elsewhere = replace(beside, x_bits="0x40000000", got_bits="0x40400000", want_bits="0x3ffa2ae9")

    def above(*outputs):
        return int(BucketErrors.of(joined(table, GELU, outputs), GELU).above.sum())

    assert (above(), above(beside), above(elsewhere), above(beside, elsewhere)) == (2, 2, 3, 3)


def test_an_output_beside_has_the_error_that_it_was_stored_with(monkeypatch):
    """Another version of the native code gives another last bit, and a run that it did not make is still believed."""
    x = np.arange(0x3F800000, 0x3F800100, dtype=np.uint32)
    want = reference_bits("gelu", "float32", x)
    table = reduce(FMT, GELU, MonotonePieces.of(GELU, FMT), judged(GELU, "float32", x, want))
    y = judged(GELU, "float32", x[3:4], want[3:4] - np.uint32(70))
    beside = Beside(*(FMT.bits_text(int(each[0])) for each in (y.x, y.got, y.want)), abs(float(y.error[0])), "alone")
    here = joined(table, GELU, [beside])

    def otherwise(*arguments):
        verdict = judge(*arguments)
        return verdict._replace(error=verdict.error * (1 + 2.0**-40))

    monkeypatch.setattr("gelu_verify.records.beside.judge", otherwise)
    there = joined(table, GELU, [beside])
    assert here.columns["max_error"].max() == abs(float(y.error[0])) == there.columns["max_error"].max()
    assert all(np.array_equal(here.columns[name], there.columns[name], equal_nan=True) for name in here.columns)
