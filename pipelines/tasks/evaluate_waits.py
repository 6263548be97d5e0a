# SPDX-License-Identifier: BSD-3-Clause
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

from pipelines.keys import canonical_json, content_key, schema_of
from pipelines.store.names import published_names
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.facts import card_of, facts_of, names_table, software
from pipelines.tasks.parameters import MethodsParameter
from pipelines.tasks.publishing import Contents, LogPublishingTask, writer_of
from pipelines.tasks.replay_predictor import ReplayPredictor, ReplayTask
from swftools.named import Known, kind_of
from swftools.output.amounts import duration, percent
from swftools.output.shown_text import WIDTH, shown, shown_in_markdown
from swftools.qbets.evaluation import evaluate, named_evaluation
from swftools.qbets.log_columns import COLUMN, logged_estimates
from swftools.qbets.published_statistics import DEADLINE, check_deadline
from swftools.tables import to_arrow, to_pandas


class EvaluateWaitPredictions(ReplayTask, LogPublishingTask):
    """Replay a log by several methods, and publish the predictions and their quality.

    Reads the predictions of each method; these are tasks of their own: what is finished is not computed again, and
    ``--workers N`` runs N at a time. Writes ``<data root>/<log>-waits/<version>/`` with the tables wait_evaluation,
    wait_predictions and, where the log names its groups, names, the evaluation as CSV and by queue as Markdown, a
    README.md, a datapackage.json and a manifest; complete when that version is published.
    """

    code_version = 5
    what = "What jobs of a log would have been told of their waits, and how often it was right"
    main_table = "wait_evaluation"
    tables_used = ("wait_predictions", "wait_evaluation", "names")
    methods = MethodsParameter(
        default="binomial,lognormal,lognormal-plain,loguniform,weibull",
        description="bounds and rivals: binomial,gradient-boosting,...",
    )

    deadline = luigi.FloatParameter(
        default=DEADLINE, description="s after a submission, by which it is asked whether a job has started"
    )

    def check_values(self) -> None:
        """Raise ParameterError if an option is outside its domain, or a method cannot predict waits."""
        super().check_values()
        check_deadline(self.deadline)
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
            "schema_version": schema_of(self.tables_used),
            "deadline": self.deadline,
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
        trace = self.clone(CleanTrace).load()
        if COLUMN in trace.jobs and trace.jobs[COLUMN].notna().any():
            of_first = predictions[predictions["method"] == first].reset_index(drop=True)
            own = logged_estimates(trace, None if self.by == "all" else self.by, like=of_first)
            predictions = pd.concat([predictions, own], ignore_index=True)
        found = evaluate(predictions, quantile=self.chosen["quantile"], compare_with=first, deadline=self.deadline)
        tables = {
            "wait_evaluation": to_arrow(found, "wait_evaluation"),
            "wait_predictions": to_arrow(predictions, "wait_predictions"),
            **names_table(self._names),
        }
        files: dict[str, Callable[[Path], None]] = {
            "evaluation.csv": writer_of(found.to_csv(index=False, lineterminator="\n")),
            "evaluation.md": writer_of(self._page(found)),
        }
        return Contents(tables, self._facts(), files)

    def shown(self, contents: Contents) -> str:
        """Return the evaluation by queue."""
        return self._page(to_pandas(contents.tables["wait_evaluation"], "wait_evaluation"))

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
        made = self._made or self.output()
        names = published_names(made.root, made.root.manifest(made.data_set, made.version))
        by_name = named_evaluation(found, self.groups or (), names)
        by_queue = as_text(by_name, "" if self.by == "all" else self.by)
        return f"{by_queue}\n{_filled(legend)}\n{figures_as_text(found)}\n"

    @property
    def _names(self) -> Known:
        """The names that the log has behind the numbers of groups."""
        cleaned: CleanTrace = self.clone(CleanTrace)
        return cleaned.load_names(map(kind_of, self.groups or ()))

    def _page(self, found: pd.DataFrame) -> str:
        """Return an evaluation by queue and in others' figures, for people: groups by their names."""
        by_name = named_evaluation(found, self.groups or (), self._names)
        return f"{as_markdown(by_name)}\n{figures_as_markdown(found)}"

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
                "deadline": self.deadline,
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
        share = percent(1 - row["share_not_predicted"], digits=1)
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
            words = numbers.format(percent(1 - row["share_not_predicted"], digits=1), *_measures(row))
            if len(row["method"]) > width:
                lines.append(_shortened(f"  {row['method']}", ""))
            name = row["method"] if len(row["method"]) <= width else ""
            lines.append(f"  {name:<{width}}{words}".rstrip())
    if len(jobs) > len(largest):
        lines.append(f"... and {len(jobs) - len(largest):,} with fewer jobs: in evaluation.md")
    return "".join(f"{line}\n" for line in lines)


def figures_as_markdown(found: pd.DataFrame) -> str:
    """Return the figures that others publish, of all jobs, as a Markdown table."""
    heads = ["method", "within 1 min", "10 min", "wait / told: half", "90 %", "right verdicts", "always the same"]
    lines = [heads, ["---", *["---:"] * 6]]
    lines += [[row["method"], *_figures(row)] for row in found[found["grouped_by"] == "all"].to_dict("records")]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def figures_as_text(found: pd.DataFrame) -> str:
    """Return the same as lines for a terminal, with what they mean."""
    rows = found[found["grouped_by"] == "all"].to_dict("records")
    numbers = "{:>7}{:>7} {:>18} {:>18}{:>8}{:>7}"
    width = min(max((len(row["method"]) for row in rows), default=0), WIDTH - len(numbers.format(*[""] * 6)) - 2)
    lines = ["All jobs, in others' figures:"]
    lines.append(" " * (width + 2) + numbers.format("1 min", "10 min", "half", "90 %", "right", "same"))
    for row in rows:
        if len(row["method"]) > width:
            lines.append(_shortened(f"  {row['method']}", ""))
        name = row["method"] if len(row["method"]) <= width else ""
        lines.append(f"  {name:<{width}}{numbers.format(*_figures(row))}".rstrip())
    deadline = duration(float(rows[0]["deadline"])) if rows else "a deadline"
    legend = (
        "1 min, 10 min: share of the jobs told whose wait was at most so far from it. half, 90 %: wait / told lies "
        f"there for so many. right: share of right verdicts on whether a job starts within {deadline} (--deadline); "
        "same: if all were the same. A bound is not meant to be the wait: for that take --options quantile=0.5."
    )
    return "".join(f"{line}\n" for line in lines) + _filled(legend)


def _figures(row: Mapping[Hashable, Any]) -> list[str]:
    """Return others' figures in words; nothing for none."""
    if pd.isna(row["right_verdicts"]):
        return [""] * 6
    ratios = (float(row[f"ratio_p{point}"]) for point in (5, 25, 75, 95))
    low, half_low, half_high, high = (f"{each:.2g}" if each < 99.5 else f"{each:,.0f}" for each in ratios)
    shares = [percent(row[name], digits=1) for name in ("within_1_minute", "within_10_minutes")]
    verdicts = [percent(row[name], digits=1) for name in ("right_verdicts", "best_constant")]
    return [*shares, f"{half_low} to {half_high}", f"{low} to {high}", *verdicts]


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
