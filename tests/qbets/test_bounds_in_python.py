# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of one's own in Python: what they are shown and asked, and what becomes of their errors and of Ctrl-C."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from signal import SIGINT, default_int_handler, raise_signal, signal
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.qbets import WaitPredictor, replay
from tests.interpreted import all_interpreted
from tests.qbets.test_replay_twin import drawn_log

OPTIONS: dict[str, Any] = {"by": None, "training": 20, "cluster_every": 100}


class Longest:
    """The longest wait; it writes down what it is shown and asked."""

    calls: ClassVar[list[tuple[str, int]]] = []

    def fit(self, waits: Any) -> None:
        """Forget, and learn."""
        self.waits = list(waits)
        self.calls.append(("fit", len(waits)))

    def update(self, waits: Any) -> None:
        """Learn more."""
        self.waits += list(waits)
        self.calls.append(("update", len(waits)))

    def predict(self) -> Any:
        """Return the longest."""
        self.calls.append(("predict", len(self.waits)))
        return max(self.waits)


class Breaks(Longest):
    """Raises, or says, something when it is asked for the fiftieth time."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def predict(self) -> Any:
        """Return what is no bound, in the end."""
        longest = super().predict()
        if sum(name == "predict" for name, _ in self.calls) != 50:
            return longest
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.fixture(autouse=True)
def _calls() -> None:
    Longest.calls.clear()


@pytest.fixture(scope="module")
def log() -> Trace:
    """Six hundred jobs."""
    return drawn_log("changing", 600, 5)


def test_what_it_is_shown(log: Trace) -> None:
    """All waits of its cluster once, in pieces that are never empty; it is asked once a job if any is known."""
    table = replay(log, Longest(), **OPTIONS, clustering=False, trimming=False)
    asked = [waits for name, waits in Longest.calls if name == "predict"]
    assert asked == table["history_length"][table["history_length"] > 0].tolist()
    shown = [waits for name, waits in Longest.calls if name != "predict"]
    assert min(shown) > 0
    assert sum(shown) == asked[-1]
    assert [name for name, _ in Longest.calls].count("fit") == 1


def test_what_it_is_shown_of_clusters(log: Trace) -> None:
    """What a cluster keeps, whatever was trimmed and clustered anew; each has a copy of its own."""
    mine = Longest()
    table = replay(log, mine, **OPTIONS)
    asked = [waits for name, waits in Longest.calls if name == "predict"]
    assert asked == table["history_length"][table["history_length"] > 0].tolist()
    assert table["cluster"].nunique() > 1
    assert not hasattr(mine, "waits")


@pytest.mark.parametrize("answer", ["many", [1.0, 2.0], float("-inf")])
def test_what_is_no_bound(log: Trace, answer: Any) -> None:
    """It is refused by name, and nothing is asked any more."""
    with pytest.raises(ParameterError, match=r"Breaks.predict\(\) returned .*, which is not a number of seconds"):
        replay(log, Breaks(answer), **OPTIONS)
    assert Longest.calls[-1][0] == "predict"
    assert sum(name == "predict" for name, _ in Longest.calls) == 50


@pytest.mark.parametrize("answer", [None, float("nan")])
def test_none_is_no_bound_yet(log: Trace, answer: float | None) -> None:
    """The job is told that too few waits are known, and the next one is told something again."""
    told = replay(log, Breaks(answer), **OPTIONS, availability=False)["no_prediction"]
    assert (told[told != "training"].dropna() == "too-few-waits").sum() == 1


@pytest.mark.parametrize("error", [ZeroDivisionError("mine"), SystemExit(3), KeyboardInterrupt()])
def test_its_errors_are_raised_as_they_are(log: Trace, error: BaseException) -> None:
    """With the line that raised them; it is not asked again, nothing is learnt, and the log can be replayed anew."""
    predictor = WaitPredictor(Breaks(error), **OPTIONS)
    with pytest.raises(type(error)) as caught:
        predictor.replay(log)
    assert repr(caught.value) == repr(error)
    assert [frame.name for frame in caught.traceback][-1] == "predict"
    assert sum(name == "predict" for name, _ in Longest.calls) == 50
    assert predictor.known == {}
    again = predictor.replay(log)
    assert again["wait_bound"].equals(replay(log, Longest(), **OPTIONS)["wait_bound"])


class IsInterrupted(Longest):
    """Somebody presses Ctrl-C while it is asked."""

    def predict(self) -> Any:
        """Return the longest."""
        if sum(name == "predict" for name, _ in self.calls) == 50:
            raise_signal(SIGINT)
            time.sleep(0.3)  # the main thread hears of it meanwhile
        return super().predict()


@pytest.fixture
def _hears_ctrl_c() -> Iterator[None]:
    """Where it is ignored, as beside a shell's "&", Python does so too."""
    before = signal(SIGINT, default_int_handler)
    yield
    signal(SIGINT, before)


@pytest.mark.usefixtures("_hears_ctrl_c")
def test_ctrl_c(log: Trace) -> None:
    """It is raised, nothing more is asked, and the log can be replayed anew."""
    predictor = WaitPredictor(IsInterrupted(), **OPTIONS)
    with pytest.raises(KeyboardInterrupt):
        predictor.replay(log)
    assert sum(name == "predict" for name, _ in Longest.calls) == 51
    assert predictor.known == {}
    assert len(predictor.replay(log)) == len(log)


INTERPRETED = """
import sys, pandas as pd
from tests.qbets.test_bounds_in_python import OPTIONS, Longest
from tests.qbets.test_replay_twin import drawn_log
from swftools.qbets import replay
print(replay(drawn_log("changing", 120, 5), Longest(), **OPTIONS).to_csv())
"""


def test_compiled_equals_interpreted() -> None:
    """Row for row, with kernels that are the Python that they are written in."""
    log = drawn_log("changing", 120, 5)
    expected = replay(log, Longest(), **OPTIONS)
    with all_interpreted():
        pd.testing.assert_frame_equal(replay(log, Longest(), **OPTIONS), expected, check_exact=True)
    assert len(expected) == 120


@pytest.mark.slow
def test_where_nothing_is_compiled() -> None:
    """So it is in a process in which numba compiles nothing."""
    table = subprocess.run(
        [sys.executable, "-c", INTERPRETED],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert table == replay(drawn_log("changing", 120, 5), Longest(), **OPTIONS).to_csv() + "\n"
    assert len(table.splitlines()) > 120


def test_a_copy_of_a_predictor_goes_on_by_itself(log: Trace) -> None:
    """What one is shown the other does not know."""
    half = log.with_jobs(log.jobs.head(300))
    rest = log.with_jobs(log.jobs.tail(300).reset_index(drop=True))
    predictor = WaitPredictor(Longest(), **OPTIONS)
    predictor.replay(half)
    other = copy.deepcopy(predictor)
    first, second = predictor.replay(rest), other.replay(rest)
    pd.testing.assert_frame_equal(first, second, check_exact=True)
    assert np.isfinite(first["wait_bound"].dropna()).all()
