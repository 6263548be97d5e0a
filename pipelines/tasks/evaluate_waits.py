"""EvaluateWaitPredictions: publish what jobs would have been told of their waits, and how good it was."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

import luigi
import pandas as pd
import pyarrow as pa

from pipelines.keys import canonical_json, content_key
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.facts import card_of, facts_of, software
from pipelines.tasks.parameters import MethodsParameter
from pipelines.tasks.publishing import Contents, LogPublishingTask, writer_of
from pipelines.tasks.replay_predictor import ReplayPredictor, ReplayTask
from swftools.fields.dictionary import SCHEMA_VERSION
from swftools.output.shown_text import WIDTH, shown, shown_in_markdown
from swftools.qbets.evaluation import evaluate
from swftools.tables import to_arrow, to_pandas


class EvaluateWaitPredictions(ReplayTask, LogPublishingTask):
    """Replay a log by several methods, and publish the predictions and their quality.

    Reads the predictions of each method; these are tasks of their own: what is finished is not computed again, and
    ``--workers N`` runs N at a time. Writes ``<data root>/<log>-waits/<version>/`` with the tables wait_evaluation and
    wait_predictions, the evaluation as CSV and by queue as Markdown, a README.md, a datapackage.json and a manifest;
    complete when that version is published.
    """

    code_version = 2
    what = "What jobs of a log would have been told of their waits, and how often it was right"
    main_table = "wait_evaluation"
    methods = MethodsParameter(
        default="binomial,lognormal,lognormal-plain,loguniform,weibull",
        description="bounds and rivals: binomial,gradient-boosting,...",
    )

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, or a method is none that jobs can be told."""
        super().check_values()
        _ = self.cells

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
            "evaluation.csv": writer_of(found.to_csv(index=False, lineterminator="\n")),
            "evaluation.md": writer_of(as_markdown(found)),
        }
        return Contents(tables, self._facts(), files)

    def shown(self, contents: Contents) -> str:
        """Return the evaluation by queue."""
        return as_markdown(to_pandas(contents.tables["wait_evaluation"], "wait_evaluation"))

    def heading(self, read: Callable[[], pa.Table]) -> str:
        """Return the evaluation by queue, and what its numbers mean."""
        found = to_pandas(read(), "wait_evaluation")
        methods, chosen = json.loads(self.methods), self.chosen
        group = "queue" if self.by == "queue" else "group"
        training = f"the first {chosen['training']:,} job{'s' * (chosen['training'] != 1)} of a {group} to start"
        if found.empty:
            return (
                _filled(f"No job came behind the training, {training}; --options training=N makes it shorter.") + "\n"
            )
        legend = (
            "told: share of the jobs that were told a bound. correct: share of these that waited no longer; yes: at "
            f"least {chosen['quantile']:g}. RMS ratio: above 1 is tighter than {methods[0]}. bound / wait: the median. "
            f"Not counted is the training, {training}."
        )
        return f"{as_text(found, '' if self.by == 'all' else self.by)}\n{_filled(legend)}\n"

    def _facts(self) -> dict[str, Any]:
        """Return what determines the content and what a user of it must know."""
        cleaned = self.clone(CleanTrace)
        stages = [cleaned.source, cleaned, self.cells[0], self]
        return {
            **facts_of(self.found, cleaned.load(), cleaned.load_report(), {}),
            "parameters": {
                **cleaned.told,
                "methods": json.loads(self.methods),
                "by": self.by,
                "options": self.chosen,
            },
            "code_versions": {stage.get_task_family(): stage.code_version for stage in stages},
            "software": software(),
        }


def as_markdown(found: pd.DataFrame) -> str:
    """Return an evaluation by queue as a Markdown table: correctness, and how tight each method is beside the first."""
    rows = found[found["grouped_by"] == "queue"]
    lines = [["queue", "method", "jobs", "told", "correct", "", "RMS ratio", "median bound / wait"]]
    lines.append(["---", "---", *["---:"] * 3, "---", *["---:"] * 2])
    for row in rows.to_dict("records"):
        share = f"{1 - row['share_not_predicted']:.1%}"
        lines.append([shown_in_markdown(row["group"]), row["method"], f"{row['jobs']:,}", share, *_measures(row)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


MOST_GROUPS = 20
"""Groups that are shown on the terminal: those of most jobs."""


def as_text(found: pd.DataFrame, group: str) -> str:
    """Return an evaluation by queue, or other group that is called so, as lines for a terminal.

    A method whose name leaves no room for numbers has a line of its own.
    """
    rows = found[found["grouped_by"] == "queue"]
    jobs = rows.groupby("group", sort=False)["jobs"].max()
    largest = jobs.nlargest(MOST_GROUPS).index
    numbers = "{:>8}{:>9} {:<3}{:>11}{:>14}"
    width = min(rows["method"].str.len().max(), WIDTH - len(numbers.format(*[""] * 5)) - 2)
    lines = [" " * (width + 2) + numbers.format("told", "correct", "", "RMS ratio", "bound / wait")]
    for label, part in rows[rows["group"].isin(largest)].groupby("group", sort=False):
        count = int(jobs[label])
        lines.append(_shortened(f"{group} {shown(label)}".strip(), f": {count:,} job{'s' * (count != 1)}"))
        for row in part.to_dict("records"):
            words = numbers.format(f"{1 - row['share_not_predicted']:.1%}", *_measures(row))
            if len(row["method"]) > width:
                lines.append(_shortened(f"  {row['method']}", ""))
            name = row["method"] if len(row["method"]) <= width else ""
            lines.append(f"  {name:<{width}}{words}".rstrip())
    if len(jobs) > len(largest):
        lines.append(f"... and {len(jobs) - len(largest):,} with fewer jobs: in evaluation.md")
    return "".join(f"{line}\n" for line in lines)


def _measures(row: Mapping[Hashable, Any]) -> list[str]:
    """Return correctness, verdict, RMS ratio and tightness in words; nothing for none."""
    verdict = "" if pd.isna(row["is_correct"]) else ("yes" if row["is_correct"] else "no")
    correct = "" if pd.isna(row["correctness"]) else f"{row['correctness']:.4f}"
    return [correct, verdict, *(_number(row[name]) for name in ("rms_ratio", "median_tightness"))]


def _shortened(words: str, behind: str) -> str:
    """Return words and what stands behind them in one line."""
    room = WIDTH - len(behind)
    return (words if len(words) <= room else f"{words[: room - 3]}...") + behind


def _filled(text: str) -> str:
    """Return a text in lines of a terminal."""
    return textwrap.fill(text, WIDTH) + "\n"


def _number(value: float) -> str:
    """Return a number in words; nothing for none."""
    return "" if pd.isna(value) else f"{value:.3f}" if abs(value) < 100 else f"{value:,.0f}"
