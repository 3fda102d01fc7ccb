"""Philox4x32-10: Random123's published vectors, and the same rounds at 64 bits against NumPy's Philox4x64-10."""

import numpy as np
import pytest

from gelu_verify.stochastic import _native

# tests/kat_vectors of https://github.com/DEShawResearch/random123 (release 1.14.0), lines "philox4x32 10":
# counter, key, result
VECTORS = """
00000000 00000000 00000000 00000000 00000000 00000000 6627e8d5 e169c58d bc57ac4c 9b00dbd8
ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff 408f276d 41c83b0e a20bc7c6 6d5451fd
243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0 d16cfe09 94fdcceb 5001e420 24126ea1
""".strip().splitlines()
CONSTANTS = {  # bits of a word: multipliers, increments of the key
    32: ((0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)),
    64: ((0xD2E7470EE14C6C93, 0xCA5A826395121157), (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)),
}


def philox(width, counter, key):
    """Ten rounds of Philox4xW, in Python's integers."""
    (m0, m1), increments = CONSTANTS[width]
    mask = (1 << width) - 1
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = m0 * c[0], m1 * c[2]
        c = [p1 >> width ^ c[1] ^ k[0], p1 & mask, p0 >> width ^ c[3] ^ k[1], p0 & mask]
        k = [(each + step) & mask for each, step in zip(k, increments, strict=True)]
    return tuple(c)


@pytest.mark.parametrize("line", VECTORS)
def test_the_vectors_of_random123(line):
    words = tuple(int(word, 16) for word in line.split())
    assert _native.philox(words[:4], words[4:6]) == words[6:] == philox(32, words[:4], words[4:6])


def test_the_same_rounds_with_words_of_64_bits_are_numpys():
    """NumPy has Philox4x64-10 only, and increments the counter before each block."""
    random = np.random.default_rng(0)
    for _ in range(20):
        counter, key = (tuple(map(int, random.integers(1 << 62, size=n))) for n in (4, 2))
        before = (counter[0] - 1, *counter[1:])
        bits = np.random.Philox(counter=np.array(before, np.uint64), key=np.array(key, np.uint64))
        assert tuple(bits.random_raw(4).tolist()) == philox(64, counter, key)


def test_the_native_one_is_the_same_as_in_python():
    random = np.random.default_rng(1)
    for words in random.integers(1 << 32, size=(200, 6)).tolist():
        assert _native.philox(tuple(words[:4]), tuple(words[4:])) == philox(32, words[:4], words[4:])


def test_an_element_has_its_number_and_call_as_counter_and_the_seed_as_key():
    i, call, seed = 0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x0F1E2D3C4B5A6978
    words = philox(32, (0x89ABCDEF, 0x01234567, 0x76543210, 0xFEDCBA98), (0x4B5A6978, 0x0F1E2D3C))
    assert _native.element_bits(i, call, seed) == int("".join(f"{word:08x}" for word in words), 16)
