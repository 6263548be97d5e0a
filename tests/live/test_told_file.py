# SPDX-License-Identifier: BSD-3-Clause
"""What was told is kept as it was told, and a journal that was read before is opened at once."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swftools.errors import ParameterError, StorageError
from swftools.live import JobEvent, Journal, Mark, ToldFile, ToldLedger, ToldWait, read_told
from swftools.live.journal import KEPT

TOLD = {"1": ToldWait("a/b", 60.0, None), "2": ToldWait("é\n", math.nan, "training")}


def written(path: Path) -> Path:
    """Return a file of what two jobs were told."""
    file = ToldFile(path)
    file.write(TOLD.items())
    file.close()
    return path


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Also where nothing was told; a file that is not there has told nothing."""
    assert repr(read_told(written(tmp_path / "t"))) == repr(TOLD)
    assert read_told(tmp_path / "none") == {}


def test_what_was_told_first_counts(tmp_path: Path) -> None:
    """Whoever tells a job again says nothing new; bytes that are passed over say nothing either."""
    size = written(tmp_path / "t").stat().st_size
    file = ToldFile(tmp_path / "t")
    assert file.size == size
    file.write([("1", ToldWait("a/b", 5.0, None))])
    file.write([])
    assert read_told(tmp_path / "t")["1"].bound == 60.0
    assert read_told(tmp_path / "t", size) == {"1": ToldWait("a/b", 5.0, None)}
    file.close()


def test_a_line_that_is_not_whole_is_cut_off(tmp_path: Path) -> None:
    """It was being written when somebody pulled the plug."""
    path = written(tmp_path / "t")
    whole = path.read_bytes()
    path.write_bytes(whole + b'["3","a",')
    assert list(read_told(path)) == ["1", "2"]
    ToldFile(path).close()
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "line", ["{}", "[1]", '["1","a",-1,null]', '["1","a","x",null]', '[1,"a",1,null]', '["1","a",1,5]', "x", "[]"]
)
def test_what_is_none_is_refused(tmp_path: Path, line: str) -> None:
    """With its line."""
    path = written(tmp_path / "t")
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ParameterError, match=r"t, line 3: says not what a job was told; restore"):
        read_told(path)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is half there."""
    path = written(tmp_path / "t")
    whole, file = path.read_bytes(), ToldFile(path)

    def fails(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        with pytest.raises(StorageError, match="No space left"):
            file.write([("3", ToldWait("a", 1.0, None))])
    assert path.read_bytes() == whole
    file.close()


def test_a_ledger_is_told_and_known_again() -> None:
    """As JSON."""
    ledger = ToldLedger()
    told = {job: ToldWait("a", 60.0, None) for job in "abc"}
    ledger.take([JobEvent("submitted", 5.0, job) for job in told], told)
    ledger.take([JobEvent("started", 50.0, "a"), JobEvent("started", 90.0, "b")], {})
    again = ToldLedger.from_mapping(json.loads(json.dumps(ledger.to_mapping())))
    for now in (60.0, 66.0):
        assert again.counts(now, 30, "a") == ledger.counts(now, 30, "a")
    assert again.counts(60.0)[1:] == (1, 1, 1)
    with pytest.raises((ValueError, TypeError, LookupError)):
        ToldLedger.from_mapping({"open": [[1]], "closed": []})


EVENTS = st.lists(
    st.builds(
        JobEvent,
        st.sampled_from(["submitted", "started", "ended"]),
        st.one_of(st.integers(0, 500_000).map(float), st.floats(0, 5e5)),
        st.sampled_from(["1", "2@5", 'a"b', "é", "back\\slash", "x\n"]),
        st.sampled_from(["", "blue", "ü"]),
        st.none() | st.integers(1, 9),
    ),
    max_size=30,
)


@settings(max_examples=40, deadline=None)
@given(before=EVENTS, after=EVENTS)
def test_a_journal_that_was_read_is_opened_at_its_mark(
    tmp_path_factory: pytest.TempPathFactory, before: list[JobEvent], after: list[JobEvent]
) -> None:
    """It refuses what it has, and takes what is new, as one that is read from its beginning."""
    path = tmp_path_factory.mktemp("j") / "j"
    with Journal(path) as journal:
        journal.append(before)
        mark = journal.mark
        journal.append(after)
    with Journal(path) as whole:
        known, events, end = whole._known, whole.events, whole.mark
    with Journal(path, Mark(*mark)) as quick:
        assert (quick.events, quick._known) == (events, known)  # all are of one week
        assert quick.append([*before, *after]) == []
        assert quick.mark[:2] == end[:2]


def test_a_mark_says_what_is_forgotten(tmp_path: Path) -> None:
    """What is older than a week need not be looked at again; all younger is known. Also of one that was read."""
    with Journal(tmp_path / "j") as journal:
        for day in range(20):
            journal.append([JobEvent("submitted", day * 86_400.0, str(day))])
        mark = journal.mark
    with Journal(tmp_path / "j") as again:
        assert again.mark == mark
    assert 0 < mark.forgotten < mark.bytes
    assert mark.events == 20
    first = (tmp_path / "j").read_bytes()[: mark.forgotten].count(b"\n")
    assert (first - 1) * 86_400 < 19 * 86_400 - KEPT
    assert (first + 1) * 86_400 >= 19 * 86_400 - KEPT
    with Journal(tmp_path / "j", mark) as quick:
        assert quick.append([JobEvent("submitted", day * 86_400.0, str(day)) for day in range(13, 20)]) == []
        assert quick.events == 20
        quick.append([JobEvent("submitted", 30 * 86_400.0, "30")])
        assert quick.mark.forgotten >= mark.forgotten
