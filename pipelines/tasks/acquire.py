"""AcquireLog: bring a log, shipped, local or from its card's url, verified into the work directory."""

from __future__ import annotations

import logging
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import luigi

from pipelines.config import setting, work_root
from pipelines.keys import MISSING_INPUT
from pipelines.logs.download import download, text_sha256
from pipelines.logs.find import SHIPPED_LOG, Log, find_log, is_stream
from pipelines.logs.generated import find_model
from pipelines.names import check_name
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import AcquireError, ParameterError

progress = logging.getLogger("pipelines")


class LogFile(luigi.ExternalTask):
    """A log that must be there already. Reads and writes nothing; complete when the file exists."""

    log = luigi.Parameter(description="name of a card, or path of a log")

    def complete(self) -> bool:
        """Whether there is such a log; says what is wrong where there is none."""
        problem = find_log(self.log).problem
        if problem:
            _say_once(problem)
        return problem is None

    def output(self) -> luigi.LocalTarget:
        """Return the file."""
        return luigi.LocalTarget(str(find_log(self.log).path))


@cache
def _say_once(problem: str) -> None:
    """Log an error; luigi asks for completeness many times, but a user needs the answer once."""
    progress.error("error: %s", problem)


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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.check_values()

    def check_values(self) -> None:
        """Raise ParameterError if a parameter is outside its domain; so a wrong task is never made.

        Subclasses add what they know of their own.
        """
        seed = getattr(self, "seed", 0)
        if seed < 0:
            raise ParameterError(f"seed={seed} is not a whole number >= 0")
        if name := getattr(self, "data_set", ""):
            check_name(name, "data set")

    @property
    def found(self) -> Log:
        """The log that ``log`` means."""
        return find_log(self.log)

    @property
    def log_key(self) -> str:
        """Hash of the log's text, or ``MISSING_INPUT``."""
        return self.found.sha256 or MISSING_INPUT

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return str(self.log)

    def directory(self, stage: str, key: str) -> DirectoryTarget:
        """Return the target of a stage's output."""
        return DirectoryTarget(work_root(self.data_root) / stage / key)


@LogTask.event_handler(luigi.Event.PROCESSING_TIME)
def _say_done(task: LogTask, seconds: float) -> None:
    progress.info("%s %s: %.1f s", task.get_task_family(), task.subject, seconds)


class AcquireLog(LogTask):
    """Copy or download a log into the work directory and verify its checksum.

    Reads the shipped file, a local path or the card's url; writes ``<work root>/logs/<sha256>/log``, as
    compressed as it came; complete when that exists. What was downloaded stays in ``<work root>/downloads``.
    """

    def requires(self) -> list[luigi.Task]:
        """Require the file where the log is none that can be downloaded."""
        return [LogFile(log=self.log)] if self.found.problem else []

    def output(self) -> DirectoryTarget:
        """Return the directory that holds the file."""
        return self.directory("logs", self.log_key)

    @property
    def path(self) -> Path:
        """Path of the acquired file."""
        return self.output().path / "log"

    def run(self) -> None:
        """Copy or download, verify, and let the file appear."""
        found = self.found
        if found.damage:
            raise AcquireError(found.damage)
        if found.model:
            raise AcquireError(f"log {self.log!r} is generated: it has no text to acquire; run GenerateTrace")
        with self.output().fill() as directory:
            if found.path is not None:
                shutil.copyfile(found.path, directory / "log")
                actual = text_sha256(directory / "log")
                if actual != found.sha256:
                    raise AcquireError(
                        f"{found.path}: sha256 of the text is {actual}, not {found.sha256}; fetch the file again, "
                        "or mend the card if the log was republished"
                    )
            elif found.card is not None and found.card.url is not None:
                part = work_root(self.data_root) / "downloads" / f"{found.card.name}.swf.gz"
                download(found.card.url, part, sha256=found.card.sha256, max_bytes=found.card.bytes)
                # Copied, not moved: another process may have waited for this download, and look for it now.
                shutil.copyfile(part, directory / "log")
            else:
                raise AcquireError(
                    f"log {found.name}: its card has no url, and it is in none of the directories of the setting "
                    f"log_path ({setting('log_path') or 'none given'}); pass --log PATH"
                )
