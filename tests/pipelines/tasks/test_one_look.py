# SPDX-License-Identifier: BSD-3-Clause
"""Cells that are looked at together are those that they are one by one, and cost little each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from luigi.parameter import MissingParameterException, UnknownParameterException

from pipelines.tasks import log_task
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.measure import MeasureSchedule
from pipelines.tasks.one_look import asked_once, is_looking, one_look
from pipelines.tasks.publish_experiment import PublishExperiment
from pipelines.tasks.simulation_parameters import PoliciesParameter
from tests.pipelines.small_logs import build, small_log

POLICIES = ("easy", "fcfs", "easy:reservations=2")


@pytest.fixture
def logs(tmp_path: Path) -> list[str]:
    """Two logs in a folder."""
    paths = [tmp_path / "one.swf", tmp_path / "two.swf"]
    for number, path in enumerate(paths, 3):
        path.write_text(small_log(number))
    return [str(path) for path in paths]


def cells_of(logs: list[str], shakes: int) -> list[MeasureSchedule]:
    """Return the cells of an experiment."""
    planned = {"name": "trial", "logs": logs, "policies": list(POLICIES), "shakes": list(range(1, shakes + 1))}
    return PublishExperiment(experiment=planned, data_root=str(Path(logs[0]).parent)).cells


def test_cells_of_one_look_are_those_one_by_one(logs: list[str]) -> None:
    """Parameters, with their types, and keys."""
    with one_look():
        together = cells_of(logs, 3)
        keys = [cell.key for cell in together]
    alone = [MeasureSchedule(**cell.param_kwargs) for cell in together]
    assert [cell.task_id for cell in alone] == [cell.task_id for cell in together]
    assert [cell.key for cell in alone] == keys
    assert len({*keys}) == len(keys) == 2 * len(POLICIES) * 3
    for one, other in zip(alone, together, strict=True):
        assert [(type(value), value) for value in one.param_kwargs.values()] == [
            (type(value), value) for value in other.param_kwargs.values()
        ]


def test_what_cells_share_is_asked_once(logs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A log is found once, and a policy read once, however many cells have it."""
    found: list[str] = []
    read: list[Any] = []
    find_log, normalize = log_task.find_log, PoliciesParameter.normalize
    monkeypatch.setattr(log_task, "find_log", lambda log, how: found.append(log) or find_log(log, how))
    monkeypatch.setattr(
        PoliciesParameter, "normalize", lambda self, value: read.append(value) or normalize(self, value)
    )
    with one_look():
        cells = cells_of(logs, 20)
        _ = [(cell.key, cell.is_done()) for cell in cells]
    assert len(cells) == 120
    assert sorted(found) == sorted(logs)
    assert len(read) <= 10 * len(POLICIES)  # once by each class of tasks, as it is written and in its one form


def test_a_log_that_changes_is_another_one_in_the_next_look(logs: list[str]) -> None:
    """And in the same look it is the one that it was."""
    cell = cells_of(logs, 1)[0]
    with one_look():
        key = cell.key
        Path(logs[0]).write_text(small_log(9))
        assert cell.key == key
        with one_look():
            assert cell.key == key
    with one_look():
        assert cell.key != key


def test_values_that_are_equal_but_of_other_types_are_told_apart() -> None:
    """The number 1 is no truth value: what reads a parameter sees what was given."""
    params = MeasureSchedule.get_params()
    with one_look():
        given = [
            dict(MeasureSchedule.get_param_values(params, (), {"data_root": "d", "seed": seed})) for seed in (1, True)
        ]
    assert [type(values["seed"]) for values in given] == [int, bool]


def test_wrong_parameters_are_told_of_in_a_look_too() -> None:
    """As outside of one."""
    with one_look():
        with pytest.raises(UnknownParameterException, match="colour"):
            MeasureSchedule(data_root="d", colour="red")
        with pytest.raises(MissingParameterException, match="experiment"):
            PublishExperiment(data_root="d")


def test_a_task_takes_one_look(logs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its log is found once, whatever it asks of it: whether it is complete, and what it requires; then again."""
    found: list[str] = []
    find_log = log_task.find_log
    monkeypatch.setattr(log_task, "find_log", lambda log, how: found.append(log) or find_log(log, how))
    task = BuildAugmentedTrace(log=logs[0], data_root=str(Path(logs[0]).parent / "data"))
    for ask in (task.complete, task.deps, lambda: task.version):
        found.clear()
        ask()
        assert found == logs[:1]
    before = task.version
    Path(logs[0]).write_text(small_log(9))
    assert task.version != before
    assert build(BuildAugmentedTrace(log=logs[0], data_root=str(Path(logs[0]).parent / "data")))
    assert task.complete()
    assert asked_once(len, "outside of a look") == 17
    assert not is_looking()


def test_a_mistake_is_not_kept(logs: list[str]) -> None:
    """What raises is asked again."""
    asked: list[str] = []

    def fails(log: str) -> None:
        asked.append(log)
        raise OSError(log)

    with one_look():
        for _ in range(2):
            with pytest.raises(OSError, match="one"):
                asked_once(fails, logs[0])
    assert len(asked) == 2
