"""Fetch inputs, run a GELU, post the results, print the grade. Standard library only.

python client.py http://127.0.0.1:8000
"""

import json
import math
import struct
import sys
from urllib.request import Request, urlopen

SERVER = sys.argv[1].rstrip("/")
WHERE = "function=gelu&seed=0"


def gelu(x: float) -> float:
    """The function under test, in double; a NaN stays one."""
    return 0.5 * x * math.erfc(-x / math.sqrt(2)) if math.isfinite(x) else (x if x > 0 else math.nan)


with urlopen(f"{SERVER}/v1/inputs/quick/float32.bin?{WHERE}") as response:
    x = struct.iter_unpack("<f", response.read())
y = b"".join(struct.pack("<f", gelu(value)) for (value,) in x)

request = Request(
    f"{SERVER}/v1/verify?{WHERE}&plan=quick&dtype=float32&name=python",
    data=y,
    headers={"Content-Type": "application/octet-stream", "Prefer": "wait=20"},
)
with urlopen(request) as response:
    job = json.load(response)
print(job["grade"], job["headline"])
