# SPDX-License-Identifier: BSD-3-Clause
"""A data set has versions of one log, as it grows; another log by the same name is refused before the work on it."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from pipelines.logs.sources import continues
from pipelines.store.data_root import DataRoot
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.check_source import CheckSource
from pipelines.tasks.compare import ComparePolicies
from tests.pipelines import luigi_runs
from tests.pipelines.luigi_runs import SWFTOOLS, run
from tests.pipelines.small_logs import build, small_log


def task_of(root: Path, folder: str, text: str, **parameters: object) -> BuildAugmentedTrace:
    """Write a log called trace.swf in a folder, and return the task that publishes it."""
    log = root / folder / "trace.swf"
    log.parent.mkdir(exist_ok=True)
    log.write_text(text)
    return BuildAugmentedTrace(log=str(log), data_root=str(root / "data"), augment="", **parameters)


def versions(root: Path, data_set: str = "trace") -> int:
    """Return how many versions a data set has."""
    return len(DataRoot.open(root / "data").versions(data_set))


def test_another_log_of_the_same_name_is_refused_before_the_work(tmp_path: Path) -> None:
    """Status 30, one line with both remedies, and neither stage nor version of it is there."""
    assert build(task_of(tmp_path, "a", small_log(3)))
    other = task_of(tmp_path, "b", small_log(3, first=7))
    parsed = sorted((tmp_path / "data" / ".work" / "parsed").glob("[!.]*"))
    result = luigi_runs.build(tmp_path, "--BuildAugmentedTrace-log", str(other.log), "--augment", "none")
    assert 30 == result.returncode, result.stderr
    lines = [line for line in result.stderr.splitlines() if "made of another log" in line]
    assert 1 == len(lines)
    assert all(word in lines[0] for word in ("data set 'trace'", "--data-set NAME", "--other-source"))
    assert "Traceback" not in result.stderr
    assert "published" not in result.stdout
    assert parsed == sorted((tmp_path / "data" / ".work" / "parsed").glob("[!.]*"))
    assert 1 == versions(tmp_path)


def test_it_is_published_if_that_is_meant(tmp_path: Path) -> None:
    """By --other-source under the same name, by --data-set under another."""
    assert build(task_of(tmp_path, "a", small_log(3)))
    other = task_of(tmp_path, "b", small_log(3, first=7))
    flags = ["--log", str(other.log), "--augment", "none"]
    assert 0 == run([*SWFTOOLS, "augment", *flags, "--data-set", "elsewhere"], tmp_path).returncode
    assert (1, 1) == (versions(tmp_path), versions(tmp_path, "elsewhere"))
    assert 0 == run([*SWFTOOLS, "augment", *flags, "--other-source"], tmp_path).returncode
    assert 2 == versions(tmp_path)


def test_both_logs_of_a_data_set_may_grow_then(tmp_path: Path) -> None:
    """Once a data set has two logs, a continuation of either is none of another."""
    assert build(task_of(tmp_path, "a", small_log(3)))
    assert build(task_of(tmp_path, "b", small_log(3, first=7), other_source=True))
    assert build(task_of(tmp_path, "a", small_log(4)))
    assert build(task_of(tmp_path, "b", small_log(4, first=7)))
    assert 4 == versions(tmp_path)


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_log_that_grew_is_the_same_log(tmp_path: Path, is_packed: bool) -> None:
    """The earlier text is its beginning; how it is compressed does not count."""
    assert build(task_of(tmp_path, "a", small_log(3)))
    grown = task_of(tmp_path, "b", small_log(5))
    if is_packed:
        packed = Path(f"{grown.log}.gz")
        packed.write_bytes(gzip.compress(small_log(5).encode()))
        grown = BuildAugmentedTrace(log=str(packed), data_root=grown.data_root, augment="")
    assert build(grown)
    assert 2 == versions(tmp_path)


def test_a_log_that_lost_its_end_is_another(tmp_path: Path) -> None:
    """What was published of it held more."""
    assert build(task_of(tmp_path, "a", small_log(5)))
    assert not build(task_of(tmp_path, "a", small_log(3)))


def test_other_parameters_are_no_other_log(tmp_path: Path) -> None:
    """The same text under other rules is a version like any."""
    assert build(task_of(tmp_path, "a", small_log(3)))
    assert build(task_of(tmp_path, "a", small_log(3), rules="duplicates"))
    assert 2 == versions(tmp_path)


def test_models_are_data_sets_of_their_own(tmp_path: Path) -> None:
    """Other parameters are another name, and under one name another log."""
    names = set()
    for seed in (1, 2):
        log = f"lublin-feitelson:jobs=20,seed={seed}"
        task = BuildAugmentedTrace(log=log, data_root=str(tmp_path), augment="")
        assert build(task)
        names.add(task.data_set_name)
        named = BuildAugmentedTrace(log=log, data_root=str(tmp_path), augment="", data_set="synthetic")
        assert build(named) == (seed == 1)
    assert {"lublin-feitelson-jobs20-seed1", "lublin-feitelson-jobs20-seed2"} == names


def test_comparisons_are_checked_too(tmp_path: Path) -> None:
    """Whatever publishes does."""
    tasks = []
    for folder, first in (("a", 0), ("b", 7)):
        log = task_of(tmp_path, folder, small_log(3, first)).log
        tasks.append(ComparePolicies(log=log, data_root=str(tmp_path / "data"), policies="fcfs", augment=""))
    assert [True, False] == [build(task) for task in tasks]


def test_a_log_that_must_be_fetched_first_is_looked_into_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until its text is there nothing is refused, and the text is required."""
    assert build(task_of(tmp_path, "a", small_log(3)))
    task = task_of(tmp_path, "b", small_log(3, first=7))
    monkeypatch.setattr(CheckSource, "_text", lambda self: None)
    check = task.source_check
    assert (check.is_refused(), check.is_done()) == (False, False)
    assert ["AcquireLog"] == [required.get_task_family() for required in check.requires()]
    assert len(task.requires()) > 1


@pytest.mark.parametrize(("length", "is_beginning"), [(0, True), (4, True), (3, False), (5, False), (99, False)])
def test_a_beginning_is_of_that_length_and_that_hash(tmp_path: Path, length: int, is_beginning: bool) -> None:
    """One byte more or less is another text."""
    log = tmp_path / "log"
    log.write_bytes(b"abcdef")
    beginning = {0: b"", 4: b"abcd"}.get(length, b"abcd")
    assert is_beginning == continues(log, length, hashlib.sha256(beginning).hexdigest())
