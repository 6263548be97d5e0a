# SPDX-License-Identifier: BSD-3-Clause
"""The published values, the tables that are made beside them, and that the kept table is theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipelines.papers import find_paper
from pipelines.papers.cells import compare
from pipelines.papers.paper import Measurements
from pipelines.papers.weng2023 import inflations, queues, tables, ties
from pipelines.papers.weng2023.drawn import with_requests
from pipelines.papers.weng2023.inflations import RULES, TIED, TIES, InflationOfPaper, measure_inflation, placement
from pipelines.papers.weng2023.workloads import DEFAULT, LOGS, by_name, in_order, machine, workload_of
from swftools import Trace, read_log
from swftools.plots import style
from swftools.simulator.nodes.gpus.inflation import inflate
from swftools.simulator.nodes.gpus.workload import asks_of, models_of, typical_of
from tests.interpreted import all_interpreted
from tests.naive import gpu_inflation as naive
from tests.naive.gpu_inflation import Node, Pod
from tests.paper_pages import reproduction
from tests.pipelines.papers.weng2023.excerpts import nodes, pods

PAPER, BEYOND = find_paper("weng2023"), find_paper("weng2023-beyond")

MEANS = {
    "default": ["87.47", "90.85", "91.88", "92.00", "93.08", "95.39"],
    "gpushare100": ["79.44", "82.42", "82.65", "82.57", "85.01", "86.90"],
}
"""Means of the authors' ten runs, of some workloads."""


def measurements(run: object, found: pd.DataFrame, log: str = DEFAULT) -> Measurements:
    """Return what an experiment measured as tables take it."""
    return Measurements(found.assign(log=log, experiment=run.text, seed=0))  # type: ignore[attr-defined]


def test_printed() -> None:
    """What the tables have beside ours, by its digits; means are those of single runs."""
    by_number = {table.number: table.printed for table in PAPER.tables}
    for workload, values in MEANS.items():
        assert list(by_number["allocated"][workload].values()) == values
    for row, runs in by_number["seeds"].items():
        workload, rule = row.split(", ")
        mean = np.mean([float(value) for value in runs.values()])
        assert mean == pytest.approx(float(by_number["allocated"][workload][rule]), abs=0.0051)
    assert by_number["demand"]["FGD"]["fragment ratio at 90 %"] == "49.97"
    assert len(by_number["seeds"]) == 30


def test_what_is_run() -> None:
    """Two runs a workload, in their orders and ours; all 17 by one command; nothing of other logs."""
    assert len(LOGS) == 17 == len(PAPER.logs)
    for log in LOGS:
        runs = PAPER.runs(PAPER.tables, log, False)
        assert [run.parameters.to_mapping()["orders"] for run in runs] == ["authors", "own"]
    assert PAPER.runs(PAPER.tables, "mine", False) == []
    assert len(BEYOND.runs(BEYOND.tables, DEFAULT, False)) == 3
    assert len(BEYOND.runs(BEYOND.tables, LOGS[5], False)) == 1


def test_the_machine() -> None:
    """Nodes and GPUs of the card are those of the list of nodes."""
    table = machine()
    assert (len(table), table.gpus.sum(), table.cores.sum()) == (1213, 6_212_000, 107_018)
    assert table.memory.sum() == 503_828_480
    of_model = dict.fromkeys(models_of(table), 0)
    for kind, gpus in zip(table.kind, table.gpus, strict=True):
        (model,) = table.gpu_types[kind]
        of_model[model] += gpus // 1000
    assert of_model == {"A10": 2, "G2": 4392, "G3": 312, "P100": 265, "T4": 842, "V100M16": 195, "V100M32": 204}
    listed = nodes()
    for name, cores, gpus in zip(listed.names, listed.cores, listed.gpus, strict=True):
        at = table.names.index(name)
        assert (table.cores[at], table.gpus[at]) == (cores, gpus)


