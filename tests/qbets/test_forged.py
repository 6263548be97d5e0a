# SPDX-License-Identifier: BSD-3-Clause
"""States of wait predictors that somebody forged: each is refused by one error, or answers and learns as others do."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from swftools import Trace
from swftools.errors import ParameterError, StateError
from swftools.qbets import WaitPredictor, predict_wait
from swftools.qbets.saved_state import _arrays, _bytes_of, zstd
from swftools.reservations import ReservedJob, probability_of_start
from tests.forged import changed_array, changed_bytes, changed_words, tried

METHODS = [
    "binomial",
    "trailing:window=20",
    "weibull",
    "lognormal",
    "lognormal-plain",
    "loguniform",
    "gradient-boosting",
]


def log_of(seed: int, begin: int = 0, jobs: int = 150) -> Trace:
    """Return jobs of two widths with waits that change."""
    draw = np.random.default_rng(seed)
    return Trace.from_columns(
        job_number=np.arange(1, jobs + 1) + begin,
        submit_time=begin * 10 + np.cumsum(draw.integers(0, 20, jobs)),
        wait_time=draw.integers(0, 50 + 4 * np.arange(jobs)),
        run_time=np.full(jobs, 60),
        requested_time=draw.choice([60, 3600], jobs),
        requested_processors=np.ones(jobs, int),
    )


@cache
def saved(method: str, clustering: bool) -> bytes:
    """Return the file of a predictor that has learnt."""
    predictor = WaitPredictor(
        method, by=None, training=5, quantile=0.5, cluster_every=50, clustering=clustering, availability_quantile=0.5
    )
    predictor.replay(log_of(1))
    with tempfile.TemporaryDirectory() as folder:
        predictor.save(Path(folder) / "state")
        return (Path(folder) / "state").read_bytes()


def signed(content: bytes, form: bytes) -> bytes:
    """Return a file whose checksum is right."""
    return form + b"\n" + hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def forged(method: str, draw: random.Random) -> bytes:
    """Return such a file, changed in one place or a few."""
    form, _, content = saved(method, draw.random() < 0.5).split(b"\n", 2)
    line, _, bodies = content.partition(b"\n")
    way, about = draw.randrange(10), json.loads(line)
    if way == 0:
        return signed(changed_bytes(content, draw), form)
    if way == 1:
        return signed(line + b"\n" + changed_bytes(bodies, draw), form)
    if way < 5:
        return signed(json.dumps(changed_words(about, draw)).encode() + b"\n" + bodies, form)
    (group,) = about["groups"]
    columns = [(name, np.dtype(kind), count) for name, kind, count in group["arrays"]]
    arrays = _arrays(columns, zstd.decompress(bodies))
    name = draw.choice([each for each in arrays if len(arrays[each])])
    changed = changed_array(arrays[name], draw).reshape(-1)
    arrays[name] = (
        changed if changed.dtype.str in ("<f8", "<i8", arrays[name].dtype.str) else changed.astype(np.float64)
    )
    if draw.random() < 0.5:
        group["arrays"] = [[each, array.dtype.str, len(array)] for each, array in arrays.items()]
    body = zstd.compress(b"".join(_bytes_of(each, array) for each, array in arrays.items()))
    group["bytes"] = len(body)
    return signed(json.dumps(about).encode() + b"\n" + body, form)


def use(content: bytes) -> None:
    """Ask a state, and go on from it: it may be refused at once, and never later."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        path.write_bytes(content)
        for ask in (ask_wait, ask_start, go_on):
            try:
                ask(path)
            except StateError:
                continue
            except ParameterError as error:
                if "is of the rival" not in str(error) and not any(word in str(error) for word in _THEIRS):
                    raise


_THEIRS = (
    *("knows no", "has groups by", "was made with an object", "was saved with an object", "the log begins at"),
    *("in the past", "is not behind now"),
)
"""What a caller is told who asks for another group, method or time."""


def ask_wait(path: Path) -> None:
    """Ask what a job would wait."""
    answer = predict_wait(path, requested_time=60.0, processors=1, deadline=100.0)
    assert all(told.seconds is None or told.seconds >= 0 for told in answer.bounds)


def ask_start(path: Path) -> None:
    """Ask when it would start."""
    assert 0.0 <= probability_of_start(path, ReservedJob(60.0, 1), by=1e9) <= 1.0


def go_on(path: Path) -> None:
    """Replay what comes next."""
    predictor = WaitPredictor.load(path)
    table = predictor.replay(log_of(2, begin=10_000, jobs=30))
    assert len(table) == 30


@pytest.mark.parametrize("method", ["binomial", "trailing:window=20"])
def test_a_forged_state(method: str) -> None:
    """It is a StateError, or as good as any other."""
    assert tried(range(10), lambda draw: forged(method, draw), use) == []


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_many_forged_states(method: str) -> None:
    """In a process of its own, so that one that ends is seen."""
    many = f"from tests.qbets.test_forged import *; main({method!r}, 0, 400)"
    done = subprocess.run([sys.executable, "-c", many], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr[-2000:]


def main(method: str, first: int, last: int) -> None:
    """Try seeds, and print what went wrong."""
    for line in tried(range(first, last), lambda draw: forged(method, draw), use):
        sys.stdout.write(f"{line}\n")


def test_no_module_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Because a state names it; a method that is registered is found, and whoever gives another may."""
    (tmp_path / "evilmod.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    monkeypatch.chdir(tmp_path)
    form, _, content = saved("binomial", clustering=False).split(b"\n", 2)
    line, _, bodies = content.partition(b"\n")
    changed = json.dumps({**json.loads(line), "method": "evilmod:f"}).encode() + b"\n" + bodies
    Path("state").write_bytes(signed(changed, form))
    for ask in (ask_wait, ask_start, go_on):
        with pytest.raises(StateError, match="no method 'evilmod:f' is registered here, and nothing is imported"):
            ask(Path("state"))
    assert not Path("ran").exists()
    assert "evilmod" not in sys.modules
    Path("state").write_bytes(saved("binomial", clustering=False))
    assert WaitPredictor.load("state", method="binomial").name == "binomial"
    with pytest.raises(ParameterError, match=r"was saved with binomial:.*leave method= out, or pass that one"):
        WaitPredictor.load("state", method="trailing")
