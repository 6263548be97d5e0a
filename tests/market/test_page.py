# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/market.md is what its script makes."""

from __future__ import annotations

import sys

import pytest

from swftools.market import list_mechanisms
from tests.examples import by_day
from tests.pages import DOCS, table_on_page


@pytest.mark.parametrize(("label", "size"), by_day([("easy", 3), ("genetic", 3), ("easy", 4)], 1))
def test_lines_are_measured(label: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick ones."""
    monkeypatch.syspath_prepend(DOCS)
    import make_prices  # noqa: PLC0415 (it stands beside the page)

    assert make_prices.row(label, make_prices.POLICIES[label], size) in (DOCS / "market.md").read_text(encoding="utf-8")
    sys.modules.pop("make_prices")


def test_every_mechanism_is_on_the_page() -> None:
    """With the parameters that it has."""
    table = table_on_page("market.md", "mechanism")
    ours = {
        name: made for name, made in list_mechanisms().items() if made.set_prices.__module__.startswith("swftools.")
    }
    assert set(table) == set(ours)
    for name, made in ours.items():
        told = [word.strip(" `").split(".")[0] for word in table[name][0].split(",") if word.strip()]
        assert told == made.parameters.names()
