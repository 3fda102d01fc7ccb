"""Attacks on a real server: its memory stays bounded, and other clients get their responses meanwhile."""

import pytest

pytest.importorskip("uvicorn", reason="needs the extra serve")
from hostile_clients import ATTACKS, attacked

pytestmark = pytest.mark.service
MORE = 400 << 20  # with what the first upload imports, and a file that is mapped


@pytest.mark.parametrize("name", ATTACKS)
def test_no_attack_hurts(name):
    seen, said = attacked(name)
    assert seen.most - seen.before < MORE
    assert seen.refused == 0
    assert seen.latency(0.5) < 1
    assert said in ("", "the other client's result: 200") or "30 digits" in said
