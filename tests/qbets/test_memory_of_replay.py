# SPDX-License-Identifier: BSD-3-Clause
"""What a replay takes of memory, what it shares with the log, and what its table is made of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import StateError
from swftools.kernel.arrays import MANY_BYTES, untouched_zeros
from swftools.qbets import WaitPredictor, replay
from swftools.qbets.log_columns import group_labels
from swftools.tables import to_arrow, to_pandas
from tests.qbets.test_replay_twin import drawn_log

ON_LINUX = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="/proc tells what a process has")

MEASURED = """
import ctypes, gc, sys
from pathlib import Path
import numpy as np
import pyarrow as pa
from swftools import Trace
from swftools.qbets import replay
from swftools.kernel import untouched_zeros

def has(which):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(which))

def give_back():  # what is free, and would be taken again before the system is asked for more
    gc.collect()
    pa.default_memory_pool().release_unused()
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)

def log_of(jobs):
    rng = np.random.default_rng(0)
    return Trace.from_columns(
        job_number=np.arange(jobs),
        submit_time=np.cumsum(rng.choice([0, 5, 50, 500], jobs)),
        wait_time=np.floor(rng.exponential(100.0, jobs)),
        run_time=np.full(jobs, 10),
        requested_time=rng.choice([60, 120, 300, 600, 3600], jobs),
        queue_id=np.arange(jobs) % 3,
    )

"""

REPLAYED = """
by = None if sys.argv[1] == "all" else sys.argv[1]
on = sys.argv[2] == "on"
log, few = log_of(600_000), log_of(2_000)
options = dict(by=by, trimming=False, clustering=on, availability=on, cluster_every=20_000)
replay(few, **options)
give_back()
Path("/proc/self/clear_refs").write_text("5")
before = has("VmRSS")
table = replay(log, **options)
print((has("VmHWM") - before) / len(table))
"""

ROOM = """
large = np.ones(4_000_000)
del large  # from now on the C library keeps what is smaller, to hand it out again
used = [np.ones(100_000) for _ in range(300)]
used = used[::10]
give_back()
before = has("VmRSS")
rooms = [untouched_zeros(100_000).reshape(5, -1) for _ in range(250)] + [untouched_zeros(20_000_000).reshape(5, -1)]
for one in rooms:
    assert not one[2, :9].any()
    one[4, -1] = 2.0
