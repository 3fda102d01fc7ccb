"""Attacks on a real server: its memory stays bounded, and other clients get their responses meanwhile."""

import pytest

pytest.importorskip("uvicorn", reason="needs the extra serve")
from hostile_clients import ATTACKS, HONEST, PROXIES, attacked

pytestmark = pytest.mark.service
MORE = 500 << 20  # with what the first of each kind imports
SLOWER, AND_S, SLOWEST_S = 2, 0.05, 2.0  # the machine has few cores, and both sides of the attack


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_hurts(name):
    seen, said = attacked(name)
    check(seen)
    assert said in ("", "the other client's result: 200") or "30 digits" in said


@pytest.mark.parametrize("proxy", PROXIES)
def test_slow_bodies_behind_a_proxy_hurt_nobody(proxy):
    seen, said = attacked("slow bodies", proxy)
    check(seen)
    assert said == ""


def check(seen):
    """The other client: every request answered, in about the time that it takes without an attack."""
    assert seen.most - seen.before < MORE
    assert seen.refused == 0
    for name in HONEST:
        alone, meanwhile = seen.median(name)
        assert meanwhile < SLOWER * alone + AND_S, name
    assert max(seen.slowest().values()) < SLOWEST_S, seen.slowest()
