"""What one client may hold of what all share: places of a queue, bytes on disk, results that are kept."""

import asyncio
import time
from threading import Event

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
from serving import raw, serving, status

from gelu_verify.formats import FORMATS
from gelu_verify.service.admission import ByteBudget
from gelu_verify.service.clients import CLIENT, Rate, client_of, is_among
from gelu_verify.service.disconnection import ClientLeft
from gelu_verify.service.jobs import JobRegistry
from gelu_verify.service.library_pool import LibraryPool
from gelu_verify.service.problems import Problem
from gelu_verify.service.process_pool import ForkPool, ProcessFailed, TookTooLong
from gelu_verify.service.protocol import LEFT
from gelu_verify.service.settings import ServiceLimits
from gelu_verify.service.telemetry import Metrics
from gelu_verify.service.turns import RequestTurns
from gelu_verify.service.worker_pool import WorkerPool
from gelu_verify.truth.values import reference_bits


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
    of_ipv6 = frozenset(["::1", "2001:db8::/32", "192.0.2.1"])
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


def test_requests_begin_one_client_after_the_other():
    """Whoever has sent many; one that has left before its turn does not begin, and one too many is refused."""

    async def asked():
        turns, began, left = RequestTurns(49), [], asyncio.Event()

        async def ask(client, number, scope):
            async with turns.request(client, scope):
                began.append((client, number))

        left.set()
        requests = [ask("a", number, {}) for number in range(49)]
        requests += [ask("a", 49, {"extensions": {LEFT: left}}), ask("a", 50, {}), ask("b", 0, {}), ask("b", 1, {})]
        results = await asyncio.gather(*requests, return_exceptions=True)
        await ask("a", 51, {})
        return began, results

    began, results = asyncio.run(asked())
    assert [number for client, number in began if client == "a"] == [*range(49), 51]
    assert began.index(("b", 1)) < 6
    assert [type(each) for each in results if each is not None] == [ClientLeft, Problem]
    assert results[50].status == 429


def test_a_client_opens_so_many_connections_a_second():
    rate, opened = Rate(), []
    for tick in range(400):  # 20 are tried each second
        opened.append(rate.admits("a", tick / 20, 4, 8))
        assert rate.admits(f"other {tick}", tick / 20, 4, 8)
    assert opened[:8] == [True] * 8
    assert sum(opened) >= 4 * 20
    assert sum(opened) <= 8 + 4 * 20
    assert len(rate._until) < 10, "clients that opened none for long are forgotten"
    assert rate.admits("a", 30, 4, 8)


def connected(server, count):
    """So many look-ups, each in a connection of its own; the statuses."""
    path = "/v1/reference/gelu/float32/0.5"
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    return [status(raw(server, request)) for _ in range(count)]


@pytest.mark.few(1)
@pytest.mark.parametrize("proxies", ["192.0.2.1", "127.0.0.1"])
def test_new_connections_are_limited_but_those_of_a_proxy(proxies):
    limits = ("--limit", "connections_per_s=1", "--limit", "connections_per_client=5")
    with serving("--answers", "none", "--trusted-proxies", proxies, *limits) as server:
        statuses = connected(server, 40)
        assert statuses[:5] == [200] * 5
        assert (429 in statuses) == (proxies != "127.0.0.1")
        if proxies != "127.0.0.1":
            time.sleep(1.1)
            assert connected(server, 1) == [200]


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


def test_one_call_of_a_client_runs_at_a_time():
    pool, go, order = WorkerPool("test", 2, 10), Event(), []
    CLIENT.set("a")
    mine = [pool.submit(go.wait), *(pool.submit(order.append, "a") for _ in range(3))]
    CLIENT.set("b")
    pool.submit(order.append, "b").result(10)
    assert order == ["b"], "the other thread is not for a second call of the same client"
    go.set()
    for each in mine:
        each.result(10)
    assert order == ["b", *"aaa"]


