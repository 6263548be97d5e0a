# SPDX-License-Identifier: BSD-3-Clause
"""Memory is given back where the system can take it, and nothing fails where it cannot."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from swftools.kernel.memory import give_back_memory


class Library:
    """A system's library."""

    def __init__(self, asked: list[int] | None) -> None:
        if asked is not None:
            self.malloc_trim = asked.append


@pytest.mark.parametrize("has_trim", [True, False])
def test_the_system_is_asked_if_it_can_be(has_trim: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """To keep nothing in reserve; macOS and musl have no such function."""
    asked: list[int] = []

    def library(name: Any) -> Library:
        assert name is None
        return Library(asked if has_trim else None)

    monkeypatch.setattr(ctypes, "CDLL", library)
    give_back_memory()
    assert ([0] if has_trim else []) == asked
