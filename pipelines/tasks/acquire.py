# SPDX-License-Identifier: BSD-3-Clause
"""AcquireLog: bring a log, shipped, local or from its card's url, verified into the work directory."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import luigi

from pipelines.config import setting, work_root
from pipelines.logs.find import Log, find_log, is_there, name_by_hand
from pipelines.logs.published import JOBS, NAMES, hash_of_jobs, read_manifest
from pipelines.names import MANIFEST
from pipelines.store.staging import staging
from pipelines.tasks.log_task import LogTask
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import AcquireError, ParameterError, UnreadableLogError
from swftools.formats.compression import open_log, source_name
from swftools.formats.place import file_of, split_member
from swftools.formats.text_hash import joined_sha256, text_sha256

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


class AcquireLog(LogTask):
    """Copy or download a log into the work directory and verify its checksum.

    Reads the shipped file, a local path or the card's url. Writes ``<work root>/logs/<sha256>/log``, compressed as it
    came; a folder if the log is several files. Complete when that exists. Downloads stay in ``<work root>/downloads``.
    A log whose names are withheld is not copied but read in place: see ``open_text``.
    """

    def requires(self) -> list[luigi.Task]:
        """Require the file where the log is none that can be downloaded."""
        return [LogFile(log=self.log)] if self.found.problem else []

    def output(self) -> DirectoryTarget:
        """Return the directory that holds the file."""
        return self.directory("logs", self.log_key)

    @property
    def path(self) -> Path:
        """Path of the acquired file; of a log of several files, of the folder that holds them."""
        return self.output().path / "log"

    def run(self) -> None:
        """Copy or download, verify, and let the file appear."""
        found = self.found
        if found.damage:
            raise AcquireError(found.damage)
        if self.withholds:
            raise ParameterError(
                f"log {self.log!r}: no copy is kept of a log with anonymise={self.anonymise}; leave it out"
            )
        if found.model:
            raise AcquireError(f"log {self.log!r} is generated: it has no text to acquire; run GenerateTrace")
        with self.output().fill() as directory:
            if found.version:
                _copy_version(found, found.version, directory / "log")
            elif found.path is not None:
                _copy(found, found.path, directory / "log")
            else:
                # Copied, not moved: another process may have waited for this download, and look for it now.
                shutil.copyfile(_downloaded(found, work_root(self.data_root) / "downloads"), directory / "log")


def text_tasks(task: LogTask) -> list[luigi.Task]:
    """Return what a task requires to have a log's text: a copy of it, or, where names are withheld, the log itself."""
    if task.withholds:
        return [LogFile(log=task.log)] if task.found.problem else []
    return [task.clone(AcquireLog)]


@contextmanager
def open_text(task: LogTask) -> Iterator[Path]:
    """Give the path of a log's text, once ``text_tasks`` are done.

    Where names are withheld it is that of the log itself, whose hash is looked at once more at the end; or that of a
    download, in a folder that nobody else may read and that is removed at the end.

    Raises
    ------
    AcquireError
        The text is not what it was found to be.
    """
    found = task.found
    if not task.withholds:
        yield task.clone(AcquireLog).path
    elif found.damage:
        raise AcquireError(found.damage)
    elif found.path is None:
        with staging(work_root(task.data_root), "download", is_private=True) as folder:
            yield _downloaded(found, folder)
    else:
        if not is_there(found.path):
            raise UnreadableLogError(f"log {found.path} is gone since this run began; nothing was published. Run again")
        yield found.path
        _check_text(found, found.path, found.path)


def _downloaded(found: Log, folder: Path) -> Path:
    """Download a log by its card into a folder."""
    if found.card is None or found.card.url is None:
        raise AcquireError(
            f"log {found.name}: its card has no url, and it is in none of the directories of the setting "
            f"log_path ({setting('log_path') or 'none given'}); pass --log PATH"
        )
    from swftools.formats.download import download  # noqa: PLC0415 (what it needs for that is of no use before)

    part = folder / name_by_hand(found.card)
    download(found.card.url, part, sha256=found.card.sha256, max_bytes=found.card.bytes)
    return part


def _copy(found: Log, source: Path, destination: Path) -> None:
    """Copy a log's file, or files, and see that its text is what it was found to be."""
    if not is_there(source):
        raise UnreadableLogError(f"log {source} is gone since this run began; nothing was published. Run again")
    if file_of(source).is_file():
        _copy_file(source, destination)
    else:
        destination.mkdir()
        paths = [Path(source_name(each)) for each in found.how.files(source).sources]
        names = [path.name for path in paths]
        for number, path in enumerate(paths):
            name = path.name if len(set(names)) == len(names) else f"{number:05}.{path.name}"
            shutil.copyfile(path, destination / name)
    _check_text(found, source, destination)


def _copy_file(path: Path, destination: Path) -> None:
    """Copy a file; of a member of an archive, its text."""
    if split_member(path)[1] is None:
        shutil.copyfile(path, destination)
        return
    with open_log(path, is_text=False) as text, destination.open("wb") as file:
        while block := text.read(1 << 20):
            file.write(block)


def _check_text(found: Log, source: Path, path: Path) -> None:
    """See that a text, or what was copied of it to a path, is what it was found to be."""
    actual = text_sha256(path) if path.is_file() else joined_sha256(found.how.files(path))
    if actual != found.sha256:
        raise AcquireError(
            f"{source}: sha256 of the text is {actual}, not {found.sha256}; fetch the file again, or mend the card if "
            "the log was republished; if the file is still being written, run again when it is whole"
        )


def _copy_version(found: Log, source: Path, destination: Path) -> None:
    """Copy what a trace has of a published version, and see that it is what it was found to be."""
    destination.mkdir()
    try:
        shutil.copyfile(source / MANIFEST, destination / MANIFEST)
        for table in (JOBS, NAMES):
            if (source / table).is_dir():
                shutil.copytree(source / table, destination / table)
    except FileNotFoundError as error:
        raise UnreadableLogError(f"{error.filename} is gone since this run began; nothing was published") from error
    if hash_of_jobs(read_manifest(destination)) != found.sha256:
        raise AcquireError(f"{source} was changed since this run began; nothing was published. Run again")
