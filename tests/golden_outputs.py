# SPDX-License-Identifier: BSD-3-Clause
"""What each stage makes of the golden logs: a part of ``golden.py``."""

from __future__ import annotations

import gzip
import json
import math
import tempfile
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import luigi
import pandas as pd
import pyarrow as pa

from pipelines.catalog.reader import read_catalog
from pipelines.logs.find import SHIPPED_LOG
from pipelines.logs.generated import find_model, generate_log
from pipelines.logs.tables import read_tables
from pipelines.papers import find_paper, list_papers
from pipelines.papers.cells import compare
from pipelines.papers.paper import Measurements, Paper, Run
from pipelines.papers.report import as_markdown
from pipelines.tasks.augmentations.registry import AUGMENTATIONS
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.price import PriceSchedule
from pipelines.tasks.reserve import PublishReservations
from pipelines.tasks.run_experiment import RunExperiment
from swftools import Trace, clean, read_swf
from swftools.fields.dictionary import TABLES
from swftools.market import list_mechanisms, price
from swftools.qbets import WaitPredictor, evaluate, features_at_submission, replay
from swftools.reservations import simulate_reservations
from swftools.simulator import list_policies, measure, simulate
from swftools.tables import read_table, to_arrow
from tests.every_policy import light, with_all_columns
from tests.folders import REFERENCES, ROOT
from tests.remembered import remembered

LOGS = {
    "odd": REFERENCES / "odd.swf",
    "shipped": ROOT / "pipelines" / "resources" / "logs" / f"{SHIPPED_LOG}.swf.gz",
}

POLICIES = {
    f"policy {name}": policy
    for name, policy in sorted(list_policies().items())
    if policy.decide.__module__.startswith("swftools.simulator.policies.") and not policy.has_setting
}
"""The policies of the package, each by the name of its stage."""

MECHANISMS = {
    f"price mechanism {name}": mechanism
    for name, mechanism in sorted(list_mechanisms().items())
    if mechanism.set_prices.__module__.startswith("swftools.market.")
}
"""The price mechanisms of the package, each by the name of its stage."""

PAPERS = {f"paper {name}": paper for name, paper in sorted(list_papers().items())}
"""The papers of the package, each by the name of its stage."""


def plain(value: Any) -> Any:
    """Return a value as JSON holds it, numbers to 9 significant digits: the last ones differ by platform."""
    if isinstance(value, float):
        return None if math.isnan(value) else f"{value:.9g}"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


def rows_of(table: pa.Table) -> Iterator[Any]:
    """Yield the columns and then the rows of a table."""
    yield table.column_names
    for row in table.to_pylist():
        yield plain(list(row.values()))


@cache
def parsed(log: str) -> Trace:
    """Read a log."""
    return read_swf(LOGS[log])


@cache
def cleaned(log: str) -> tuple[Trace, Any]:
    """Clean a log by the default rules."""
    return clean(parsed(log))


def table_output(table: str) -> Iterator[Any]:
    """Yield what a table is made of, but for the wording."""
    for f in TABLES[table]:
        if f.optional:  # without which files are what they were
            continue
        yield [f.name, str(f.type), f.unit, f.missing, f.swf_position, f.minimum, f.maximum]


def parse_output() -> Iterator[Any]:
    """Yield what reading makes of the logs."""
    for log in LOGS:
        trace = parsed(log)
        yield [log, trace.header.to_lines(), trace.provenance["sha256"]]
        yield from rows_of(to_arrow(trace.jobs, "jobs"))
        yield from rows_of(to_arrow(trace.quarantine, "quarantine"))


def clean_output() -> Iterator[Any]:
    """Yield what the default rules, and every action of every rule, make of the logs."""
    for log in LOGS:
        trace, report = cleaned(log)
        frames = {"jobs": trace.jobs, "quarantine": trace.quarantine, "cleaning_report": report.steps}
        for table, frame in (frames | {"repairs": report.repairs, "merged": report.merged}).items():
            yield [log, table]
            yield from rows_of(to_arrow(frame, table))
    others: list[Any] = [
        *({"rule": rule, "action": "quarantine"} for rule in ("cancelled", "never-started", "missing-run-time")),
        {"rule": "wider-than-machine", "action": "clip"},
        {"rule": "flurries", "ranges": [{"user": 7, "first_job": 2, "last_job": 9}]},
        {"rule": "unrepresentative-start", "last_job": 1, "days": 0.0004},
        {"rule": "run-over-request", "action": "raise-request"},
        {"rule": "run-over-request", "action": "cut-run"},
    ]
    for spec in others:
        trace, report = clean(parsed("odd"), [spec])
        yield [spec, plain(report.steps.to_numpy().tolist()), trace.jobs["line_number"].tolist()]
        yield from rows_of(to_arrow(report.repairs, "repairs"))


