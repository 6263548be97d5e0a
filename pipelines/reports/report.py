# SPDX-License-Identifier: BSD-3-Clause
"""What a report is made of, and which parts a version of each kind gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from pipelines.store.names import published_names
from pipelines.store.published import PublishedData
from swftools.errors import ParameterError
from swftools.named import Known
from swftools.tables import to_pandas


@dataclass(frozen=True)
class ReportPicture:
    """A picture: what it is drawn from, its name in ``swftools.plots``, and what is chosen."""

    subject: Any
    name: str
    chosen: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class NumberCell:
    """A number as a cell shows it, in words of its own; a column is sorted by the number, in its unit."""

    value: float
    words: str
    unit: str = ""


@dataclass(frozen=True)
class ReportTable:
    """A table: a heading for each column; its cells are texts and numbers (or ``NumberCell``), sorted as such.

    One that ``explains`` has words and what they mean: headings of those words lead there.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""
    explains: bool = False


def unit_of(table: ReportTable, column: int) -> str:
    """Return the unit of the numbers of a column whose cells have words of their own; empty where there are none."""
    cells = (row[column] for row in table.rows)
    return next((cell.unit for cell in cells if isinstance(cell, NumberCell)), "")


@dataclass(frozen=True)
class Section:
    """A part of a report: a heading, sentences, then tables and pictures.

    ``only`` says of which part of the jobs it is, such as "partition gpu"; a reader can choose one of them.
    """

    heading: str
    sentences: Sequence[str] = ()
    tables: Sequence[ReportTable] = ()
    pictures: Sequence[ReportPicture] = ()
    only: str = ""


def begun(text: str) -> str:
    """Return a text that begins as a sentence does."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Return a text as a sentence, with a full stop; it may be one already.

    Examples
    --------
    >>> sentence("left out: 3 jobs"), sentence("No job has a queue.")
    ('Left out: 3 jobs.', 'No job has a queue.')
    """
    return begun(text) if text.endswith(".") else f"{begun(text)}."


@dataclass(frozen=True)
class Version:
    """A published version that a report is about.

    Parameters
    ----------
    root : PublishedData
        Where it is published.
    manifest : mapping
        Its manifest.
    """

    root: PublishedData
    manifest: Mapping[str, Any]

    @property
    def data_set(self) -> str:
        """The name of its data set."""
        return str(self.manifest["data_set"])

    @property
    def version(self) -> str:
        """Its name."""
        return str(self.manifest["version"])

    @property
    def address(self) -> str:
        """Where it is."""
        return self.root.path(self.data_set, self.version)

    @property
    def known_names(self) -> Known:
        """The names that its log has behind numbers of queues, users and others."""
        return published_names(self.root, self.manifest)

    def has(self, table: str) -> bool:
        """Whether it has a table, with rows."""
        return table in self.manifest["tables"] and self.manifest["tables"][table]["rows"] > 0

    def read(self, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read a table, or some columns of it."""
        return to_pandas(self.root.read_described(self.manifest, table, columns=columns), table)


Parts = Callable[[Version, Version | None], list[Section]]

_KINDS: dict[str, tuple[str, Parts]] = {}


def reports_on(main_table: str, what: str) -> Callable[[Parts], Parts]:
    """Register what makes the parts of a report on versions with a main table, of one and maybe another beside it.

    ``what`` says in words what such a version is.
    """

    def register(parts: Parts) -> Parts:
        _KINDS[main_table] = what, parts
        return parts

    return register


def kind_of(manifest: Mapping[str, Any]) -> str:
    """Return what kind of version it is: a history, or its main table."""
    return "history" if manifest.get("made_by") == "ReevaluateLogs" else str(manifest["main_table"])


def check_kind(kind: str, what: str) -> None:
    """Raise ParameterError, which names what was asked for, if there is no report on versions of a kind."""
    if kind not in _KINDS:
        raise ParameterError(
            f"{what}: there is no report on versions whose main table is {kind}; there are reports on "
            f"{', '.join(_KINDS)}"
        )


def parts_of(version: Version, other: Version | None = None) -> tuple[str, list[Section]]:
    """Return what a version is, in words, and the parts of a report on it, maybe beside another of its kind.

    Raises
    ------
    ParameterError
        There is no report on such versions, or the other is of another kind.
    """
    kind = kind_of(version.manifest)
    check_kind(kind, version.address)
    if other and kind_of(other.manifest) != kind:
        raise ParameterError(
            f"{other.address} is of another kind ({kind_of(other.manifest)}) than {version.address} ({kind}); compare "
            "versions of one kind"
        )
    what, parts = _KINDS[kind]
    return what, parts(version, other)
