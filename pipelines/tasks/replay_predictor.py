# SPDX-License-Identifier: BSD-3-Clause
"""CheckWaits and ReplayPredictor: what each job of a log would have been told of its wait, by one method."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import luigi
import numpy as np
import pandas as pd

from pipelines.keys import canonical_json, content_key
from pipelines.tasks.clean import CleanTrace, RulesTask
from pipelines.tasks.own_code import hash_of_module
from pipelines.tasks.parameters import MappingParameter, MethodsParameter
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import ParameterError
from swftools.fields.dictionary import JOBS, known_at_submission
from swftools.parameters import did_you_mean
from swftools.qbets.log_columns import GROUPS, group_labels, read_submissions
from swftools.qbets.methods import find_method
from swftools.qbets.predictor import ReplayParameters, WaitPredictor, replay
from swftools.tables import QUICK_OPTIONS, read_table, to_arrow, to_pandas, write_table

ReplayOptionsParameter = partial(MappingParameter, "options", ReplayParameters)


def groups_of(by: str) -> tuple[str, ...] | None:
    """Return what jobs are grouped by, from words such as ``queue,user``; None for ``all``: they are one group.

    Raises
    ------
    ParameterError
        A group is none, or stands there twice.
    """
    if by == "all":
        return None
    groups = tuple(name.strip() for name in by.split(","))
    known = {*GROUPS, *known_at_submission(field.name for field in JOBS)}
    for name in groups:
        if name not in known:
            raise ParameterError(
                f"by={by!r}: {name!r} is not a group of jobs; there are: all, {', '.join(GROUPS)}, and any "
                f"column of the table jobs that is known at submission{did_you_mean([name], known)}"
            )
    if len(set(groups)) < len(groups):
        raise ParameterError(f"by={by!r}: give each group once")
    return groups


class ReplayTask(RulesTask):
    """What replays have in common."""

    by = luigi.Parameter(default="queue", description="groups replayed by themselves: queue, partition, user, ...; all")
    options = ReplayOptionsParameter(
        default="", description="parameters of the replay: quantile=0.9,clustering=false,... or JSON"
    )

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, or a group is none."""
        super().check_values()
        _ = self.groups

    @property
    def groups(self) -> tuple[str, ...] | None:
        """What jobs are grouped by; None if all are one group."""
        return groups_of(self.by)

    @property
    def chosen(self) -> dict[str, Any]:
        """The parameters of the replay."""
        chosen: dict[str, Any] = json.loads(self.options)
        return chosen


class CheckWaits(ReplayTask):
    """Check once, before any replay, that a log has waits and the groups asked for.

    Reads the cleaned trace. Writes ``<work root>/waits/<key>/waits.json``: how many jobs there are, and how many
    started. Complete when that exists.
    """

    code_version = 1

    @property
    def key(self) -> str:
        """Content key of the output."""
        return content_key("waits", self.code_version, {"trace": self.clone(CleanTrace).key, "by": self.groups})

    def requires(self) -> CleanTrace:
        """Require the cleaned trace."""
        cleaned: CleanTrace = self.clone(CleanTrace)
        return cleaned

    def output(self) -> DirectoryTarget:
        """Return the directory of the numbers."""
        return self.directory("waits", self.key)

    def run(self) -> None:
        """Look into the log.

        Raises
        ------
        ParameterError
            It does not say how long its jobs waited, or has no such column.
        """
        jobs = self.clone(CleanTrace).load().jobs
        try:
            group_labels(jobs, self.groups or ())
            wait = read_submissions(jobs, "requested_time").wait
        except ParameterError as error:
            raise ParameterError(f"{self.log}: {error}") from error
        numbers = {"jobs": len(wait), "started": int(np.isfinite(wait).sum())}
        with self.output().fill() as directory:
            (directory / "waits.json").write_bytes(canonical_json(numbers).encode())


class ReplayPredictor(ReplayTask):
    """Replay a log, and predict the wait of each job.

    Reads the cleaned trace; writes ``<work root>/replayed/<key>/`` with the table wait_predictions; complete when that
    exists.
    """

    code_version = 1
    method = MethodsParameter(default="binomial", description="a bound or rival, such as binomial or gradient-boosting")

    def effort(self) -> float:
        """Return it by the method: one that learns trees is fitted again and again."""
        return 70.0 if self.bound.startswith("gradient-boosting") else 0.5

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, or there are several methods, or a lower bound."""
        super().check_values()
        WaitPredictor(self.bound, self.groups, **self.chosen)

    @property
    def bound(self) -> str:
        """The method, as text."""
        texts: list[str] = json.loads(self.method)
        if len(texts) > 1:
            raise ParameterError(f"method: {len(texts)} methods; EvaluateWaitPredictions takes several")
        return texts[0]

    @property
    def subject(self) -> str:
        """What the task is about, for messages."""
        return f"{self.log} {self.bound}"

    @property
    def key(self) -> str:
        """Content key of the output."""
        inputs = {
            "trace": self.clone(CleanTrace).key,
            "method": self.bound,
            "own_method": hash_of_module(type(find_method(self.bound)).__module__),
            "by": self.groups,
            "options": self.chosen,
        }
        return content_key("replay", self.code_version, inputs)

    def requires(self) -> CheckWaits:
        """Require that the cleaned trace has waits."""
        checked: CheckWaits = self.clone(CheckWaits)
        return checked

    def output(self) -> DirectoryTarget:
        """Return the directory of the table."""
        return self.directory("replayed", self.key)

    def run(self) -> None:
        """Replay."""
        table = replay(self.clone(CleanTrace).load(), self.bound, self.groups, progress=self.tell, **self.chosen)
        with self.output().fill() as directory:
            path = directory / "wait_predictions.parquet"
            write_table(to_arrow(table, "wait_predictions"), path, "wait_predictions", QUICK_OPTIONS)

    def load_predictions(self) -> pd.DataFrame:
        """Return the table of the finished task."""
        path = self.output().path / "wait_predictions.parquet"
        return to_pandas(read_table(path, "wait_predictions"), "wait_predictions")