OTHER_PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "utility": [
        {
            "seed": 7,
            "queue_ranks": {1: 1, 2: 0},
            "deadline_basis": "wait",
            "utility_clock": "wait",
            "intermediate_points": 2,
        }
    ],
    "checkpoints": [{"seed": 7, "workload": "answers"}],
    "arrivals": [
        {"model": "poisson", "seed": 7},
        {"model": "bootstrap", "block_days": 2},
        {"model": "scaled", "factor": 0.5},
        {"types": "mix", "seed": 7},
    ],
    "speedup": [
        {"seed": 7, "model": "simple", "moldable_share": 0.8},
        {"model": "downey", "constraint": "survey"},
    ],
    "estimates": [{"seed": 7, "distinct": "power-law", "maximum": 1e6}],
}
"""Parameters beside the default ones under which the output of an augmentation is held."""


def augmentation_output(name: str) -> Iterator[Any]:
    """Yield what an augmentation adds to the jobs, and the other tables that it makes."""
    for log, path in LOGS.items():
        for parameters in ({}, *OTHER_PARAMETERS[name]):
            # Ranks are given here, since those of a card may change without a change of code.
            given = {**({"queue_ranks": {}} if name == "utility" else {}), **parameters}
            task = AUGMENTATIONS[name](log=str(path), data_root="data", rules="default", parameters={name: given})
            trace, _ = cleaned(log)
            computed = task.compute(trace)
            columns, *others = computed if isinstance(computed, tuple) else (computed,)
            yield [log, plain(task.own_parameters)]
            yield from rows_of(to_arrow(trace.jobs[["job_number", "job_occurrence"]].join(columns), name))
            for table, frame in zip(task.other_tables, others, strict=True):
                yield from rows_of(to_arrow(frame, table))


def generate_output() -> Iterator[Any]:
    """Yield the workloads of the model."""
    for log in (
        *("lublin-feitelson:jobs=300", "lublin-feitelson:jobs=300,types=mix,load=0.9,seed=7"),
        *("lublin-feitelson:jobs=50,processors=100,alpha=9,start_hour=8", "cirne-berman:jobs=300,load=0.9,seed=7"),
    ):
        model = find_model(log)
        if model is None:
            raise RuntimeError(f"{log}: there is no such model")
        trace = generate_log(model)
        yield [trace.header.to_lines(), plain(trace.provenance)]
        yield from rows_of(to_arrow(trace.jobs, "jobs"))


def build_output() -> Iterator[Any]:
    """Yield what is published of the logs: every table, the SWF text, and what the manifest tells."""
    for log, path in LOGS.items():
        with tempfile.TemporaryDirectory() as folder:
            # Rules and ranks are given here, since those of a card may change without a change of code.
            ranks = json.dumps({"utility": {"queue_ranks": {"1": 1, "2": 0}}})
            task = BuildAugmentedTrace(log=str(path), data_root=folder, seed=3, rules="default", parameters=ranks)
            if not luigi.build([task], local_scheduler=True, log_level="WARNING"):
                raise RuntimeError(f"{task} failed")
            version = Path(task.output().path)
            for table in sorted(child.name for child in version.iterdir() if child.is_dir()):
                yield [log, table]
                yield from rows_of(read_table(version / table / "part-0.parquet", table))
            for name in version.glob("*.swf.gz"):
                for line in gzip.decompress(name.read_bytes()).decode().splitlines():
                    yield line if line.startswith(";") else [_word(word) for word in line.split()]
            yield sorted(json.loads((version / "manifest.json").read_text(encoding="utf-8")))
            resources = json.loads((version / "datapackage.json").read_text(encoding="utf-8"))["resources"]
            # Sizes and hashes differ by version of the libraries.
            yield [{name: each[name] for name in each if name not in ("hash", "bytes")} for each in resources]
            page = (version / "README.md").read_text(encoding="utf-8")
            yield [line for line in page.splitlines() if line.startswith("#")]


def policy_output(stage: str) -> Iterator[Any]:
    """Yield the schedule of a policy with its default parameters, or lighter ones."""
    yield from schedule_output(light(POLICIES[stage].name), {})


