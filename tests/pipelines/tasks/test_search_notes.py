# SPDX-License-Identifier: BSD-3-Clause
"""A search in the pipeline: its notes are kept beside its schedule, and what it depends on is in its key."""

from __future__ import annotations

import errno
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import luigi
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.notes import read_notes, write_notes
from pipelines.tasks.simulate import SimulatePolicy
from swftools.errors import ParameterError, SchemaError, StorageError
from swftools.simulator.entry_points import simulate
from swftools.simulator.schedule import Schedule
from swftools.simulator.search import measures
from swftools.simulator.search.decision import explain_decision
from swftools.simulator.search.notes import recorded_search
from swftools.tables import read_table

LOG = "lublin-feitelson:jobs=300,processors=64,load=0.9,seed=3"

MEASURE = """
from swftools.simulator.search.measures import planned_measure

@planned_measure("processor-wait", fold="mean")
def processor_wait(wait, processors):
    return {factor} * wait * processors
"""


def task_of(data_root: Path, policy: str, **parameters: Any) -> SimulatePolicy:
    """Return the task of a policy."""
    return SimulatePolicy(log=LOG, data_root=str(data_root), augment="", policy=policy, **parameters)


def built(task: luigi.Task) -> Any:
    """Run a task in this process and return it."""
    assert luigi.build([task], local_scheduler=True, log_level="WARNING")
    return task


@pytest.fixture
def own_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module with a measure of one's own, which is forgotten afterwards."""
    monkeypatch.setattr(measures.PLANNED_MEASURES, "known", dict(measures.list_measures()))
    monkeypatch.setattr(measures.PLANNED_MEASURES, "_sources", dict(measures.PLANNED_MEASURES._sources))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_measures", raising=False)
    path = tmp_path / "my_measures.py"
    path.write_text(MEASURE.format(factor=1), encoding="utf-8")
    return path


def test_notes_come_back_with_the_schedule(tmp_path: Path) -> None:
    """As they were when simulated, to the type; so that a decision is explained, and the search made again."""
    task = built(task_of(tmp_path, "search:nodes=200,explain=true"))
    loaded = task.load_schedule()
    fresh = simulate(task.requires()[0].load(), "search", nodes=200, explain=True)
    assert loaded.notes.keys() == fresh.notes.keys() == {"decisions", "improvements", "orders"}
    for name, frame in fresh.notes.items():
        pd.testing.assert_frame_equal(frame, loaded.notes[name])
    assert (fresh.notes["orders"]["chosen_place"] != fresh.notes["orders"]["heuristic_place"]).any()
    time = fresh.notes["decisions"]["time"].median()
    assert str(explain_decision(loaded, time)) == str(explain_decision(fresh, time))
    again = simulate(task.requires()[0].load(), recorded_search(loaded))
    assert again.jobs["start_time"].tolist() == fresh.jobs["start_time"].tolist()


def test_notes_are_tables_of_the_dictionary(tmp_path: Path) -> None:
    """The files beside the schedule have names, columns and metadata as the dictionary says."""
    path = built(task_of(tmp_path, "search:nodes=10,explain=true")).output().path
    assert {file.name for file in path.glob("*.parquet")} == {
        *("schedule.parquet", "segments.parquet", "excluded.parquet"),
        *("search_decisions.parquet", "search_improvements.parquet", "search_orders.parquet"),
    }
    orders = read_table(path / "search_orders.parquet", "search_orders")
    assert orders.schema.field("planned_start").metadata[b"unit"] == b"s"
    assert "chosen_place" in orders.column_names


@pytest.mark.parametrize("policy", ["easy", "search:nodes=10"])
def test_without_notes_there_are_no_files(tmp_path: Path, policy: str) -> None:
    """A policy that notes nothing has the three tables alone."""
    task = built(task_of(tmp_path, policy))
    assert {file.name for file in task.output().path.iterdir()} == {
        *("schedule.parquet", "segments.parquet", "excluded.parquet", "schedule.json")
    }
    assert dict(task.load_schedule().notes) == {}


def test_notes_of_a_policy_of_ones_own(tmp_path: Path) -> None:
    """Tables that the dictionary does not have are written and read as they are."""
    frame = pd.DataFrame({"hour": [1, 2], "mood": ["good", None]})
    empty = pd.DataFrame()
    schedule = Schedule(empty, empty, empty, 4, "moody", notes={"hours": frame})
    (path,) = write_notes(schedule, tmp_path)
    assert path.name == "moody_hours.parquet"
    assert read_notes("moody", tmp_path)["hours"].to_dict("list") == frame.to_dict("list")
    assert read_notes("mood", tmp_path) == {}


