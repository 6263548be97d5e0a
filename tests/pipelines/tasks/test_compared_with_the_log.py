# SPDX-License-Identifier: BSD-3-Clause
"""A comparison beside what the log itself tells: as a policy of its own, over the same jobs, and by groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.store.data_root import DataRoot
from pipelines.tasks.compare import ComparePolicies, as_markdown
from pipelines.tasks.measure import MeasureSchedule
from swftools.errors import ParameterError
from tests.pipelines.small_logs import build

SACCT = """\
JobID|User|Account|QOS|Partition|Cluster|State|Submit|Start|End|NCPUS|TimelimitRaw
1|u1|phys|high|batch|c|COMPLETED|2024-03-01T09:00:00|2024-03-01T09:00:00|2024-03-01T09:10:00|4|20
2|u2|phys|low|batch|c|COMPLETED|2024-03-01T09:00:00|2024-03-01T09:20:00|2024-03-01T09:30:00|4|20
3|u2|bio|low|batch|c|COMPLETED|2024-03-01T09:05:00|2024-03-01T10:00:00|2024-03-01T10:10:00|1|20
4|u3|bio|low|batch|c|COMPLETED|2024-03-01T09:00:00|2024-03-01T12:00:00|2024-03-01T12:10:00|8|20
"""
SITE = """
nodes: [{{kind: cpu, names: n1, cores: 4}}]
partitions: [{{name: {}, nodes: cpu, default: true}}]
"""
FORMAT = "slurm:time_zone=UTC,group=group"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sacct.txt").write_text(SACCT)
    return tmp_path


def task(kind: Any = ComparePolicies, **given: Any) -> Any:
    """Return a task of the log on four processors, on which the last job does not fit."""
    usual = {"log": "sacct.txt", "format": FORMAT, "augment": "", "data_root": "data", "processors": 4}
    return kind(**{**usual, **given})


def published(**given: Any) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the table of a comparison, and its manifest."""
    compared = task(policies="fcfs,easy", **given)
    assert build(compared)
    version = Path(compared.output().path)
    return pd.read_parquet(version / "comparison"), json.loads((version / "manifest.json").read_text())


def waits(table: pd.DataFrame, by: str = "all") -> dict[tuple[str, str], tuple[int, float]]:
    """Return jobs and mean waits by policy and group."""
    rows = table[(table["classed_by"] == by) & (table["measure"] == "wait") & (table["statistic"] == "mean")]
    keys = zip(rows["policy"].astype(str), rows["job_class"].astype(str), strict=True)
    return dict(zip(keys, zip(rows["jobs"].astype(int), rows["value"].astype(float), strict=True), strict=True))


def test_the_log_is_a_policy(folder: Path) -> None:
    """Its waits are of the three jobs that are simulated: 0, 20 and 55 minutes; not of the wide one."""
    table, manifest = published(seeds="0,1")
    assert waits(table)["logged", "all"] == (3, 1500.0)
    assert set(table[table["policy"] == "logged"]["seed"]) == {0}
    assert not {"wasted_load", "preemptions"} & set(table[table["policy"] == "logged"]["measure"])
    assert [*dict.fromkeys(table["policy"])] == ["logged", "fcfs", "easy"]
    told = [text for text in manifest["assumptions"] if text.startswith("beside the log")]
    assert [text.partition(":")[0] for text in told] == ["beside the log, fcfs", "beside the log, easy"]
    assert "by the log 25 min" in told[0]


def test_groups(folder: Path) -> None:
    """By account, QOS, size and partition, each with the log's waits; all of them in the file and in the table."""
    table, _ = published(by="account,qos,processors")
    assert waits(table, "account")["logged", "phys"] == (2, 600.0)
    assert waits(table, "account")["logged", "bio"] == (1, 3300.0)
    assert waits(table, "qos")["logged", "low"] == (2, 2250.0)
    assert waits(table, "processors")["logged", "1"] == (1, 3300.0)
    assert waits(table, "account")["fcfs", "phys"][0] == 2
    assert [*dict.fromkeys(table["classed_by"])] == ["all", "account", "qos", "processors"]
    assert {*table[table["classed_by"] == "qos"]["measure"]} == {"wait", "turnaround", "bounded_slowdown"}
    printed = as_markdown(table.astype({"policy": "str", "classed_by": "str"}), is_printed=True)
    assert "| wait_mean by account | jobs | logged |   fcfs |   easy |" in printed
    assert "| bio                  |    1 | 55 min | 15 min | 15 min |" in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_queues_of_the_log_are_partitions_of_the_machine(folder: Path) -> None:
    """As Slurm's are: so the log has waits by partition, too. Of another machine it has those of other groupings."""
    rows = [line.split("|") for line in SACCT.splitlines()]
    (folder / "sacct.txt").write_text("\n".join("|".join(row[:5] + row[6:]) for row in rows))  # no cluster
    for name, told in (("batch", {"partition", "processors"}), ("other", {"processors"})):
        (folder / f"{name}.yaml").write_text(SITE.format(name))
        table, _ = published(by="partition,processors", machine=f"{name}.yaml", processors=0)
        assert {*table[table["policy"] == "logged"]["classed_by"]} == {"all", *told}
        assert waits(table, "processors")["logged", "1"] == (1, 3300.0)
        assert waits(table, "partition").get(("logged", "batch")) == ((3, 1500.0) if name == "batch" else None)


