# SPDX-License-Identifier: BSD-3-Clause
"""RunExperiment and ReproducePaper, and their command: what is published, kept, and refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import luigi
import pandas as pd
import pytest

from pipelines.exit_statuses import MISSING_INPUT
from pipelines.logs.find import SHIPPED_LOG, find_log
from pipelines.papers import find_paper, paper
from pipelines.tasks.read_tables import ReadTables
from pipelines.tasks.reproduce_paper import ReproducePaper
from pipelines.tasks.run_experiment import RunExperiment
from swftools.errors import ParameterError, UnreadableLogError
from tests.paper_pages import paper_page
from tests.pipelines.luigi_runs import SWFTOOLS, run


def publish(data_root: Path, **parameters: Any) -> ReproducePaper:
    """Build in this process and return the finished task."""
    task = ReproducePaper(paper="nurmi2009", data_root=str(data_root), **parameters)
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    assert task.complete()
    return task


def files_of(version: str) -> dict[str, bytes]:
    """Return what was published, by name."""
    return {str(path.relative_to(version)): path.read_bytes() for path in Path(version).rglob("*") if path.is_file()}


def test_the_command_for_a_table(tmp_path: Path) -> None:
    """How much of it is reproduced, and how to read it; then it is complete."""
    command = [*SWFTOOLS, "reproduce", "nurmi2009", "--quick", "--table", "3.2"]
    first = run(command, tmp_path)
    assert first.returncode == 0, first.stderr
    lines = first.stdout.splitlines()
    assert lines[0] == "Table 3.2. How long jobs waited: nothing to compare with"
    assert "] ReproducePaper nurmi2009: " in first.stderr
    names: dict[str, Any] = {}
    exec("\n".join(line.strip() for line in lines[-2:]), names)
    assert set(names["reproduction"]["place"]) == {"Table 3.2"}
    second = run(command, tmp_path)
    assert (second.returncode, second.stdout.count("already complete")) == (0, 1)


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    """On the shipped log, two at a time: how much is reproduced, and how to read it; then it is complete."""
    command = [*SWFTOOLS, "reproduce", "nurmi2009", "--quick"]
    first = run([*command, "--workers", "2"], tmp_path)
    assert first.returncode == 0, first.stderr
    lines = first.stdout.splitlines()
    assert lines[0] == "Table 3.2. How long jobs waited: nothing to compare with"
    assert "statements hold" in lines[3]
    assert "[4 of 4] ReproducePaper nurmi2009" in first.stderr  # its experiments are cells of that, not stages
    names: dict[str, Any] = {}
    exec("\n".join(line.strip() for line in lines[-2:]), names)
    table = names["reproduction"]
    places = {"Table 3.2", "Table 4.1", "Table 4.2", "Tables 5.2 to 5.5", "Table 5.6", "Table 6.2", "Figure 6.1"}
    assert set(table["place"]) == {*places, "Figure 5.2", "Figure 5.4", "Chapter 4", "ours alone"}
    assert table["ours"].notna().mean() > 0.9
    second = run(command, tmp_path)
    assert (second.returncode, second.stdout.count("already complete")) == (0, 1)
    assert second.stdout.splitlines()[:5] == lines[:5]


def test_what_is_published(tmp_path: Path) -> None:
    """Both tables, the same as CSV and Markdown; terms and account of the log; equal bytes when made again."""
    version = publish(tmp_path / "a", quick=True, table="3.2").output().path
    table = pd.read_parquet(f"{version}/reproduction")
    assert table["ours"].tolist() == pytest.approx(pd.read_csv(f"{version}/reproduction.csv")["ours"].tolist())
    assert f"| {SHIPPED_LOG} | 4784 |" in Path(version, "reproduction.md").read_text(encoding="utf-8")
    found = pd.read_parquet(f"{version}/measurements")
    assert found[["paper", "log", "seed"]].drop_duplicates().to_numpy().tolist() == [["nurmi2009", SHIPPED_LOG, 0]]
    manifest = json.loads(Path(version, "manifest.json").read_text(encoding="utf-8"))
    assert [source["log"]["name"] for source in manifest["sources"]] == [SHIPPED_LOG]
    assert manifest["sources"][0]["account"]["jobs_kept"] == 5000
    assert manifest["paper_version"] == find_paper("nurmi2009").version
    assert "Licence:" in Path(version, "README.md").read_text(encoding="utf-8")
    again = publish(tmp_path / "b", quick=True, table="3.2").output().path
    assert files_of(version) == files_of(again)


def test_several_logs(tmp_path: Path) -> None:
    """Rows of each; the manifest, the page and the package tell of both."""
    other = tmp_path / "mine.swf"
    other.write_text(
        "; Copyright: mine\n" + "".join(f"{n} {n} {n} 5 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n" for n in range(1, 4))
    )
    task = publish(tmp_path, logs=f"{SHIPPED_LOG}, {other}", table="3.2")
    version = task.output().path
    assert task.data_set_name == f"nurmi2009-reproduction-{SHIPPED_LOG}-mine-3.2"
    table = pd.read_parquet(f"{version}/reproduction").set_index(["row", "column"])["ours"]
    assert table["mine"].to_dict() == pytest.approx(
        {"jobs": 3, "mean": 2, "median": 2, "standard deviation": 0.8165}, rel=1e-4
    )
    assert table[SHIPPED_LOG, "jobs"] == 4784
    manifest = json.loads(Path(version, "manifest.json").read_text(encoding="utf-8"))
    assert [source["log"]["name"] for source in manifest["sources"]] == [SHIPPED_LOG, "mine"]
    assert "mine: by the log's header: mine" in manifest["licence"]
    page = Path(version, "README.md").read_text(encoding="utf-8")
    assert "made of the logs `SDSC" in page
    assert page.count("### mine") == 2
    package = json.loads(Path(version, "datapackage.json").read_text(encoding="utf-8"))
    assert [source["title"] for source in package["sources"]] == [SHIPPED_LOG, "mine"]
    assert package["sources"][1]["licence"] == "by the log's header: mine"


@pytest.mark.slow
def test_what_is_finished_is_not_run_again(tmp_path: Path) -> None:
    """Another table adds what it needs; all of them need no more than one run of each."""
    publish(tmp_path, quick=True, table="4.1")
    experiments = tmp_path / ".work" / "experiments"
    before = {path.name: path.stat().st_mtime_ns for path in experiments.glob("[!.]*")}
    publish(tmp_path, quick=True, table="4.2")
    after = {path.name: path.stat().st_mtime_ns for path in experiments.glob("[!.]*")}
    assert before.items() <= after.items()
    assert (len(before), len(after)) == (5, 14)


def test_another_version_is_another_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the paper, of what it prints, of parameters, of seeds."""
    given = {"paper": "nurmi2009", "data_root": str(tmp_path)}
    texts = ("population", "population:population=ctc", "replay", "replay:method=weibull")
    keys = {RunExperiment(experiment=text, **given).key for text in texts}
    keys.add(RunExperiment(experiment="population", seed=1, **given).key)
    assert len(keys) == 5
    said = RunExperiment(experiment="population:population=any", **given)
    assert said.key == RunExperiment(experiment="population", **given).key
    version = ReproducePaper(quick=True, **given).version
    about = find_paper("nurmi2009")
    printed = replace(about, tables=[replace(about.tables[0], printed={}), *about.tables[1:]])
    for other in (replace(about, version=about.version + 1), printed):
        monkeypatch.setitem(paper.PAPERS.known, "nurmi2009", other)
        assert ReproducePaper(quick=True, **given).version != version


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["nurmi2008"],
            "there are: barsanti2006, barsanti2006-beyond, chiang2008, chiang2008-large, lee2009, lee2009-beyond, "
            "nurmi2009, nurmi2009-beyond, popa2023, popa2023-beyond, weng2023, weng2023-beyond, yuan2010; did you "
            "mean nurmi2009?",
        ),
        (["nurmi2009", "--table", "4.3"], "has no table '4.3' here; there are: 3.2, 4.1, 4.2"),
        (["nurmi2009", "--logs", f"{SHIPPED_LOG},{SHIPPED_LOG}"], "a log is named twice"),
        (["nurmi2009", "--logs", SHIPPED_LOG, "--quick"], "give logs or quick, not both"),
        (["nurmi2009", "--logs", "-"], "can be read once only"),
    ],
)
def test_a_slip_is_told_before_any_work(tmp_path: Path, flags: list[str], message: str) -> None:
    """One line, and nothing is made."""
    ended = run([*SWFTOOLS, "reproduce", *flags], tmp_path)
    assert ended.returncode != 0
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "replays",
            "no experiment 'replays'; there are: population, replay, varq, trajectory, co-varq; did you mean replay?",
        ),
        ("replay:method=best", "replay: method='best' is not one of binomial"),
        ("replay:methods=weibull", r"unknown parameters \['methods'\]"),
    ],
)
def test_an_experiment_that_there_is_not(text: str, message: str, tmp_path: Path) -> None:
    """Is refused."""
    with pytest.raises(ParameterError, match=message.replace("?", r"\?")):
        RunExperiment(paper="nurmi2009", experiment=text, data_root=str(tmp_path))


