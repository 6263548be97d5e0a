# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a log put together as they come: nothing of them changes, whatever half the bytes can hold."""

from __future__ import annotations

import io

import pytest

from swftools import read_log
from swftools.formats.accounting import whole_log
from tests.examples import pairs
from tests.formats.accounting_checks import check_same, read_in_pieces
from tests.formats.tables.made import example, longer

FRACTIONS = (
    b'{"id": 0, "ts_submit": 1, "runtime": 16777217001, "wait_time": 333, "resource_amount_requested": 0.1, '
    b'"workflow_id": 16777217, "parents": [1]}\n'
)


@pytest.mark.parametrize(("name", "rows"), pairs(["nrel", "openb", "wta", "supercloud"], [1, 3, 7], 1))
def test_parts_put_together_are_the_same(name: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that float32 does not hold stay as they are; texts, lines of the quarantine and of merged rows too."""
    text = example(name) + FRACTIONS + example(name).replace(b"-1,", b'"x",') if name == "wta" else longer(name)
    expected = read_log(io.BytesIO(text), name)
    monkeypatch.setattr(whole_log, "_ROWS", rows)
    check_same(expected, read_in_pieces(text, name, 40))
