# SPDX-License-Identifier: BSD-3-Clause
"""What a cluster knows, beside its journal: after a restart it is read, and only the end of the journal is learnt.

Two files: ``JOURNAL.state`` is the predictor's, ``JOURNAL.memory`` all else and how far the journal was read then. They
can be thrown away at any time: then the whole journal is learnt again. So they are not trusted where anything is
otherwise than it was: the journal, how waits are bounded, the version of swftools, one file without the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from pipelines.service.queued_jobs import QueuedJobs
from pipelines.service.recent_waits import WAIT_BUCKETS, RecentWaits
from swftools._version import __version__
from swftools.errors import SwfToolsError
from swftools.live import LivePredictor, Mark, ToldLedger
from swftools.output.whole_files import create_file
from swftools.qbets import WaitPredictor

_LOOKED_AT = 4096
"""Bytes before the mark that must be the same: two journals differ there."""

_WRONG = (OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, SwfToolsError)


class Learnt(NamedTuple):
    """What a cluster knows beside its predictor.

    Parameters
    ----------
    ledger : ToldLedger
        What jobs were told.
    jobs : QueuedJobs
        Jobs that wait, run or ended a short while ago.
    recent : RecentWaits
        Waits of the last weeks.
    waits : list of int
        Waits by the ends of the histogram.
    waited : float
        Their sum, s.
    events : int
        How many were learnt.
    """

    ledger: ToldLedger
    jobs: QueuedJobs
    recent: RecentWaits
    waits: list[int]
    waited: float
    events: int

    def to_mapping(self) -> dict[str, Any]:
        """Return all of it as JSON can say it."""
        return {
            "ledger": self.ledger.to_mapping(),
            "jobs": self.jobs.to_mapping(),
            "recent": self.recent.to_mapping(),
            "waits": self.waits,
            "waited": self.waited,
            "events": self.events,
        }

    @classmethod
    def from_mapping(cls, told: Mapping[str, Any], origin: float) -> Self:
        """Return what another knew when it was told; ``origin`` as of ``RecentWaits``.

        Raises
        ------
        ParameterError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError
            It is none of ``to_mapping``.
        """
        waits = [int(count) for count in told["waits"]]
        if len(waits) != len(WAIT_BUCKETS) + 1:
            raise ValueError(f"{len(waits)} counts of waits")
        jobs = QueuedJobs.from_mapping(told["jobs"])
        for job in jobs.known():
            list(job.events())  # a sensor is told of them
        return cls(
            ToldLedger.from_mapping(told["ledger"]),
            jobs,
            RecentWaits.from_mapping(told["recent"], origin),
            waits,
            float(told["waited"]),
            int(told["events"]),
        )


class Memory(NamedTuple):
    """What was known when it was written down.

    Parameters
    ----------
    live : LivePredictor
        The predictor.
    mark : Mark
        How far the journal was read.
    told_bytes : int
        How far the file was written of what jobs were told.
    rest : Learnt
        All else that the cluster knows.
    """

    live: LivePredictor
    mark: Mark
    told_bytes: int
    rest: Learnt


def memory_files(journal: Path) -> tuple[Path, Path]:
    """Return where the predictor of a journal is, and all else."""
    return journal.with_name(f"{journal.name}.state"), journal.with_name(f"{journal.name}.memory")


def write_memory(journal: Path, memory: Memory, predictor: WaitPredictor) -> None:
    """Write down what is known.

    Raises
    ------
    StorageError
        It cannot be written: then the whole journal is learnt after a restart.
    """
    state, other = memory_files(journal)
    memory.live.save(state)
    about = {
        "version": __version__,
        "predictor": _about(predictor),
        "state": _digest(state),
        "mark": memory.mark,
        "before": _before(journal, memory.mark.bytes),
        "told_bytes": memory.told_bytes,
        "rest": memory.rest.to_mapping(),
    }
    with create_file(other) as file:
        file.write(json.dumps(about, separators=(",", ":")).encode())


def read_memory(journal: Path, predictor: WaitPredictor) -> Memory | None:
    """Return what was written down; None where there is nothing, or anything is otherwise than it was."""
    state, other = memory_files(journal)
    try:
        about = json.loads(other.read_bytes())
        mark = Mark(*map(int, about["mark"]))
        expected = (__version__, _about(predictor), _digest(state), _before(journal, mark.bytes))
        if tuple(about[name] for name in ("version", "predictor", "state", "before")) != expected:
            return None
        rest = Learnt.from_mapping(about["rest"], predictor.start or 0.0)
        return Memory(LivePredictor.load(state), mark, int(about["told_bytes"]), rest)
    except _WRONG:
        return None


def _about(predictor: WaitPredictor) -> str:
    """Return how waits are bounded, in words."""
    chosen = predictor.parameters.to_mapping()
    return json.dumps([predictor.name, list(predictor.by), predictor.start, chosen], sort_keys=True, default=str)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _before(journal: Path, end: int) -> str:
    """Return what tells a journal by its bytes before one."""
    with journal.open("rb") as file:
        file.seek(max(end - _LOOKED_AT, 0))
        found = file.read(min(end, _LOOKED_AT))
    return f"{len(found)} {hashlib.sha256(found).hexdigest()}"
