"""How many look-ups a second, beside a FastAPI handler that does nothing: `python tools/bench_service.py` (needs wrk).

Both servers run all the time and are measured in turns, so that other load on the machine affects both. "repeated"
requests one URL, "fresh" a new number each time, "page" a new number in every dtype, as the page does; then batches
of raw float32 bits. `--soak 300` then sends a mixture of requests for so many seconds and prints the resident memory
meanwhile. It prints times and never fails on them.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import HTTPError, URLError
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
PAGE = FRESH.replace("* 12))", '* 12) .. "?also=all")')
PORTS = {"bare": 8461, "ours": 8462}
CONNECTIONS = 16
RAW = {"Content-Type": "application/octet-stream"}
_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


def wrk(server: str, seconds: int, script: Path | None) -> tuple[float, float, float]:
    """Requests per second, and the 50th and 99th percentile in ms."""
    extra = ["-s", str(script)] if script else []
    url = f"http://127.0.0.1:{PORTS[server]}/v1/reference/gelu/float32/-6.5"
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}", "--latency", *extra, url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(text)
    late = [float(value) * _MS[unit] for value, unit in re.findall(r"(?:50|99)%\s+([\d.]+)(us|ms|s)", text)]
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])  # type: ignore[index]
    return rate, late[0], late[1]


def compare(name: str, rounds: int, seconds: int, script: Path | None) -> None:
    """Both servers in turns: medians, and the ratio of each round's pair."""
    pairs = [(wrk("bare", seconds, script), wrk("ours", seconds, script)) for _ in range(rounds)]
    for side, server in enumerate(PORTS):
        rate, half, late = (statistics.median(pair[side][i] for pair in pairs) for i in range(3))
        print(f"{name:9s} {server}: {rate:8,.0f} requests/s, p50 {half:.2f} ms, p99 {late:.2f} ms")
    ratios = sorted(ours[0] / bare[0] for bare, ours in pairs)
    print(f"{name:9s} ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}); goal: 0.70")


def batch(count: int) -> float:
    """Values per second of one upload of `count` float32 inputs."""
    x = np.random.default_rng(0).normal(0, 2, count).astype("<f4").tobytes()
    start = time.perf_counter()
    ask("/v1/reference/gelu/float32", x, RAW)
    return count / (time.perf_counter() - start)


def ask(path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> bytes:
    with urlopen(Request(f"http://127.0.0.1:{PORTS['ours']}{path}", body, headers or {})) as answer:
        return answer.read()


def soak(pid: int, seconds: float) -> None:
    """A mixture of requests; the resident memory of the server meanwhile."""
    rng, start, sent, printed = np.random.default_rng(1), time.monotonic(), 0, -1
    while (now := time.monotonic() - start) < seconds:
        if int(10 * now / seconds) > printed:
            printed = int(10 * now / seconds)
            print(f"soak      {now:4.0f} s, {sent:7,d} requests: {resident(pid) / 2**20:.1f} MiB", flush=True)
        mixture(rng, sent)
        sent += 1
    print(f"soak      {seconds:4.0f} s, {sent:7,d} requests: {resident(pid) / 2**20:.1f} MiB, at the end")


def mixture(rng: np.random.Generator, number: int) -> None:
    """One request: usually a look-up, sometimes an expensive one."""
    x = f"{rng.normal(0, 4):.9f}"
    if number % 500 == 1:
        ask("/v1/verify?function=gelu&dtype=float16", rng.bytes(1 << 17), RAW)
    elif number % 100 == 2:
        ask("/v1/reference/gelu/float32", rng.bytes(1 << 22), RAW)
    elif number % 50 == 3:
        ask(f"/v1/answers/gelu/float32/{x}?family=kernels")
    elif number % 20 == 4:
        ask(f"/v1/reference/gelu/float64/{x}?digits=50&also=all")
    elif number % 20 == 5:
        try:
            ask(f"/v1/reference/gleu/float32/{x}")
        except HTTPError as error:
            error.close()
    else:
        ask(f"/v1/reference/gelu/float32/{x}")


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def wait(server: subprocess.Popen[bytes], port: int) -> None:
    while server.poll() is None:
        try:
            urlopen(f"http://127.0.0.1:{port}/v1/reference/gelu/float32/1").read()
        except URLError:
            time.sleep(0.01)
        else:
            return
    raise SystemExit(f"nothing listens on port {port}")


def main() -> None:
    """Start both servers, measure them in turns, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3, help="of each measurement")
    parser.add_argument("--soak", type=float, default=0.0, help="seconds of a mixture of requests, at the end")
    args = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed (Debian: apt install wrk)")
    ours = [sys.executable, "-m", "gelu_verify", "serve", "--port", str(PORTS["ours"])]
    bare = [sys.executable, "-c", BARE, str(PORTS["bare"])]
    running = [subprocess.Popen(bare, stderr=subprocess.DEVNULL)]
    try:
        wait(running[0], PORTS["bare"])
        start = time.perf_counter()
        running.append(subprocess.Popen(ours, stderr=subprocess.DEVNULL))
        wait(running[1], PORTS["ours"])
        print(f"start     first answer after {time.perf_counter() - start:.2f} s")
        compare("repeated", args.rounds, args.seconds, None)
        for name, text in (("fresh", FRESH), ("page", PAGE)):
            with tempfile.NamedTemporaryFile("w", suffix=".lua") as lua:
                lua.write(text)
                lua.flush()
                compare(name, args.rounds, args.seconds, Path(lua.name))
        rate = statistics.median(batch(1 << 23) for _ in range(args.rounds))
        print(f"batches   {rate / 1e6:.0f} M values/s (float32, 2^23 a request); goal: 20")
        if args.soak:
            soak(running[1].pid, args.soak)
    finally:
        for each in running:
            each.terminate()


if __name__ == "__main__":
    main()