def test_a_log_that_is_not_there(tmp_path: Path) -> None:
    """The others are done; the status says that input is missing, and nothing is published."""
    ended = run([*SWFTOOLS, "reproduce", "nurmi2009", "--table", "3.2", "--logs", f"{SHIPPED_LOG},none.swf"], tmp_path)
    assert ended.returncode == MISSING_INPUT
    assert "log 'none.swf' is neither a file nor a card" in ended.stderr
    assert not (tmp_path / "data" / f"nurmi2009-reproduction-{SHIPPED_LOG}-none-3.2").exists()


def test_a_log_that_changes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is published of two texts."""
    log = tmp_path / "mine.swf"
    line = "{0} {0} 7 5 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n"
    log.write_text(line.format(1))
    task = ReproducePaper(paper="nurmi2009", logs=str(log), table="3.2", data_root=str(tmp_path))
    run_as_before = ReproducePaper.run

    def change_and_run(self: ReproducePaper) -> None:
        log.write_text(line.format(1) + line.format(2))
        run_as_before(self)

    monkeypatch.setattr(ReproducePaper, "run", change_and_run)
    assert not luigi.build([task], local_scheduler=True, log_level="CRITICAL")
    assert not (tmp_path / task.data_set_name).exists()
    with pytest.raises(UnreadableLogError, match="was changed since this run began"):
        task.contents()
    monkeypatch.undo()
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")


def test_long_names_are_cut(tmp_path: Path) -> None:
    """A data set's name has at most 128 letters."""
    logs = ",".join([*find_paper("nurmi2009").logs[:2], "x" * 90])
    name = ReproducePaper(paper="nurmi2009", logs=logs, data_root=str(tmp_path)).data_set_name
    assert len(name) <= 100
    assert name != ReproducePaper(paper="nurmi2009", logs=f"{logs}x", data_root=str(tmp_path)).data_set_name


