# SPDX-License-Identifier: BSD-3-Clause
"""The file of an experiment: what it says, and that a slip of the pen is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines.experiments.axes import AXES, cells_of
from pipelines.experiments.file import read_experiment
from pipelines.tasks.measure import MeasureSchedule
from swftools.errors import SwfToolsError

SMALL: dict[str, Any] = {"name": "small", "logs": ["a.swf", "b.swf"], "policies": ["fcfs", "easy"], "seeds": [0, 1]}


def test_cells_are_the_product_without_what_is_excluded() -> None:
    """In the order of the axes, whatever their order in the file; the last runs fastest."""
    found = read_experiment(
        {**SMALL, "exclude": [{"logs": "b.swf", "policies": "fcfs"}, {"seeds": 1, "logs": "a.swf"}]}
    )
    told = [(cell["log"], cell["policy"], cell["seed"]) for cell in found.cells()]
    assert told == [("a.swf", "fcfs", 0), ("a.swf", "easy", 0), ("b.swf", "easy", 0), ("b.swf", "easy", 1)]
    assert [] == list(cells_of({"policies": ["easy"], "logs": []}))


def test_a_subset_narrows_some_axes() -> None:
    """The others keep their values."""
    found = read_experiment({**SMALL, "subsets": {"one": {"logs": ["b.swf"], "seeds": 1}}})
    assert [("b.swf", "fcfs", 1), ("b.swf", "easy", 1)] == [
        (cell["log"], cell["policy"], cell["seed"]) for cell in found.cells("one")
    ]
    assert 8 == len(found.cells())
    with pytest.raises(SwfToolsError, match="no subset 'on'; there are: one"):
        found.cells("on")


def test_file_dict_and_json_say_the_same(tmp_path: Path) -> None:
    """And what is read is written as JSON from which the same follows."""
    path = tmp_path / "small.yaml"
    path.write_text("name: small\nlogs: [a.swf, b.swf]\npolicies: [fcfs, easy]\nseeds: [0, 1]\nbaseline: easy\n")
    found = read_experiment(str(path))
    assert read_experiment({**SMALL, "baseline": "easy"}) == found == read_experiment(found.text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"polices": ["easy"]}, "unknown key 'polices'.*policies"),
        ({"seeds": []}, "seeds is empty"),
        ({"seeds": [0, 0]}, "stands there twice"),
        ({"seeds": [-1]}, "-1 is not a whole number >= 0"),
        ({"seeds": [True]}, "True is not a whole number"),
        ({"loads": ["high"]}, "'high' is not a number >= 0"),
        ({"logs": [3]}, "3 is not a text"),
        ({"policies": [3]}, "3 is not a text or a mapping"),
        ({"restart_overhead": [[]]}, "is not seconds or a text"),
        ({"baseline": "sjf"}, "baseline 'sjf' is none of the policies"),
        ({"exclude": [{"policies": "sjf"}]}, "entry 1: 'sjf' is not on the axis policies"),
        ({"exclude": [{}]}, "entry 1: it is not a mapping"),
        ({"exclude": {"policies": "easy"}}, "exclude is not a list"),
        ({"exclude": [{"policies": ["easy", "fcfs"]}]}, "the product of its axes is empty"),
        ({"subsets": {"x": {"loads": 1}}}, "unknown key 'loads'"),
        ({"subsets": [1]}, "subsets is not a mapping"),
        ({"name": "../x"}, "experiment '../x'"),
        ({"name": 3}, "name 3 is not a word"),
    ],
)
def test_slips_are_told(change: dict[str, Any], message: str) -> None:
    """One error that names the place."""
    with pytest.raises(SwfToolsError, match=message):
        read_experiment({**SMALL, **change})


@pytest.mark.parametrize("missing", ["name", "logs", "policies"])
def test_what_must_be_there(missing: str) -> None:
    """A name, a log and a policy."""
    with pytest.raises(SwfToolsError, match=f"{missing} is missing"):
        read_experiment({key: value for key, value in SMALL.items() if key != missing})


def test_files_that_are_none(tmp_path: Path) -> None:
    """Not there, empty, not YAML; and text that is not JSON."""
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "bad.yaml").write_text("name: [")
    for source, message in {
        str(tmp_path / "none.yaml"): "No such file",
        str(tmp_path / "empty.yaml"): "must be a mapping",
        str(tmp_path / "bad.yaml"): "bad.yaml, line 1: not readable as YAML",
        "{": "not readable as JSON",
    }.items():
        with pytest.raises(SwfToolsError, match=message):
            read_experiment(source)


def test_axes_are_parameters_of_the_task() -> None:
    """Each axis varies a parameter that a cell has."""
    assert set(AXES.values()) <= {name for name, _ in MeasureSchedule.get_params()}


def test_a_log_for_each_file(tmp_path: Path) -> None:
    """In the order of their names; a pattern by itself stays one log."""
    for name in ("b.swf", "a.swf", "c.txt"):
        (tmp_path / name).touch()
    found = read_experiment({**SMALL, "logs": ["z.swf", {"each": str(tmp_path / "*.swf")}]})
    assert ["z.swf", str(tmp_path / "a.swf"), str(tmp_path / "b.swf")] == found.axes["logs"]
    assert found == read_experiment(found.text)
    with pytest.raises(SwfToolsError, match="no file is like"):
        read_experiment({**SMALL, "logs": [{"each": str(tmp_path / "*.gz")}]})
    with pytest.raises(SwfToolsError, match=r"written \{each: PATTERN\}"):
        read_experiment({**SMALL, "logs": {"every": "*"}})


def test_two_experiments_with_one_name(tmp_path: Path) -> None:
    """In one folder: told of with both files; other files of it, and one of another name, are left alone."""
    text = "name: {}\nlogs: [a.swf]\npolicies: [fcfs]\n"
    for file, name in (("one", "same"), ("other", "else")):
        (tmp_path / f"{file}.yaml").write_text(text.format(name))
    (tmp_path / "settings.yaml").write_text("name: same\n")
    (tmp_path / "broken.yaml").write_text("name: [")
    assert "same" == read_experiment(tmp_path / "one.yaml").name
    (tmp_path / "copy.yml").write_text(text.format("same"))
    with pytest.raises(SwfToolsError, match=r"one.yaml: .*copy.yml is called 'same' too"):
        read_experiment(tmp_path / "one.yaml")
