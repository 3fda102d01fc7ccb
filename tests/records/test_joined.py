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
from gelu_verify.truth.values import reference_bits

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
