# SPDX-License-Identifier: BSD-3-Clause
"""What a picture is: the table behind it, how that is drawn, what it says in words; all of them by name.

A picture is a file of this folder with a subclass of ``Picture``, and its line in ``__init__.py``. Report, console and
documentation find it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from swftools.errors import ParameterError
from swftools.parameters import Parameters
from swftools.parameters.registry import Registry
from swftools.plots.panels import panels, say, set_heading
from swftools.plots.several import OF, labelled, measures_of, tables_of
from swftools.plots.style import SIZES, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class NoParameters(Parameters):
    """Of pictures that have none."""


class Picture:
    """A picture of one kind of thing: a trace, a schedule, a cleaning report, or a table.

    A subclass names what it is drawn from, and defines ``table``, ``draw`` and ``tell``.

    Attributes
    ----------
    name : str
        Its name, by which it is asked for; one picture of each name for a kind of thing.
    of : type
        What it is drawn from: a class, or ``pandas.DataFrame``.
    columns : sequence of str
        If it is drawn from a table: the columns that the table must have.
    title : str
        What it shows, in a few words.
    parameters : type of Parameters
        Its parameters, each with a default.
    aspect : float
        Height / width.
    nothing : str
        Text to show if the table has no rows; ``nothing_of`` may say more.
    overlays : bool
        Whether several things are drawn in one, by a column ``of`` of the table; else there is a panel for each.
    """

    name: ClassVar[str]
    of: ClassVar[type]
    columns: ClassVar[Sequence[str]] = ()
    title: ClassVar[str]
    parameters: ClassVar[type[Parameters]] = NoParameters
    aspect: ClassVar[float] = 0.5
    nothing: ClassVar[str] = "nothing to show"
    overlays: ClassVar[bool] = False

    def aspect_for(self, width: float) -> float:
        """Return height / width of a figure so many inches wide."""
        return self.aspect

    def nothing_of(self, subject: Any) -> str:
        """Return the text to show if the table of a thing has no rows."""
        return self.nothing

    def table(self, subject: Any, chosen: Any) -> pd.DataFrame:
        """Return the table that is drawn; it has no rows if there is nothing to show."""
        raise NotImplementedError

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: Any) -> None:
        """Draw a table that has rows."""
        raise NotImplementedError

    def cells(self, subject: Any, **parameters: Any) -> dict[str, list[Any]]:
        """Return what a page shows where somebody points at a cell; nothing of a picture that has none.

        Returns
        -------
        dict
            ``rows`` and ``columns``, what they are called, from the upper left on, and ``cells``, words for each row
            and column.
        """
        return {}

    def tell(self, table: pd.DataFrame, chosen: Any) -> str:
        """Return what the picture shows, with its main numbers, in a sentence or two, for a table that has rows."""
        raise NotImplementedError


PICTURES: dict[type, Registry[Picture]] = {}


def _pictures_of(kind: type) -> Registry[Picture]:
    """Return the pictures of a kind of thing by name, those of what it is a special case of among them."""
    known = next((of for of in PICTURES if issubclass(kind, of)), kind)
    what = "table" if issubclass(kind, pd.DataFrame) else known.__name__
    return PICTURES.get(known, Registry(f"picture of a {what}"))


def register_picture(kind: type[Picture]) -> type[Picture]:
    """Register a picture by what it is of and its name.

    Raises
    ------
    ParameterError
        Another one is registered under that name.
    """
    if kind.parameters is not NoParameters:
        kind.parameters.named(kind.name)
    names = PICTURES.setdefault(kind.of, _pictures_of(kind.of))
    names.add(kind.name, kind(), kind)
    return kind


def list_pictures(of: type) -> dict[str, Picture]:
    """Return the pictures of a kind of thing by name, in the order of their registration."""
    return dict(_pictures_of(of).known)


def kinds_of_pictures() -> list[type]:
    """Return the kinds of things that can be drawn."""
    return list(PICTURES)


def find_picture(subject: object, name: str) -> Picture:
    """Return the picture of a thing by name; ``module:name`` imports the module that registers it first.

    Raises
    ------
    ParameterError
        There is none of that name, or the table lacks its columns.
    """
    picture = _pictures_of(type(subject)).find(name)
    if isinstance(subject, pd.DataFrame) and (missing := [each for each in picture.columns if each not in subject]):
        raise ParameterError(f"picture {name}: the table lacks the columns {', '.join(missing)}")
    return picture


def plot(subject: Any, name: str, *, ax: Axes | None = None, size: str = "screen", **parameters: Any) -> Axes:
    """Draw a picture.

    Parameters
    ----------
    subject : Trace, Schedule, CleaningReport or pandas.DataFrame; or a list, tuple or mapping
        What to draw. Several schedules are drawn in one picture, each in the colour of its policy, or in a panel each;
        a trace among them is what the log says. A mapping gives names. Of pictures of a comparison (``policies``) the
        schedules are measured. Measures of several schedules below each other are a comparison, too.
    name : str
        Name of the picture; ``list_pictures(type(subject))`` lists them.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    size : {"screen", "column"}
        For a screen, or for a column of a paper: the size of a new figure and of all text.
    **parameters
        Parameters of the picture; see its ``parameters``.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on: ``ax`` if given. Its figure is ``.figure``. New axes show themselves as the last line of a
        notebook's cell. Their figure is the current one of ``matplotlib.pyplot`` in a notebook, and wherever pyplot
        has been imported, so that ``plt.show()`` shows it.

    Raises
    ------
    ParameterError
        There is no such picture, parameter or size.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> from swftools.trace import Trace
    >>> trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 7200], run_time=[60, 60])
    >>> plot(trace, "arrivals").get_ylabel()
    'share of jobs, %'
    """
    return _drawn(subject, name, ax, size, parameters, "shown_axes")[0]


def plot_and_tell(
    subject: Any, name: str, *, ax: Axes | None = None, size: str = "screen", **parameters: Any
) -> tuple[Axes, str]:
    """Draw a picture, and return the results of ``plot`` and ``caption``; computes the table once.

    A new figure is no figure of pyplot's: it is for a file, and goes when nobody holds it.
    """
    return _drawn(subject, name, ax, size, parameters, "new_axes")


def _drawn(
    subject: Any, name: str, ax: Axes | None, size: str, parameters: dict[str, Any], new: str
) -> tuple[Axes, str]:
    """Draw a picture on ``ax``, or on axes that the size makes by its method ``new``; return them and the caption."""
    picture, chosen, found, nothing = _found(subject, name, parameters)
    with style(size):
        drawn = getattr(SIZES[size], new)(picture.aspect_for(SIZES[size].width)) if ax is None else ax
        if found.empty:
            say(drawn, nothing)
        else:
            picture.draw(drawn, found, chosen)
    return drawn, _told(picture, chosen, found, nothing)


def data(subject: Any, name: str, **parameters: Any) -> pd.DataFrame:
    """Return the table behind a picture; parameters and errors are those of ``plot``."""
    return _found(subject, name, parameters)[2]


def caption(subject: Any, name: str, **parameters: Any) -> str:
    """Return in words what a picture shows, with its main numbers; parameters and errors are those of ``plot``."""
    return _told(*_found(subject, name, parameters))


def _found(subject: Any, name: str, parameters: dict[str, Any]) -> tuple[Picture, Any, pd.DataFrame, str]:
    """Return the picture of a thing, or of several, its parameters, its table, and what is said if that has no rows."""
    things = labelled(subject)
    if things is not None and name in list_pictures(pd.DataFrame) and not _is_of_all(things, name):
        subject, things = measures_of(things), None
    if things is None:
        picture = find_picture(subject, name)
        chosen = picture.parameters.from_mapping(parameters)
        return picture, chosen, picture.table(subject, chosen), picture.nothing_of(subject)
    pictures = {label: (find_picture(thing, name), thing) for label, thing in things.items()}
    first = next(iter(pictures.values()))[0]
    nothing = {label: each.nothing_of(thing) for label, (each, thing) in pictures.items()}
    picture = first if first.overlays else _Panels(first, nothing)
    chosen = picture.parameters.from_mapping(parameters)
    return picture, chosen, tables_of(pictures, chosen), next(iter(nothing.values()))


def _is_of_all(things: dict[str, Any], name: str) -> bool:
    """Return whether each of several things has a picture of that name."""
    return all(name in list_pictures(type(each)) for each in things.values())


class _Panels(Picture):
    """The same picture of several things, below each other."""

    def __init__(self, picture: Picture, nothing: dict[str, str]) -> None:
        self._picture, self._nothing = picture, nothing
        # Those of a class, which are now of one picture.
        for name in ("name", "of", "title", "parameters", "nothing"):
            setattr(self, name, getattr(picture, name))

    def aspect_for(self, width: float) -> float:
        """Return height / width of all."""
        return self._picture.aspect_for(width) * len(self._nothing)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: Any) -> None:
        """Draw a panel each, with its name above it."""
        for place, (label, rows) in zip(panels(axes, len(self._nothing), 1), self._parts(table), strict=True):
            if rows.empty:
                say(place, self._nothing[label])
            else:
                self._picture.draw(place, rows, chosen)
            set_heading(place, label)

    def tell(self, table: pd.DataFrame, chosen: Any) -> str:
        """Return what each panel says."""
        return ". ".join(
            f"{label}: {self._nothing[label] if rows.empty else self._picture.tell(rows, chosen)}"
            for label, rows in self._parts(table)
        )

    def _parts(self, table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
        """Return the rows of each."""
        return [(label, table[table[OF] == label].drop(columns=OF).reset_index(drop=True)) for label in self._nothing]


def _told(picture: Picture, chosen: Any, found: pd.DataFrame, nothing: str) -> str:
    """Return the caption of a picture whose table is known."""
    return f"{picture.title}: {nothing if found.empty else picture.tell(found, chosen)}"
