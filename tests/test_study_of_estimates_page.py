# SPDX-License-Identifier: BSD-3-Clause
"""The table of what tightened requests do to schedules, as it is printed on its page."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pipelines.logs.find import SHIPPED_LOG
from tests.folders import ROOT
from tests.pages import DOCS


@pytest.mark.slow
def test_the_table_is_what_the_example_prints() -> None:
    """Every row of it; the page itself tries some figures."""
    command = [sys.executable, str(ROOT / "examples" / "compare_requests.py"), SHIPPED_LOG]
    printed = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT).stdout
    assert len(printed.splitlines()) == 2 + 6 * 3
    assert printed in (DOCS / "estimates.md").read_text(encoding="utf-8")
