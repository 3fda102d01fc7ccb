"""Files of arrays, as clients send them."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def parquet(**columns):
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()