@cache
def for_every_policy() -> Trace:
    """Return the shipped log with all that policies ask for."""
    trace, _ = cleaned("shipped")
    # A policy that needs ranks gets those of the queues' numbers; the others do not look at them.
    return with_all_columns(trace.with_jobs(trace.jobs.assign(priority_rank=trace.jobs["queue_id"])))


def schedule_output(policy: str, options: dict[str, Any]) -> Iterator[Any]:
    """Yield a schedule of the shipped log."""
    schedule = simulate(for_every_policy(), policy, 800, **options)
    yield [policy, options]
    yield from rows_of(to_arrow(schedule.segments, "segments"))
    yield from rows_of(to_arrow(schedule.excluded, "excluded"))


def simulate_output() -> Iterator[Any]:
    """Yield schedules under options."""
    others: list[dict[str, Any]] = [
        {"overrun": "kill", "cancelled": "end-at-once"},
        {"overrun": "run-on", "cancelled": "full-request", "predictor": "last-model"},
        {"predictor": "virtual:error=0.5", "seed": 3},
        {"requests": "factor:factor=3", "semantics": "pyss"},
    ]
    for options in others:
        yield from schedule_output("easy", options)


def measure_output() -> Iterator[Any]:
    """Yield what is measured of a schedule."""
    trace, _ = cleaned("shipped")
    yield from rows_of(to_arrow(measure(simulate(trace, "easy", 800), percentiles=(50, 98), threshold=60), "metrics"))


def compare_output() -> Iterator[Any]:
    """Yield what is published of a comparison."""
    with tempfile.TemporaryDirectory() as folder:
        ranks = json.dumps({"utility": {"queue_ranks": {"1": 1, "2": 0}}})
        log = str(LOGS["shipped"])
        task = ComparePolicies(
            log=log, data_root=folder, rules="default", parameters=ranks, policies="fcfs,easy", seeds="0,1"
        )
        if not luigi.build([task], local_scheduler=True, log_level="WARNING"):
            raise RuntimeError(f"{task} failed")
        version = Path(task.output().path)
        yield from rows_of(read_table(version / "comparison" / "part-0.parquet", "comparison"))
        yield (version / "comparison.md").read_text(encoding="utf-8")
        yield sorted(json.loads((version / "manifest.json").read_text(encoding="utf-8")))


def mechanism_output(stage: str) -> Iterator[Any]:
    """Yield what some jobs of the shipped log pay by a mechanism."""
    trace, _ = cleaned("shipped")
    trace = with_all_columns(trace.with_jobs(trace.jobs.iloc[:400].reset_index(drop=True)))
    schedule = simulate(trace, "easy", 800)
    prices = price(schedule, MECHANISMS[stage].name, trace=trace, sample=50)
    yield from rows_of(to_arrow(prices.jobs, "prices"))


def price_output() -> Iterator[Any]:
    """Yield what is published of the prices of a schedule, in two parts."""
    with tempfile.TemporaryDirectory() as folder:
        task = PriceSchedule(
            log=str(LOGS["shipped"]), data_root=folder, rules="default", policy="easy", mechanism="fixed", parts=2
        )
        if not luigi.build([task], local_scheduler=True, log_level="WARNING"):
            raise RuntimeError(f"{task} failed")
        version = Path(task.output().path)
        yield from rows_of(read_table(version / "prices" / "part-0.parquet", "prices"))
        yield (version / "bill.csv").read_text(encoding="utf-8")
        yield sorted(json.loads((version / "manifest.json").read_text(encoding="utf-8")))


def reserve_output() -> Iterator[Any]:
    """Yield who asked for reservations in simulations of the shipped log, and what came of it."""
    trace, _ = cleaned("shipped")
    trace = trace.with_jobs(trace.jobs.iloc[:2000].reset_index(drop=True))
    others: list[dict[str, Any]] = [{"adapt": 0.05}, {"replans": "never", "ahead": 7200.0, "step": 60.0}]
    for varq in ({}, *others):
        waits = WaitPredictor("binomial", by="queue", training=100)
        given: dict[str, Any] = {"share": 0.3, "probability": 0.6, **varq}
        found = simulate_reservations(trace, "easy", 1152, waits=waits, **given)
        yield from rows_of(to_arrow(found.reservations, "reservations"))
        yield plain(found.measures())


