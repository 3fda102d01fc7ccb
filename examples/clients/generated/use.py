"""A look-up, batches and an upload with the client that openapi-python-client makes, in the folder `gelu`."""

import io
import sys
from array import array

import pyarrow as pa
from gelu import Client
from gelu.api.reference import compute_arrow, compute_reference_bits, compute_reference_values, get_reference_value
from gelu.api.verification import get_inputs, verify_outputs
from gelu.models import BatchInputs, DtypeName, FunctionName, PlanName, VerifyOutputsDtype
from gelu.types import File

GELU, FLOAT32 = FunctionName.GELU, DtypeName.FLOAT32
client = Client(base_url=sys.argv[1])

found = get_reference_value.sync(GELU, FLOAT32, "-6.5", client=client)
print("look-up", found.y_bits, found.kappa)

inputs = BatchInputs(x_bits=["0x3f800000", "0xc0d00000"])
print("batch", *compute_reference_values.sync(GELU, FLOAT32, client=client, body=inputs).y_bits)

raw = File(io.BytesIO(array("I", [0x3F800000, 0xC0D00000]).tobytes()))
y = compute_reference_bits.sync(GELU, FLOAT32, client=client, body=raw).payload.read()
print("raw", *(f"0x{bits:08x}" for bits in array("I", y)))

sink = io.BytesIO()
table = pa.table({"x_bits": pa.array([0x3F800000, 0xC0D00000], pa.uint32())})
with pa.ipc.new_stream(sink, table.schema) as stream:
    stream.write_table(table)
results = compute_arrow.sync(GELU, FLOAT32, client=client, body=File(io.BytesIO(sink.getvalue()))).payload
print("arrow", *(f"0x{bits:08x}" for bits in pa.ipc.open_stream(results).read_all()["y_bits"].to_pylist()))

x = get_inputs.sync(PlanName.LANDMARKS, "float16", client=client).payload.read()
y = compute_reference_bits.sync(GELU, DtypeName.FLOAT16, client=client, body=File(io.BytesIO(x))).payload
job = verify_outputs.sync(
    client=client, body=File(y), function=GELU, dtype=VerifyOutputsDtype.FLOAT16, plan=PlanName.LANDMARKS,
    prefer="wait=20",
)  # fmt: skip
print("upload", job.grade)

print("error", get_reference_value.sync(GELU, FLOAT32, "one", client=client).status)
