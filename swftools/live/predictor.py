# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of waits, learnt while a machine runs: a wait is known when its job starts, not when its record is complete.

A replay of a log that is over has all waits, and shows each job what was known when it came. Here nothing is over: jobs
are submitted, start or leave the queue as it is heard. Fed with the events of a log in order, a job is told what the
replay tells it, and what is known at the end answers as the state of the replay does.

Differs from the replay
    A start that is heard late, behind submissions that came after it, is learnt when it is heard; the replay has it at
    its time. A poll that is sorted before it is taken in has no such starts but those that the last poll missed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.live.events import CANCELLED, ENDED, STARTED, SUBMITTED, JobEvent, in_order
from swftools.parameters import is_number
from swftools.qbets.known_queue import KnownQueue
from swftools.qbets.log_columns import REASONS
from swftools.qbets.prediction import WaitAnswer, predict_wait
from swftools.qbets.predictor import WaitPredictor
from swftools.qbets.saved_state import PENDING, SavedState, read_state, write_state
from swftools.reservations.live_waits import LiveWaits

FIRST_ROOM = 1024
"""Jobs of a group that there is room for at first; it doubles."""

ALL = "all"
"""What the one group of all jobs is called."""


class ToldWait(NamedTuple):
    """What a job was told at its submission: its group, the bound of its wait (s; NaN: none), and why not, or None."""

    group: str
    bound: float
    no_prediction: str | None


class _Pending(NamedTuple):
    """A job that waits: its group, its number there, when it came (s)."""

    group: str
    number: int
    submit: float


