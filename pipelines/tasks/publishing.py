# SPDX-License-Identifier: BSD-3-Clause
"""PublishingTask: what tasks that publish a version of a data set have in common; LogPublishingTask: of one log."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import luigi
import pyarrow as pa

from pipelines.config import work_root
from pipelines.keys import MISSING_INPUT
from pipelines.names import check_name
from pipelines.store.croissant import CROISSANT, writes_croissant
from pipelines.store.data_package import DATA_PACKAGE, csv_forms, writes_data_package
from pipelines.store.data_root import DataRoot
from pipelines.store.parts import LongTable, PartedTable
from pipelines.store.readme import readme_text, sources_of, told_of
from pipelines.store.staging import unchecked_staging
from pipelines.store.storage import storage_errors
from pipelines.tasks.check_source import CheckSource
from pipelines.tasks.clean import RulesTask
from pipelines.tasks.one_look import in_one_look
from pipelines.tasks.stage_task import StageTask
from pipelines.tasks.targets import VersionTarget
from swftools.errors import ParameterError, UnsafeNameError
from swftools.kernel.memory import give_back_memory
from swftools.output.shown_text import WIDTH, shown
from swftools.output.standard_output import print_out

_TOLD = {luigi.Event.SUCCESS: "published", luigi.Event.DEPENDENCY_PRESENT: "already complete"}
"""What is said of a version, by the event."""


@dataclass(frozen=True)
class Contents:
    """What a version consists of.

    Parameters
    ----------
    tables : mapping of str to pyarrow.Table, PartedTable or LongTable
        Tables of the column dictionary by name.
    facts : mapping
        What determines the content, and what a user of it must know, for the manifest.
    files : mapping of str to callable
        What writes each further file to a path, by its published name.
    rows : mapping of str to int
        Of each table that is no pyarrow.Table, how many rows it has.
    """

    tables: Mapping[str, pa.Table | PartedTable | LongTable]
    facts: Mapping[str, Any]
    files: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)


class PublishingTask(StageTask):
    """Publish a version of a data set.

    Reads what ``stages`` made; writes ``<data root>/<data set>/<version>/`` with tables, files, a README.md, a
    datapackage.json, a croissant.json and a manifest, and moves ``latest``; complete when that version is published. A
    subclass says what the version is called, what it needs, and what it consists of.
    """

    code_version: int
    main_table: str
    """The table that most users read."""

    what = "A workload trace of a parallel machine"
    """What kind of data set it is."""

    _made: VersionTarget | None = None
    """The version that it published in this process."""

    data_set = luigi.Parameter(default="", description="name to publish under; default: made from the log's name")
    report = luigi.BoolParameter(
        default=False, significant=False, description="also write a report, VERSION.html beside the version"
    )

    def check_values(self) -> None:
        """Raise if a parameter is outside its domain, or a report is wanted and what makes it is not installed."""
        super().check_values()
        if self.report:
            from pipelines.reports import check_kind, check_libraries  # noqa: PLC0415 (they import much)

            check_libraries()
            check_kind(self.main_table, f"{self.get_task_family()} --report")

    @property
    def tables_used(self) -> tuple[str, ...]:
        """The tables that it publishes, and those in which its stages hand it what it publishes.

        Their schema versions are in its key.
        """
        raise NotImplementedError

    @property
    def default_name(self) -> str:
        """Name of the data set if none is given."""
        raise NotImplementedError

    @property
    def version(self) -> str:
        """Content key of the version."""
        raise NotImplementedError

    def stages(self) -> list[luigi.Task]:
        """Return the tasks whose outputs are published."""
        raise NotImplementedError

    def contents(self) -> Contents:
        """Return what the version consists of."""
        raise NotImplementedError

    def heading(self, read: Callable[[], pa.Table]) -> str:  # noqa: ARG002 (for tasks that show it)
        """Return what is printed first; ``read`` returns the published main table."""
        return ""

    def shown(self, contents: Contents) -> str:  # noqa: ARG002 (for tasks that show it)
        """Return the main table or picture, in Markdown, for the README.md; empty where it is too long to be read."""
        return ""

    @property
    def data_set_name(self) -> str:
        """Name of the data set."""
        if self.data_set:
            return check_name(self.data_set, "data set")
        try:
            return check_name(self.default_name, "data set")
        except UnsafeNameError as error:
            raise UnsafeNameError(
                f"{error}; this one comes from the name of the log: give another by --data-set NAME (data_set=)"
            ) from error

    def requires(self) -> list[luigi.Task]:
        """Require the stages; nothing if the version is there, and all that is to do is beside it."""
        return [] if self._is_published() else self.stages()

    def output(self) -> VersionTarget:
        """Return the version to be published."""
        return VersionTarget(DataRoot.open(self.data_root), self.data_set_name, self.version)

    def is_done(self) -> bool:
        """Whether the version is published, and its report is there if one is wanted; without its log it is not."""
        if self.version == MISSING_INPUT:
            return False
        target = self.output()
        if not target.exists() or not target.is_settled():
            return False
        return not self.report or target.root.has_report(target.data_set, target.version)

    def _is_published(self) -> bool:
        """Whether the version is there, whole."""
        return self.version != MISSING_INPUT and self.output().exists()

    @in_one_look
    def run(self) -> None:
        """Publish the version, and write the report on it if one is wanted."""
        self._made = self.output()  # the log may change before this is told
        if not self._is_published():
            self._publish()
        if not self.output().is_settled():
            self.output().root.restore_latest(self.data_set_name)
        if self.report:
            from pipelines.reports import put_report  # noqa: PLC0415 (it imports what reports are made of)

            give_back_memory()
            put_report(self.output().root, self.data_set_name, self.version)

    def trigger_event(self, event: str, *args: Any, **kwargs: Any) -> None:
        """Do what luigi does at an event; of a version that is published, or was found so, tell its user.

        luigi goes on after an error of an event handler. Here one is an error of the task, which ends with its status:
        what cannot be read, or cannot be told, is not well.
        """
        super().trigger_event(event, *args, **kwargs)
        if event in _TOLD:
            _say(self, _TOLD[event])

    def _publish(self) -> None:
        """Assemble tables and files, and publish them."""
        target, contents = self.output(), self.contents()
        tables = contents.tables
        if unnamed := sorted(tables.keys() - {*self.tables_used}):
            raise ParameterError(f"{self.get_task_family()} publishes {unnamed}: name them in its tables_used")
        rows = {
            **{name: table.num_rows for name, table in tables.items() if isinstance(table, pa.Table)},
            **contents.rows,
        }
        columns = {
            name: table.column_names if isinstance(table, pa.Table) else list(table.columns)
            for name, table in tables.items()
        }
        facts = {
            **contents.facts,
            "data_set": target.data_set,
            "version": target.version,
            "made_by": self.get_task_family(),
            "main_table": self.main_table,
        }
        files = {
            **contents.files,
            "README.md": writer_of(
                readme_text(
                    *(facts, rows, list(contents.files), self.what, self.shown(contents)),
                    columns=columns.get(self.main_table, ()),
                )
            ),
        }
        manifest = {name: value for name, value in facts.items() if name not in ("data_set", "version")}
        work = work_root(self.data_root)
        with ExitStack() as stack:
            with storage_errors(f"{work}: nothing was published"):
                folder = stack.enter_context(unchecked_staging(work, target.data_set))
                for name, write in files.items():
                    give_back_memory()
                    write(folder / name)
            paths = {name: folder / name for name in files}
            give_back_memory()
            forms = csv_forms(paths)
            last = {
                DATA_PACKAGE: writes_data_package(facts, columns, contents.files, forms),
                CROISSANT: writes_croissant(facts, columns),
            }
            target.root.publish(
                target.data_set, target.version, contents.tables, manifest=manifest, files=paths, last=last
            )


class LogPublishingTask(RulesTask, PublishingTask):
    """Publish a version of a data set that is made of one log; its versions come from that log, as it grows."""

    other_source = luigi.BoolParameter(
        default=False,
        significant=False,
        description="publish also where earlier versions of the data set were made of another log",
    )

    @property
    def default_name(self) -> str:
        """Name of the data set if none is given."""
        return self.found.name

    @property
    def source_check(self) -> CheckSource:
        """The task that refuses what was made of another log than the earlier versions."""
        task: CheckSource = self.clone(CheckSource, data_set=self.data_set_name)
        return task

    def requires(self) -> list[luigi.Task]:
        """Require the stages; nothing but the refusal where the data set is of another log."""
        check = self.source_check
        return [check] if check.is_refused() else [check, *super().requires()]


def writer_of(text: str) -> Callable[[Path], None]:
    """Return what writes a text to a path, the same on all platforms."""

    def write(path: Path) -> None:
        path.write_bytes(text.encode())

    return write


def _say(task: PublishingTask, what: str) -> None:
    """Print what the version holds, where it is and how to read it."""
    target = task._made or task.output()
    root, data_set, version = target.root, target.data_set, target.version
    manifest = root.manifest(data_set, version)
    heading = task.heading(partial(root.read_table, data_set, task.main_table, version))
    lines = [f"{what}: data set {data_set}, version {version}", f"  {target.path}"]
    lines += [f"  report: {root.report_path(data_set, version)}"] * task.report
    sources = sources_of(manifest)
    for source in sources:
        lines += [f"  {shown(source['log']['name'])}"] * (len(sources) > 1)
        for line in map(shown, told_of(source)):
            after = " " * (len(line) - len(line.lstrip()) + 4)
            lines += textwrap.wrap(f"  {line}", WIDTH, subsequent_indent=after, break_long_words=False) or [""]
    latest = root.latest(data_set)
    if latest != version:
        command = ["swftools", "promote", data_set, version, "--data-root", str(task.data_root)]
        lines.append(f"  latest is {latest}, not this version; to move it: {shlex.join(command)}")
    lines += [
        "read it with",
        "  import pandas as pd",
        f'  {task.main_table} = pd.read_parquet("{target.path}/{task.main_table}")',
    ]
    print_out(heading + "\n".join(lines))