print(has("VmRSS") - before)
"""


def measured(text: str, *arguments: str) -> float:
    """Return what a program prints."""
    command = [sys.executable, "-c", MEASURED + text, *arguments]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@ON_LINUX
@pytest.mark.slow
@pytest.mark.parametrize("by", ["all", "queue"])
@pytest.mark.parametrize("parts", ["on", "off"])
def test_bytes_a_job(by: str, parts: str) -> None:
    """At most 200 beside the log, the table among them; nothing is trimmed, so that all waits are kept."""
    assert measured(REPLAYED, by, parts) < 200


@ON_LINUX
def test_room_takes_nothing() -> None:
    """Of 360 MB of room pages are taken that are written to, whatever was freed before."""
    assert measured(ROOM) < 10e6


@pytest.mark.parametrize("numbers", [0, 1, MANY_BYTES // 16 - 1, MANY_BYTES // 16, MANY_BYTES])
def test_room_is_as_zeros(numbers: int) -> None:
    """Of any size it is what ``np.zeros`` returns, to be written to."""
    room = untouched_zeros(2 * numbers).reshape(2, numbers)
    np.testing.assert_array_equal(room, np.zeros((2, numbers)))
    assert (room.dtype, room.flags.c_contiguous, room.flags.writeable) == (np.float64, True, True)
    room[1, -1:] = 3.0
    assert room.sum() == 3.0 * min(numbers, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_room_is_not_shared_with_a_forked_process() -> None:
    """What a child writes its parent does not see."""
    room = untouched_zeros(MANY_BYTES)
    child = os.fork()
    if child == 0:
        room[:] = 1.0
        os._exit(0)
    os.waitpid(child, 0)
    assert not room.any()


@pytest.fixture
def log() -> Trace:
    """Three hundred jobs of two queues and one that is not known, of users."""
    made = drawn_log("changing", 300, 5)
    queue = [None if row % 7 == 0 else row % 3 % 2 for row in range(300)]
    jobs = made.jobs.assign(queue_id=pd.array(queue, "Int64"), user_id=pd.array(np.arange(300) % 5, "Int64"))
    return made.with_jobs(jobs)


def test_the_table_is_the_one_that_is_read(log: Trace) -> None:
    """From a file that it was written into: words are of one type, and missing alike."""
    table = replay(log, training=20)
    assert table["no_prediction"].isna().any()
    read = to_pandas(to_arrow(table, "wait_predictions"), "wait_predictions")
    pd.testing.assert_frame_equal(read, table, check_dtype=False, check_exact=True)
    words = ["method", "queue", "no_prediction"]
    assert table[words].dtypes.tolist() == read[words].dtypes.tolist()
    assert table[["cluster", "history_length"]].dtypes.tolist() == [np.int64] * 2


@pytest.mark.parametrize("column", ["job_number", "submit_time", "wait_time", "requested_time"])
def test_what_is_changed_of_one_is_not_of_the_other(log: Trace, column: str) -> None:
    """Though the table has columns of the log."""
    table = replay(log, by=None, training=20)
    before, of_log = table.copy(deep=True), log.jobs.copy(deep=True)
    table.loc[5, column] = 77
    pd.testing.assert_frame_equal(log.jobs, of_log)
    log.jobs.loc[6, column] = 78
    assert table[column].drop(index=5).tolist() == pytest.approx(before[column].drop(index=5).tolist(), nan_ok=True)
    assert table.loc[5, column] == 77


def test_rows_of_part_of_a_log(log: Trace) -> None:
    """They are numbered from 0, and each is that of its job."""
    part = log.jobs[log.jobs["job_number"] % 3 == 1]
    table = replay(log.with_jobs(part), by=None, training=20)
    assert table.index.equals(pd.RangeIndex(100))
    for name in ("job_number", "submit_time", "requested_time"):
        assert table[name].tolist() == part[name].tolist()


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ((), lambda _queue, _user: "all"),
        (("queue",), lambda queue, _user: queue),
        (("user", "queue_id"), lambda queue, user: f"{user}/{queue}"),
        (("queue", "user", "queue"), lambda queue, user: f"{queue}/{user}/{queue}"),
    ],
)
def test_groups_in_words(log: Trace, by: tuple[str, ...], words: Any) -> None:
    """As a loop would write them; those that are not known are called so."""
    queues = ["unknown" if pd.isna(queue) else str(queue) for queue in log.jobs["queue_id"]]
    expected = [words(queue, str(user)) for queue, user in zip(queues, log.jobs["user_id"], strict=True)]
    labels = group_labels(log.jobs, by)
    assert labels.tolist() == expected
    assert labels.categories.tolist() == sorted(set(expected))


def test_groups_of_text(log: Trace) -> None:
    """A queue that is called unknown is the one of jobs whose queue is not known; numbers are as printed."""
    names = pd.array(["10", "9", None, "unknown"] * 75, "str")
    labels = group_labels(log.jobs.assign(site=names), ("site",))
    assert labels.categories.tolist() == ["10", "9", "unknown"]
    assert np.bincount(labels.codes).tolist() == [75, 75, 150]
    times = group_labels(log.jobs, ("requested_time",))
    assert times.tolist() == [str(time) for time in log.jobs["requested_time"]]


def test_a_state_of_the_version_before(log: Trace, tmp_path: Path) -> None:
    """It is refused, and says what to do."""
    predictor = WaitPredictor(training=20)
    predictor.replay(log)
    predictor.save(tmp_path / "state")
    content = (tmp_path / "state").read_bytes()
    (tmp_path / "state").write_bytes(content.replace(b"predictor 3\n", b"predictor 2\n", 1))
    with pytest.raises(StateError, match="version 2, and this swftools reads 3: replay the logs again"):
        WaitPredictor.load(tmp_path / "state")


def test_what_a_predictor_keeps_is_not_what_it_had_room_for(log: Trace, tmp_path: Path) -> None:
    """The two series keep the values that are looked at again, in files too, and go on from them."""
    options: dict[str, Any] = {"by": None, "training": 20, "availability_quantile": 0.98}
    predictor = WaitPredictor(**options)
    predictor.replay(log.with_jobs(log.jobs.head(250)))
    predictor.save(tmp_path / "state")
    loaded = WaitPredictor.load(tmp_path / "state")
    queue = loaded.known["all"]
    assert len(queue.gaps.value) == len(queue.arrivals.value) == 149  # of the .98 quantile a bound needs so many
    rest = log.with_jobs(log.jobs.tail(50).reset_index(drop=True))
    expected = replay(log, **options).tail(50).reset_index(drop=True)
    pd.testing.assert_frame_equal(loaded.replay(rest), expected, check_exact=True)
