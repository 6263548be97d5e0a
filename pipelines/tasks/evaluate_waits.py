"""EvaluateWaitPredictions: publish what jobs would have been told of their waits, and how good it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import luigi
import pandas as pd
import pyarrow as pa

from pipelines.keys import canonical_json, content_key
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.facts import account_of, assumptions_of, card_of, origin_of, software, source_of
from pipelines.tasks.parameters import MethodsParameter
from pipelines.tasks.publishing import Contents, PublishingTask
from pipelines.tasks.replay_predictor import ReplayPredictor, ReplayTask
from swftools.fields.dictionary import SCHEMA_VERSION
from swftools.qbets.evaluation import evaluate
from swftools.tables import read_table, to_arrow, to_pandas


class EvaluateWaitPredictions(ReplayTask, PublishingTask):
    """Replay a log by several methods, and publish what jobs would have been told, and how good it was.

    Reads the predictions of each method; these are tasks of their own: what is finished is not computed again, and
    ``--workers N`` runs N at a time. Writes ``<data root>/<log>-waits/<version>/`` with the tables wait_evaluation and
    wait_predictions, the evaluation as CSV and by queue as Markdown, a README.md, a datapackage.json and a manifest;
    complete when that version is published.
    """

    code_version = 1
    main_table = "wait_evaluation"
    methods = MethodsParameter(
        default="binomial,lognormal,lognormal-plain,loguniform,weibull",
        description="bounds and rivals: binomial,gradient-boosting,...",
    )

    @property
    def default_name(self) -> str:
        """Name of the data set if none is given."""
        return f"{self.found.name}-waits"

    @property
    def cells(self) -> list[ReplayPredictor]:
        """The replays, one a method."""
        return [self.clone(ReplayPredictor, method=canonical_json([text])) for text in json.loads(self.methods)]

    @property
    def version(self) -> str:
        """Content key of the version."""
        inputs = {
            **{f"cell {number}": cell.key for number, cell in enumerate(self.cells)},
            "schema_version": SCHEMA_VERSION,
            "log": self.found.name,
            "card": card_of(self.found),
        }
        return content_key("evaluate", self.code_version, inputs)

    def stages(self) -> list[luigi.Task]:
        """Return every replay, and the trace, of which the manifest tells."""
        return [*self.cells, self.clone(CleanTrace)]

    def contents(self) -> Contents:
        """Return predictions and evaluation, and two files of the latter."""
        predictions = pd.concat([cell.load_predictions() for cell in self.cells], ignore_index=True)
        first = str(predictions["method"].iloc[0]) if len(predictions) else "binomial"
        found = evaluate(predictions, quantile=self.chosen["quantile"], compare_with=first)
        tables = {
            "wait_evaluation": to_arrow(found, "wait_evaluation"),
            "wait_predictions": to_arrow(predictions, "wait_predictions"),
        }
        files: dict[str, Callable[[Path], None]] = {
            "evaluation.csv": partial(_write, found.to_csv(index=False, lineterminator="\n")),
            "evaluation.md": partial(_write, as_markdown(found)),
        }
        return Contents(tables, self._facts(), files)

    def heading(self, read: Callable[[], pa.Table]) -> str:
        """Return the evaluation by queue."""
        return as_markdown(to_pandas(read(), "wait_evaluation")) + "\n"

    def _facts(self) -> dict[str, Any]:
        """Return what determines the content and what a user of it must know."""
        cleaned = self.clone(CleanTrace)
        trace = cleaned.load()
        stages = [cleaned.source, cleaned, self.cells[0], self]
        table = "cleaning_report"
        report = to_pandas(read_table(cleaned.output().path / f"{table}.parquet", table), table)
        return {
            **origin_of(self.found, trace),
            "log": source_of(self.found, trace),
            "machine_processors": trace.processors,
            "account": account_of(report),
            "assumptions": assumptions_of(self.found, trace, {}),
            "parameters": {
                "rules": cleaned.plan,
                "own_rules": cleaned.own_rules,
                "methods": json.loads(self.methods),
                "by": self.by,
                "options": self.chosen,
            },
            "code_versions": {stage.get_task_family(): stage.code_version for stage in stages},
            "software": software(),
        }


def _write(text: str, path: Path) -> None:
    """Write a text, the same on all platforms."""
    path.write_bytes(text.encode())


def as_markdown(found: pd.DataFrame) -> str:
    """Return an evaluation by queue as a Markdown table: correctness, and how tight each method is beside the first."""
    rows = found[found["grouped_by"] == "queue"]
    lines = [["queue", "method", "jobs", "told", "correct", "", "RMS ratio", "median bound / wait"]]
    lines.append(["---", "---", *["---:"] * 3, "---", *["---:"] * 2])
    for row in rows.to_dict("records"):
        verdict = "" if pd.isna(row["is_correct"]) else ("yes" if row["is_correct"] else "no")
        correct = "" if pd.isna(row["correctness"]) else f"{row['correctness']:.4f}"
        numbers = [correct, *(_number(row[name]) for name in ("rms_ratio", "median_tightness"))]
        share = f"{1 - row['share_not_predicted']:.1%}"
        lines.append([row["group"], row["method"], f"{row['jobs']:,}", share, numbers[0], verdict, *numbers[1:]])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _number(value: float) -> str:
    """Return a number in words; nothing for none."""
    return "" if pd.isna(value) else f"{value:.3f}" if abs(value) < 100 else f"{value:,.0f}"
