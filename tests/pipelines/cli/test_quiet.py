# SPDX-License-Identifier: BSD-3-Clause
"""--quiet on a terminal: no bar."""

from __future__ import annotations

import logging
from contextlib import redirect_stderr

import pytest

from pipelines.cli import progress
from pipelines.config import show_progress
from tests.pipelines.cli.test_progress import Terminal


@pytest.mark.parametrize(("level", "is_shown"), [(logging.INFO, True), (logging.DEBUG, True), (logging.WARNING, False)])
def test_a_bar_is_left_out_if_told_to_be_quiet(level: int, is_shown: bool) -> None:
    """It says how far the work is, which is what --quiet leaves out."""
    show_progress(level)
    try:
        with redirect_stderr(Terminal()) as terminal, progress.simulation_shown() as told:
            told(10, 40, 86_400.0)
    finally:
        logging.getLogger("pipelines").setLevel(logging.NOTSET)
    assert is_shown == bool(terminal.getvalue())
