# SPDX-License-Identifier: BSD-3-Clause
"""What a page shows where somebody points: the values that are drawn, by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count

import numpy as np
import pytest
from matplotlib.figure import Figure

from pipelines.reports.drawings import Drawing, drawn, json_of, values_over_time
from pipelines.reports.report import ReportPicture, Section
from swftools.plots import plot, style
from tests.pipelines.reports.test_centre import DAY, in_two_partitions, over_new_year

START = 1_703_980_800 + 43_200
"""December 31, 2023, at noon."""


@pytest.fixture(autouse=True)
def looks() -> Iterator[None]:
    """Draw as everywhere."""
    with style():
        yield


def test_of_a_step_function() -> None:
    """The area and its line are one; the first edge is a time, the others how much later they are."""
    told = values_over_time(plot(over_new_year(), "utilization"))
    assert told["what"] == "processors in use, %"
    assert told["edges"] == [START, DAY, DAY / 2, DAY / 2, DAY]
    assert told["series"] == [{"name": "", "values": [50, 100, 0, 25]}]


def test_of_the_longest_queue_too() -> None:
    """Where times are put together the longest queue is another line."""
    told = values_over_time(plot(over_new_year(), "queue", bins=2))
    assert told["series"] == [{"name": "", "values": [0.6667]}, {"name": "most", "values": [1]}]


def test_areas_are_without_those_below() -> None:
    """One job waits for cores, on top of none that waits for its turn."""
    told = values_over_time(plot(in_two_partitions(), "wait-reasons"))
    assert told["series"][0] == {"name": "cores", "values": [1, 2, 0]}
    axes = Figure().subplots()
    axes.stairs([3, 5], [0, 1, 2], baseline=[1, 2], fill=True, label="above")
    assert values_over_time(axes)["series"] == [{"name": "above", "values": [2, 3]}]


def test_values_are_short() -> None:
    """Four digits; what is missing stays so."""
    axes = Figure().subplots()
    axes.stairs([1 / 3, 12345.6, np.nan], [0, 1, 2, 3], label="<one>")
    axes.set_ylabel("a\nb")
    told = values_over_time(axes)
    assert told == {
        "what": "a b",
        "edges": [0, 86400, 86400, 86400],
        "series": [{"name": "<one>", "values": [0.3333, 12350, None]}],
    }
    axes.stairs([1], [0, 3])
    assert values_over_time(axes) == {}
    assert values_over_time(Figure().subplots()) == {}


def one(picture: ReportPicture) -> Drawing:
    """Return a picture as a page has it."""
    (found,) = drawn(Section("", pictures=[picture]), count())
    return found


def test_cells() -> None:
    """Each hour of the week says how long jobs waited that came then; the axes lie where the drawing has them."""
    found = one(ReportPicture(over_new_year(), "wait-by-hour"))
    told = json.loads(str(found.values))
    assert (told["rows"][6], told["columns"][12], told["cells"][6][12]) == (
        "Sunday",
        "12:00 to 13:00",
        "median wait 12 h, 2 jobs",
    )
    assert told["cells"][0][12] == "median wait 24 h, 1 job"
    assert sum(words == "no job" for row in told["cells"] for words in row) == 7 * 24 - 2
    assert {*found.place} == {"left", "right", "top", "bottom"}
    assert found.title == "Waits by hour"


def test_a_name_ends_no_script() -> None:
    """JSON stands in a page as it is."""
    schedule = in_two_partitions()
    found = one(ReportPicture(schedule, "resources"))
    assert json.loads(str(found.values))["series"][0]["name"] == "cores"
    assert found.place["zone"] == "UTC"
    assert json_of({"name": "</script>"}) == '{"name":"\\u003c/script>"}'


def test_places_are_short() -> None:
    """Two decimals of a point in what is drawn."""
    found = one(ReportPicture(over_new_year(), "utilization"))
    paths = re.findall(r' d="([^"]*)"', str(found.drawing))
    assert any("." in path for path in paths)
    assert not any(re.search(r"\.\d{3}", path) for path in paths)
