"""The search for the worst input: what it asks, that it repeats, and what it finds."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marking import nightly
from planted_worst import NOT_FOUND, PLANTED, Planted, consecutive, where

from gelu_verify.errors import ResultsError, TargetFailure
from gelu_verify.formats import DTYPES, FORMATS, from_ordinals, ordinals
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.elsewhere import Elsewhere
from gelu_verify.measure.request import Request
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.serialize import to_json
from gelu_verify.search import kept as kept_module
from gelu_verify.search.answers import Answers, Asking, packed, unpacked
from gelu_verify.search.batches import TIE_SPAN, CallBatch, evaluated
from gelu_verify.search.intervals import Intervals, jumps, level, parts
from gelu_verify.search.kept import kept_in, restored, saved
from gelu_verify.search.record import record_of
from gelu_verify.search.search import SearchBudget, search
from gelu_verify.search.seeds import found_before, published, worst_elsewhere
from gelu_verify.search.session import searched
from gelu_verify.search.state import SearchAsked, State, binades, short_numbers
from gelu_verify.targets import select
from gelu_verify.targets.python_callables import callable_target
from gelu_verify.truth.values import judge, reference_bits
from gelu_verify.work.pools import LocalPool

FLOAT64 = FORMATS["float64"]
EASY = Planted("easy", "3 ULP in [1, 1.25)", where(lambda x: (x > 1.0) & (x < 1.25)), 3, 0)


def from_values(fmt, values):
    return ordinals(fmt, values.view(fmt.uint))


def found(target, evaluations=1 << 17, *, seed=0, dtype="float64", workers=1, function="silu", seconds=None, **options):
    state = State.start(SearchAsked(function, dtype, seed))
    ended = search(target, state, SearchBudget(seconds, evaluations), workers=workers, **options)
    return state, ended


# ---- what is asked -----------------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.integers(-(1 << 62), 1 << 62), st.integers(1, 1 << 40), st.integers(1, 50)), min_size=1, max_size=5
    ),
    st.integers(0, 1 << 32),
)
@settings(max_examples=30, deadline=None)
def test_one_input_is_drawn_from_each_part_of_a_span(spans, seed):
    first, width, count = (np.array(column, np.int64) for column in zip(*spans, strict=True))
    first = np.clip(first, -1 - FLOAT64.max_finite, FLOAT64.max_finite - width)
    count = np.minimum(count, width)
    drawn = CallBatch("uniform", (seed,), first, first + width - 1, count).ordinals(FLOAT64)
    for piece, a, w, n in zip(np.split(drawn, np.cumsum(count)[:-1]), first, width, count, strict=True):
        assert (np.diff(piece) > 0).all()
        assert a <= piece[0]
        assert piece[-1] < a + w
        if n == w:
            assert piece.tolist() == list(range(a, a + w))


def test_all_neighbours_of_a_centre_are_visited_in_the_end():
    centre, met = np.array([FLOAT64.one], np.int64), set()
    for visits in range(4):
        batch = CallBatch("descent", (0, visits), centre, centre, np.array([256]), np.array([visits]))
        met |= set((batch.ordinals(FLOAT64) - FLOAT64.one).tolist())
    assert set(range(-127, 128)) <= met
    assert max(map(abs, met)) > 1 << 44


def test_binades_hold_every_finite_number_once():
    for fmt in map(FORMATS.get, DTYPES):
        first, last = binades(fmt)
        assert first[0] == -1 - fmt.max_finite
        assert last[-1] == fmt.max_finite
        assert (first[1:] == last[:-1] + 1).all()


@given(st.lists(st.tuples(st.integers(-(1 << 60), 1 << 60), st.integers(1, 1 << 50)), min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_parts_of_an_interval_are_all_of_it(rows):
    first = np.array([a for a, _ in rows], np.int64)
    last = first + np.array([w for _, w in rows], np.int64) - 1
    low, high, count = parts(first, last)
    covered = {}
    for a, b, n in zip(low.tolist(), high.tolist(), count.tolist(), strict=True):
        assert 0 < n <= b - a + 1
        covered.setdefault(max(x for x in first.tolist() if x <= a), []).append((a, b))
    assert sum(high - low + 1) >= max(last - first + 1)


def test_the_best_of_each_level_comes_before_the_second_best_of_any():
    edges = np.array([0, 1 << 40, 2 << 40, 3 << 40, (3 << 40) + (1 << 20), (3 << 40) + (2 << 20)], np.int64)
    held = Intervals()
    held.add(edges[:-1], edges[1:] - 1, np.array([3.0, 5.0, 4.0, 0.6, 0.7]), np.zeros(5))
    assert level(held.last - held.first + 1).tolist() == [9, 9, 9, 4, 4]
    assert held.best("error", 3).tolist() == [4, 1, 3]
    assert held.best("error", 9).tolist() == [4, 1, 3, 2, 0]
    held.error[3:] = 0.5  # correctly rounded: more samples say nothing
    assert held.best("error", 9).tolist() == [1, 2, 0]


def test_news_from_elsewhere_opens_intervals_around_it():
    held = Intervals()
    held.add(np.array([0]), np.array([(1 << 52) - 1]), np.array([1.0]), np.zeros(1))
    held.notice(12345678901234, 1.0, 1 << 16)
    assert len(held) == 1
    held.notice(12345678901234, 2.0, 1 << 16)
    assert (held.first <= 12345678901234).all()
    assert (held.last >= 12345678901234).all()
    assert (held.last - held.first).min() < 1 << 16
    assert held.error.tolist() == [2.0] * len(held)


def test_a_jump_is_said_of_both_sides_and_not_across_gaps():
    first, last = np.array([0, 10, 20, 90]), np.array([9, 19, 29, 99])
    assert jumps(first, last, np.array([0.0, 0.0, 0.5, 9.0])).tolist() == [0.0, 0.5, 0.5, 0.0]


def test_inputs_that_were_found_before_are_seeds():
    for function in ("erf", "exp", "gelu"):
        bits = {FLOAT64.parse(x.hex()) for x in [*found_before(function), *published(function)]}
        assert bits <= set(worst_elsewhere(function, "float64"))
    assert found_before("erf")
    assert found_before("gelu")


def test_short_numbers_are_short():
    x = short_numbers(SearchAsked("silu", "float64", 0), 0, 500)
    magnitudes = np.where(x < 0, -1 - x, x)
    zeros = np.array([(int(m) & -int(m)).bit_length() - 1 for m in magnitudes])
    assert (zeros >= 40).mean() > 0.75
    assert len(set(x.tolist())) > 300


# ---- that it repeats ---------------------------------------------------------------------------------


def plain(state):
    return [vars(place) for place in state.places.values()], state.evaluations, state.looked_at, state.counts


def test_evaluations_and_seed_decide_what_is_found_whatever_the_number_of_threads():
    target = EASY.target("float32")
    one, two, other = (found(target, 800_000, dtype="float32", **more)[0] for more in ({}, {"workers": 3}, {"seed": 1}))
    assert plain(one) == plain(two)
    assert plain(one) != plain(other)
    assert one.worst.error >= 3
    assert one.rounds >= 2


def test_a_search_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path):
    """At every moment at which it may be killed."""
    target, asked, facts = EASY.target("float32"), SearchAsked("silu", "float32", 3), {"target": "easy"}
    whole, _ = found(target, 720_000, seed=3, dtype="float32")
    moments = []
    search(
        target, State.start(asked), SearchBudget(evaluations=660_000), workers=1, save_every=0.0,
        save=lambda *kept: moments.append((saved(facts, *kept), kept[2])),
    )  # fmt: skip
    assert len(moments) > 8  # the sixth is within the first round, the last within another
    path = tmp_path / "state"
    for content, at in (moments[5], moments[-1]):
        path.write_bytes(content)
        again, known, seconds = restored(path, facts, asked)
        assert seconds == at
        search(target, again, SearchBudget(evaluations=720_000), workers=1, known=known)
        assert plain(again) == plain(whole)
    with pytest.raises(ResultsError, match="seed is 3 there and 4 here"):
        restored(path, facts, replace(asked, seed=4))
    with pytest.raises(ResultsError, match="is of another search: target is easy there and hard here"):
        restored(path, {"target": "hard"}, asked)


@pytest.mark.parametrize("evaluations", [100_000, 200_000])
def test_a_search_of_another_implementation_is_refused_by_name(tmp_path, monkeypatch, evaluations):
    """Also where it is complete; its state is left as it was."""
    monkeypatch.chdir(tmp_path)
    text = "import os, numpy as np\ndef gelu(x: np.ndarray): return x * np.float32(os.environ.get('PLANTED', '1'))\n"
    (tmp_path / "planted_main.py").write_text(text)
    request = Request(targets=("planted_main.py:gelu",), functions=("gelu",), dtypes=("float32",), isolate=False)
    told = []

    def go(evaluations=evaluations):
        with kept_in(tmp_path / "out", told.append) as kept:
            return searched(request, select, SearchBudget(None, evaluations), seeds=False, kept=kept)

    assert go(100_000).evaluations
    content = (tmp_path / "out" / "state").read_bytes()
    monkeypatch.setenv("PLANTED", "2")
    wanted = r"is of another implementation: planted_main.py:gelu returned .* there and returns .* here .*name another"
    with pytest.raises(ResultsError, match=wanted):
        go()
    monkeypatch.delenv("PLANTED")
    (tmp_path / "planted_main.py").write_text(text + "# edited\n")
    with pytest.raises(ResultsError, match=r"planted_main.py, which planted_main.py:gelu reads, is sha256"):
        go()
    assert (tmp_path / "out" / "state").read_bytes() == content
    (tmp_path / "planted_main.py").write_text(text)
    assert go().evaluations
    assert not told


class Losing(LocalPool):
    """Loses every third item, as where its worker dies."""

    attempts = 9

    def __init__(self, executor):
        super().__init__(executor, 3, shares_memory=False)
        self.count = 0

    def submit(self, function, item):
        self.count += 1
        return super().submit(function if self.count % 3 else _lose, item)

    def is_lost(self, error):
        return isinstance(error, ConnectionError)


def _lose(item):
    raise ConnectionError


def test_whoever_answers_in_whatever_order_finds_the_same():
    """Also where items end before all of their batches are answered."""
    target, machines = EASY.target("float32"), []
    whole, _ = found(target, 360_000, dtype="float32")
    asking = Asking(target, "silu", "float32", item_seconds=0.0)

    def measured(item):
        return packed(replace(asking.answers(item), worker={"host": "other"}))

    with ThreadPoolExecutor(3) as executor:
        pool = Losing(executor)
        pool.spend = lambda worker, seconds: machines.append(worker["host"])
        again, _ = found(target, 360_000, dtype="float32", elsewhere=Elsewhere(pool, measured))
    assert plain(again) == plain(whole)
    assert pool.count > len(machines) > 3


def test_answers_are_the_same_on_the_other_side():
    span = np.array([FLOAT64.one], np.int64)
    one = evaluated(
        EASY.target(), "silu", "float64", CallBatch("uniform", (1,), span, span + 99, span * 0 + 9), nullcontext()
    )
    failure = TargetFailure("it fell", "segfault", first_bits=3)
    failure.inputs = one.x
    for answers in (Answers((one, one), None, 1.5, {"host": "a"}), Answers((), failure)):
        again = unpacked(packed(answers))
        assert (again.seconds, again.worker, len(again.found)) == (answers.seconds, answers.worker, len(answers.found))
        for a, b in zip(again.found, answers.found, strict=True):
            assert all(np.array_equal(x, y) for x, y in zip(a[:5], b[:5], strict=True))
            assert (a[5:], [x.dtype for x in a[:5]]) == (b[5:], [x.dtype for x in b[:5]])
    assert (str(again.failure), again.failure.kind, again.failure.first_bits) == ("it fell", "segfault", 3)
    assert np.array_equal(again.failure.inputs, one.x)


def test_a_kept_search_that_spent_its_time_asks_nothing_more():
    kept = []
    state, ended = found(EASY.target(), progress=lambda state: time.sleep(0.01), save=lambda *each: kept.append(each),
                         seconds=0.005)  # fmt: skip
    assert (ended.why, state.evaluations) == ("budget", kept[-1][1][0].error.size)
    again, known, spent = kept[-1]
    assert (
        search(EASY.target(), again, SearchBudget(seconds=0.005), workers=1, spent=spent, known=known).why == "budget"
    )
    assert again.evaluations == state.evaluations


def stopping_after(rounds):
    def progress(state):
        if state.rounds >= rounds:
            raise KeyboardInterrupt

    return progress


# ---- what it finds -----------------------------------------------------------------------------------


def test_a_damaged_state_is_refused(tmp_path):
    asked, facts, file = SearchAsked("gelu", "float32", 0, ()), {"target": "t"}, tmp_path / "state"
    whole = saved(facts, State.start(asked), [], 1.0)
    damaged = [whole[:end] for end in (0, 1, len(whole) // 2, len(whole) - 1)]
    damaged += [whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :] for at in range(0, len(whole), 37)]
    for content in damaged:
        file.write_bytes(content)
        with pytest.raises(ResultsError, match="is not the state of a search, or is damaged"):
            restored(file, facts, asked)


def test_a_folder_is_for_one_search(tmp_path):
    with kept_in(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / ".partial-0").write_bytes(b"of a search that was killed")
        with pytest.raises(ResultsError, match="another search uses it"), kept_in(tmp_path / "a" / "b"):
            pass
    with kept_in(tmp_path / "a" / "b"):
        assert not list((tmp_path / "a" / "b").iterdir())


def test_a_full_disk_is_said_once_and_tried_again(tmp_path, monkeypatch):
    asked, told, whole = SearchAsked("gelu", "float32", 0, ()), [], kept_module.replace_file

    def full(path, content, *, flush):
        raise OSError(28, "No space left on device", str(path))

    with kept_in(tmp_path, told.append) as kept:
        args = {}, State.start(asked), [], 1.0
        monkeypatch.setattr(kept_module, "replace_file", full)
        with pytest.raises(ResultsError, match=r"cannot write .*state: No space left on device"):
            kept.save(*args)
        for function in (whole, full, full, whole, full):
            monkeypatch.setattr(kept_module, "replace_file", function)
            kept.save(*args)
        monkeypatch.setattr(kept_module, "replace_file", whole)
        with pytest.raises(ResultsError, match=r"cannot write .*state: No space left"):
            kept.finish(b"{}")
        kept.save(*args)
        kept.finish(b"{}")
    assert len(told) == 2
    assert told[0].endswith("state: No space left on device; the search goes on, and tries again")


def test_every_input_of_a_16_bit_dtype_is_tried():
    (target,) = select(["kernels.silu_exp"])[0]
    state, ended = found(target, 1 << 40, dtype="float16")
    everything = sweep(target, make_plan("exhaustive", "silu", "float16")).record
    assert ended.why == "complete"
    assert state.worst.error == pytest.approx(everything.max_ulp, rel=2.0**-30)
    record = record_of(target, state, ended, Request(targets=("kernels.silu_exp",), dtypes=("float16",)))
    assert (record.bound, record.bound_kind, record.repeated) == ("=", "exhaustive", True)


def test_outcomes_that_are_worse_than_any_error_are_counted_and_shown():
    change = lambda x, y: np.where(x > 700.5, np.nan, np.where((x < -1) & (x > -2), -y, y))  # noqa: E731
    state, ended = found(Planted("bad", "", change, 0, 0).target())
    record = record_of(EASY.target(), state, ended, Request(targets=(EASY.target(),)))
    assert record.worst == "not finite"
    assert record.repeated is False
    assert (
        record.nonfinite.witness.x_bits
        == FLOAT64.bits_text(FLOAT64.round(701))[:6] + record.nonfinite.witness.x_bits[6:]
    )
    assert record.wrong_sign.count > 100
    assert record.max_ulp > 1e15
    assert json.loads(json.dumps(to_json(record), allow_nan=False))["worst"] == "not finite"


def test_ctrl_c_leaves_the_best_so_far():
    state, ended = found(EASY.target(), 1 << 40, progress=stopping_after(0))
    assert ended.why == "interrupted"
    assert state.worst is not None


def test_a_target_that_raises_ends_the_search():
    def raising(x):
        raise ValueError("not today")

    state, ended = found(callable_target(raising, "silu", "float64", name="raising"))
    assert ended.why == "failure"
    assert isinstance(ended.failure, TargetFailure)
    assert state.worst is None


def test_a_wrong_answer_is_not_believed_twice():
    """What is kept of a batch is what the judge says of each input, one by one."""
    span = np.array([FLOAT64.one], np.int64)
    batch = CallBatch("uniform", (1,), span, span + 999, np.array([1000]))
    bad = Planted("one", "", where(consecutive(1.0, 1)), 3, 0)
    worst = evaluated(bad.target(), "silu", "float64", batch, nullcontext())
    assert (worst.x[0], worst.counts) == (FLOAT64.one, (0, 0))
    assert 2.5 <= worst.error[0] <= 3.5


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_the_worst_input_of_each_piece_is_the_one_that_the_judge_finds(dtype):
    fmt = FORMATS[dtype]
    first, last = binades(fmt)
    batch = CallBatch("binades", (3,), first, last, np.minimum(20, last - first + 1))
    bad = Planted("bad", "", lambda x, y: np.where(x > 2, np.nan, np.where((x < -1) & (x > -2), -y, y)), 0, 0)
    target = bad.target(dtype) if dtype != "bfloat16" else select(["kernels.silu_exp"])[0][0]
    answers = evaluated(target, "silu", dtype, batch, nullcontext())
    x = from_ordinals(fmt, batch.ordinals(fmt))
    got = target.timed(dtype, x.copy())[0]
    want, error, _ = judge("silu", dtype, x, got)
    size = np.where(np.isfinite(error), np.abs(error), -1)
    assert answers.error.tolist() == np.maximum.reduceat(size, batch.starts).tolist()
    wrong = ((got ^ want) >= fmt.sign_mask) & ((got & (fmt.sign_mask - 1)) != 0) & (size >= 0)
    assert answers.counts == (np.isinf(error).sum(), wrong.sum())
    assert dtype == "bfloat16" or min(answers.counts) > 10


@pytest.mark.parametrize("function", ["exp", "gelu"])
def test_ties_are_near_midpoints(function):
    centre = from_values(FLOAT64, np.linspace(-4.0, 4.0, 16))
    batch = CallBatch("ties", (5,), centre, centre, np.full(16, 64))
    drawn = batch.ties(function, FLOAT64)
    x = from_ordinals(FLOAT64, drawn)
    correct = reference_bits(function, "float64", x)
    off = np.abs(judge(function, "float64", x, correct).error)
    assert (drawn >= np.repeat(centre, 64)).all()
    assert (drawn - np.repeat(centre, 64) < TIE_SPAN).all()
    assert (off > 0.48).mean() > 0.9


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("planted", nightly(*PLANTED))
def test_planted_inputs_are_found_within_their_budget(planted, seed):
    state, _ = found(planted.target(), planted.evaluations, seed=seed, workers=2, function=planted.function)
    assert planted.is_found(state)


@pytest.mark.parametrize("planted", nightly(*NOT_FOUND))
def test_docs_name_what_is_not_found(planted):
    """docs/search.md says so. If this fails, the search is better than its page."""
    state, _ = found(planted.target(), 50_000_000, workers=2)
    assert state.worst.error <= 0.5 + 2.0**-20


FLOAT32 = [
    ("kernels.gelu_erfc", "gelu"), ("kernels.gelu_as7126", "gelu"), ("kernels.gelu_tanh_tanh", "gelu_tanh"),
    ("kernels.gelu_sigmoid_exp", "gelu_sigmoid"), ("kernels.silu_exp", "silu"), ("kernels.gelu_grad_erfc", "gelu_grad"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "function"), nightly(*FLOAT32))
def test_the_exhaustive_maximum_of_float32_is_found(name, function):
    (target,) = select([name], dtype="float32")[0]
    everything = sweep(target, make_plan("exhaustive", function, "float32")).record
    state, _ = found(target, 2_000_000_000, dtype="float32", workers=2, function=function)
    assert state.worst.error == pytest.approx(everything.max_ulp, rel=2.0**-30)
