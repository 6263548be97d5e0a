# SPDX-License-Identifier: BSD-3-Clause
"""The form of saved states: every number comes back, equal knowledge is equal bytes, what does not fit is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError, StateError, StateNotFoundError
from swftools.header import SwfHeader
from swftools.named import named_groups, names_within
from swftools.qbets import WaitPredictor
from swftools.qbets.bounds import BinomialBound, TrailingQuantile, list_bounds
from swftools.qbets.known_queue import KnownQueue, StillWaiting, nothing_known
from swftools.qbets.live_state import label_of
from swftools.qbets.python_bounds import SHOWN, ListedWaits
from swftools.qbets.saved_state import read_state, write_state
from tests.qbets.test_replay import log_of

ABOUT = {"method": "binomial", "name": "binomial", "by": [], "start": None, "parameters": {}}

EMPTY = nothing_known()
ONE_CLUSTER = EMPTY.history._replace(
    **{name: np.zeros(1) for name in ("end", "first_time")},
    **{name: np.zeros(1, np.int64) for name in ("since", "last", "known", "kept", "misses", "calm", "draining")},
    places=np.array([2]),
    states=np.zeros(2),
)
KNOWN = EMPTY._replace(history=ONE_CLUSTER, arrivals=ONE_CLUSTER, gaps=ONE_CLUSTER)


def waiting(*numbers: float) -> KnownQueue:
    """Return what is known of a queue in which jobs wait; all four columns have these numbers."""
    return KNOWN._replace(waiting=StillWaiting(*[np.array(numbers)] * 4))


@given(numbers=st.lists(st.floats(allow_nan=False), max_size=20))
def test_every_number_comes_back(tmp_path_factory: pytest.TempPathFactory, numbers: list[float]) -> None:
    """Bit for bit, also of the column that is saved in steps, which need not rise."""
    path = tmp_path_factory.mktemp("state") / "state"
    write_state(path, ABOUT, {"all": waiting(*numbers)})
    read: KnownQueue = read_state(path).known("all", nothing_known())
    for column in read.waiting:
        assert column.tobytes() == np.array(numbers, np.float64).tobytes()


def test_one_nan(tmp_path: Path) -> None:
    """Whatever sign and payload the processor gave it; it is read as one."""
    some, other = np.nan, np.array([0xFFF8_0000_0000_0001], np.uint64).view(np.float64)[0]
    for name, number in (("one", some), ("other", other)):
        write_state(tmp_path / name, ABOUT, {"all": waiting(1.0, number)})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    read: KnownQueue = read_state(tmp_path / "one").known("all", nothing_known())
    assert np.isnan(read.waiting.told).tolist() == [False, True]


def test_order_of_groups_and_of_words(tmp_path: Path) -> None:
    """In which they were met does not matter."""
    one, other = waiting(1.0), waiting(2.0)
    write_state(tmp_path / "one", ABOUT, {"b": one, "a": other})
    write_state(tmp_path / "other", dict(reversed(ABOUT.items())), {"a": other, "b": one})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    state = read_state(tmp_path / "one")
    assert state.labels == ["a", "b"]
    assert state.known("b", nothing_known()).waiting.wait.tolist() == [1.0]
    assert not state.is_of_rival


@pytest.mark.parametrize("kind", [*list_bounds().values(), ListedWaits], ids=lambda kind: kind.name)
def test_a_settled_state(kind: Any) -> None:
    """It tells what it told; what was forgotten is not in it, nor room, and settling it again changes nothing."""
    bound, rng = kind(), np.random.default_rng(0)
    first, later = rng.exponential(100.0, 90), rng.exponential(100.0, 70)
    facts = bound.facts(500)[0]
    used, fresh = (np.zeros(bound.places(500)) for _ in range(2))
    for wait in first:
        kind.add(used, facts, wait)
    used[:64] = 0.0  # as what is forgotten is
    for state in (used, fresh):
        for wait in later:
            kind.add(state, facts, wait)
    settled = bound.settled(used, 70)
    np.testing.assert_array_equal(settled, bound.settled(fresh, 70))
    np.testing.assert_array_equal(bound.settled(settled, 70), settled)
    assert len(settled) == bound.places(70)
    if kind is not ListedWaits:
        assert kind.bound(settled, bound.facts(70)[0]) == kind.bound(used, facts)


def test_heaps_are_sorted() -> None:
    """In whichever order waits were learnt; the smallest stand first."""
    bound, waits = BinomialBound(0.5), np.random.default_rng(0).permutation(np.arange(100.0))
    facts = bound.facts(100)[0]
    states = np.zeros((2, bound.places(100)))
    for state, order in zip(states, (waits, waits[::-1]), strict=True):
        for wait in order:
            BinomialBound.add(state, facts, wait)
    one, other = (bound.settled(state, 100) for state in states)
    np.testing.assert_array_equal(one, other)
    below = int(one[1])
    assert one[2 : 2 + below].tolist() == list(range(below))[::-1]
    assert one[2 + below :].tolist() == list(range(below, 100))[::-1]


def test_what_an_object_was_shown() -> None:
    """It is shown anew."""
    state = np.zeros(20)
    state[SHOWN] = 5.0
    assert not ListedWaits().settled(state, 10).any()
    assert len(TrailingQuantile(window=3).settled(np.ones(8), 1)) == 8


def written(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the head of a state, with a checksum that is right."""
    form, _, content = path.read_bytes().split(b"\n", 2)
    head, _, arrays = content.partition(b"\n")
    said = json.loads(head)
    change(said)
    content = json.dumps(said).encode() + b"\n" + arrays
    path.write_bytes(form + b"\n" + hashlib.sha256(content).hexdigest().encode() + b"\n" + content)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda said: said["groups"][0]["arrays"][0].__setitem__(1, "<c16"), "not what this swftools writes: '<c16'"),
        (lambda said: said["groups"][0]["arrays"][0].__setitem__(1, "<i8"), "history/value is of int64"),
        (lambda said: said["groups"][0]["arrays"][0].__setitem__(0, "tea"), r"group 'all': 'history/value'"),
        (lambda said: said["groups"][0]["arrays"].append(["tea", "<f8", 0]), "group 'all': it has tea too"),
        (lambda said: said["groups"][0].update(bytes=10), "group 'all': "),
        (lambda said: said["groups"][0].update(arrays=3), "not what this swftools writes"),
        (lambda said: said["groups"][0]["arrays"][0].__setitem__(2, 10**9), "group 'all': "),
    ],
)
def test_another_program_wrote_it(tmp_path: Path, change: Callable[[dict[str, Any]], None], says: str) -> None:
    """What is not understood is not read, though its checksum is right."""
    predictor = WaitPredictor(by=None, training=5)
    predictor.replay(log_of(wait_time=[1.0] * 30))
    predictor.save(tmp_path / "state")
    written(tmp_path / "state", lambda said: None)
    assert WaitPredictor.load(tmp_path / "state").last == 29.0
    written(tmp_path / "state", change)
    with pytest.raises(StateError, match=says):
        WaitPredictor.load(tmp_path / "state")


