# SPDX-License-Identifier: BSD-3-Clause
"""What augmentations that look at a whole trace are fitted to in a history: once, so that old jobs keep their values.

The parameters are fitted to the jobs that the history has in the night in which the augmentation is first asked for,
and published with each version from then on. So a version depends on them beside its jobs. They are fitted anew where
the settings ask for it: by another ``refit``, or by other parameters of the augmentation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import cached_property
from typing import Any

import pandas as pd

from pipelines.history.state import HistoryState
from pipelines.keys import canonical_json, content_key
from pipelines.tasks.augmentations.registry import Augmentation
from swftools.errors import HistoryError, StorageError
from swftools.history.months import begin_of
from swftools.trace import Trace

FORM = 1
"""Raised when what is fitted has another form, so that what was fitted before is of no use."""


@dataclass(frozen=True)
class Fitted:
    """What an augmentation was fitted to.

    Parameters
    ----------
    name : str
        Of the augmentation.
    key : str
        Content key of what was asked for.
    sha256 : str
        Of the parameters.
    jobs : int
        To so many.
    until : float
        The last of which was submitted then, in seconds since 1970.
    read : callable
        Returns the parameters as bytes.
    is_new : bool
        Whether no version has them yet.
    """

    name: str
    key: str
    sha256: str
    jobs: int
    until: float
    read: Callable[[], bytes]
    is_new: bool

    @property
    def file(self) -> str:
        """The published name of the file that has the parameters."""
        return f"fitted.{self.name}.json"

    @property
    def facts(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {"key": self.key, "sha256": self.sha256, "jobs": self.jobs, "until": self.until}

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters.

        Raises
        ------
        HistoryError
            They are not what they were.
        """
        try:
            content = self.read()
        except StorageError as error:
            raise HistoryError(f"{error}; {self._remedy}") from error
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise HistoryError(f"{self.file} of the last version is damaged; {self._remedy}")
        found: dict[str, Any] = json.loads(content)
        return found

    @property
    def _remedy(self) -> str:
        return "restore it from an earlier version that has it, or fit anew by another date as refit: in the settings"


def fit_augmentations(
    augmentations: Iterable[Augmentation],
    refit: date | None,
    state: HistoryState,
    months: Mapping[str, Callable[[], Trace]],
    begins: float,
) -> dict[str, Fitted]:
    """Return of each augmentation that is not stable under growth what it was, or is now, fitted to.

    Parameters
    ----------
    augmentations : iterable of Augmentation
        What adds columns.
    refit : date, optional
        Jobs submitted before it are fitted to; by default all.
    state : HistoryState
        What there is.
    months : mapping of str to callable
        What returns the cleaned jobs of each month, in order.
    begins : float
        Second 0 of the jobs, in seconds since 1970.

    Raises
    ------
    HistoryError
        No job was submitted before the date.
    ParameterError
        The jobs do not allow for what is asked for, such as a load.
    """
    found: dict[str, Fitted] = {}
    trace = None
    for each in augmentations:
        if each.stable_under_growth:
            continue
        key = content_key(
            "fitted", FORM, {each.name: each.own_parameters, "refit": None if refit is None else str(refit)}
        )
        before = state.manifest.get("fitted", {}).get(each.name, {})
        if before.get("key") == key:
            found[each.name] = _kept(each.name, before, state)
        else:
            trace = trace or _trace_before(refit, months, begins)
            found[each.name] = _fit(each, key, trace, begins)
    return found


def _kept(name: str, facts: Mapping[str, Any], state: HistoryState) -> Fitted:
    """Return what the last version has."""
    path = f"{state.name}/{state.version}/fitted.{name}.json"
    return Fitted(name, **facts, read=lambda: state.root.storage.read(path), is_new=False)


def _fit(augmentation: Augmentation, key: str, trace: Trace, begins: float) -> Fitted:
    """Fit an augmentation to jobs."""
    content = canonical_json(augmentation.fit(trace)).encode()
    until = float(trace.jobs["submit_time"].max()) + begins
    sha256 = hashlib.sha256(content).hexdigest()
    return Fitted(augmentation.name, key, sha256, len(trace), until, read=lambda: content, is_new=True)


def _trace_before(refit: date | None, months: Mapping[str, Callable[[], Trace]], begins: float) -> Trace:
    """Return the cleaned jobs of all months, or those submitted before a date."""
    end = float("inf") if refit is None else datetime.combine(refit, time(), UTC).timestamp()
    traces = [month() for label, month in months.items() if begin_of(label) < end]
    jobs = pd.concat([trace.jobs for trace in traces], ignore_index=True) if traces else pd.DataFrame()
    if len(jobs):
        jobs = jobs[jobs["submit_time"] + begins < end].reset_index(drop=True)
    if not len(jobs):
        when = "" if refit is None else f" that was submitted before refit: {refit}"
        raise HistoryError(f"there is no job{when} to which augmentations could be fitted; leave them out until then")
    return traces[0].with_jobs(jobs)


def told_of(fitted: Iterable[Fitted], *, says_when: bool) -> list[str]:
    """Return in words what augmentations were fitted to."""
    told = []
    for each in fitted:
        moment = (
            datetime.fromtimestamp(each.until, UTC).strftime("%Y-%m-%d") if says_when else f"second {each.until:,.0f}"
        )
        told.append(f"The values of {each.name} follow from what was fitted to the {each.jobs:,} jobs until {moment}.")
    return told
