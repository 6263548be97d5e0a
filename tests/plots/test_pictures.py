# SPDX-License-Identifier: BSD-3-Clause
"""What holds of every picture: found by its name, drawn where it is told, at both sizes, and of nothing too."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pandas as pd
import pytest
from matplotlib.figure import Figure

from swftools.errors import MissingLibraryError, ParameterError
from swftools.output.amounts import duration
from swftools.plots import Picture, caption, data, find_picture, list_pictures, look_of, plot, register_picture
from swftools.plots.picture import PICTURES, kinds_of_pictures
from swftools.simulator import list_policies
from swftools.trace import Trace


@pytest.fixture
def own() -> Iterator[type[Picture]]:
    """Register a picture of numbers for a while."""

    class Numbers(Picture):
        name, of, title, nothing = "numbers-of-a-test", pd.DataFrame, "Numbers", "no number"
        columns = ("x",)

        def table(self, subject, chosen):  # type: ignore[no-untyped-def]
            return subject[["x"]]

        def draw(self, axes, table, chosen):  # type: ignore[no-untyped-def]
            axes.plot(table["x"])

        def tell(self, table, chosen):  # type: ignore[no-untyped-def]
            return f"up to {table['x'].max()}"

    yield register_picture(Numbers)
    del PICTURES[pd.DataFrame].known["numbers-of-a-test"]
    del PICTURES[pd.DataFrame]._sources["numbers-of-a-test"]


def test_one_of_ones_own(own: type[Picture]) -> None:
    """It is drawn, gives its table, and says what it shows."""
    frame = pd.DataFrame({"x": [1, 3], "y": 0})
    assert plot(frame, own.name).lines[0].get_ydata().tolist() == [1, 3]  # type: ignore[union-attr]
    assert data(frame, own.name).columns.tolist() == ["x"]
    assert caption(frame, own.name) == "Numbers: up to 3"
    assert caption(frame.iloc[:0], own.name) == "Numbers: no number"
    assert plot(frame.iloc[:0], own.name).texts[0].get_text() == "no number"
    assert register_picture(own) is own


def test_what_is_refused(own: type[Picture], monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, columns, sizes and parameters that there are not; a name that is taken; no matplotlib."""
    frame = pd.DataFrame({"x": [1]})
    with pytest.raises(ParameterError, match=r"no picture of a table 'number-of-a-test'; .*did you mean numbers-of-a"):
        find_picture(frame, "number-of-a-test")
    with pytest.raises(ParameterError, match="no picture of a str 'x'; there are: "):
        find_picture("text", "x")
    with pytest.raises(ParameterError, match="numbers-of-a-test: the table lacks the columns x"):
        plot(pd.DataFrame({"y": [1]}), own.name)
    with pytest.raises(ParameterError, match="no size 'scren' of pictures; there are: screen, column; did you mean"):
        plot(frame, own.name, size="scren")
    with pytest.raises(ParameterError, match="of_what"):
        plot(frame, own.name, of_what=1)
    with pytest.raises(ParameterError, match=r"is registered already, by swftools\.plots\.arrivals"):
        register_picture(type("Other", (Picture,), {"name": "arrivals", "of": Trace}))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingLibraryError, match="pip install matplotlib"):
        plot(frame, own.name)


def test_where_it_is_told(own: type[Picture]) -> None:
    """On the axes given, which are returned; else on a new figure, with the size's width and text."""
    frame = pd.DataFrame({"x": [1, 3]})
    axes = Figure().add_subplot()
    assert plot(frame, own.name, ax=axes) is axes
    widths = {}
    for size in ("screen", "column"):
        drawn = plot(frame, own.name, size=size)
        widths[size] = (drawn.figure.get_figwidth(), drawn.xaxis.label.get_size())  # type: ignore[union-attr]
    assert widths == {"screen": (8.0, 11.0), "column": (3.4, 8.0)}


EVERY = [(kind, name) for kind in kinds_of_pictures() for name in list_pictures(kind)]


@pytest.mark.parametrize(("kind", "name"), EVERY, ids=lambda each: getattr(each, "__name__", each))
def test_every_picture_says_what_it_is(kind: type, name: str) -> None:
    """Title, words for nothing, parameters with defaults, and a docstring."""
    picture = list_pictures(kind)[name]
    assert picture.title[0].isupper()
    assert picture.nothing[0].islower()
    assert type(picture).__doc__
    assert picture.parameters() == picture.parameters.from_mapping({})
    assert (kind is pd.DataFrame) == bool(picture.columns)


def test_looks_of_policies() -> None:
    """Those that are shipped differ from each other, and keep their look with any parameters."""
    shipped = [name for name, each in list_policies().items() if each.decide.__module__.startswith("swftools.")]
    assert len(shipped) >= 16
    looks = [str(look_of(name)) for name in shipped]
    assert len(set(looks)) == len(looks)
    assert look_of("easy:reservations=2") == look_of("easy")
    assert look_of("somebodys-own") == look_of("somebodys-own")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7200, "2 h"),
        (1e6, "11.6 d"),
        (86_356_000, "999 d"),
        (9e8, "10,417 d"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    """The largest unit of which there are two."""
    assert duration(seconds) == words


def test_a_trace_draws_itself() -> None:
    """By the names of the pictures of traces."""
    trace = Trace.from_columns(job_number=[1], submit_time=[7200])
    assert trace.plot.names() == list(list_pictures(Trace))
    assert trace.plot.caption("arrivals") == (
        "Arrivals: most jobs are submitted in the hour from 2:00 (100 % of 1), fewest in the hour from 0:00 (0 %)"
    )