@pytest.mark.parametrize(
    ("known", "says"),
    [
        (KNOWN._replace(waiting=KNOWN.waiting._replace(wait=np.zeros(3))), "columns are of several lengths"),
        (KNOWN._replace(values=KNOWN.values._replace(jobs=np.zeros(3))), "columns are of several lengths"),
        (KNOWN._replace(gaps=ONE_CLUSTER._replace(time=np.zeros(3))), "values or clusters have columns"),
        (KNOWN._replace(gaps=ONE_CLUSTER._replace(kept=np.zeros(2, np.int64))), "values or clusters have columns"),
        (KNOWN._replace(history=ONE_CLUSTER._replace(x=np.zeros(1))), "values or clusters have columns"),
        (KNOWN._replace(history=EMPTY.history), "values or clusters have columns"),
        (KNOWN._replace(history=ONE_CLUSTER._replace(places=np.array([3]))), "states of another length"),
        (KNOWN._replace(history=ONE_CLUSTER._replace(value=np.zeros(2), time=np.zeros(2))), "states of another length"),
        (KNOWN._replace(submitted=np.zeros(2, np.int64)), "submitted is of int64, 2 numbers"),
    ],
)
def test_columns_that_do_not_fit(tmp_path: Path, known: KnownQueue, says: str) -> None:
    """They are refused before anyone reads beyond them."""
    write_state(tmp_path / "state", ABOUT, {"all": KNOWN})
    read_state(tmp_path / "state").known("all", nothing_known())
    write_state(tmp_path / "state", ABOUT, {"all": known})
    with pytest.raises(StateError, match=says):
        read_state(tmp_path / "state").known("all", nothing_known())


