# SPDX-License-Identifier: BSD-3-Clause
"""The page of search: its tables have what there is, and what it shows is what is printed."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.logs.find import SHIPPED_LOG
from swftools.simulator.entry_points import simulate
from swftools.simulator.metrics.measures import measure
from swftools.simulator.policies.search import SearchParameters
from swftools.simulator.search.measures import PlannedMeasure, list_measures
from swftools.simulator.search.objectives import MODELS, read_objective
from swftools.trace import Trace
from tests.pages import DOCS, table_on_page

PAGE = (DOCS / "goal_search.md").read_text(encoding="utf-8")


def names_of(heading: str) -> dict[str, list[str]]:
    """Return the rows of a table by each name in their first cells."""
    rows = table_on_page("goal_search.md", heading)
    return {name.strip("`"): cells for names, cells in rows.items() for name in names.split("`, `")}


def test_parameters_and_their_defaults() -> None:
    """The table has each of them, in order, and its default."""
    rows = names_of("parameter")
    assert list(rows) == SearchParameters.names()
    for name, value in SearchParameters().to_mapping().items():
        shown = str(value).lower() if isinstance(value, bool) else f"{value:g}" if value == 0 else str(value)
        assert re.search(rf"{re.escape(shown)}`? \(default\)|default `?{re.escape(shown)}", rows[name][0]), name


def test_models() -> None:
    """The table has each, as it is written."""
    rows = names_of("model")
    assert [name.partition("(")[0] for name in rows] == list(MODELS)


def test_measures() -> None:
    """The table has each of ours, and says which take a threshold and which need a column."""
    rows = names_of("measure")
    ours: dict[str, PlannedMeasure] = {name: each for name, each in list_measures().items() if each.function is None}
    assert set(rows) == set(ours)
    for name, each in ours.items():
        assert ("takes a threshold" in rows[name][1]) == each.takes_threshold
        assert all(f"needs the column [`{column}`]" in rows[name][1] for column in each.needs)
        assert each.needs or "needs" not in rows[name][1]


def test_objectives_on_the_page_can_be_read() -> None:
    """Every objective that stands in quotes of code means something, but for the mistake that is shown."""
    texts = set(re.findall(r"(?:strict-)?(?:lexical|tradeoff-[abc])\((?:[^()\n]|\([^()\n]*\))*\)", PAGE))
    read = [text for text in sorted(texts) if "x" not in re.split(r"[^A-Za-z_]", text) and "avgY" not in text]
    own = [text for text in read if "processor-wait" in text]
    assert len(read) > 5
    assert own == ["lexical(processor-wait)"]
    for text in read:
        if text not in own:
            read_objective(text)


def test_the_decision_is_as_it_is_printed() -> None:
    """By the command that stands before it."""
    shown = re.search(r"^```\n(Decision .*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    command = re.search(r"`swftools explain LOG (--policy \S+ --job \d+)`", PAGE)
    assert shown
    assert command
    result = CliRunner().invoke(main, ["explain", SHIPPED_LOG, *command[1].split()])
    assert result.stdout == shown[1]


ROWS = list(table_on_page("goal_search.md", "policy"))
BY_DAY = [ROWS[0], *(row for row in ROWS if row == "search")]


@pytest.mark.parametrize(
    "policy", [row if row in BY_DAY else pytest.param(row, marks=pytest.mark.slow) for row in ROWS]
)
def test_figures(policy: str, cleaned: Trace) -> None:
    """Longest and mean wait, h, and mean bounded slowdown under each policy."""
    schedule = simulate(cleaned, policy, 1152, predictor="exact")
    told = measure(schedule).set_index(["measure", "statistic"])["value"]
    longest, mean = (told["wait", statistic] / 3600 for statistic in ("max", "mean"))
    slowdown = told["bounded_slowdown", "mean"]
    assert table_on_page("goal_search.md", "policy")[policy] == [f"{longest:.1f}", f"{mean:.2f}", f"{slowdown:.2f}"]