class LivePredictor:
    """Waits of the jobs of a machine, group by group, as they become known.

    Parameters
    ----------
    predictor : WaitPredictor
        Its method, groups and parameters; what it has learnt already is known here too. Rivals, and objects of your
        own, are refused, as by reservations.

    Raises
    ------
    ParameterError
        The method is no bound whose waits tell any quantile.

    Examples
    --------
    >>> from swftools.qbets import WaitPredictor
    >>> live = LivePredictor(WaitPredictor("binomial", by="queue", training=59))
    >>> for number in range(60):
    ...     told = live.submitted(str(number), 10.0 * number, groups={"queue": "batch"}, requested_time=3600.0)
    ...     has_waited = live.started(str(number), 10.0 * number + 5)
    >>> live.submitted("60", 600.0, groups={"queue": "batch"}, requested_time=3600.0).bound
    5.0
    >>> live.waiting["job"].tolist()
    ['60']
    """

    def __init__(self, predictor: WaitPredictor) -> None:
        self._predictor = predictor
        self._groups: dict[str, LiveWaits] = {
            label: LiveWaits(predictor, FIRST_ROOM, known) for label, known in predictor.known.items()
        }
        LiveWaits(predictor, 1)  # refuses a method that cannot be asked
        self._pending: dict[str, _Pending] = {}
        self._late: dict[str, float] = {}
        self._last = predictor.last
        self._known: tuple[tuple[Any, ...], SavedState] | None = None

    # ------------------------------------------------------------ what happens

    def submitted(
        self,
        job: str,
        time: float,
        *,
        groups: Mapping[str, object] | None = None,
        processors: int | None = None,
        requested_time: float | None = None,
    ) -> ToldWait:
        """Take in that a job is submitted; return what it is told.

        Parameters
        ----------
        job : str
            Names it among the jobs that wait.
        time : float
            When, s; not before the last submission.
        groups : mapping of str to object
            A value for each name in the predictor's ``by``; None, or a name that is missing, is ``unknown``.
        processors : int, optional
            Requested.
        requested_time : float, optional
            Requested, s. What the predictor clusters by and is not known counts as -1, as in a replay.

        Raises
        ------
        ParameterError
            The job waits already, or the time is none, or before the last submission.
        """
        return self._told(self._submit(job, time, groups or {}, processors, requested_time))

    def _submit(
        self,
        job: str,
        time: float,
        groups: Mapping[str, object],
        processors: int | None,
        requested_time: float | None,
    ) -> _Pending:
        """Take in that a job is submitted."""
        if job in self._pending:
            raise ParameterError(f"job {job!r} was submitted already, and waits")
        if not is_number(time) or time < self._last:
            raise ParameterError(
                f"job {job!r} is submitted at {time!r} s, and the last was at {self._last:g} s: "
                "events are taken in by time"
            )
        label = self._label(groups)
        if label not in self._groups:
            self._groups[label] = LiveWaits(self._predictor, FIRST_ROOM)
        live = self._groups[label]
        live.learn(time)
        number = live.submitted(time, self._explanatory(processors, requested_time))
        self._last = time
        self._pending[job] = waits = _Pending(label, number, time)
        return waits

    def _told(self, job: _Pending) -> ToldWait:
        """Return what a job was told."""
        live = self._groups[job.group]
        reason = live.reason(job.number)
        return ToldWait(
            job.group, np.nan if reason else live.answer(job.number), REASONS[reason - 1] if reason else None
        )

    def started(self, job: str, time: float) -> bool:
        """Take in that a job started; return whether it waited.

        Parameters
        ----------
        job : str
            As at its submission. What is not known of, or has left the queue, is passed over.
        time : float
            When, s; not before its submission.

        Raises
        ------
        ParameterError
            The time is none, or before the submission.
        """
        waits = self._pending.get(job)
        if waits is None:
            return False
        if not is_number(time) or time < waits.submit:
            raise ParameterError(f"job {job!r} starts at {time!r} s, before its submission at {waits.submit:g} s")
        del self._pending[job]
        self._late.pop(job, None)
        self._groups[waits.group].started(waits.number, time)
        return True

    def cancelled(self, job: str) -> bool:
        """Take in that a job left the queue without a start, which says nothing of waits; return whether it waited."""
        self._late.pop(job, None)
        return self._pending.pop(job, None) is not None

    def take(self, events: Iterable[JobEvent]) -> dict[str, ToldWait]:
        """Take in events, in order of time; return what each job that is submitted is told.

        Parameters
        ----------
        events : iterable of JobEvent
            What was heard since the last call; they are put in order (``in_order``). A submission that is older than
            the last one that was taken in counts as one of that time, with its own wait. What became eligible or was
            changed is passed over: a wait counts from the submission, and what the job was told then stays, as in a
            replay.
        """
        came: dict[str, _Pending] = {}
        for event in in_order(events):
            if event.kind == SUBMITTED and event.job not in self._pending:
                time = max(event.time, self._last)
                asked = event.processors, event.requested_time
                came[event.job] = self._submit(event.job, time, event.groups, *asked)
                if time > event.time:
                    self._late[event.job] = time - event.time
            elif event.kind == STARTED and event.job in self._pending:
                start = event.time + self._late.get(event.job, 0.0)
                self.started(event.job, max(start, self._pending[event.job].submit))
            elif event.kind in (CANCELLED, ENDED):
                self.cancelled(event.job)
        return {job: self._told(waits) for job, waits in came.items()}

    # ------------------------------------------------------------ what is known

    @property
    def waiting(self) -> pd.DataFrame:
        """The jobs that wait: job, group, submit_time (s), in order of submission."""
        rows = [(job, each.group, each.submit) for job, each in self._pending.items()]
        return pd.DataFrame(rows, columns=["job", "group", "submit_time"])

    @property
    def groups(self) -> list[str]:
        """The groups of which jobs were heard, in order."""
        return sorted(self._groups)

    def waits(self, group: str) -> int:
        """Return how many waits of a group are known, of all jobs of which it was heard that they started."""
        self._groups[group].learn(np.inf)
        return self._groups[group].waits

    def learn(self, time: float) -> None:
        """Learn the waits of all jobs that started by now, s."""
        for live in self._groups.values():
            live.learn(time)

    def predict(self, **asked: Any) -> WaitAnswer:
        """Predict the wait of a job that is submitted now, after all that was heard.

        Parameters
        ----------
        **asked
            As of ``predict_wait``: group, processors, requested_time, quantiles, deadline.

        Raises
        ------
        ParameterError
            As of ``predict_wait``.
        """
        return predict_wait(self.state(), **asked)

    def to_predictor(self) -> WaitPredictor:
        """Return a predictor that knows what is known now; those who wait are not known to it."""
        made = WaitPredictor(self._predictor.method, self._predictor.by, **self._predictor.parameters.to_mapping())
        made._text, made.start, made.names = self._predictor._text, self._predictor.start, self._predictor.names
        self.learn(np.inf)
        made.known = {label: live.known() for label, live in self._groups.items()}
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what is known, and who waits, into a file: a state that ``predict_wait`` and ``load`` read.

        Raises
        ------
        StorageError
            The file cannot be written; an old one stays as it was.
        """
        rows = []
        for job, each in self._pending.items():
            x, told = self._groups[each.group].submission(each.number)
            late = self._late.get(job, 0.0)  # of whoever was heard of late, by how much
            rows.append([job, each.group, each.submit, x, None if np.isnan(told) else told, *([late] if late else [])])
        made = self.to_predictor()
        write_state(path, {**made._about(with_names=True), **({PENDING: rows} if rows else {})}, made.known)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return a predictor that knows what another did when it was saved, and who waited then.

        Raises
        ------
        StateError
            There is no such file, it is damaged, or it is something else.
        """
        state = read_state(path)
        made = cls(WaitPredictor.load(path))
        with state.refusing():
            for job, label, submit, x, told, *late in state.about.get(PENDING, ()):
                if not isinstance(job, str) or job in made._pending or not is_number(submit) or not is_number(x):
                    raise ValueError(f"job {job!r:.40} waits")
                number = made._groups[label].waited(float(submit), float(x), np.nan if told is None else float(told))
                made._pending[job] = _Pending(label, number, float(submit))
                if late:
                    made._late[job] = float(late[0])
        return made

    def state(self) -> SavedState:
        """Return what is known now, as whoever asks a saved state takes it: reservations, say.

        It stays as it is while more is learnt; until then the same one is returned.
        """
        self.learn(np.inf)
        versions = tuple((label, live.version, live.submissions) for label, live in self._groups.items())
        if self._known is None or self._known[0] != versions:
            known = {label: live.known() for label, live in self._groups.items()}
            self._known = versions, _Known("what is known", self._predictor._about(), known, self._predictor.names)
        return self._known[1]

    # ------------------------------------------------------------ inside

    def _label(self, groups: Mapping[str, object]) -> str:
        """Return the group of a job, in the words of a replay."""
        parts = (groups.get(name) for name in self._predictor.by)
        return "/".join("unknown" if part is None or pd.isna(part) else str(part) for part in parts) or ALL  # type: ignore[call-overload]

    def _explanatory(self, processors: int | None, requested_time: float | None) -> float:
        """Return what jobs are clustered by; -1 where it is not known."""
        width = np.nan if processors is None else float(processors)
        asked = np.nan if requested_time is None else float(requested_time)
        which = self._predictor.parameters.explanatory
        x = asked if which == "requested_time" else width * (asked if which == "requested_work" else 1.0)
        return x if x >= 0 else -1.0


class _Known(SavedState):
    """A state that stands in no file.

    Parameters
    ----------
    name : str
        For messages.
    about : mapping
        What is said of the predictor.
    known : mapping of str to KnownQueue
        By group.
    names : mapping
        Behind the numbers of groups.
    """

    is_trusted = True

    def __init__(self, name: str, about: Mapping[str, Any], known: Mapping[str, KnownQueue], names: Any) -> None:
        super().__init__(name, about, dict.fromkeys(sorted(known), ([], b"")), names)
        self._of_group = known

    def known(self, label: str, form: Any) -> Any:  # noqa: ARG002 (what a file is read into)
        """Return what is known of a group."""
        return self._of_group[label]
