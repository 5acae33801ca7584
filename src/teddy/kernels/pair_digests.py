"""Compiled md5 of edges by the ids of their ends, see :func:`teddy.prune.select.pair_digests`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from teddy.kernels import jit
from teddy.kernels.jit import compiled

Array = NDArray[Any]

# RFC 1321: the sines, the rotation of each step, and the word of the block that it reads.
_SINES = np.array([int(2**32 * abs(math.sin(i + 1))) for i in range(64)], np.uint32)
_TURNS = np.array(
    [turn for turns in ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
     for turn in 4 * turns], np.uint32,
)  # fmt: skip
_WORDS = np.array(
    [(a * i + b) % 16 for a, b in ((1, 0), (5, 1), (3, 5), (7, 0)) for i in range(16)], np.uint8
)
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
# A decimal of 64 bits with its sign, and padding of a last block.
_DECIMAL, _PADDING = 20, 72


def integer_digests(
    ones: Array, others: Array, directed: bool = True, prefix: str = ""
) -> NDArray[np.bytes_]:
    """md5 of pairs of int64 ``[P]`` in hexadecimal digits, ``S32 [P]``.

    If not ``directed``, the lower id comes first. The prefix is hashed before each pair.
    """
    return _run(_integer_pairs, (), ones, others, directed, prefix)


def text_digests(
    data: Array, starts: Array, ones: Array, others: Array, directed: bool, prefix: str
) -> NDArray[np.bytes_]:
    """md5 of pairs of texts, given by index, in hexadecimal digits, ``S32 [P]``.

    ``data`` is all texts in UTF-8; text ``i`` is ``data[starts[i]:starts[i + 1]]``.
    If not ``directed``, the lower text comes first. The prefix is hashed before each pair.
    """
    return _run(_text_pairs, (data, starts), ones, others, directed, prefix)


def _run(
    kernel: Callable[..., Any], ids: tuple[Array, ...], ones: Array, others: Array, directed: bool,
    prefix: str,
) -> NDArray[np.bytes_]:  # fmt: skip
    start, digests = np.frombuffer(prefix.encode(), np.uint8), np.empty((ones.size, 32), np.uint8)
    parts = jit.split(ones.size, 1 << 12)
    jit.run_parts(kernel, [(start, *ids, ones[a:b], others[a:b], directed, digests[a:b])
                           for a, b in parts])  # fmt: skip
    return digests.view("S32").ravel()


@compiled
def _integer_pairs(prefix: Array, ones: Array, others: Array, directed: bool, out: Array) -> None:
    message = np.empty(prefix.size + 2 * _DECIMAL + 1 + _PADDING, np.uint8)
    message[: prefix.size] = prefix
    for i in range(ones.size):
        low, high = ones[i], others[i]
        if not directed and low > high:
            low, high = high, low
        size = _write_integer(low, message, prefix.size)
        message[size] = 45  # a hyphen
        _md5(message, _write_integer(high, message, size + 1), out[i])


@compiled
def _text_pairs(
    prefix: Array, data: Array, starts: Array, ones: Array, others: Array, directed: bool,
    out: Array,
) -> None:  # fmt: skip
    message = np.empty(0, np.uint8)
    for i in range(ones.size):
        low = data[starts[ones[i]] : starts[ones[i] + 1]]
        high = data[starts[others[i]] : starts[others[i] + 1]]
        if not directed and _is_above(low, high):
            low, high = high, low
        needed = prefix.size + _DECIMAL + 2 + low.size + high.size + _PADDING
        if needed > message.size:
            message = np.empty(2 * needed, np.uint8)
            message[: prefix.size] = prefix
        letters = np.int64(0)
        for byte in low:
            letters += (byte & 0xC0) != 0x80  # not the second byte or a later one of a letter
        size = _write_integer(letters, message, prefix.size)
        message[size] = 58  # a colon
        size += 1
        message[size : size + low.size] = low
        size += low.size
        message[size] = 45  # a hyphen
        size += 1
        message[size : size + high.size] = high
        _md5(message, size + high.size, out[i])


@compiled
def _is_above(one: Array, other: Array) -> Any:
    """Return True if the first text comes after the second in the order of their bytes."""
    for i in range(min(one.size, other.size)):
        if one[i] != other[i]:
            return one[i] > other[i]
    return one.size > other.size


@compiled
def _write_integer(number: Any, message: Array, start: int) -> Any:
    """Write decimal digits; return the index after the last."""
    left = np.uint64(number)
    if number < 0:
        message[start] = 45  # a minus
        start += 1
        left = ~left + np.uint64(1)
    end, rest = start + 1, left // np.uint64(10)
    while rest:
        end, rest = end + 1, rest // np.uint64(10)
    for i in range(end - 1, start - 1, -1):
        message[i] = 48 + left % np.uint64(10)
        left //= np.uint64(10)
    return end


@compiled
def _md5(message: Array, size: int, out: Array) -> None:
    """Write the md5 of the first ``size`` bytes of a message; padding overwrites what follows."""
    end = (size + 8) // 64 * 64 + 64
    message[size] = 0x80
    message[size + 1 : end] = 0
    for i in range(8):
        message[end - 8 + i] = (np.uint64(8 * size) >> np.uint64(8 * i)) & np.uint64(255)
    a0, b0 = np.uint32(0x67452301), np.uint32(0xEFCDAB89)
    c0, d0 = np.uint32(0x98BADCFE), np.uint32(0x10325476)
    words = message[:end].view(np.uint32)
    for block in range(0, words.size, 16):
        a, b, c, d = a0, b0, c0, d0
        for i in range(64):
            if i < 16:
                mixed = np.uint32((b & c) | (~b & d))
            elif i < 32:
                mixed = np.uint32((d & b) | (~d & c))
            elif i < 48:
                mixed = np.uint32(b ^ c ^ d)
            else:
                mixed = np.uint32(c ^ (b | ~d))
            total = np.uint32(a + mixed + _SINES[i] + words[block + _WORDS[i]])
            turned = np.uint32(total << _TURNS[i]) | np.uint32(total >> np.uint32(32 - _TURNS[i]))
            a, d, c, b = d, c, b, np.uint32(b + turned)
        a0, b0 = np.uint32(a0 + a), np.uint32(b0 + b)
        c0, d0 = np.uint32(c0 + c), np.uint32(d0 + d)
    for i, word in enumerate((a0, b0, c0, d0)):
        for j in range(4):
            byte = (word >> np.uint32(8 * j)) & np.uint32(255)
            out[8 * i + 2 * j] = _HEX[byte >> np.uint32(4)]
            out[8 * i + 2 * j + 1] = _HEX[byte & np.uint32(15)]
