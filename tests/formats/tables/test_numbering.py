# SPDX-License-Identifier: BSD-3-Clause
"""Tables in chunks give what the whole gives: those in the order of submission, and others."""

from __future__ import annotations

import io
import json
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from swftools import Trace, iter_log, read_log
from swftools.formats.accounting.format import AccountingFormat
from tests.formats.tables.made import example, parquet

HEADER = example("helios").decode().splitlines()[0]


def table(seed: int, *, in_order: bool, jobs: int = 120) -> bytes:
    """Return a table with many jobs at one second, some of them twice, some that are no jobs."""
    random = Random(seed)
    rows, at = [], 0
    for number in range(jobs):
        at += random.choice([0, 0, 0, 1, 60])
        minute, second = divmod(at, 60)
        submit = f"2020-06-09 {8 + minute // 60:02}:{minute % 60:02}:{second:02}"
        state = random.choice(["COMPLETED", "COMPLETED", "FAILED", "RUNNING"])
        rows.append(f"{number},u{number % 7},vc{number % 3},1,1,1,{state},{submit},{submit},2020-06-10 20:00:00,1,0")
        if random.random() < 0.2:
            rows.append(random.choice([row for row in rows[-4:] if submit in row]))
    if not in_order:
        random.shuffle(rows)
    return "\n".join([HEADER, *rows, ""]).encode()


def whole(pieces: list[Trace], name: str) -> pd.DataFrame:
    """Return a table of all pieces."""
    frames = [getattr(piece, name) for piece in pieces if len(getattr(piece, name))]
    by = {"jobs": "job_number", "merged": "line_number", "quarantine": "line_number"}[name]
    return pd.concat(frames).sort_values(by, ignore_index=True)


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize(
    ("chunk_bytes", "jobs", "seeds"),
    [
        *[(1, 20, 1), (300, 40, 1), (2000, 120, 1), (1 << 22, 120, 1)],
        *(pytest.param(chunk_bytes, 120, 4, marks=pytest.mark.slow) for chunk_bytes in (1, 300, 2000)),
    ],
)
def test_chunks(in_order: bool, chunk_bytes: int, jobs: int, seeds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers, times, what repeats another and what is no job are those of the whole; the first way is the lean one."""
    went: list[bool] = []
    general = AccountingFormat.iterate

    def watched(self: AccountingFormat, *of: Any) -> Any:
        went.append(True)
        return general(self, *of)

    monkeypatch.setattr(AccountingFormat, "iterate", watched)
    for seed in range(seeds):
        went.clear()
        text = table(seed, in_order=in_order, jobs=jobs)
        expected = read_log(io.BytesIO(text), "helios")
        pieces = list(iter_log(io.BytesIO(text), "helios", chunk_bytes=chunk_bytes))
        assert bool(went) is not in_order
        assert {piece.header for piece in pieces} == {expected.header}
        for column in ("job_number", "submit_time", "wait_time", "line_number", "log_id", "user_id"):
            told = whole(pieces, "jobs")[column]
            pd.testing.assert_series_equal(told, expected.jobs.sort_values("job_number", ignore_index=True)[column])
        assert len(expected.merged)
        assert len(expected.quarantine)
        pd.testing.assert_frame_equal(whole(pieces, "merged"), expected.merged)
        pd.testing.assert_frame_equal(whole(pieces, "quarantine"), expected.quarantine)


@pytest.mark.parametrize(
    ("chunk_bytes", "jobs"),
    [(1, 12), (640, 30), (1 << 22, 120), *(pytest.param(size, 120, marks=pytest.mark.slow) for size in (1, 640))],
)
def test_rows_of_parquet_are_counted_through_batches_and_files(chunk_bytes: int, jobs: int, tmp_path: Path) -> None:
    """Whatever the batches and the row groups; a row that is no job is named by its file and its number there."""
    rows = [
        dict(zip(HEADER.split(","), line.split(","), strict=True))
        for line in table(1, in_order=True, jobs=jobs).decode().strip().split("\n")[1:]
    ]
    for name in ("a.parquet", "b.parquet"):
        (tmp_path / name).write_bytes(parquet(pa.Table.from_pylist(rows), row_group_size=1 + jobs * 2 // 5))
    pieces = list(iter_log(tmp_path, "helios", chunk_bytes=chunk_bytes))
    told = pd.concat([each for piece in pieces for each in (piece.jobs, piece.merged, piece.quarantine)])["line_number"]
    assert sorted(told.tolist()) == list(range(1, 2 * len(rows) + 1))
    first = whole(pieces, "quarantine")
    place = next(number for number, row in enumerate(rows, 1) if row["state"] == "RUNNING")
    assert first["reason"].tolist()[0] == f"a.parquet, row {place}: not ended: 'RUNNING'"
    assert json.loads(first["text"].tolist()[0])["job_id"] == rows[place - 1]["job_id"]
