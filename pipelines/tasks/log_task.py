"""LogTask: what all tasks have in common, a log and a data root, and how they bear that the log changes meanwhile."""

from __future__ import annotations

from typing import Any

import luigi

from pipelines.config import work_root
from pipelines.keys import MISSING_INPUT
from pipelines.logs.find import SHIPPED_LOG, Log, find_log, is_stream
from pipelines.logs.generated import find_model
from pipelines.names import check_name
from pipelines.store.locations import check_location
from pipelines.tasks.memory import give_back_memory
from pipelines.tasks.progress import StageProgress
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import ParameterError, UnreadableLogError

progress = StageProgress()

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


class LogTask(luigi.Task):
    """What all stages have in common: a log, and a data root."""

    log = LogParameter(
        default=SHIPPED_LOG,
        description="name of a card in data_catalog.yaml, path of a log, or model such as lublin-feitelson:jobs=10000",
    )
    data_root = luigi.Parameter(
        default="./data",
        config_path={"section": "swftools", "name": "data_root"},
        description="where data sets are published: a directory, or s3://bucket/prefix",
    )

    _scheduled_key: str | None = None
    """Hash of the log when luigi last asked whether there is anything to do."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.check_values()

    def check_values(self) -> None:
        """Raise ParameterError if a parameter is outside its domain; so a wrong task is never made.

        Subclasses add what they know of their own.
        """
        check_location(self.data_root)
        seed = getattr(self, "seed", 0)
        if seed < 0:
            raise ParameterError(f"seed={seed} is not a whole number >= 0")
        if name := getattr(self, "data_set", ""):
            check_name(name, "data set")

    @property
    def found(self) -> Log:
        """The log that ``log`` means; while a task runs, the one it meant at its beginning."""
        return _at_work.get(self.log) or find_log(self.log)

    @property
    def log_key(self) -> str:
        """Hash of the log's text, or ``MISSING_INPUT``."""
        return self.found.sha256 or MISSING_INPUT

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return str(self.log)

    @property
    def label(self) -> str:
        """What the task is called in messages."""
        return f"{self.get_task_family()} {self.subject}"

    def directory(self, stage: str, key: str) -> DirectoryTarget:
        """Return the target of a stage's output."""
        return DirectoryTarget(work_root(self.data_root) / stage / key)

    def is_done(self) -> bool:
        """Whether the output is there."""
        return bool(self.output().exists())

    def complete(self) -> bool:
        """Whether there is nothing to do."""
        is_done = self.is_done()
        if self.log not in _at_work:
            self._scheduled_key = self.log_key
            if not is_done:
                progress.expect(self.task_id)
        return is_done

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


@LogTask.event_handler(luigi.Event.START)
def _begin(task: LogTask) -> None:
    _at_work[task.log] = task.found
    progress.begin(task.task_id, task.label)


@LogTask.event_handler(luigi.Event.PROCESSING_TIME)
def _end(task: LogTask, seconds: float) -> None:
    _at_work.clear()
    give_back_memory()
    progress.end(task.task_id, task.label, seconds)


@LogTask.event_handler(luigi.Event.FAILURE)
def _fail(_: LogTask, __: BaseException) -> None:
    _at_work.clear()
    progress.fail()
