"""Requests of every kind, as a server gets them in use."""

import itertools
import json
import threading
from http.client import HTTPConnection

import numpy as np

from gelu_verify.formats import FORMATS
from gelu_verify.functions import FUNCTIONS

RAW = {"Content-Type": "application/octet-stream", "Prefer": "wait=20"}
EXPENSIVE = 50  # of so many requests one is of the expensive kinds
PAGES = ("/", "/v1/versions", "/v1/versions/torch.html", "/v1/openapi.json", "/v1/matrix", "/v1/functions")
FUNCTION_NAMES, DTYPES = sorted(FUNCTIONS), sorted(FORMATS)


def mixed(number, rng):
    """Requests of every kind, nearly all of which nobody sent before."""
    x = f"{rng.normal(0, 4):.9f}"
    function, dtype = FUNCTION_NAMES[number % len(FUNCTION_NAMES)], DTYPES[number % len(DTYPES)]
    expensive = (
        ("POST", "/v1/verify?function=gelu&dtype=float16&plan=landmarks", rng.bytes(2 * 2551)),
        ("GET", f"/v1/tables/gelu/float16.csv?mu={number}/977", None),
        ("POST", "/v1/reference/gelu/float32", rng.bytes(1 << 20)),
        ("POST", f"/v1/reference/{function}/float64", rng.bytes(1 << 12)),
        ("GET", f"/v1/reference/gelu/float64/{x}?digits=300&also=all", None),
        ("GET", f"/v1/inputs/quick/float32.bin?function=gelu&seed={number}", None),
        ("GET", f"/v1/tables/{function}/float16.npy", None),
        ("GET", PAGES[number // EXPENSIVE % len(PAGES)], None),
    )
    if number % EXPENSIVE == 0:
        return expensive[number // EXPENSIVE % len(expensive)]
    if number % EXPENSIVE == 1:
        return "GET", f"/v1/reference/gelu/float32/{x}?mu={number}/977&sigma=1/3", None
    if number % EXPENSIVE == 2:
        return "GET", f"/lookup?x={x}&function={function}&dtype={dtype}", None
    return "GET", f"/v1/reference/gelu/{dtype}/{x}", None


def send(server, count):
    """So many requests, four at a time; their paths by status."""
    numbers, statuses, lock = itertools.count(), {}, threading.Lock()

    def work():
        asked = HTTPConnection("127.0.0.1", server.port, timeout=120)
        while (number := next(numbers)) < count:
            method, path, body = mixed(number, np.random.default_rng(number))
            asked.request(method, path, body, {"Host": "localhost", **(RAW if body else {})})
            answer = asked.getresponse()
            content = answer.read()
            with lock:
                statuses.setdefault(answer.status, []).append(path)
            if "verify" in path and answer.status == 200:
                report = json.loads(content)["links"]["report"]
                asked.request("GET", report, headers={"Host": "localhost"})
                asked.getresponse().read()
        asked.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return statuses
