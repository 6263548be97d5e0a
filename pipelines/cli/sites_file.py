# SPDX-License-Identifier: BSD-3-Clause
"""The file of several sites: which logs they are of, and what is asked of them; read strictly, with line numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, Strict
from pydantic.dataclasses import dataclass

from pipelines.catalog.cards import Positive, Text
from swftools.errors import ParameterError
from swftools.output.amounts import duration
from swftools.parameters.durations import seconds_of
from swftools.parameters.problems import validated
from swftools.parameters.small_files import require_small
from swftools.parameters.strict_yaml import read_yaml_file

if TYPE_CHECKING:
    import pandas as pd

    from swftools.reservations import Site

_CLOSED = ConfigDict(extra="forbid")

MOST_REQUESTS = 1_000_000
"""That a file may ask for."""


def _seconds(value: Any) -> Any:
    """Return the seconds of a time such as 2h."""
    found = seconds_of(value) if isinstance(value, str) else None if isinstance(value, bool) else value
    if found is None:
        raise ValueError(f"{value!r} is no time such as 90 (seconds), 30m, 4h or 04:00:00")
    return found


_Time = Annotated[float, BeforeValidator(_seconds), Field(gt=0, le=1e10)]
_TimeOrNone = Annotated[float, BeforeValidator(_seconds), Field(ge=0, le=1e10)]


@dataclass(frozen=True, kw_only=True, config=_CLOSED)
class SiteSettings:
    """A machine: the log of its own jobs, and how they are scheduled."""

    log: Text
    """As commands take it: a path, a card, a model."""
    policy: Text = "easy"
    processors: Annotated[int, Strict(), Field(ge=0, le=1 << 31)] = 0
    """0: the log's own."""
    waits: Text = "binomial"
    by: Text = "queue"
    """Groups of waits; all: they are one."""
    training: Annotated[int, Strict(), Field(ge=0, le=10**9)] = 1000
    queue: Annotated[int, Strict(), Field(ge=0)] | None = None
    """That jobs of requests enter; default: that of most jobs."""


@dataclass(frozen=True, kw_only=True, config=_CLOSED)
class PartSettings:
    """A part of each request."""

    processors: Positive
    requested_time: _Time
    run_time: _TimeOrNone | None = None
    """Default: what is requested."""


@dataclass(frozen=True, kw_only=True, config=_CLOSED)
class RequestSettings:
    """What is asked: a table, or the same again and again."""

    file: str = ""
    """CSV or Parquet with a row a part: request, ask_time, processors, requested_time, run_time, start_by."""
    parts: tuple[PartSettings, ...] = ()
    every: _Time = 43_200.0
    first: _TimeOrNone = 0.0
    """When the first is asked, s from the start of the logs."""
    ahead: _Time = 14_400.0
    """From asking until all parts shall run."""
    most: Positive = 1000


@dataclass(frozen=True, kw_only=True, config=_CLOSED)
class SitesSettings:
    """All of it."""

    sites: dict[str, SiteSettings]
    requests: RequestSettings
    mode: Literal["reserve", "race"] = "reserve"
    probability: Annotated[float, Field(gt=0, le=0.99)] = 0.9
    shared: Annotated[bool, Strict()] = False
    step: _Time = 30.0
    clock: Literal["log", "date"] = "log"
    folder: Path = field(default=Path())
    """Of the file: names of tables are from there."""


def read_sites(path: str) -> SitesSettings:
    """Return what a file of sites says.

    Raises
    ------
    ParameterError
        It cannot be read or is not valid; the message lists every problem with its line.
    """
    data, content = read_yaml_file(path, ParameterError, "give the path of a YAML file")
    if not isinstance(content, dict):
        raise ParameterError(f"{path}: it must be a mapping with sites and requests, see docs/reservations.md")
    content.pop("folder", None)
    found = validated(SitesSettings, path, data, {**content, "folder": Path(path).parent})
    if not found.sites:
        raise ParameterError(f"{path}: sites: name at least one")
    if bool(found.requests.file) == bool(found.requests.parts):
        raise ParameterError(f"{path}: requests: give either a file, or the parts that are asked for again and again")
    return found


def sites_of(settings: SitesSettings, load: Callable[[str, int], Any]) -> list[Site]:
    """Return the sites; ``load`` takes the name of a log and processors, and returns its trace."""
    from swftools.parameters.as_text import read_entry
    from swftools.qbets import WaitPredictor
    from swftools.reservations import Site
    from swftools.simulator.registry import list_policies

    found = []
    for name, site in settings.sites.items():
        policy, given = read_entry(site.policy, list_policies())
        waits = WaitPredictor(site.waits, by=None if site.by == "all" else site.by, training=site.training)
        trace = load(site.log, site.processors)
        found.append(Site(name, trace, policy, site.processors or None, waits, site.queue, given))
    return found


def requests_of(settings: SitesSettings, sites: list[Site]) -> pd.DataFrame:
    """Return a row for each part of each request."""
    import pandas as pd

    from swftools.reservations.site_requests import SitesParameters, checked_requests

    asked = settings.requests
    if asked.file:
        path = settings.folder / asked.file
        try:
            require_small(path)
            table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
        except (OSError, ValueError) as error:
            raise ParameterError(f"{path}: not readable as a table: {error}") from error
        try:
            checked_requests(table, SitesParameters(mode=settings.mode))
        except ParameterError as error:
            raise ParameterError(f"{path}: {error} (rows count from 0, behind the heading)") from error
        return table
    end = min(float(site.trace.jobs["submit_time"].max()) for site in sites if len(site.trace))
    rows = []
    for number in range(min(asked.most, MOST_REQUESTS)):
        time = asked.first + number * asked.every
        if time > end:
            break
        rows += [
            {
                "request": number,
                "ask_time": time,
                "start_by": time + asked.ahead,
                "processors": part.processors,
                "requested_time": part.requested_time,
                "run_time": part.requested_time if part.run_time is None else part.run_time,
            }
            for part in asked.parts
        ]
    if not rows:
        raise ParameterError(
            f"requests: the first is asked at {asked.first:,.0f} s ({duration(asked.first)}), and the shortest log "
            f"ends at {end:,.0f} s ({duration(end)})"
        )
    return pd.DataFrame(rows)
