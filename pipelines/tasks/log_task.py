# SPDX-License-Identifier: BSD-3-Clause
"""LogTask: what all tasks of one log have in common, and how they bear that the log changes meanwhile."""

from __future__ import annotations

from typing import Any

import luigi

from pipelines.keys import MISSING_INPUT
from pipelines.logs.find import SHIPPED_LOG, Log, find_log, is_stream
from pipelines.logs.generated import find_model
from pipelines.logs.how_read import HowRead
from pipelines.tasks.one_look import asked_once, in_one_look
from pipelines.tasks.stage_task import StageTask
from swftools.errors import ParameterError, UnreadableLogError
from swftools.parameters.choices import ANONYMISE

_at_work: dict[str, Log] = {}
"""The log of the task that this process runs, as it was found when that began: all of a stage is of one text."""


class LogParameter(luigi.Parameter):
    """A log: name of a card, path, or name of a model with parameters."""

    def normalize(self, value: Any) -> str:
        """Return the log as given; the parameters of a model are checked at once.

        Raises
        ------
        ParameterError
            It is a model, and its parameters are wrong; or standard input, which can be read once only.
        """
        find_model(str(value))
        if is_stream(str(value)):
            raise ParameterError(f"log {str(value)!r} can be read once only; save it as a file and give its path")
        return str(value)


class LogTask(StageTask):
    """What all stages of a log have in common."""

    log = LogParameter(
        default=SHIPPED_LOG,
        description="name of a card in data_catalog.yaml, path of a log, or model such as lublin-feitelson:jobs=10000",
    )

    format = luigi.Parameter(
        default="",
        description="format with options, as slurm:time_zone=Europe/Berlin; default: the card's, or recognised",
    )
    anonymise = luigi.ChoiceParameter(
        default="no",
        choices=ANONYMISE,
        description="names as they are (no), as numbers only, or as keyed hashes (hash)",
    )

    _scheduled_key: str | None = None
    """Hash of the log when luigi last asked whether there is anything to do."""

    @property
    def found(self) -> Log:
        """The log that ``log`` means; while a task runs, the one it meant at its beginning."""
        return _at_work.get(self.log) or asked_once(_found, self.log, self.format, self.anonymise)

    def check_values(self) -> None:
        """Raise ParameterError if the log's format, or an option of it, is not known."""
        super().check_values()
        asked_once(_checked, self.format, self.anonymise)

    @property
    def log_key(self) -> str:
        """Hash of the log's text, or ``MISSING_INPUT``."""
        return self.found.sha256 or MISSING_INPUT

    @property
    def withholds(self) -> bool:
        """Whether words of the log's text are withheld, so that no copy of it may stay below the data root."""
        return self.anonymise != "no" and not self.found.model and not self.found.version

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return str(self.log)

    def work(self) -> float:
        """Return the seconds that it takes, about: by the jobs that the log has, and a little for each task."""
        return 0.1 + self.effort() * jobs_about(self.found) / 100_000

    @in_one_look
    def complete(self) -> bool:
        """Whether there is nothing to do."""
        is_done = super().complete()
        if self.log not in _at_work:
            self._scheduled_key = self.log_key
        return is_done

    @in_one_look
    def deps(self) -> Any:
        """Return what the task requires, as luigi asks for it: to schedule it, and again before it runs.

        Raises
        ------
        UnreadableLogError
            The log is not what it was when the task was scheduled, so that what was made of it meanwhile is of no use.
        """
        if self._scheduled_key not in (None, self.log_key):
            how = "is gone" if self.log_key == MISSING_INPUT else "was changed"
            raise UnreadableLogError(f"log {self.log} {how} since this run began; nothing was published. Run again")
        return super().deps()


def _found(log: str, log_format: str, anonymise: str) -> Log:
    """Return the log that a name means, read in a way."""
    return find_log(log, HowRead(log_format, anonymise))


def _checked(log_format: str, anonymise: str) -> HowRead:
    """Return how a log is read, once that is known to be right."""
    return HowRead(log_format, anonymise).checked()


def jobs_about(log: Log) -> float:
    """Return how many jobs a log has, about, without reading it: by its card, its parameters, or its size."""
    if log.card is not None:
        return float(log.card.jobs)
    if log.model is not None:
        return float(getattr(log.model, "jobs", 5_000))
    try:
        size = log.path.stat().st_size if log.path is not None and log.path.is_file() else 10_000_000
    except OSError:
        return 0.0
    return size / (20 if log.path is not None and log.path.suffix == ".gz" else 90)


@LogTask.event_handler(luigi.Event.START)
def _begin(task: LogTask) -> None:
    _at_work[task.log] = task.found


@LogTask.event_handler(luigi.Event.PROCESSING_TIME)
def _end(_: LogTask, __: float) -> None:
    _at_work.clear()


@LogTask.event_handler(luigi.Event.FAILURE)
def _fail(_: LogTask, __: BaseException) -> None:
    _at_work.clear()
