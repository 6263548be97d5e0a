# SPDX-License-Identifier: BSD-3-Clause
"""StageTask: what all tasks have in common, a data root, and that they say how far they are."""

from __future__ import annotations

from functools import cache
from typing import Any

import luigi

from pipelines.config import work_root
from pipelines.names import check_name
from pipelines.store.locations import check_location
from pipelines.tasks.one_look import asked_once, in_one_look, is_looking
from pipelines.tasks.progress import StageProgress
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import ParameterError
from swftools.kernel.memory import give_back_memory

progress = StageProgress()

_running: set[str] = set()
"""The task that this process runs, by its identifier."""


class StageTask(luigi.Task):
    """What all stages have in common: a data root."""

    data_root = luigi.Parameter(
        default="./data",
        config_path={"section": "swftools", "name": "data_root"},
        description="where data sets are published: a directory, or s3://bucket/prefix",
    )

    @classmethod
    @cache
    def get_params(cls) -> Any:
        """Return the parameters of the class: luigi looks for them among all attributes, each time a task is made."""
        return super().get_params()

    @classmethod
    def get_param_values(cls, params: Any, args: Any, kwargs: Any) -> list[tuple[str, Any]]:
        """Return the values of the parameters; within one look each value that is given is read once.

        luigi reads all of them twice for each task that is made, and of thousands of cells most are the same.
        """
        if is_looking() and not args:
            try:
                return asked_once(_values_of, cls, *((name, type(value), value) for name, value in kwargs.items()))
            except (LookupError, TypeError):
                pass  # one is unknown, or not given, or cannot be hashed: luigi says so, or sees to it
        return list(super().get_param_values(params, args, kwargs))

    def clone(self, cls: Any = None, **kwargs: Any) -> Any:
        """Return a task, of another class, with what this one's parameters say; within one look each is made once."""
        if not is_looking():
            return super().clone(cls, **kwargs)
        target = cls or type(self)
        names = asked_once(_common_names, type(self), target)
        values = tuple(getattr(self, name) for name in names)
        try:
            return asked_once(_made, target, names, values, *sorted(kwargs.items()))
        except TypeError:  # what cannot be hashed
            return super().clone(cls, **kwargs)

    is_of_one_cell = False
    """Whether each cell of an experiment has one of its own, so that it is made where the cell is run."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.check_values()

    def check_values(self) -> None:
        """Raise ParameterError if a parameter is outside its domain; so a wrong task is never made.

        Subclasses add what they know of their own.
        """
        asked_once(check_location, self.data_root)
        seed = getattr(self, "seed", 0)
        if seed < 0:
            raise ParameterError(f"seed={seed} is not a whole number >= 0")
        if name := getattr(self, "data_set", ""):
            check_name(name, "data set")

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """What the task is called in messages."""
        return f"{self.get_task_family()} {self.subject}"

    def effort(self) -> float:
        """Return the seconds that it takes of a log of 100,000 jobs, about; what counts is that beside others' ones."""
        return 0.5

    def work(self) -> float:
        """Return the seconds that it takes, about, from which the time follows that is left of a run."""
        return self.effort()

    def tell(self, done: int, total: int, told: str = "") -> None:
        """Say how far this task is, which runs; in words of its own, or as a share."""
        progress.tell(self.task_id, self.label, done, total, told)

    def directory(self, stage: str, key: str) -> DirectoryTarget:
        """Return the target of a stage's output."""
        return DirectoryTarget(asked_once(work_root, self.data_root) / stage / key)

    def is_done(self) -> bool:
        """Whether the output is there."""
        return bool(self.output().exists())

    @in_one_look
    def complete(self) -> bool:
        """Whether there is nothing to do."""
        is_done = self.is_done()
        if not is_done and not _running:
            progress.expect(self.task_id, self.work())
        return is_done


def _values_of(cls: type[StageTask], *given: tuple[str, type, Any]) -> list[tuple[str, Any]]:
    """Return the values of a task's parameters, of which some are given by name, type (1 equals True) and value.

    Raises
    ------
    LookupError
        One is unknown, or is not given and has no default.
    """
    words = {name: (kind, value) for name, kind, value in given}
    values = [
        (name, asked_once(_value_of, cls, name, parameter, *words.get(name, ())))
        for name, parameter in cls.get_params()
    ]
    if unknown := words.keys() - dict(values):
        raise LookupError(*unknown)
    return values


def _value_of(cls: type[StageTask], name: str, parameter: Any, *given: Any) -> Any:
    """Return the value of a parameter: what is given, behind its type, in its one form; or the default."""
    if given:
        return parameter.normalize(given[1])
    family = cls.get_task_family()
    if not parameter.has_task_value(family, name):
        raise LookupError(name)
    return parameter.task_value(family, name)


def _common_names(one: type[StageTask], other: type[StageTask]) -> tuple[str, ...]:
    """Return the parameters that two tasks have in common."""
    return tuple(name for name, _ in other.get_params() if hasattr(one, name))


def _made(
    kind: type[StageTask], names: tuple[str, ...], values: tuple[Any, ...], *others: tuple[str, Any]
) -> StageTask:
    """Return a task with some parameters of another, and others of its own."""
    return kind(**{**dict(zip(names, values, strict=True)), **dict(others)})


@StageTask.event_handler(luigi.Event.START)
def _begin(task: StageTask) -> None:
    _running.add(task.task_id)
    progress.begin(task.task_id, task.label)


@StageTask.event_handler(luigi.Event.PROCESSING_TIME)
def _end(task: StageTask, seconds: float) -> None:
    _running.clear()
    give_back_memory()
    progress.end(task.task_id, task.label, seconds)


@StageTask.event_handler(luigi.Event.FAILURE)
def _fail(_: StageTask, __: BaseException) -> None:
    _running.clear()
    progress.fail()
