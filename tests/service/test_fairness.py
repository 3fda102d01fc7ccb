"""What one client may hold of what all share: places of a queue, bytes on disk, results that are kept."""

import asyncio
from contextlib import ExitStack
from threading import Event

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from gelu_verify.formats import FORMATS
from gelu_verify.service.clients import CLIENT, ByteBudget, client_of, is_among
from gelu_verify.service.disconnection import ClientLeft
from gelu_verify.service.jobs import JobRegistry
from gelu_verify.service.library_pool import LibraryPool
from gelu_verify.service.oracle_pool import OraclePool
from gelu_verify.service.problems import Problem
from gelu_verify.service.settings import ServiceLimits
from gelu_verify.service.telemetry import Metrics
from gelu_verify.service.worker_pool import WorkerPool


@pytest.fixture(autouse=True)
def nobody():
    """The client of the test that ran before is forgotten."""
    CLIENT.set("")


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
    ],
)
def test_a_client_is_an_address_or_a_network_of_64_bits(address, client):
    assert client_of(address) == client


def test_a_proxy_is_an_address_or_in_a_network():
    places = frozenset(["172.16.0.0/12", "192.0.2.1"])
    found = {each: is_among(each, places) for each in ("172.17.0.3", "192.0.2.1", "192.0.2.2", "", "2001:db8::/64")}
    assert found == {"172.17.0.3": True, "192.0.2.1": True, "192.0.2.2": False, "": False, "2001:db8::/64": False}
    assert is_among("192.0.2.2", frozenset("*"))
    of_ipv6 = frozenset(["::1", "2001:db8::/32", "a name", "192.0.2.1"])
    assert all(is_among(each, of_ipv6) for each in ("::1", "0:0::1", "2001:db8::5", "::ffff:192.0.2.1"))
    assert not is_among("2001:db9::5", of_ipv6)


def test_a_client_that_left_a_library_is_not_counted_as_an_error_of_the_server():
    async def left():
        return True

    async def asked():
        pool, computing = LibraryPool(["numpy"], ServiceLimits(), Metrics()), Event()
        pool.workers()["numpy"].compute = lambda *_: computing.wait(30)
        try:
            with pytest.raises(ClientLeft):
                await pool.compute("numpy", "gelu", FORMATS["float32"], 0, left)
        finally:
            computing.set()
            pool.close()

    asyncio.run(asked())


def test_clients_take_turns():
    pool, go, order = WorkerPool("test", 1, 11), Event(), []
    pool.submit(go.wait)
    futures = []
    for client, count in (("a", 5), ("b", 2), ("c", 1)):
        CLIENT.set(client)
        futures += [pool.submit(order.append, client) for _ in range(count)]
    go.set()
    for each in futures:
        each.result(10)
    assert "".join(order) == "abcabaaa"
    assert pool.inflight == 0


def test_one_client_gets_half_of_the_places():
    pool, go = WorkerPool("test", 1, 7), Event()
    mine = [pool.submit(go.wait) for _ in range(4)]
    with pytest.raises(Problem, match="of your requests"):
        pool.submit(go.wait)
    CLIENT.set("other")
    others = [pool.submit(go.wait) for _ in range(4)]
    CLIENT.set("third")
    with pytest.raises(Problem, match="8 requests of this kind") as refused:
        pool.submit(go.wait)
    assert refused.value.headers["Retry-After"]
    assert others[0].cancel(), "a queued call can be cancelled, and its place is free"
    assert pool.inflight == 7
    go.set()
    assert all(each.result(10) for each in (*mine, *others[1:]))
    pool.close()
    with pytest.raises(Problem, match="shutting down"):
        pool.submit(go.wait)


def test_bytes_are_reserved_for_all_and_for_each_client():
    budget = ByteBudget(100, 40)
    with ExitStack() as held:
        held.enter_context(budget.reserved(40))
        with pytest.raises(Problem, match="more than 40 bytes"), budget.reserved(1):
            pass
        for client in ("b", "c"):
            CLIENT.set(client)
            held.enter_context(budget.reserved(30))
        CLIENT.set("d")
        with pytest.raises(Problem, match="more than 100 bytes"), budget.reserved(1):
            pass
    with budget.reserved(40):
        assert budget.used == 40
    assert budget.used == 0


def test_results_of_the_client_with_most_are_forgotten_first(tmp_path):
    jobs = JobRegistry(ServiceLimits(jobs_max=4), tmp_path)
    made = []
    for client in ("other", *["mine"] * 6):
        CLIENT.set(client)
        made.append(jobs.new(10))
        jobs.end(made[-1], None)
    kept = [job.id for job in made if jobs.get(job.id) is not None]
    assert kept == [made[0].id, *(job.id for job in made[-3:])]


def test_results_are_forgotten_when_there_are_too_many_bytes():
    jobs = JobRegistry(ServiceLimits(jobs_bytes=100))
    first, second = jobs.new(1), jobs.new(1)
    jobs.end(first, None, bytes(60))
    assert jobs.get(first.id).state == "done"
    jobs.end(second, None, bytes(60))
    assert (jobs.get(first.id), jobs.get(second.id).state) == (None, "done")


def test_another_process_finds_a_job_and_its_progress(tmp_path):
    here, there = (JobRegistry(ServiceLimits(), tmp_path) for _ in range(2))
    job = here.new(100)
    here.advance(job, 30)
    assert (there.get(job.id).state, there.get(job.id).done) == ("running", 30)
    here.end(job, Problem(507, "not-stored", "no space"))
    found = there.get(job.id)
    assert (found.state, found.problem.status, found.problem.detail) == ("failed", 507, "no space")
    there.drop(found)
    assert there.get(job.id) is None


# ---- the processes of the oracle -----------------------------------------------------------------

ZERO = ("gelu", "float32", 0, 30)
ENDLESS = ("gelu", "float32", int(np.float32(1.5).view(np.uint32)), 5000)  # a tenth of a second


@pytest.fixture
def oracle():
    pool = OraclePool(1, 4, 20.0)
    yield pool
    pool.close()


def test_the_oracle_computes_in_a_process_and_says_what_is_wrong(oracle):
    assert asyncio.run(oracle.look_up(*ZERO)).startswith(b'{"function":"gelu"')
    with pytest.raises(Problem, match="too wide"):
        asyncio.run(oracle.look_up("gelu", "float16", 1 << 20, 30))
    (process,) = oracle._processes
    asyncio.run(oracle.look_up(*ZERO))
    assert [process] == oracle._processes, "it is used again"


def test_a_call_of_the_oracle_that_takes_too_long_is_ended(oracle):
    asyncio.run(oracle.look_up(*ZERO))
    (process,) = oracle._processes
    oracle._seconds = 0.01
    with pytest.raises(Problem, match="took more than"):
        asyncio.run(oracle.look_up(*ENDLESS))
    assert not process.alive
    oracle._seconds = 20.0
    assert asyncio.run(oracle.look_up(*ZERO))


def test_a_cancelled_call_of_the_oracle_is_ended(oracle):
    async def leave():
        await oracle.look_up(*ZERO)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(oracle.look_up(*ENDLESS), 0.01)
        return await oracle.look_up(*ZERO)

    assert asyncio.run(leave())
    assert oracle.inflight == 0