def test_a_request_of_several_calls_keeps_its_place_between_them():
    async def asked():
        pool = WorkerPool("test", 1, 1)
        with pool.place():
            assert await pool.call(int, "7") == 7
            with pytest.raises(Problem, match="of your requests"), pool.place():
                pass
            assert await pool.call(int, "8") == 8
        assert pool.inflight == 0

    asyncio.run(asked())


def test_bytes_are_charged_to_all_and_to_each_client():
    budget = ByteBudget(100, 40)
    budget.add("a", 40)
    with pytest.raises(Problem, match="more than 40 bytes"):
        budget.add("a", 1)
    for client in ("b", "c"):
        budget.add(client, 30)
    with pytest.raises(Problem, match="more than 100 bytes"):
        budget.add("d", 1)
    budget.remove("a", 40)
    budget.add("d", 40)
    assert budget.used == 100


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


def test_what_runs_when_the_server_stops_is_lost_at_once(tmp_path):
    """Also where its process is ended: that is no unexpected error."""
    jobs = JobRegistry(ServiceLimits(), tmp_path)
    ended, running = jobs.new(10), jobs.new(10)
    jobs.end(ended, None)
    jobs.give_up()
    assert not jobs.is_running(running)
    jobs.end(running, RuntimeError("the process ended"))
    jobs.close()
    after = JobRegistry(ServiceLimits(), tmp_path)
    assert after.get(ended.id).state == "done"
    found = after.get(running.id)
    assert (found.state, found.problem.status, found.problem.kind) == ("failed", 503, "lost")


# ---- processes -----------------------------------------------------------------------------------

ZERO = ("look_up", "gelu", "float32", 0, 30)
ENDLESS = ("look_up", "gelu", "float32", int(np.float32(1.5).view(np.uint32)), 5000)  # a tenth of a second


@pytest.fixture
def pool():
    found = ForkPool("test", 1, 4, niceness=0, seconds=20.0, most_bytes=1 << 30)
    yield found
    found.close()


def test_a_process_computes_and_says_what_is_wrong(pool):
    assert asyncio.run(pool.compute(*ZERO))[1].startswith(b'{"function":"gelu"')
    with pytest.raises(Problem, match="too wide"):
        asyncio.run(pool.compute("look_up", "gelu", "float16", 1 << 20, 30))
    (process,) = pool._processes
    asyncio.run(pool.compute(*ZERO))
    assert [process] == pool._processes, "it is used again"


def test_large_contents_pass_in_both_directions(pool):
    x = np.random.default_rng(0).integers(0, 1 << 32, 1 << 20, np.uint64).astype("<u4")
    seconds, content = asyncio.run(pool.compute("values", "relu", "float32", "nearest", content=x.tobytes()))
    assert np.array_equal(np.frombuffer(content, "<u4"), reference_bits("relu", "float32", x))
    assert 0 < seconds < 20


def test_a_call_that_takes_too_long_is_ended(pool):
    asyncio.run(pool.compute(*ZERO))
    (process,) = pool._processes
    pool._seconds = 0.01
    with pytest.raises(TookTooLong, match="took more than"):
        asyncio.run(pool.compute(*ENDLESS))
    assert not process.alive
    pool._seconds = 20.0
    assert asyncio.run(pool.compute(*ZERO))


def test_a_cancelled_call_is_ended(pool):
    async def leave():
        await pool.compute(*ZERO)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pool.compute(*ENDLESS), 0.01)
        return await pool.compute(*ZERO)

    assert asyncio.run(leave())
    assert pool.inflight == 0


def test_a_process_that_has_too_much_memory_is_replaced(pool):
    asyncio.run(pool.compute(*ZERO))
    (process,) = pool._processes
    pool._most_bytes = -1  # less than any has
    assert asyncio.run(pool.compute(*ZERO))
    assert not process.alive


def test_a_process_that_was_killed_is_an_error_of_the_server_and_is_replaced(pool):
    asyncio.run(pool.compute(*ZERO))
    pool._processes[0].end()
    assert asyncio.run(pool.compute(*ZERO))
    with pytest.raises(ProcessFailed, match="missing"):
        asyncio.run(pool.compute("look_up"))
    assert asyncio.run(pool.compute(*ZERO))
