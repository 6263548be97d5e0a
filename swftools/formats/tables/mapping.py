# SPDX-License-Identifier: BSD-3-Clause
"""A user's own table: what a class declares of a published one, as a small YAML file.

``swftools formats propose FILE`` writes a first one (``mapping_proposal.py``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from swftools.errors import ParameterError
from swftools.formats.accounting.times import ORDERS
from swftools.formats.registry import Fit, register_format
from swftools.formats.tables.columns import Column, Declaration, column
from swftools.formats.tables.table_format import TableFormat
from swftools.parameters import refuse_unknown, text
from swftools.parameters.small_files import SIZE_LIMIT

KEYS = ("title", "columns", "states", "missing", "time_zone", "dates", "separator", "header", "comment", "notes")
COLUMN_KEYS = ("column", "unit", "times", "over", "of", "missing", "round_up", "needed", "every")
NOT_ENDED = "not ended"


@dataclass(frozen=True)
class Mapped:
    """What a mapping says.

    Parameters
    ----------
    declaration : Declaration
        Of the table.
    title : str
        What it is.
    comment : str
        The letter with which lines begin that are no rows.
    notes : tuple of str
        For the header.
    sha256 : str
        Of the file.
    """

    declaration: Declaration
    title: str
    comment: str
    notes: tuple[str, ...]
    sha256: str


@register_format
@dataclass(frozen=True)
class MappedTable(TableFormat):
    """A table of your own, in CSV, JSON or Parquet, by what a mapping says of its columns.

    Parameters
    ----------
    mapping : str, optional
        Path of a YAML file. It must be given; ``swftools formats propose FILE`` writes one.
    """

    NAME = "table"
    READER_VERSION = 3
    """3: of several jobs that one waited for none was told."""
    TITLE = "A table of your own, by a mapping"
    COMMAND = "swftools formats propose FILE > mine.yaml, then --format table:mapping=mine.yaml"

    mapping: str | None = text(None, words="the path of a YAML file")

    @property
    def mapped(self) -> Mapped:
        """What the mapping says."""
        if self.mapping is None:
            raise ParameterError(
                "table: which column is which? Give mapping=FILE.yaml; swftools formats propose FILE writes a first one"
            )
        path = Path(self.mapping)
        try:
            state = path.stat()
        except OSError as error:
            raise ParameterError(f"table: mapping {self.mapping}: {error.strerror}; check the path") from error
        return _load(str(path), state.st_mtime_ns, state.st_size)

    @property
    def declaration(self) -> Declaration:
        """What the mapping says of the columns."""
        return self.mapped.declaration

    @property
    def comment(self) -> str:
        """The letter with which lines begin that are no rows."""
        return self.mapped.comment

    @property
    def origin(self) -> Any:
        """What the header tells of the log from outside of it."""
        return super().origin._replace(title=self.mapped.title, notes=self.mapped.notes)

    @classmethod
    def recognise(cls, head: bytes) -> Fit:  # noqa: ARG003 (as the base has it)
        """No table is recognised as one of the user's own: it has to be said."""
        return Fit(False, "no mapping was given: table:mapping=FILE.yaml (swftools formats propose FILE writes one)")

    @property
    def files_beside(self) -> tuple[Path, ...]:
        """The mapping, without which two readings of one log would pass for the same."""
        _ = self.mapped  # which says what is wrong with it
        return (Path(str(self.mapping)),)


@lru_cache(maxsize=16)
def _load(path: str, _modified: int, size: int) -> Mapped:
    """Read a mapping, once for each state of its file."""
    if size > SIZE_LIMIT:
        raise ParameterError(f"table: mapping {path}: {size:,} bytes are no mapping; is it the table itself?")
    from swftools.parameters.strict_yaml import read_yaml_file  # noqa: PLC0415 (which hardly any reading needs)

    try:
        data, told = read_yaml_file(path, ParameterError, "check the path")
    except ParameterError as error:
        raise ParameterError(f"table: mapping {error}") from error
    try:
        return _mapped(told, hashlib.sha256(data).hexdigest())
    except ParameterError as error:
        raise ParameterError(f"table: mapping {path}: {error}") from error


