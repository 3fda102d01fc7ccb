"""What goes through an executor: lost items are done again, and what is no executor is refused."""

import subprocess
import sys
from collections import deque
from concurrent.futures import Future

import pytest

from gelu_verify.errors import RemoteError, UsageError
from gelu_verify.work.executors import Misfit, Pool, Where, results


class Losing(Pool):
    """Runs at once; loses what it is told to, as a worker that dies does, and refuses some."""

    width = 2

    def __init__(self, lose=(), misfit=()):
        self._lose, self._misfit, self.refused = list(lose), list(misfit), []

    def submit(self, function, item):
        future = Future()
        if item in self._lose:
            self._lose.remove(item)
            future.set_exception(ConnectionError("gone"))
        elif item in self._misfit:
            self._misfit.remove(item)
            future.set_exception(Misfit("another version"))
        else:
            future.set_result(function(item))
        return future

    def refuse(self, error):
        self.refused.append(str(error))

    def is_lost(self, error):
        return isinstance(error, ConnectionError)


def test_what_is_lost_is_done_again():
    pool = Losing([3, 3, 5], [7])
    assert sorted(results(pool, lambda item: item * item, deque(range(10)))) == [(k, k * k) for k in range(10)]
    assert pool.refused == ["another version"]
    with pytest.raises(RemoteError, match="item 3 was lost again and again"):
        list(results(Losing([3, 3, 3]), lambda item: item, deque(range(10))))


def test_items_may_be_added_while_results_come():
    items = deque([8])
    seen = []
    for item, half in results(Losing(), lambda item: item // 2, items):
        seen.append(item)
        if half:
            items.append(half)
    assert seen == [8, 4, 2, 1]


def test_what_is_no_executor_is_refused():
    for wrong in (
        {"name": "slurm"},
        {"name": "tls://a:1", "tls_ca": "ca.pem"},
        {"name": "tcp://a:1", "tls_ca": "a", "tls_cert": "b", "tls_key": "c"},
        {"name": "threads", "dashboard": True},
    ):
        with pytest.raises(UsageError, match=r"executor|TLS"):
            Where(**wrong)


CLIENT = """
import os, time
from gelu_verify.work.pools import ProcessPool

def worker(seconds):
    print(os.getpid(), flush=True)
    time.sleep(seconds)

if __name__ == "__main__":
    pool = ProcessPool(2)
    pool.submit(worker, 0).result()  # idle when the client is killed
    pool.submit(worker, 600).result()
"""


def test_the_workers_of_a_killed_client_end_with_it(tmp_path):
    script = tmp_path / "client.py"
    script.write_text(CLIENT)
    client = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert all(int(client.stdout.readline()) for _ in range(2))
    client.kill()
    client.communicate(timeout=30)  # until nobody can write to the pipe any more
