"""Arrays come back as they were, bit for bit, whatever is zero in them."""

import numpy as np
import pytest

from gelu_verify.work.packing import compressed, uncompressed

TABLE = np.zeros((24, 1000), np.uint32)
TABLE[3, 5] = 7


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(0),
        np.zeros((0, 2), np.uint64),
        np.zeros((3, 0), np.uint32),
        np.zeros((24, 5), np.uint32),
        TABLE,
        np.array(5),
        np.array([0.0, -0.0]),
        np.array([[-0.0, 0.0], [0.0, 0.0]]),
        np.arange(12).reshape(3, 4).T,
        np.arange(24.0).reshape(2, 3, 4)[:, :, ::2],
    ],
)
def test_an_array_comes_back(array):
    fields, arrays = uncompressed(compressed({"n": np.int64(3)}, {"first": array, "next": np.arange(3)}))
    assert fields == {"n": 3}
    assert (arrays["first"].dtype, arrays["first"].shape) == (array.dtype, array.shape)
    assert arrays["first"].tobytes() == array.tobytes()
    assert arrays["next"].tolist() == [0, 1, 2]
    arrays["first"][...] = 1  # it is the reader's


def test_rows_of_zeros_take_no_room():
    assert len(compressed({}, {"one": TABLE})) < 300
