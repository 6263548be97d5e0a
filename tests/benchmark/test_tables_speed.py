# SPDX-License-Identifier: BSD-3-Clause
"""Reading tables: F-DATA's columns from Parquet and CSV, memory of the whole and of chunks, recognising a format."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from swftools.formats.detect import detect
from swftools.formats.multi_file import LogFiles
from tests.benchmark.conftest import measure
from tests.formats.tables.made import TABLES, example

pytestmark = pytest.mark.benchmark(group="parse")

ROWS = 5_000_000
_STEP = 500_000
_WORDS = {"jid": "j", "usr": "u", "jnam": "n"}
_CORES, _NODES = ("cnumr", "cnumat", "cnumut"), ("nnumr", "nnuma", "nnumu")
_OTHERS = "idle_time_ave perf1 perf2 perf3 perf4 perf5 perf6 mszl econ avgpcon minpcon maxpcon msza mmszu uctmut sctmut"
_MORE = "usctmut freq_req freq_alloc pri flops mbwidth opint"


def rows_of(first: int, count: int, begins: int, random: np.random.Generator) -> pa.Table:
    """Return jobs with the columns of F-DATA, but for its embedding."""
    submit = begins + np.cumsum(random.integers(0, 2, count))
    start = submit + random.integers(0, 100_000, count)
    run = random.integers(1, 86_400, count)
    nodes = random.integers(1, 400, count)

    def stamps(seconds: np.ndarray) -> pa.Array:  # type: ignore[type-arg]
        return pa.array(seconds * 1000, pa.timestamp("ms", tz="Asia/Tokyo"))

    columns = {
        "jid": pa.array([f"j{number:09}" for number in range(first, first + count)]),
        "usr": pa.array(np.char.add("u", random.integers(0, 3000, count).astype(str))),
        "jnam": pa.array(np.char.add("n", random.integers(0, 50_000, count).astype(str))),
        **{name: pa.array(nodes * 48) for name in _CORES},
        **{name: pa.array(nodes) for name in _NODES},
        "adt": stamps(submit),
        "qdt": stamps(submit),
        "schedsdt": stamps(start),
        "sdt": stamps(start),
        "edt": stamps(start + run),
        "deldt": stamps(start + run),
        "ec": pa.array(random.integers(0, 2, count)),
        "elpl": pa.array(np.full(count, 86_400.0)),
        **{name: pa.array(np.round(random.random(count) * 1e6, 3)) for name in f"{_OTHERS} {_MORE}".split()},
        "jobenv_req": pa.array(["jobenv"] * count),
        "pclass": pa.array(["compute-bound"] * count),
        "exit state": pa.array(np.where(random.random(count) < 0.9, "completed", "failed")),
        "duration": pa.array(run.astype(float)),
    }
    return pa.table(columns)


def write(path: Path, rows: int) -> Path:
    """Write a table, by row groups."""
    random = np.random.default_rng(1)
    writer = None
    for first in range(0, rows, _STEP):
        part = rows_of(first, min(_STEP, rows - first), 1_617_200_000 + first, random)
        if writer is None:
            kind = pq.ParquetWriter if path.suffix == ".parquet" else pc.CSVWriter
            writer = kind(str(path), part.schema)
        writer.write_table(part)
    if writer is not None:
        writer.close()
    return path


@pytest.mark.parametrize(("suffix", "rows"), [(".parquet", ROWS), (".csv", 1_000_000)])
def test_read(benchmark: BenchmarkFixture, tmp_path: Path, suffix: str, rows: int) -> None:
    """Rows a second of read_log, by the clock and by CPU, and its peak memory a job beside that of a small log."""
    path, small = write(tmp_path / f"jobs{suffix}", rows), write(tmp_path / f"small{suffix}", 1000)
    code = (
        "import resource, time; from swftools import read_log; peak = lambda: resource.getrusage(0).ru_maxrss; "
        f"read_log({str(small)!r}); before, clock, cpu = peak(), time.perf_counter(), time.process_time(); "
        f"jobs = len(read_log({str(path)!r})); "
        "print(jobs, time.perf_counter() - clock, time.process_time() - cpu, (peak() - before) * 1024 / jobs)"
    )
    told = benchmark.pedantic(measure, (sys.executable, "-c", code), rounds=3).output.split()
    assert int(told[0]) == rows
    benchmark.extra_info |= {
        "rows/s": round(rows / float(told[1])),
        "rows/s of CPU": round(rows / float(told[2])),
        "bytes a job": round(float(told[3])),
    }


@pytest.mark.parametrize("rows", [10**6, ROWS])
def test_chunks_of_parquet(benchmark: BenchmarkFixture, tmp_path: Path, rows: int) -> None:
    """Peak memory of iter_log, which does not grow with a table in the order of submission."""
    path = write(tmp_path / "jobs.parquet", rows)
    code = f"from swftools import iter_log; print(sum(len(part) for part in iter_log({str(path)!r})))"
    whole = benchmark.pedantic(measure, (sys.executable, "-c", code), rounds=1)
    assert rows == int(whole.output)
    benchmark.extra_info["peak MB"] = round(whole.peak_mb)


def test_recognise(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """One file after the other of every format of tables, each with 64 KiB, and a Parquet file."""
    paths = [write(tmp_path / "jobs.parquet", 1000)]
    for name in TABLES:
        text = example(name)
        paths.append(tmp_path / name)
        paths[-1].write_bytes(text if text[:1] == b"[" else text + text[text.find(b"\n") + 1 :] * 100)

    def recognise() -> int:
        heads = [LogFiles([path], path.name).heads()[0] for path in paths]
        return len({detect(head, "log")[0] for head in heads})

    assert benchmark(recognise) == len(TABLES)
    benchmark.extra_info["ms a file"] = round(benchmark.stats.stats.min * 1e3 / len(paths), 2)
