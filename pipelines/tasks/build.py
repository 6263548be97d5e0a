# SPDX-License-Identifier: BSD-3-Clause
"""BuildAugmentedTrace: publish the cleaned, augmented trace of a log as a version of a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import luigi
import pyarrow as pa

from pipelines.keys import content_key, schema_of
from pipelines.store.data_package import schema_file, table_schema_text
from pipelines.tasks.augmentations.registry import PIECE, Augmentation
from pipelines.tasks.augmented import augmentations_of
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.facts import account_of, assumptions_of, card_of, origin_of, software, source_of
from pipelines.tasks.long_jobs import LongJobs
from pipelines.tasks.one_look import in_one_look, once_a_look
from pipelines.tasks.parameters import AUGMENTATIONS, AugmentParameter, ParametersParameter
from pipelines.tasks.publishing import Contents, LogPublishingTask, writer_of
from swftools.formats.swf.writer import write_pieces
from swftools.formats.trace_directory import load_tables, load_without_jobs
from swftools.header import SwfHeader
from swftools.tables import read_table, to_pandas

OTHER_TABLES = ("quarantine", "cleaning_report", "repairs", "merged", "names")
"""The tables of a cleaned trace beside its jobs."""


class BuildAugmentedTrace(LogPublishingTask):
    """Publish a log as a cleaned, augmented, versioned data set.

    Reads the cleaned trace and the columns of each augmentation. Writes ``<data root>/<data set>/<version>/`` with the
    tables jobs, quarantine, merged, repairs and cleaning_report, names (of accounting logs), the tables of the
    augmentations, an extended SWF file, a README.md, a datapackage.json and a manifest. Then moves ``latest``. Complete
    when that version is published.
    """

    code_version = 4
    main_table = "jobs"
    augment = AugmentParameter(
        default="utility,checkpoints,arrivals,speedup",
        description=f"augmentations, separated by commas: {', '.join(AUGMENTATIONS)}; none for none",
    )
    seed = luigi.IntParameter(default=0, description="seed of every random draw")
    parameters = ParametersParameter(default="{}", description="parameters by augmentation: JSON, or a file's path")
    by_month = luigi.BoolParameter(
        default=False, description="publish the jobs as a file a month of submission (UTC), for long logs"
    )

    def check_values(self) -> None:
        """Raise ParameterError if a parameter is outside its domain, of the augmentations too."""
        super().check_values()
        _ = self.augmentations

    @property
    def augmentations(self) -> list[Augmentation]:
        """The tasks of the augmentations asked for."""
        return augmentations_of(self, self.augment)

    @property
    def tables_used(self) -> tuple[str, ...]:
        """The tables of a cleaned trace, and those of each augmentation."""
        added = [name for task in self.augmentations for name in (task.name, *task.other_tables)]
        return ("jobs", *OTHER_TABLES, *added)

    @property
    @once_a_look
    @in_one_look
    def version(self) -> str:
        """Content key of the version."""
        inputs = {
            "trace": self.clone(CleanTrace).key,
            "augmentations": {task.name: task.key for task in self.augmentations},
            "schema_version": schema_of(self.tables_used),
            "log": self.found.name,
            "card": card_of(self.found),
            **({"by_month": True} if self.by_month else {}),
        }
        return content_key("build", self.code_version, inputs)

    def stages(self) -> list[luigi.Task]:
        """Return the cleaned trace and every augmentation."""
        return [self.clone(CleanTrace), *self.augmentations]

    def contents(self) -> Contents:
        """Return the tables, the SWF file and the files of the augmentations.

        The jobs of a long log, and of one that is published by month, are read a piece at a time when they are written.
        """
        directory = self.clone(CleanTrace).output().path
        long = LongJobs(directory / "jobs.parquet", self.augmentations)
        facts = self._facts(long)
        tables: dict[str, Any] = load_tables(directory, OTHER_TABLES)
        if not tables["names"].num_rows:
            del tables["names"]
        is_in_pieces = self.by_month or long.rows > PIECE
        jobs = long.by_month() if self.by_month else long.whole() if is_in_pieces else long.between(0, long.rows)
        tables = {"jobs": jobs, **tables}
        for task in self.augmentations:
            tables |= {name: read_table(task.table_path(name), name) for name in task.other_tables}
        header = SwfHeader.from_lines(facts["header"])
        pieces = long.pieces if is_in_pieces else lambda: [tables["jobs"]]
        files: dict[str, Callable[[Path], None]] = {
            f"{self.data_set_name}.swf.gz": partial(_write_swf, header, long.columns, pieces)
        }
        for task in self.augmentations:
            files |= dict(task.files(self.data_set_name))
        if self.by_month:
            files[schema_file("jobs")] = writer_of(table_schema_text("jobs", list(long.columns)))
        account = account_of(to_pandas(tables["cleaning_report"], "cleaning_report"))
        return Contents(tables, {**facts, "account": account}, files, {"jobs": long.rows} if is_in_pieces else {})

    def _facts(self, jobs: LongJobs) -> dict[str, Any]:
        """Return what determines the content and what a user of it must know."""
        cleaned = self.clone(CleanTrace)
        trace = load_without_jobs(cleaned.output().path)
        parameters = {task.name: task.own_parameters for task in self.augmentations}
        stages = [cleaned.source, cleaned, *self.augmentations, self]
        return {
            **origin_of(self.found, trace),
            "log": source_of(self.found, trace),
            "header": trace.header.to_lines(),
            "machine_processors": trace.processors,
            "assumptions": assumptions_of(self.found, trace, parameters, unrequested=jobs.unrequested),
            "parameters": {**cleaned.told, **parameters},
            "seed": self.seed,
            "code_versions": {stage.get_task_family(): stage.code_version for stage in stages},
            "software": software(),
        }


def _write_swf(
    header: SwfHeader, columns: Sequence[str], pieces: Callable[[], Iterable[pa.Table]], target: Path
) -> None:
    """Write jobs as extended SWF."""
    write_pieces(header, columns, pieces(), target)
