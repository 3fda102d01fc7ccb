"""Device memory and marks as PyCUDA has them, imitated: what it gives back, and in which thread."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from gelu_verify.gpu import cuda


class DriverError(Exception):
    pass


class Driver:
    """PyCUDA's rules: a context is current in a thread while it is pushed there, and what is dropped in a thread
    without it, other than the one that opened the device, is not given back."""

    Error = DriverError

    def __init__(self):
        self.stacks, self.freed, self.launched = threading.local(), [], []
        driver = self

        class Context:
            def push(self):
                driver.stack.append(self)

            @staticmethod
            def pop():
                driver.stack.pop()

        self.Context, self.context = Context, Context()

    @property
    def stack(self):
        return self.stacks.__dict__.setdefault("contexts", [])

    def Device(self, index):
        return SimpleNamespace(retain_primary_context=lambda: self.context)

    def mem_alloc(self, nbytes):
        assert self.stack
        return Allocation(self, nbytes)


class Allocation:
    def __init__(self, driver, nbytes):
        self.driver, self.nbytes = driver, nbytes

    def __int__(self):
        return 0x7F00_0000_1000

    def free(self):
        if not self.driver.stack:
            raise DriverError("cannot activate out-of-thread context")
        self.driver.freed.append(self.nbytes)


@pytest.fixture
def device(monkeypatch):
    driver = Driver()
    monkeypatch.setattr(cuda, "_driver", lambda: driver)
    return cuda.Device()


def in_another_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_memory_is_given_back_in_any_thread(device):
    held = [device.alloc(64)]
    in_another_thread(held.clear)
    in_another_thread(lambda: device.alloc(32))
    assert device.driver.freed == [64, 32]
    assert device.driver.stack == []


def test_memory_of_a_dead_context_is_no_error(device, recwarn):
    memory = device.alloc(64)
    device.driver.freed = None  # then free fails; as a dead context does
    memory._allocation.free = lambda: (_ for _ in ()).throw(DriverError("an illegal memory access was encountered"))
    del memory
    assert not recwarn.list


def test_no_memory_left(device, monkeypatch):
    def none_left(nbytes):
        raise DriverError("cuMemAlloc failed: out of memory")

    monkeypatch.setattr(device.driver, "mem_alloc", none_left)
    with pytest.raises(DriverError, match="out of memory"):
        device.alloc(1 << 50)
    assert device.driver.stack == []


def test_words_of_a_launch_are_as_wide_as_the_kernel_has_them(device):
    memory = device.alloc(64)
    function = cuda.Function(lambda *words, **rest: device.driver.launched.append((words, rest)), 128, 16)
    device.launch(function, 3, 128, memory, device.at(memory, 8), 5, np.uint32(7))
    (words, rest), *_ = device.driver.launched
    assert [type(word) for word in words] == [np.uint64, np.uint64, np.uint64, np.uint32]
    assert [int(word) for word in words] == [0x7F00_0000_1000, 0x7F00_0000_1008, 5, 7]
    assert rest == {"grid": (3, 1, 1), "block": (128, 1, 1), "shared": 16}


def test_marks_are_made_and_dropped_where_the_context_is_current(device):
    seen = []

    class Event:
        def record(self):
            seen.append("record")

        def synchronize(self):
            seen.append("wait")

        def time_since(self, start):
            return 250.0

        def __del__(self):
            seen.append(bool(device.driver.stack))

    device.driver.Event = Event
    assert device.seconds(lambda: seen.append("work")) == 0.25
    assert seen == ["record", "work", "record", "wait", True, True]
