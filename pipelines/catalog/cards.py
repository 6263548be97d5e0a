# SPDX-License-Identifier: BSD-3-Clause
"""The cards of ``data_catalog.yaml`` as frozen dataclasses, whose types pydantic checks.

The keys are explained at the top of that file. ``pipelines/catalog/reader.py`` reads it; whatever needs more than one
key or card to be judged is judged there.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import partial
from importlib.resources import files
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, Strict, StringConstraints
from pydantic.dataclasses import dataclass

import swftools.formats.detect  # noqa: F401 (registers the formats)
from pipelines.names import check_name, is_name
from swftools.errors import ParameterError, UnknownLogError
from swftools.formats.registry import list_formats
from swftools.machines.parts import NodeKind, Partition
from swftools.parameters.as_text import write_entry
from swftools.parameters.spelling import did_you_mean

if TYPE_CHECKING:
    from swftools.machines.description import MachineDescription

RESOURCES = files("pipelines") / "resources"
"""What is shipped with the package: the catalogue, the excerpt and the defaults."""

_HTTP_HOSTS = ("localhost", "127.0.0.1", "::1")


def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        near = did_you_mean([name], available_timezones()) or "; install the package tzdata if the name is right"
        raise ValueError(f"no time zone {name!r} is known here{near}") from error
    return name


def _web_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        raise ValueError(f"{url!r} is not a web address ({error})") from error
    if not host or not re.fullmatch(r"[!-~]+", url):
        raise ValueError(f"{url!r} is not a web address; write https://HOST/PATH without blanks")
    if parts.scheme != "https" and not (parts.scheme == "http" and host in _HTTP_HOSTS):
        raise ValueError(f"{url!r} does not begin with https://; for a log on disk leave url out and give its path")
    if "@" in parts.netloc:
        raise ValueError(f"the url of {host} holds a user name or password; take it out")
    return url


def _shipped(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or not all(map(is_name, path.parts)):
        raise ValueError(f"{name!r} leaves pipelines/resources; name a file below it, like logs/NAME.swf.gz")
    if not RESOURCES.joinpath(*path.parts).is_file():
        raise ValueError(f"{name!r} is not shipped in pipelines/resources; a log on disk needs no file key")
    return name


def _log_format(name: str) -> str:
    if name not in list_formats():
        known = ", ".join(list_formats())
        raise ValueError(f"no log format {name!r}; there are: {known}{did_you_mean([name], list_formats())}")
    return name


def _split_rule(step: Any) -> Any:
    """Part the name of a cleaning rule from its parameters, which stand side by side in the file."""
    if isinstance(step, str):
        return {"rule": step}
    if not isinstance(step, dict):
        return step
    parameters = {key: value for key, value in step.items() if key != "rule"}
    return {"parameters": parameters} | ({"rule": step["rule"]} if "rule" in step else {})


Text = Annotated[str, Strict(), StringConstraints(min_length=1)]
Flag = Annotated[bool, Strict()]
Count = Annotated[int, Strict(), Field(ge=0, le=1 << 53)]
Positive = Annotated[int, Strict(), Field(ge=1, le=1 << 31)]
Number = Annotated[int, Strict(), Field(ge=0, le=1 << 31)]
Name = Annotated[str, Strict(), AfterValidator(partial(check_name, what="name"))]
Sha256 = Annotated[str, Strict(), StringConstraints(pattern=r"^[0-9a-f]{64}$")]

_CARD = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True, config=_CARD)
class MachineCard:
    """The machine that a log was recorded on."""

    name: Text
    processors: Positive
    """Processors that simulations use; **over** the header's MaxProcs where they differ."""
    processors_per_node: Positive
    time_zone: Annotated[Text, AfterValidator(_time_zone)]
    why: Text | None = None
    """What the numbers rest on."""
    nodes: tuple[NodeKind, ...] = ()
    """Kinds of nodes, as a description of a machine has them; none: it is known as a pool of processors."""
    partitions: tuple[Partition, ...] = ()
    """Of these nodes."""
    order: Literal["kinds", "names"] = "kinds"
    """Of these nodes."""
    description: Text | None = None
    """File that describes the machine, from the folder of the catalogue on; in place of nodes and partitions."""

    def described(self) -> MachineDescription | None:
        """Return the machine's nodes and partitions; None where the card does not tell them.

        Raises
        ------
        ParameterError
            The file that the card names cannot be read, or is not valid.
        """
        from swftools.machines.description import MachineDescription, read_machine  # noqa: PLC0415

        if self.description is not None:
            return read_machine(self.description)
        if not self.nodes:
            return None
        return MachineDescription(nodes=self.nodes, partitions=self.partitions, order=self.order, name=self.name)


@dataclass(frozen=True, kw_only=True, config=_CARD)
class QueueCard:
    """A queue and its priority."""

    name: Text
    priority_rank: Number
    """0 is the **highest**."""
    why: Text
    shared_rank: Flag = False
    """The queue takes the rank of another one on purpose."""


@dataclass(frozen=True, kw_only=True, config=_CARD)
class RanksCard:
    """Another ranking of a log's queues, used only where it is asked for by name."""

    why: Text
    priority_ranks: dict[Number, Number]
    other_queues: Number | None = None
    """The rank of every queue that ``priority_ranks`` does not name."""


