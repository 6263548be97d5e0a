"""Golden output: a digest of what each stage makes of known logs, beside the version that the stage declares.

A content key holds the declared ``code_version`` of a stage, not its code. So when a stage makes something else of
the same input, its version must be raised, or stale outputs would pass for new ones. ``python -m tests.golden``
writes ``reference/golden.json`` anew after that; it refuses where a digest moved and no version did.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import luigi
import pandas as pd
import pyarrow as pa

from pipelines.history import months, night
from pipelines.logs.find import SHIPPED_LOG
from pipelines.logs.generated import find_model, generate_log
from pipelines.papers import find_paper, list_papers
from pipelines.papers.cells import compare
from pipelines.papers.paper import Measurements
from pipelines.papers.report import as_markdown
from pipelines.tasks.augmentations.registry import AUGMENTATIONS
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.evaluate_waits import EvaluateWaitPredictions
from pipelines.tasks.measure import MeasureSchedule
from pipelines.tasks.parse import GenerateTrace, ParseLog
from pipelines.tasks.replay_predictor import ReplayPredictor
from pipelines.tasks.reproduce_paper import ReproducePaper
from pipelines.tasks.run_experiment import RunExperiment
from pipelines.tasks.simulate import SimulatePolicy
from swftools import Trace, clean, read_swf
from swftools.fields.dictionary import SCHEMA_VERSION, TABLES
from swftools.qbets import evaluate, features_at_submission, replay
from swftools.simulator import list_policies, measure, simulate
from swftools.tables import read_table, to_arrow
from tests.every_policy import light, with_all_columns
from tests.folders import REFERENCES, ROOT
from tests.golden_histories import history_output, months_of_history, rest_of_history
from tests.remembered import remembered

GOLDEN = REFERENCES / "golden.json"
LOGS = {
    "odd": REFERENCES / "odd.swf",
    "shipped": ROOT / "pipelines" / "resources" / "logs" / f"{SHIPPED_LOG}.swf.gz",
}

POLICIES = {
    f"policy {name}": policy
    for name, policy in sorted(list_policies().items())
    if policy.decide.__module__.startswith("swftools.simulator.policies.")
}
"""The policies of the package, each by the name of its stage."""

PAPERS = {f"paper {name}": paper for name, paper in sorted(list_papers().items())}
"""The papers of the package, each by the name of its stage."""

VERSIONS = {
    "schema": ("SCHEMA_VERSION in swftools/fields/dictionary.py", SCHEMA_VERSION),
    "parse": ("code_version of ParseLog in pipelines/tasks/parse.py", ParseLog.code_version),
    "clean": ("code_version of CleanTrace in pipelines/tasks/clean.py", CleanTrace.code_version),
    **{
        name: (f"code_version of {task.__name__} in pipelines/tasks/augmentations/{name}.py", task.code_version)
        for name, task in AUGMENTATIONS.items()
    },
    "generate": ("code_version of GenerateTrace in pipelines/tasks/parse.py", GenerateTrace.code_version),
    "simulate": ("code_version of SimulatePolicy in pipelines/tasks/simulate.py", SimulatePolicy.code_version),
    **{
        stage: (f"version of {policy.name} in {policy.decide.__module__.replace('.', '/')}.py", policy.version)
        for stage, policy in POLICIES.items()
    },
    "measure": ("code_version of MeasureSchedule in pipelines/tasks/measure.py", MeasureSchedule.code_version),
    "compare": ("code_version of ComparePolicies in pipelines/tasks/compare.py", ComparePolicies.code_version),
    "replay": ("code_version of ReplayPredictor in pipelines/tasks/replay_predictor.py", ReplayPredictor.code_version),
    "evaluate": (
        "code_version of EvaluateWaitPredictions in pipelines/tasks/evaluate_waits.py",
        EvaluateWaitPredictions.code_version,
    ),
    **{
        stage: (f"version of {paper.name} in pipelines/papers/{paper.name.partition('-')[0]}", paper.version)
        for stage, paper in PAPERS.items()
    },
    "experiment": ("code_version of RunExperiment in pipelines/tasks/run_experiment.py", RunExperiment.code_version),
    "reproduce": ("code_version of ReproducePaper in pipelines/tasks/reproduce_paper.py", ReproducePaper.code_version),
    "build": ("code_version of BuildAugmentedTrace in pipelines/tasks/build.py", BuildAugmentedTrace.code_version),
    "history": ("CODE_VERSION in pipelines/history/months.py", months.CODE_VERSION),
    "reevaluate": ("CODE_VERSION in pipelines/history/night.py", night.CODE_VERSION),
}
"""Where each stage declares its version, and the version, in the order of the data's way."""

UPSTREAM = {
    "schema": ("schema",),
    "parse": ("schema", "parse"),
    "clean": ("schema", "parse", "clean"),
    **{name: ("schema", "parse", "clean", name) for name in AUGMENTATIONS},
    "generate": ("schema", "generate"),
    "simulate": ("schema", "parse", "clean", "policy easy", "simulate"),
    **{stage: ("schema", "parse", "clean", "simulate", stage) for stage in POLICIES},
    "measure": ("schema", "parse", "clean", "policy easy", "simulate", "measure"),
    "compare": ("schema", "parse", "clean", "utility", "simulate", "policy easy", "policy fcfs", "measure", "compare"),
    "replay": ("schema", "parse", "clean", "replay"),
    "evaluate": ("schema", "parse", "clean", "replay", "evaluate"),
    **{stage: ("schema", "parse", "clean", stage) for stage in PAPERS},
    "experiment": ("schema", "parse", "clean", "paper nurmi2009", "experiment"),
    "reproduce": ("schema", "parse", "clean", "paper nurmi2009", "experiment", "reproduce"),
    "build": ("schema", "parse", "clean", *AUGMENTATIONS, "build"),
    "history": ("schema", "parse", "clean", "speedup", "history"),
    "reevaluate": (
        *("schema", "parse", "clean", "speedup", "simulate", "policy easy", "policy fcfs", "measure", "replay"),
        *("history", "reevaluate"),
    ),
}
"""The stages, itself included, that a stage's output follows from."""


