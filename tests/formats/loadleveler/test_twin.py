# SPDX-License-Identifier: BSD-3-Clause
"""The reader against the slow one of ``tests/naive/loadleveler.py``: on samples, on drawn listings, piece by piece."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace, iter_log, read_log
from swftools.formats.accounting.kernel import label_table
from swftools.formats.loadleveler import kernel
from swftools.formats.loadleveler.reader import LABELS
from tests.examples import examples
from tests.formats.loadleveler.listings import SHAPES, ZONE, listing, steps
from tests.formats.loadleveler.test_samples import zone_of
from tests.frames import assert_same
from tests.interpreted import FORMS, all_interpreted
from tests.naive.loadleveler import read_listing

SAMPLES = [
    path
    for path in sorted((Path(__file__).parent / "samples").glob("*.txt*"))
    if "short" not in path.name and "standard" not in path.name
]


def text_of(path: Path) -> bytes:
    """Return the text of a sample."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def as_the_twin_says(trace: Trace) -> list[dict[str, Any]]:
    """Return the jobs of a trace in the words of the twin, in the order of the listing."""
    names = {(row.kind, row.number): row.name for row in trace.names.itertuples(index=False)}
    origin = trace.header.unix_start_time or 0
    jobs = trace.jobs.sort_values("line_number")
    blank = pd.Series(pd.NA, index=jobs.index)
    told = []
    for row, restarts in zip(jobs.to_dict("records"), jobs.get("restarts", blank), strict=True):
        job = {
            "log_id": row["log_id"],
            "submit": row["submit_time"] + origin,
            "wait": row["wait_time"],
            "run": row["run_time"],
            "processors": row["allocated_processors"],
            "cpu": row["average_cpu_time"],
            "requested_time": row["requested_time"],
            "status": row["status"],
            "user": names.get(("user", row["user_id"])),
            "queue": names[("queue", row["queue_id"])],
            "restarts": restarts,
        }
        told.append({key: None if pd.isna(value) else value for key, value in job.items()})
    return told


def assert_equal(text: bytes, zone: str) -> None:
    """Assert that both readers say the same of a listing."""
    trace = read_log(io.BytesIO(text), "loadleveler", time_zone=zone, processors_per_node=8)
    wanted, rejected = read_listing(text, zone=zone, per_node=8)
    unique = list({tuple(sorted(job.items(), key=lambda item: item[0])): job for job in wanted}.values())
    found = as_the_twin_says(trace)
    assert len(found) == len(unique)
    for job, twin in zip(found, unique, strict=True):
        assert job == {
            key: pytest.approx(value, rel=1e-9, abs=1e-6) if isinstance(value, float) else value
            for key, value in twin.items()
        }
    assert len(trace.quarantine) - trace.quarantine["reason"].str.contains("not a record").sum() == rejected
    assert len(trace.merged) == len(wanted) - len(unique)


@pytest.mark.parametrize("path", [path for path in SAMPLES if "broken" not in path.name], ids=lambda path: path.name)
def test_samples(path: Path) -> None:
    """On every sample that is whole both say the same."""
    if "ambiguous" in path.name:
        pytest.skip("the twin takes the first of two hours always")
    assert_equal(text_of(path), zone_of(path.name))


def test_the_broken_sample() -> None:
    """But for the step that is cut off, of which the twin knows nothing."""
    (path,) = (path for path in SAMPLES if "broken" in path.name)
    text = text_of(path)
    assert_equal(text[: text.rindex(b"================== Job")], ZONE)


@examples(0.5)
@given(st.lists(steps, min_size=1, max_size=8), st.sampled_from(SHAPES))
def test_drawn_listings(drawn: list[dict[str, Any]], shape: str) -> None:
    """On listings in every shape both say the same."""
    assert_equal(listing(drawn, shape), ZONE)


@examples(0.4)
@given(st.lists(steps, min_size=1, max_size=6), st.sampled_from(SHAPES), st.sampled_from([1, 100, 1500, 4000]))
def test_in_pieces(drawn: list[dict[str, Any]], shape: str, chunk_bytes: int) -> None:
    """Pieces of any size give the jobs, numbers and names of the whole."""
    text = listing(drawn, shape)
    options: dict[str, Any] = {"time_zone": ZONE, "processors_per_node": 8}
    whole = read_log(io.BytesIO(text), "loadleveler", **options)
    pieces = list(iter_log(io.BytesIO(text), "loadleveler", chunk_bytes=chunk_bytes, **options))
    jobs = pd.concat([piece.jobs for piece in pieces]).sort_values("job_number", ignore_index=True)
    jobs = jobs.reindex(columns=whole.jobs.columns).astype(whole.jobs.dtypes.to_dict())
    assert_same(jobs, whole.jobs)
    for table in ("quarantine", "merged"):
        joined = pd.concat([getattr(piece, table) for piece in pieces], ignore_index=True)
        assert_same(joined.reset_index(drop=True), getattr(whole, table))
    assert pieces[-1].names.equals(whole.names)
    assert pieces[0].header == whole.header


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_interpreted_and_checked(path: Path, form: str) -> None:
    """The scanner gives the same interpreted, and never reaches outside of its arrays."""
    text = text_of(path)[:40_000]
    arguments = (text, 1, label_table([label.encode() for label in LABELS]))
    compiled = kernel.find_steps(*arguments, *_rest())
    again = _with_scan(getattr(kernel.scan, form), *arguments)
    assert again[2:] == compiled[2:]
    for one, other in zip((*again[0], *again[1]), (*compiled[0], *compiled[1]), strict=True):
        assert (one == other).all()


def _rest() -> tuple[Any, ...]:
    from swftools.formats.loadleveler.reader import _IS_INHERITED, _NODE_TABLE  # noqa: PLC0415

    return _IS_INHERITED, _NODE_TABLE, LABELS.index("Cmd")


def _with_scan(run: Any, *arguments: Any) -> Any:
    """Return what ``find_steps`` returns with another way to run its kernel."""
    with pytest.MonkeyPatch.context() as patch, all_interpreted(run is kernel.scan.py_func):
        patch.setattr(kernel, "scan", run)
        return kernel.find_steps(*arguments, *_rest())
