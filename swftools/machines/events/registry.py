# SPDX-License-Identifier: BSD-3-Clause
"""What a format of outages is, and the formats by name: each turns a text into when which nodes were away."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeVar

from swftools.formats.accounting.times import zone_named
from swftools.formats.registry import Fit
from swftools.parameters import Parameters
from swftools.parameters.declared import choice, text
from swftools.parameters.registry import Registry

F = TypeVar("F", bound="type[EventFormat]")

DOWN, DRAIN, RESERVATION = "down", "drain", "reservation"


class Event(NamedTuple):
    """A node that was away.

    Parameters
    ----------
    node : str
        Its name.
    begin : float
        When it went away, s.
    end : float or None
        When it was back, s; None: not until the end of what is told.
    kind : str
        ``down``, ``drain`` or ``reservation``.
    reason : str
        Why; empty if nobody says.
    line : int
        Where it stands in the file.
    is_dated : bool
        Whether times count from 1970 (UTC); else from second 0 of the log.
    users : tuple of str
        Who may use a reservation.
    known : bool, float or None
        Whether it is known before, or since when, s; None: as descriptions have it by default.
    """

    node: str
    begin: float
    end: float | None
    kind: str
    reason: str
    line: int
    is_dated: bool = True
    users: tuple[str, ...] = ()
    known: bool | float | None = None


def known_of(kind: str) -> bool | None:
    """Return what was known before of an outage that a batch system recorded: of a drain it does not say.

    A description takes drains for planned, those that go down for surprises, and reservations for known; so only drains
    have to be said to be none.
    """
    return False if kind == DRAIN else None


class Events(NamedTuple):
    """What stands in a file: when nodes were away, and sentences on what was left out."""

    events: list[Event]
    notes: list[str]


@dataclass(frozen=True)
class EventFormat(Parameters):
    """A format of outages, with its options as fields.

    ``NAME`` is what it is called, ``TITLE`` what it is in a few words.

    Parameters
    ----------
    time_zone : str, optional
        The zone of times that are written without one, such as Europe/Berlin.
    unknown : {"refuse", "skip"}
        What to do with outages of nodes that the machine does not have.
    """

    NAME: ClassVar[str] = "format of outages"
    TITLE: ClassVar[str]

    time_zone: str | None = text(None, words="a zone of the tz database")
    unknown: str = choice("refuse", "skip")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.time_zone is not None:
            zone_named(self.time_zone)

    @classmethod
    @abstractmethod
    def recognise(cls, text: str) -> Fit:
        """Say whether a whole text looks like this format, and why, or what is missing."""

    @abstractmethod
    def read(self, text: str, name: str) -> Events:
        """Return what a text says.

        Parameters
        ----------
        text : str
            The whole of it, which is not empty.
        name : str
            Of the file, for messages.

        Raises
        ------
        ParameterError
            A line is not as the format has it.
        """


FORMATS: Registry[type[EventFormat]] = Registry("format of outages")


def event_format(kind: F) -> F:
    """Register a format by its ``NAME``."""
    FORMATS.add(kind.NAME, kind, kind)
    return kind
