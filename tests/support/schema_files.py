"""Files of inputs for schemathesis, which makes JSON and text by itself: it imports this as its hooks."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import schemathesis
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gelu_verify.service.input_files import ARROW, INPUTS_OF, RAW

INPUTS = st.sampled_from(["u1", "<u2", "<u4", "<u8", "<f4"]).flatmap(lambda kind: arrays(kind, st.integers(0, 20)))
"""Also of a width that the dtype in the path does not have."""


def npy(x):
    buffer = io.BytesIO()
    np.save(buffer, x)
    return buffer.getvalue()


def parquet(x):
    buffer = io.BytesIO()
    pq.write_table(pa.table({"x_bits": x}), buffer)
    return buffer.getvalue()


def arrow(x):
    buffer, table = io.BytesIO(), pa.table({"x_bits": x})
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table)
    return buffer.getvalue()


def raw(x):
    """No text, which is read as CSV."""
    return b"\0" + x.tobytes()


for media_type, write in ((INPUTS_OF["npz"], npy), (INPUTS_OF["parquet"], parquet), (ARROW, arrow), (RAW, raw)):
    schemathesis.openapi.media_type(media_type, INPUTS.map(write))