@pytest.mark.slow
def test_the_page_of_the_documentation_is_what_comes_out(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it, on the whole logs."""
    logs = ",".join(str(shared / "traces" / f"{log}.swf.gz") for log in find_paper("nurmi2009").logs)
    assert [find_log(log).name for log in logs.split(",")] == list(find_paper("nurmi2009").logs)
    version = publish(tmp_path, logs=logs).output().path
    made = Path(version, "reproduction.md").read_text(encoding="utf-8").splitlines(keepends=True)
    page = paper_page("nurmi2009")
    assert "".join(line for line in made if "nothing to compare with" not in line).strip() in page
    monkeypatch.undo()


def test_a_paper_about_tables(tmp_path: Path) -> None:
    """Its excerpt in the place of its tables; the manifest tells of these; a log cannot stand in their place."""
    task = ReproducePaper(paper="popa2023", data_root=str(tmp_path), quick=True, table="rows")
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    assert task.data_set_name == "popa2023-reproduction-quick-rows"
    version = task.output().path
    table = pd.read_parquet(f"{version}/reproduction").set_index("column")["ours"]
    assert table["test rows"] == 80
    manifest = json.loads(Path(version, "manifest.json").read_text(encoding="utf-8"))
    (source,) = manifest["sources"]
    assert (source["log"]["name"], len(source["log"]["files"]), source["account"]["jobs_kept"]) == (
        "mila-excerpt",
        12,
        480,
    )
    assert source["licence"] == "MIT, copyright (c) 2023 Mila"
    assert "Licence: MIT, copyright" in Path(version, "README.md").read_text(encoding="utf-8")
    with pytest.raises(ParameterError, match=f"{SHIPPED_LOG} is no card under tables in data_catalog.yaml"):
        ReproducePaper(paper="popa2023", data_root=str(tmp_path), logs=SHIPPED_LOG, table="rows")
    with pytest.raises(ParameterError, match="is not of mila-excerpt: name other logs"):
        ReproducePaper(paper="popa2023", data_root=str(tmp_path), quick=True, table="slurm")


def test_days_that_are_missing_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, in the manifest; none of them is fetched where its hash is not known."""
    card = find_log("mila-excerpt").tables
    assert card is not None
    lines = Path(card.files).read_text(encoding="utf-8").splitlines()
    (tmp_path / "list.csv").write_text("\n".join([*lines[:-1], "jobs_graham_2021-05-13.csv,"]) + "\n")
    monkeypatch.setattr("pipelines.logs.tables.files_of", lambda _: read_list(tmp_path / "list.csv"))
    task = ReadTables(log="mila-excerpt", data_root=str(tmp_path))
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    assert task.facts()["assumptions"] == ["1 of 12 files are missing: jobs_graham_2021-05-13.csv."]
    assert task.load().table["file"].nunique() == 11


def read_list(path: Path) -> dict[str, str]:
    """Return hashes by file."""
    return dict(line.split(",") for line in path.read_text(encoding="utf-8").splitlines()[1:])