@pytest.mark.parametrize("rule", naive.RULES)
def test_an_excerpt_as_the_twin(rule: str) -> None:
    """Pods that ask for models, on nodes of openb: each goes where the words say."""
    trace, table = by_name(pods()), in_order(nodes(), np.array([3, 0, 12, 7, 14, 9]))
    jobs = trace.jobs
    asked = [
        Pod(
            round(1000 * job.requested_cores_per_node),
            round(job.requested_memory_per_node),
            -(-round(1000 * job.requested_gpus_per_node) // 1000),
            min(round(1000 * job.requested_gpus_per_node), 1000),
            job.gpu_types if isinstance(job.gpu_types, str) and job.requested_gpus_per_node else "",
        )
        for job in jobs.itertuples()
    ]
    assert sum(bool(pod.models) for pod in asked) > 5
    idle = [
        Node(1000 * cores, memory, (1000,) * (gpus // 1000), next(iter(table.gpu_types[kind])))
        for cores, memory, gpus, kind in zip(table.cores, table.memory, table.gpus, table.kind, strict=True)
    ]
    arrivals = [*range(0, len(asked), 3), *range(1, len(asked), 4)]
    expected = naive.inflate(idle, [asked[row] for row in arrivals], naive.typical_of(asked), rule)
    with all_interpreted():
        typical = typical_of(*asks_of(trace, models_of(machine())))
        found = inflate(trace, table, rule, order=np.array(arrivals), typical=typical).jobs
    twin = [(node, list(gpus)) for node, gpus in expected]
    assert list(zip(found["node"].tolist(), found["gpus"].tolist(), strict=True)) == twin
    assert 3 < sum(node < 0 for node, _ in expected) < len(expected)


def test_requests_are_drawn(cleaned: Trace) -> None:
    """Jobs of a log without GPUs ask as pods do, by their keys; a log with GPUs stays."""
    trace = with_requests(cleaned)
    part = with_requests(cleaned.with_jobs(cleaned.jobs.iloc[100:200].reset_index(drop=True)))
    gpus = trace.jobs["requested_gpus_per_node"]
    assert gpus.iloc[100:200].tolist() == part.jobs["requested_gpus_per_node"].tolist()
    assert (gpus == 0).mean() == pytest.approx(1088 / 8152, abs=0.02)
    assert (gpus.between(0.001, 0.999)).mean() == pytest.approx(3078 / 8152, abs=0.03)
    assert with_requests(pods()) is pods()


@pytest.mark.slow
def test_published_runs(shared: Path) -> None:
    """One run of the authors by five rules, to the last digit; and what is drawn and told of it."""
    trace = read_log(shared / "samples" / "openb" / "openb_pod_list_default.csv.gz")
    found = measure_inflation(trace, InflationOfPaper(seeds=1), 0)
    run = inflations.inflation_run(False)
    table = compare(PAPER, PAPER.chosen_tables("seeds"), measurements(run, found))
    assert table["is_reproduced"].dropna().tolist() == [True] * 5
    assert table["printed"].tolist() == ["87.26", "90.54", "91.53", "91.57", "93.13", "95.29"]


def test_tables_of_made_up_measurements() -> None:
    """Leads and their intervals; statements; means; nothing where nothing was measured."""
    run = inflations.inflation_run(True, "ties")
    rows = [
        (
            placement(rule, way),
            str(seed),
            ties.MEASURE,
            90.0 + (2.0 if rule == "FGD" else 0.0) + 0.5 * (seed == 43) * (rule == "FGD"),
        )
        for rule in TIED
        for way in TIES
        for seed in (42, 43)
    ]
    found = measurements(run, pd.DataFrame(rows, columns=["subject", "x", "measure", "value"]))
    lead, low, high = ties.lead_of(found, DEFAULT, True, "exact scores")
    assert lead == pytest.approx(2.25)
    assert high - lead == pytest.approx(12.706 * 0.25, rel=1e-3)
    assert low == pytest.approx(2 * lead - high)
    assert all(np.isnan(ties.lead_of(found, "other", True, "exact scores")))
    with style():
        drawn = BEYOND.pictures["lead"](found.table)
    assert len(drawn.axes[0].containers) == len(TIES)
    cells = compare(BEYOND, BEYOND.chosen_tables("ties"), found, quick=True)
    assert cells.loc[cells["column"] == "FGD: whole numbers, any", "ours"].tolist() == [92.25]
    six = inflations.inflation_run(True)
    rows = [
        (text, str(seed), f"{measure} at {percent} %", 50.0 + place + seed / 100)
        for place, text in enumerate(RULES.values())
        for seed in (42, 43)
        for measure in (inflations.ALLOCATED, inflations.RATIO)
        for percent in inflations.PERCENTS
    ]
    found = measurements(six, pd.DataFrame(rows, columns=["subject", "x", "measure", "value"]))
    told = compare(PAPER, PAPER.chosen_tables("statements"), found, quick=True)
    assert told["ours"].tolist() == pytest.approx([100 * 4 / (100 - 51.425), 0.04 * 6212, 1])
    assert told["is_reproduced"].tolist() == [False, False, True]
    with style():
        drawn = PAPER.pictures["demand"](found.table)
    assert [line.get_label() for line in drawn.axes[0].get_lines()] == [*RULES]
    assert drawn.axes[0].get_lines()[1].get_ydata().tolist() == pytest.approx([51.425] * len(inflations.PERCENTS))
    chosen = compare(PAPER, PAPER.chosen_tables("allocated"), found, quick=True)
    chosen = chosen[chosen["is_chosen"]]
    assert chosen["ours"].tolist() == pytest.approx([50.425 + place for place in range(6)])
    assert chosen["printed"].tolist() == MEANS["default"]


def test_draws_of_random(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five in each order of the authors, whose mean is told, rounded as theirs; one in ours; one of each other rule."""
    asked: list[str] = []

    class Filled:
        def __init__(self, text: str) -> None:
            asked.append(text)
            self.share = 50.0 + 0.0067 * (len(asked) - 1)

        def curve(self) -> pd.DataFrame:
            columns = dict.fromkeys(inflations.COLUMNS.values(), self.share)
            return pd.DataFrame(columns, index=list(inflations.PERCENTS))

    monkeypatch.setattr(inflations, "inflate", lambda trace, table, text, **given: Filled(text))
    monkeypatch.setattr(inflations, "placements_of", lambda rules: ["random", "fgd", "fgd:ties=random"])
    for orders, draws in (("authors", 5), ("own", 1)):
        asked.clear()
        found = measure_inflation(pods(), InflationOfPaper(orders=orders, seeds=1, nodes=4), 0)
        assert asked == [
            *(f"random:seed={42 + 1000 * draw}" for draw in range(draws)),
            "fgd:seed=42",
            "fgd:ties=random,seed=42",
        ]
        of_random = found[(found["subject"] == "random") & (found["measure"] == "allocated at 130 %")]
        rounded = [round(50.0 + 0.0067 * draw, 2) for draw in range(draws)]
        assert of_random["value"].tolist() == pytest.approx([np.mean(rounded)])


def test_random_beside_the_authors() -> None:
    """Ours less theirs, run by run, its mean and standard error by hand; and why the mean is not theirs."""
    run, authors = inflations.inflation_run(False), tables.RUNS["default, random"]
    more = {42: 0.5, 43: 0.1, 44: 0.3}
    rows = [("random", str(seed), ties.MEASURE, float(authors[str(seed)]) + each) for seed, each in more.items()]
    found = measurements(run, pd.DataFrame(rows, columns=["subject", "x", "measure", "value"]))
    other = found.table.assign(log="openb_pod_list_cpu050")  # of which none is printed
    cells = compare(PAPER, PAPER.chosen_tables("random"), Measurements(pd.concat([found.table, other])))
    assert cells["row"].tolist() == ["default", "all"]
    assert cells["ours"].tolist() == pytest.approx([0.3, 0.3])
    assert cells["spread"].tolist() == pytest.approx([0.2 / 3**0.5] * 2)
    means = compare(PAPER, PAPER.chosen_tables("allocated"), found)
    chosen = means[means["is_chosen"] & (means["column"] == "random")]
    assert chosen["note"].tolist() == [
        "run by run ours is +0.30 from the authors', of which the standard error is 0.12"
    ]
    assert means.loc[~means["is_chosen"], "note"].isna().all()
    fragments = compare(PAPER, PAPER.chosen_tables("fragments"), found)
    assert fragments["note"].isna().all()


@pytest.mark.slow
def test_quick_pictures(cleaned: Trace) -> None:
    """A quick run measures drawn pods by all rules and ways, and pictures and tables are made of it."""
    frames = []
    for paper in (PAPER, BEYOND):
        for run in paper.runs(paper.tables, "mine", True):
            if run.parameters.to_mapping().get("orders") == "own":
                continue
            small = run.parameters.to_mapping() | (
                {"nodes": 4, "seeds": 2} if run.experiment == "inflation" else {"jobs": 12}
            )
            parameters = type(run.parameters).from_mapping(small)
            found = paper.experiments[run.experiment].function(cleaned, parameters, 0)
            frames.append(found.assign(log="mine", experiment=run.text, seed=0))
    table = pd.concat(frames)
    with style():
        demand = PAPER.pictures["demand"](table)
        lead = BEYOND.pictures["lead"](table)
    assert [line.get_label() for line in demand.axes[0].get_lines()] == [*RULES]
    assert len(lead.axes[0].containers) == len(TIES)
    cells = compare(BEYOND, BEYOND.chosen_tables("queues"), Measurements(table), quick=True)
    assert set(cells["column"]) >= {queues.WAIT, queues.SLOWDOWN}
    assert len(set(cells["row"])) == len(queues.PLACEMENTS)


def test_kept_tables() -> None:
    """What the page shows is made of the published values, and of all 17 workloads."""
    table = reproduction.read_table(reproduction.TABLES / "weng2023.csv")
    rows = table[(table["place"] == PAPER.tables[0].place) & table["is_chosen"]]
    assert len(rows) == 17 * 6
    assert rows.loc[rows["row"] == "default", "printed"].tolist() == MEANS["default"]
    assert rows.loc[rows["column"] != "random", "is_reproduced"].dropna().tolist() == [True] * 25
    runs = table[table["place"] == PAPER.chosen_tables("seeds")[0].place]
    assert runs["is_reproduced"].dropna().tolist() == [True] * 250
    short = [workload_of(log) for log in LOGS]
    assert sorted(set(rows["row"])) == sorted(short)
    apart = table[table["place"] == PAPER.chosen_tables("random")[0].place].set_index("row")
    assert (apart["ours"].abs() < 2.5 * apart["spread"]).all()
    assert len(apart) == 6
    beyond = reproduction.read_table(reproduction.TABLES / "weng2023-beyond.csv")
    of_ties, lead, queued = (beyond[beyond["place"] == each.place] for each in BEYOND.tables)
    assert sorted(of_ties["row"].unique()) == sorted(short)
    assert len(of_ties) == 17 * len(TIED) * len(TIES)
    assert len(lead) == 17 * len(TIES) * 3
    for told in (of_ties, lead, queued):
        assert told["ours"].notna().all()
    assert of_ties["spread"].notna().all()
    ends = lead.pivot_table(index="row", columns="column", values="ours")
    assert ((ends["from"] < ends["lead"]) & (ends["lead"] < ends["to"])).all()
    assert set(queued["row"]) == {f"{told}: {rule}" for told in queues.SOURCES.values() for rule in queues.PLACEMENTS}
    assert queued["spread"].notna().all()