def _mapped(told: Any, sha256: str) -> Mapped:
    """Return what a mapping says."""
    if not isinstance(told, Mapping):
        raise ParameterError(f"it must have keys, such as columns; there are {', '.join(KEYS)}")
    refuse_unknown("mapping", told, KEYS)
    columns = told.get("columns")
    if not isinstance(columns, Mapping) or not columns:
        raise ParameterError("no columns: say which is which, as in 'submit: Submit_Time'")
    states = told.get("states") or {}
    if not isinstance(states, Mapping):
        raise ParameterError("states must be keys and values, as in 'COMPLETED: 1'")
    dates = told.get("dates", True)
    if not isinstance(dates, bool) and dates not in ORDERS:
        raise ParameterError(f"dates={dates!r} is not true or false, nor the order of dates: {', '.join(ORDERS)}")
    declaration = Declaration(
        {str(name): _column(str(name), each) for name, each in columns.items()},
        {str(word): _status(word, status) for word, status in states.items()},
        _texts("missing", told.get("missing", ())),
        _text("time_zone", told.get("time_zone")),
        bool(dates),
        _text("separator", told.get("separator")),
        _texts("header", told.get("header", ())),
        date_order=dates if isinstance(dates, str) else None,
    )
    if declaration.separator is not None and len(declaration.separator) != 1:
        raise ParameterError(f"separator={declaration.separator!r} is not one letter")
    if "state" in declaration.columns and not declaration.states:
        raise ParameterError("a state is mapped, but states says of none what it means, as in 'COMPLETED: 1'")
    title = _text("title", told.get("title")) or "a table"
    comment = _text("comment", told.get("comment")) or ""
    return Mapped(declaration, title, comment[:1], _texts("notes", told.get("notes", ())), sha256)


def _column(name: str, told: Any) -> Column:
    """Return one column of a mapping: a name, names, or keys."""
    if not isinstance(told, Mapping):
        return column(*_texts(name, told), needed=name == "submit")
    refuse_unknown(f"columns: {name}", told, COLUMN_KEYS)
    if "column" not in told:
        raise ParameterError(f"{name}: no column=, the name of the column in the table")
    truths = {key: told.get(key, default) for key, default in (("round_up", False), ("needed", name == "submit"))}
    for key, value in truths.items():
        if not isinstance(value, bool):
            raise ParameterError(f"{name}: {key}={value!r} is not true or false")
    every = told.get("every", 0)
    if isinstance(every, bool) or not isinstance(every, int | float) or not 0 <= every < 1e9:
        raise ParameterError(f"{name}: every={every!r} is no number of seconds")
    return column(
        *_texts("column", told["column"]),
        every=float(every),
        unit=_text("unit", told.get("unit")) or "",
        times=_texts("times", told.get("times", ())),
        over=_texts("over", told.get("over", ())),
        of=_text("of", told.get("of")) or "",
        missing=_texts("missing", told.get("missing", ())),
        **truths,
    )


def _status(word: Any, told: Any) -> int | None:
    """Return the status of SWF that a state means; None for one of jobs that have not ended."""
    if told == NOT_ENDED:
        return None
    if isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= 5:
        return told
    raise ParameterError(
        f"states: {word}={told!r} is not a status of SWF (0 failed, 1 completed, 5 cancelled), nor {NOT_ENDED!r}"
    )


def _text(key: str, told: Any) -> str | None:
    if told is None or isinstance(told, str):
        return told
    raise ParameterError(f"{key}={told!r} is not a text")


def _texts(key: str, told: Any) -> tuple[str, ...]:
    """Return one text, or several; numbers count as they are written."""
    values = told if isinstance(told, list | tuple) else [told]
    if not all(isinstance(value, str | int | float) and not isinstance(value, bool) for value in values):
        raise ParameterError(f"{key}={told!r} is not a text, nor a list of texts")
    return tuple(str(value) for value in values)
