# SPDX-License-Identifier: BSD-3-Clause
"""What tests take is held against what is written of them, and the nearest tests are chosen that fit into a minute."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import quick
from tests.durations import ENOUGH, MOST, read, too_long, write
from tests.folders import ROOT

WRITTEN = {f"tests/test_{number}.py": 2.0 for number in range(ENOUGH)}


def test_a_slower_machine_is_no_slower_test() -> None:
    """Files are compared with each other: all of them three times as long are all of them as they were."""
    assert too_long(WRITTEN, WRITTEN) == {}
    assert too_long({name: 3 * seconds for name, seconds in WRITTEN.items()}, WRITTEN) == {}


def test_one_that_takes_far_longer_is_named() -> None:
    """In seconds of the machine on which they were written; so is a file of which nothing is written."""
    found = {name: 3 * seconds for name, seconds in WRITTEN.items()}
    first = next(iter(found))
    assert too_long({**found, first: 3 * (2 * 2.0 + MOST) + 0.3}, WRITTEN) == {
        first: pytest.approx(2 * 2.0 + MOST + 0.1)
    }
    assert too_long({**found, first: 3 * (2 * 2.0 + MOST) - 0.3}, WRITTEN) == {}
    assert too_long({**found, "tests/test_new.py": 3 * MOST + 0.3}, WRITTEN) == {
        "tests/test_new.py": pytest.approx(MOST + 0.1)
    }


def test_a_few_tests_are_held_against_nothing() -> None:
    """Their pace is that of the first start."""
    few = dict(list(WRITTEN.items())[1:])
    assert too_long({**few, "tests/test_new.py": 99.0}, WRITTEN) == {}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """The longest stands first."""
    path = tmp_path / "durations.txt"
    write({"tests/a.py": 0.26, "tests/b b.py": 12.0}, path)
    assert read(path) == {"tests/b b.py": 12.0, "tests/a.py": 0.3}
    assert path.read_text().splitlines()[1] == "12.0 tests/b b.py"


def test_every_file_that_is_written_of_is_there() -> None:
    """One that was renamed is written anew."""
    assert [name for name in read() if not (ROOT / name).exists()] == []


def test_the_nearest_tests_are_chosen() -> None:
    """Tests that were changed themselves, then those by name, and others of the room."""
    source = "swftools/qbets/change_points.py"
    tests, left = quick.chosen([source, "tests/test_going.py"])
    assert tests[:2] == ["tests/test_going.py", "tests/qbets/test_change_points.py"]
    assert not {*tests} & {*left}
    every, none = quick.chosen([source], 1e9)
    assert none == []
    assert {*every} == {*quick.chosen([source])[0], *quick.chosen([source])[1]}
    first, others = quick.chosen([source], -1.0)
    assert (first, others) == ([], every)


def test_a_folder_is_what_is_in_it() -> None:
    """And no other whose name begins alike."""
    assert quick.chosen(["tests/qbets/bounds/"], 1e9)[0] == [
        path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tests/qbets/bounds").glob("test_*.py"))
    ]
    assert quick.chosen(["swftools/qbet"], 1e9) == ([], [])