@dataclass(frozen=True, kw_only=True, config=_CARD)
class FilterCard:
    """A filter that the archive has **already** applied: jobs of one user, or of all, in a range of job numbers."""

    first_job: Count
    last_job: Count
    jobs_removed: Count
    user: Count | None = None


@dataclass(frozen=True, kw_only=True, config=_CARD)
class CleaningStep:
    """A cleaning rule to apply, with parameters; ``swftools.cleaning`` knows which rules and parameters exist."""

    rule: Text
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, config=_CARD)
class LogCard:
    """What is known about a source log."""

    name: str
    title: Text
    producer: Text
    acknowledgement: Text
    citation: Text
    licence: Text
    """The terms, or ``none stated``."""
    sha256: Sha256
    """Of the **decompressed** text."""
    bytes: Count
    """Length of the decompressed text."""
    jobs: Count
    format: Annotated[Text, AfterValidator(_log_format)]
    """A format that is read, by name."""
    machine: MachineCard
    options: dict[Text, Any] = field(default_factory=dict)
    """Of the format."""
    dependencies: Flag = False
    """Whether jobs of a log in SWF wait for others, by its fields 17 and 18; logs of other formats need not say it."""
    url: Annotated[Text, AfterValidator(_web_address)] | None = None
    file: Annotated[Text, AfterValidator(_shipped)] | None = None
    """Resource of this package, below ``RESOURCES``."""
    queues: dict[Number, QueueCard] = field(default_factory=dict)
    alternatives: dict[Text, RanksCard] = field(default_factory=dict)
    published_filters: tuple[FilterCard, ...] = ()
    cleaning: tuple[Annotated[CleaningStep, BeforeValidator(_split_rule)], ...] = ()
    anomalies: tuple[Text, ...] = ()
    notes: tuple[Text, ...] = ()
    based_on: Text | None = None

    @property
    def read_as(self) -> str:
        """The format with its options, as for ``read_log``; those not given are what else the card says."""
        machine = self.machine
        told = {
            "time_zone": machine.time_zone,
            "processors": machine.processors,
            "processors_per_node": machine.processors_per_node,
            "computer": machine.name,
            "installation": self.producer,
        }
        names = list_formats()[self.format].names()
        return write_entry(self.format, {name: told[name] for name in told if name in names} | self.options)

    @property
    def queue_ranks(self) -> dict[int, int]:
        """Priority rank of each queue number, 0 the highest; empty where all jobs have one rank."""
        return {number: queue.priority_rank for number, queue in self.queues.items()}

    def ranks(self, alternative: str | None = None) -> dict[int, int]:
        """Return the priority rank of each queue number, by default or by a named alternative.

        Raises
        ------
        ParameterError
            The card has no alternative of that name.
        """
        if alternative is None:
            return self.queue_ranks
        if alternative not in self.alternatives:
            known = ", ".join(self.alternatives) or "none"
            raise ParameterError(f"log {self.name}: no alternative ranking {alternative!r}; there are: {known}")
        other = self.alternatives[alternative]
        # The catalogue was refused if a queue has neither a rank of its own nor one for the others.
        return {number: other.priority_ranks.get(number, other.other_queues or 0) for number in self.queues}


@dataclass(frozen=True, kw_only=True, config=_CARD)
class DataSetCard:
    """A data set that the pipeline publishes by default."""

    title: Text
    description: Text
    log: Text
    """The name of a log's card."""


@dataclass(frozen=True, kw_only=True, config=_CARD)
class TablesCard:
    """What is known about tables that are no log of jobs, such as polls of a queue; their files are read as one."""

    name: str
    title: Text
    producer: Text
    acknowledgement: Text
    citation: Text
    licence: Text
    """The terms, or ``none stated``."""
    format: Literal["queue-polls", "start-estimates"]
    files: Text
    """A list of the files, from the folder of the catalogue on: a CSV with the columns file and sha256 (of the
    decompressed text; empty where it is not known)."""
    url: Annotated[Text, AfterValidator(_web_address)] | None = None
    """Of the folder that has the files; they are fetched from there if their sha256 is known."""
    folder: Text | None = None
    """That has the files, from the folder of the catalogue on: they come with it."""
    anomalies: tuple[Text, ...] = ()
    notes: tuple[Text, ...] = ()


@dataclass(frozen=True, kw_only=True, config=_CARD)
class Catalog:
    """All cards of a catalogue file, by name."""

    logs: dict[Name, LogCard]
    tables: dict[Name, TablesCard] = field(default_factory=dict)
    data_sets: dict[Name, DataSetCard] = field(default_factory=dict)

    def log(self, name: str) -> LogCard:
        """Return the card of a log.

        Raises
        ------
        UnknownLogError
            There is no such card; the message lists the names.
        """
        if name not in self.logs:
            raise UnknownLogError(
                f"no log {name!r} in the catalogue{did_you_mean([name], self.logs)}; there are: "
                f"{', '.join(self.logs) or 'none'}; a log without a card can be given by its path"
            )
        return self.logs[name]

    def card_of(self, sha256: str) -> LogCard | None:
        """Return the card of the log whose decompressed text has this sha256, or None."""
        return next((card for card in self.logs.values() if card.sha256 == sha256.lower()), None)
