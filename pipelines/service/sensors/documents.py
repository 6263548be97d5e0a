# SPDX-License-Identifier: BSD-3-Clause
"""Parts of documents that batch systems print, which may be otherwise than one thinks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def part_of(told: Any, name: str) -> Mapping[str, Any]:
    """Return a part of what was told; an empty one if it has none.

    Examples
    --------
    >>> part_of({"a": {"b": 1}}, "a"), part_of({"a": 1}, "a"), part_of([], "a")
    ({'b': 1}, {}, {})
    """
    part = told.get(name) if isinstance(told, Mapping) else None
    return part if isinstance(part, Mapping) else {}