def versions_of(stage: str) -> dict[str, int]:
    """Return the declared versions that a stage's output follows from."""
    return {name: VERSIONS[name][1] for name in UPSTREAM[stage]}


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


def schema_output() -> Iterator[Any]:
    """Yield what tables are made of, but for the wording."""
    for table, fields in TABLES.items():
        yield [table, [[f.name, str(f.type), f.unit, f.missing, f.swf_position, f.minimum, f.maximum] for f in fields]]


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


def schedule_output(policy: str, options: dict[str, Any]) -> Iterator[Any]:
    """Yield a schedule of the shipped log."""
    trace, _ = cleaned("shipped")
    # A policy that needs ranks gets those of the queues' numbers; the others do not look at them.
    trace = with_all_columns(trace.with_jobs(trace.jobs.assign(priority_rank=trace.jobs["queue_id"])))
    schedule = simulate(trace, policy, 800, **options)
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
    trace, _ = cleaned("shipped")
    for run in paper.runs(paper.tables, SHIPPED_LOG, quick=True):
        found = remembered(paper.experiments[run.experiment])(trace, run.parameters, run.seed)
        yield run.text
        yield plain(found.to_numpy().tolist())


def experiment_output() -> Iterator[Any]:
    """Yield the table of an experiment."""
    with tempfile.TemporaryDirectory() as folder:
        task = RunExperiment(paper="nurmi2009", experiment="population", data_root=folder, rules="default")
        if not luigi.build([task], local_scheduler=True, log_level="WARNING"):
            raise RuntimeError(f"{task} failed")
        yield from rows_of(to_arrow(task.load_measurements(), "measurements"))


def reproduce_output() -> Iterator[Any]:
    """Yield what is published of a paper: of the shipped log, in place of the whole that it is from."""
    paper, log = find_paper("nurmi2009"), "SDSC-BLUE-2000-4.2-cln"
    trace, _ = cleaned("shipped")
    frames = [
        remembered(paper.experiments[run.experiment])(trace, run.parameters, run.seed).assign(
            log=log, experiment=run.text, seed=run.seed
        )
        for run in paper.runs(paper.tables, log, quick=True)
    ]
    cells = compare(paper, paper.tables, Measurements(pd.concat(frames, ignore_index=True)), quick=True)
    yield from rows_of(to_arrow(cells, "reproduction"))
    yield as_markdown(paper, paper.tables, cells)


def _word(word: str) -> Any:
    """Return a word of an SWF line, numbers rounded."""
    try:
        return plain(float(word))
    except ValueError:
        return word


OUTPUTS: dict[str, Callable[[], Iterator[Any]]] = {
    "schema": schema_output,
    "parse": parse_output,
    "clean": clean_output,
    **{name: partial(augmentation_output, name) for name in AUGMENTATIONS},
    "generate": generate_output,
    "build": build_output,
    "simulate": simulate_output,
    **{stage: partial(policy_output, stage) for stage in POLICIES},
    "measure": measure_output,
    "compare": compare_output,
    "replay": replay_output,
    "evaluate": evaluate_output,
    **{stage: partial(paper_output, stage) for stage in PAPERS},
    "experiment": experiment_output,
    "reproduce": reproduce_output,
    "history": partial(history_output, LOGS["shipped"], rows_of, months_of_history),
    "reevaluate": partial(history_output, LOGS["shipped"], rows_of, rest_of_history),
}


def digest_of(stage: str) -> str:
    """Return the digest of a stage's output."""
    digest = hashlib.sha256()
    for part in OUTPUTS[stage]():
        digest.update(json.dumps(part, allow_nan=False, sort_keys=True, default=str).encode() + b"\n")
    return digest.hexdigest()[:32]


def entry_of(stage: str) -> dict[str, Any]:
    """Return what golden.json holds of a stage."""
    return {"versions": versions_of(stage), "digest": digest_of(stage)}


def complaint(stage: str, recorded: dict[str, Any], present: dict[str, Any]) -> str | None:
    """Return what is wrong with a stage's output, and what to do; None if nothing is."""
    if recorded == present:
        return None
    if recorded.get("versions") != present["versions"]:
        return f"{GOLDEN.name} is of other versions than the code's; run python -m tests.golden"
    where = VERSIONS[stage][0]
    return (
        f"the output of stage {stage!r} is no longer what it was, though its version is. If that is meant, raise the "
        f"{where}, then run python -m tests.golden; if not, the stage, or one before it, was changed by mistake"
    )


def main(arguments: list[str] | None = None) -> int:
    """Write golden.json; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--force", action="store_true", help="also where no version was raised (nothing published yet)")
    options = parser.parse_args(arguments)
    recorded = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    present = {stage: entry_of(stage) for stage in OUTPUTS}
    refused = False
    for stage, entry in present.items():
        problem = complaint(stage, recorded[stage], entry) if stage in recorded else None
        if problem and recorded[stage]["versions"] == entry["versions"] and not options.force:
            sys.stderr.write(f"{problem}\n")
            refused = True
    if not refused:
        GOLDEN.write_text(json.dumps(present, indent=2) + "\n", encoding="utf-8")
    return int(refused)


if __name__ == "__main__":
    sys.exit(main())