def test_notes_of_ones_own_appear_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or not at all: where columns are no Parquet, which is told, and where writing breaks off."""
    empty = pd.DataFrame()
    mixed = Schedule(empty, empty, empty, 4, "moody", notes={"hours": pd.DataFrame({"hour": [1, "two"]})})
    with pytest.raises(SchemaError, match=r"^policy 'moody': its notes 'hours' are not a Parquet table: .* one type$"):
        write_notes(mixed, tmp_path)

    def breaks_off(data: pa.Table, file: BinaryIO, **options: Any) -> None:
        file.write(b"PAR1")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", breaks_off)
    plain = replace(mixed, notes={"hours": pd.DataFrame({"hour": [1, 2]})})
    with pytest.raises(StorageError, match="No space left on device"):
        write_notes(plain, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_notes_that_are_not_as_declared_are_refused(tmp_path: Path) -> None:
    """A column too few is an error, and no file."""
    task = built(task_of(tmp_path, "search:nodes=10,explain=true"))
    schedule = task.load_schedule()
    spoilt = {"decisions": schedule.notes["decisions"].drop(columns="paths")}
    (tmp_path / "out").mkdir()
    with pytest.raises(SchemaError, match="missing columns \\['paths'\\]"):
        write_notes(replace(schedule, notes=spoilt), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_equal_objectives_are_one_task(tmp_path: Path) -> None:
    """Blanks and units that make no difference make no other output; what makes one does."""
    keys = [
        task_of(tmp_path, f"search:objective={text}").key
        for text in ("lexical(T_w(50h)->avgX)", "lexical( T_w(3000 min) -> avgX )", "lexical(T_w(51h) -> avgX)")
    ]
    assert keys[0] == keys[1] != keys[2]
    assert task_of(tmp_path, "search:objective=lexical(maxW->avgX)").entry == {
        "policy": "search",
        "objective": "lexical(maxW -> avgX)",
    }


def test_a_mistake_in_an_objective_is_shown(tmp_path: Path) -> None:
    """With a caret, before any task is run."""
    with pytest.raises(ParameterError, match=r"\n  tradeoff-a\(T_w:avgY\)\n                 \^\nexpected a measure"):
        task_of(tmp_path, "search:objective=tradeoff-a(T_w:avgY)")


def test_a_search_against_the_clock_is_no_version(tmp_path: Path) -> None:
    """It would be another schedule each time; the error says what to give instead."""
    with pytest.raises(ParameterError, match=r"^search: seconds=0\.5 gives another schedule .* give nodes"):
        task_of(tmp_path, "search:seconds=0.5")
    task_of(tmp_path, "search:seconds=0")


def test_a_search_by_utility(tmp_path: Path) -> None:
    """It needs the augmentation by utility functions, and has it by default."""
    policy = "search:objective=lexical(lost-utility),nodes=50"
    with pytest.raises(
        ParameterError, match=r"needs utility, which the augmentation 'utility' makes; add it to --augment"
    ):
        task_of(tmp_path, policy)
    built(SimulatePolicy(log=LOG, data_root=str(tmp_path), policy=policy))


def test_the_source_of_a_measure_is_in_the_key(tmp_path: Path, own_measure: Path) -> None:
    """Another text of one's own measure is another schedule; where none is there, the key is as it was."""
    policy = "my_measures:search:objective=lexical(processor-wait),nodes=50"
    first = task_of(tmp_path / "data", policy)
    key = first.key
    assert len(built(first).load_schedule()) == 300
    del sys.modules["my_measures"]
    own_measure.write_text(MEASURE.format(factor=22), encoding="utf-8")
    assert task_of(tmp_path / "data", policy).key != key


def test_a_comparison_names_measures_of_ones_own(tmp_path: Path, own_measure: Path) -> None:
    """Its manifest has their hashes, and no such entry without them."""
    policies = "fcfs,my_measures:search:objective=lexical(processor-wait),nodes=50"
    for name, expected in ((policies, ["processor-wait"]), ("fcfs", None)):
        task = built(ComparePolicies(log=LOG, data_root=str(tmp_path / "data"), policies=name))
        manifest = json.loads((Path(task.output().path) / "manifest.json").read_text(encoding="utf-8"))
        found = manifest["parameters"].get("own_measures")
        assert (found and list(found)) == expected
