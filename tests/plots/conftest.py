# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a test are closed behind it: pyplot, once a test has imported it, keeps all that are drawn."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
