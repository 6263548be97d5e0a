# SPDX-License-Identifier: BSD-3-Clause
"""Whether two machines are the same, array by array."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def differences(one: Any, other: Any, where: str = "table") -> list[str]:
    """Return where two tables of nodes differ, in fields, types and values."""
    if is_dataclass(one):
        return [
            told
            for each in fields(one)
            if each.compare
            for told in differences(getattr(one, each.name), getattr(other, each.name), f"{where}.{each.name}")
        ]
    if isinstance(one, np.ndarray):
        is_same = one.dtype == other.dtype and np.array_equal(one, other)
        return [] if is_same else [f"{where}: {one} {other}"]
    if isinstance(one, tuple) and len(one) == len(other):
        return [
            told
            for place, pair in enumerate(zip(one, other, strict=True))
            for told in differences(*pair, f"{where}[{place}]")
        ]
    return [] if one == other else [f"{where}: {one!r} {other!r}"]
