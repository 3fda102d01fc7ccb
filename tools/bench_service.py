"""How many look-ups a second, beside a FastAPI handler that does nothing: `python tools/bench_service.py` (needs wrk).

Both servers run the whole time and take turns, so that whatever else the machine does meets both. "repeated" asks one
URL, "fresh" a new number each time; then batches of raw float32 bits.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import numpy as np

BARE = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/v1/reference/{function}/{dtype}/{x}")
async def nothing(function: str, dtype: str, x: str):
    return {"function": function, "dtype": dtype, "x": x}
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning")
"""
FRESH = """
math.randomseed(os.time())
request = function()
  return wrk.format("GET", "/v1/reference/gelu/float32/" .. string.format("%.7f", (math.random() - 0.4) * 12))
end
"""
PORTS = {"bare": 8461, "ours": 8462}
ROUNDS, SECONDS, CONNECTIONS = 5, 3, 16


def wrk(server: str, script: Path | None) -> tuple[float, float]:
    """Requests per second, and the 99th percentile in ms."""
    extra = ["-s", str(script)] if script else []
    url = f"http://127.0.0.1:{PORTS[server]}/v1/reference/gelu/float32/-6.5"
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}", "--latency", *extra, url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()  # type: ignore[union-attr]
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])  # type: ignore[index]
    return rate, float(value) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]


def batch(count: int) -> float:
    """Values per second of one upload of `count` float32 inputs."""
    x = np.random.default_rng(0).normal(0, 2, count).astype("<f4").tobytes()
    url = f"http://127.0.0.1:{PORTS['ours']}/v1/reference/gelu/float32"
    request = Request(url, x, {"Content-Type": "application/octet-stream"})
    start = time.perf_counter()
    with urlopen(request) as answer:
        answer.read()
    return count / (time.perf_counter() - start)


def wait(port: int) -> None:
    while True:
        try:
            urlopen(f"http://127.0.0.1:{port}/v1/reference/gelu/float32/1").read()
        except URLError:
            time.sleep(0.05)
        else:
            return


def main() -> None:
    """Print medians, and the ratio of each round's pair."""
    ours = [sys.executable, "-m", "gelu_verify", "serve", "--port", str(PORTS["ours"])]
    bare = [sys.executable, "-c", BARE, str(PORTS["bare"])]
    running = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in (bare, ours)]
    try:
        for port in PORTS.values():
            wait(port)
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as lua:
            lua.write(FRESH)
            lua.flush()
            for name, script in (("repeated", None), ("fresh", Path(lua.name))):
                pairs = [(wrk("bare", script), wrk("ours", script)) for _ in range(ROUNDS)]
                for side, server in enumerate(PORTS):
                    rate, late = (statistics.median(pair[side][i] for pair in pairs) for i in (0, 1))
                    print(f"{name:9s} {server}: {rate:8,.0f} requests/s, 99 % within {late:.1f} ms")
                ratios = sorted(ours[0] / bare[0] for bare, ours in pairs)
                print(f"{name:9s} ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
        print(f"batches   {statistics.median(batch(1 << 23) for _ in range(ROUNDS)) / 1e6:.0f} M values/s (float32)")
    finally:
        for each in running:
            each.terminate()


if __name__ == "__main__":
    main()