def test_no_file(tmp_path: Path) -> None:
    """That is an error of its own, for who begins where nothing was saved yet."""
    with pytest.raises(StateNotFoundError, match="No such file or directory; mend the path"):
        read_state(tmp_path / "none")
    assert issubclass(StateNotFoundError, StateError)


def test_names_behind_numbers_of_groups(tmp_path: Path) -> None:
    """A state has those of its groups, if it is to; one without, as older ones are, is read as before."""
    predictor = WaitPredictor("binomial", training=0)
    for jobs, names in ((20, ["; Queue: 3 batch", "; Queue: 4 none"]), (10, ["; Queue: 3 short"]), (10, [])):
        begin = predictor.last + 1 if predictor.known else 0
        log = log_of(wait_time=[5] * jobs, queue_id=[3] * jobs, submit_time=begin + np.arange(jobs))
        predictor.replay(Trace(SwfHeader.from_lines(names), log.jobs))
    predictor.save(tmp_path / "with")
    predictor.save(tmp_path / "without", with_names=False)
    assert read_state(tmp_path / "with").names == {"queue": {3: "short"}}, "of the last log that has names"
    assert read_state(tmp_path / "without").names == {}
    assert b"names" not in (tmp_path / "without").read_bytes()
    assert WaitPredictor.load(tmp_path / "with").names == {"queue": {3: "short"}}
    for name in ("with", "without"):
        WaitPredictor.load(tmp_path / name).save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / name).read_bytes()
    assert read_state(tmp_path / "with").labels == read_state(tmp_path / "without").labels == ["3"]


@pytest.mark.parametrize(
    "names",
    [
        *([], "batch", None, 3, {"queue": ["batch"]}, {"queue": "batch"}, {"queue": None}, {"queue": {"3": 3}}),
        *({"queue": {"3": None}}, {"queue": {"3": ["batch"]}}, {"queue": {"x": "batch"}}, {"queue": {"": "batch"}}),
        *({"queue": {"3.0": "batch"}}, {"queue": {"9" * 5000: "batch"}}, {"queue": {"NaN": "batch"}}),
    ],
)
def test_forged_names(tmp_path: Path, names: Any) -> None:
    """Others than texts by kind and number are refused."""
    write_state(tmp_path / "state", {**ABOUT, "names": names}, {"all": KNOWN})
    with pytest.raises(StateError, match="is not what this swftools writes"):
        read_state(tmp_path / "state")


@pytest.mark.parametrize(
    "names",
    [
        {},
        {"queue": {}},
        {"queue": {"7": "batch", "-1": "missing", str(10**30): "large", "9" * 4000: "long"}},
        {"nonsense": {"3": "batch"}},
        {"queue": {"4": "\ud800\x1b[2J\u202e" + "n" * 100_000}},
    ],
)
def test_names_of_nothing(tmp_path: Path, names: Any) -> None:
    """Numbers that no group has, and kinds that there are not, are as if they were not there."""
    label = "9" * 5000
    about = {**ABOUT, "by": ["queue"]}
    write_state(tmp_path / "state", {**about, "names": names}, {"3": KNOWN, label: KNOWN})
    saved = read_state(tmp_path / "state")
    assert label_of(saved, "3") == "3"
    assert named_groups(saved.labels, ["queue"], saved.names) == {"3": "3", label: label}
    with pytest.raises(ParameterError, match="knows no queue 'batch'"):
        label_of(saved, "batch")
    assert names_within(saved.labels, ["queue"], saved.names) == {}
