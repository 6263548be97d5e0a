# SPDX-License-Identifier: BSD-3-Clause
"""Bytes that somebody forged: numbers, lengths and words changed by seed, with every hash made right again."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

EXTREMES = (0, -1, 1, 2, 3, 7, 255, 256, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62, -(2**62), 2**63 - 1, -(2**63))
REALS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, -1e300, 1e-300, 2.0**53, 0.5)
WORDS = (None, True, -1, 0, 1, 2**70, 1.5, 1e308, "", "x", "os:system", "evilmod:f", [], {}, [[]], [1, 2, 3], "9" * 50)


def changed_bytes(content: bytes, draw: random.Random) -> bytes:
    """Return bytes of which some were flipped, cut off, doubled or put in."""
    made, at = bytearray(content), draw.randrange(max(len(content), 1))
    kind = draw.randrange(4)
    if kind == 0:
        for _ in range(draw.choice((1, 1, 2, 8))):
            made[draw.randrange(len(made))] ^= 1 << draw.randrange(8)
    elif kind == 1:
        del made[at:]
    elif kind == 2:
        del made[at : at + draw.choice((1, 8, 100))]
    else:
        made[at:at] = draw.randbytes(draw.choice((1, 8, 100)))
    return bytes(made)


def changed_array(array: Any, draw: random.Random) -> Any:
    """Return an array with other numbers, or of another length, shape or type."""
    kind = draw.randrange(12)
    if kind == 0:
        return array[: draw.randrange(len(array) + 1)]
    if kind == 1:
        return np.concatenate([array, array[:1] if len(array) else np.zeros((1, *array.shape[1:]), array.dtype)])
    if kind == 2:
        with np.errstate(invalid="ignore"):
            return array.astype(draw.choice(["<f8", "<i8", "<i4", "|b1", "<u8"]), casting="unsafe")
    if kind == 3:
        return array.reshape(1, *array.shape)
    made = array.copy()
    flat = made.reshape(-1)
    if not len(flat):
        return made
    for _ in range(draw.choice((1, 1, 1, 3))):
        at = draw.randrange(len(flat))
        if made.dtype.kind == "b":
            flat[at] = not flat[at]
        elif made.dtype.kind == "f":
            other = float(flat[draw.randrange(len(flat))])
            flat[at] = draw.choice((*REALS, float(flat[at]) + draw.choice((-1, 1)), other))
        else:
            limits = np.iinfo(made.dtype)
            value = draw.choice((*EXTREMES, int(flat[at]) + draw.choice((-1, 1)), int(flat[draw.randrange(len(flat))])))
            flat[at] = min(max(value, int(limits.min)), int(limits.max))
    return made


def changed_words(value: Any, draw: random.Random) -> Any:
    """Return what JSON holds, with one thing in it changed, left out or put in."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(list(value))
        if draw.random() < 0.1:
            return {name: each for name, each in value.items() if name != key}
        return {**value, key: changed_words(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.9:
        at = draw.randrange(len(value))
        if draw.random() < 0.1:
            return value[:at] + value[at + 1 :]
        return [*value[:at], changed_words(value[at], draw), *value[at + 1 :]]
    if isinstance(value, int) and not isinstance(value, bool) and draw.random() < 0.6:
        return draw.choice((value + 1, value - 1, *EXTREMES))
    if isinstance(value, float) and draw.random() < 0.6:
        return draw.choice((value + 1.0, -value, *REALS))
    return draw.choice(WORDS)


def tried(seeds: Sequence[int], forge: Callable[[random.Random], Any], use: Callable[[Any], None]) -> list[str]:
    """Return what went wrong where forged bytes were used: every error but those that ``use`` takes for an answer."""
    wrong = []
    for seed in seeds:
        forged = forge(random.Random(seed))
        try:
            use(forged)
        except Exception as error:  # noqa: BLE001 (whatever comes of them is what is looked for)
            wrong.append(f"seed {seed}: {type(error).__name__}: {error}")
    return wrong