def test_clusters_of_the_log_are_no_partitions_of_the_machine(folder: Path) -> None:
    """Slurm's accounting tells a cluster, too, which is not the partition that the machine has."""
    (folder / "site.yaml").write_text(SITE.format("batch"))
    table, _ = published(by="partition", machine="site.yaml", processors=0)
    found = waits(table, "partition")
    assert {*found} == {("logged", "batch"), ("fcfs", "batch"), ("easy", "batch")}


def test_another_workload_has_nothing_beside(folder: Path) -> None:
    """Neither of another load nor where submissions are moved."""
    for given in ({"load": 0.5}, {"shake": 1}):
        table, _ = published(**given)
        assert "logged" not in set(table["policy"])


def test_what_is_refused(folder: Path) -> None:
    """A grouping that is not known, or that the log does not tell."""
    with pytest.raises(ParameterError, match=r"by='acount' is no grouping of jobs; did you mean account\?"):
        task(MeasureSchedule, by="acount")
    with pytest.raises(ParameterError, match=r"by='x' is no grouping of jobs; there are: partition, queue"):
        task(MeasureSchedule, by="x")
    refused = CliRunner().invoke(
        main,
        [*("compare", "--log", "sacct.txt", "--format", FORMAT, "--by", "gpus", "--data-root", "data")],
    )
    assert refused.exit_code != 0


def test_keys(folder: Path) -> None:
    """What is not asked for is in no key."""
    plain = task(MeasureSchedule, policy="fcfs")
    assert plain.key == task(MeasureSchedule, policy="fcfs", by="").key
    assert plain.key != task(MeasureSchedule, policy="fcfs", by="account").key


def test_many_groups_are_printed_in_part(folder: Path) -> None:
    """Those of the most jobs; files have all."""
    rows = [
        {"policy": "easy", "seed": 0, "classed_by": "user", "job_class": f"u{user}", "jobs": user, "value": 60.0 * user}
        for user in range(1, 21)
    ]
    whole = {"policy": "easy", "seed": 0, "classed_by": "all", "job_class": "all", "jobs": 210, "value": 60.0}
    table = pd.DataFrame([whole, *rows]).assign(measure="wait", statistic="mean", unit="s")
    printed = as_markdown(table, is_printed=True)
    assert "wait_mean by user, 12 of 20" in printed
    assert ("| u9 " in printed, "| u8 " in printed) == (True, False)
    assert "| u1 " in as_markdown(table)


def test_a_simulation_prints_the_log_beside(folder: Path) -> None:
    """Behind its own figures; for programs too."""
    words = ["simulate", "sacct.txt", "--format", FORMAT, "--processors", "4"]
    told = CliRunner().invoke(main, words)
    assert told.exit_code == 0, told.output
    (line,) = [line for line in told.output.splitlines() if line.startswith("  wait_mean")]
    assert line.endswith("   logged 25 min")
    assert "the mean wait is 8.33 min, by the log 25 min" in " ".join(told.output.split())
    assert max(map(len, told.output.splitlines())) <= 80
    found = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)["logged"]
    assert (found["policy"], found["jobs"]) == ("logged", 3)
    assert found["differs"].startswith("the mean wait is")
    assert "logged" not in CliRunner().invoke(main, [*words, "--load", "0.5"]).output


def test_the_report_has_groups(folder: Path) -> None:
    """And the log's own waits, once."""
    compared = task(policies="fcfs,easy", by="account", report=True)
    assert build(compared)
    root = DataRoot.open(folder / "data")
    (name,) = root.data_sets()
    (page,) = (folder / "data" / name).glob("*.html")
    text = page.read_text()
    assert "Mean waits by group" in text
    assert "as logged" not in text
    assert "logged" in text