def publish_reservations_output() -> Iterator[Any]:
    """Yield what is published of reservations."""
    with tempfile.TemporaryDirectory() as folder:
        task = PublishReservations(
            log=str(LOGS["shipped"]),
            data_root=folder,
            rules="default",
            augment="",
            varq="share=0.05,probability=0.5",
            wait_options="training=100",
        )
        if not luigi.build([task], local_scheduler=True, log_level="WARNING"):
            raise RuntimeError(f"{task} failed")
        version = Path(task.output().path)
        yield from rows_of(read_table(version / "reservations" / "part-0.parquet", "reservations"))
        yield (version / "measures.csv").read_text(encoding="utf-8").count("\n")
        yield sorted(json.loads((version / "manifest.json").read_text(encoding="utf-8")))


def replayed() -> list[Any]:
    """Return what jobs of the shipped log are told by each bound, and by parts of the method."""
    trace, _ = cleaned("shipped")
    methods = ("binomial", "lognormal", "lognormal-plain", "loguniform", "trailing", "weibull")
    tables = [replay(trace, method, training=200) for method in methods]
    options: list[dict[str, Any]] = [
        {"quantile": 0.5, "rare_events": "computed", "explanatory": "requested_work", "unavailable_if": "both"},
        {"trimming": False, "clustering": False, "availability": False, "by": None},
    ]
    return [*tables, *(replay(trace, training=200, **chosen) for chosen in options)]


def replay_output() -> Iterator[Any]:
    """Yield what jobs are told, and what rivals are given; what these make of it depends on scikit-learn."""
    for table in replayed():
        yield from rows_of(to_arrow(table, "wait_predictions"))
    known = features_at_submission(cleaned("shipped")[0])
    yield [list(known), plain(known.to_numpy(dtype=object).tolist())]


def evaluate_output() -> Iterator[Any]:
    """Yield how good that is."""
    for table in replayed():
        yield from rows_of(to_arrow(evaluate(table), "wait_evaluation"))


def paper_output(stage: str) -> Iterator[Any]:
    """Yield what the experiments of a paper measure where they are to be quick."""
    paper = PAPERS[stage]
    yield from _measured(paper, paper.runs(paper.tables, paper.excerpt, quick=True))


def few_runs_output(stage: str) -> Iterator[Any]:
    """Yield the same of the first and the last run of each experiment only."""
    paper = PAPERS[stage]
    runs = paper.runs(paper.tables, paper.excerpt, quick=True)
    firsts = {run.experiment: run for run in reversed(runs)}
    lasts = {run.experiment: run for run in runs}
    yield from _measured(paper, [run for run in runs if run in (firsts[run.experiment], lasts[run.experiment])])


def _measured(paper: Paper, runs: list[Run]) -> Iterator[Any]:
    """Yield what some runs measure."""
    is_of_tables = paper.reads == "tables"
    subject: Any = read_tables(read_catalog().tables[paper.excerpt]) if is_of_tables else cleaned("shipped")[0]
    for run in runs:
        found = remembered(paper.experiments[run.experiment])(subject, run.parameters, run.seed)
        yield run.text
        yield plain(found.to_numpy().tolist())


def experiment_output() -> Iterator[Any]:
    """Yield the table of an experiment."""
    with tempfile.TemporaryDirectory() as folder:
        task = RunExperiment(paper="nurmi2009", experiment="population", data_root=folder, rules="default")
        if not luigi.build([task], local_scheduler=True, log_level="WARNING"):
            raise RuntimeError(f"{task} failed")
        yield from rows_of(to_arrow(task.load_measurements(), "measurements"))


def reproduce_output(numbers: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yield what is published of a paper, or of some tables: of the shipped log, not of the whole that it is from."""
    paper, log = find_paper("nurmi2009"), "SDSC-BLUE-2000-4.2-cln"
    tables = [table for table in paper.tables if not numbers or table.number in numbers]
    trace, _ = cleaned("shipped")
    frames = [
        remembered(paper.experiments[run.experiment])(trace, run.parameters, run.seed).assign(
            log=log, experiment=run.text, seed=run.seed
        )
        for run in paper.runs(tables, log, quick=True)
    ]
    cells = compare(paper, tables, Measurements(pd.concat(frames, ignore_index=True)), quick=True)
    yield from rows_of(to_arrow(cells, "reproduction"))
    yield as_markdown(paper, tables, cells)


def _word(word: str) -> Any:
    """Return a word of an SWF line, numbers rounded."""
    try:
        return plain(float(word))
    except ValueError:
        return word
