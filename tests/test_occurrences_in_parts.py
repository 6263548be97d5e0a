# SPDX-License-Identifier: BSD-3-Clause
"""Job numbers that stand several times in a log: a part of it draws what the whole does."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swftools import Trace, UtilityParameters, clean, generate_utility, iter_swf, read_swf
from swftools.checkpoints.inference import infer_checkpoints
from swftools.checkpoints.survey import read_checkpoint_survey
from swftools.keyed_random import OccurrenceCounter, count_occurrences
from swftools.models.moldability import SpeedupParameters, generate_speedup
from swftools.selection import select_jobs
from tests.examples import examples

LOG = b"".join(b"%d %d 5 600 4 -1 -1 4 900 -1 1 7 -1 -1 3 -1 -1 -1\n" % (1 + row % 7, 60 * row) for row in range(60))


def numbered(numbers: list[int | None]) -> pd.DataFrame:
    """Make jobs that have nothing but numbers."""
    return pd.DataFrame({"job_number": pd.array(numbers, dtype="Int64")})


@pytest.mark.parametrize("chunk_bytes", [pytest.param(1, marks=pytest.mark.slow), 300, 1000, 10_000])
@pytest.mark.parametrize("is_cleaned", [False, True])
def test_chunks_draw_what_the_whole_log_draws(chunk_bytes: int, is_cleaned: bool) -> None:
    """Utility functions, speedup curves and checkpoints, of each job in whatever chunk, cleaned or not."""
    survey = read_checkpoint_survey(
        io.StringIO("user_id,processors,job_number,choice,interval_minutes\n7,4,901,0,15\n7,4,902,1,\n7,4,903,0,5")
    )

    def drawn(trace: Trace) -> pd.DataFrame:
        if is_cleaned:
            trace, _ = clean(trace)
        tables = (
            generate_utility(trace, UtilityParameters(seed=3)),
            generate_speedup(trace, SpeedupParameters(seed=3)),
            infer_checkpoints(trace, survey).columns,
        )
        return pd.concat(tables, axis=1)

    whole = drawn(read_swf(io.BytesIO(LOG)))
    parts = [drawn(chunk) for chunk in iter_swf(io.BytesIO(LOG), chunk_bytes=chunk_bytes)]
    assert (chunk_bytes == 10_000) == (len(parts) == 1)
    assert whole["logged_utility"].nunique() > 40, "jobs of one number draw differently"
    pd.testing.assert_frame_equal(whole, pd.concat(parts, ignore_index=True))


@pytest.mark.parametrize("conditions", [{"lines": (20, 40)}, {"begin": 1800}, {"job_numbers": {3, 5}}], ids=str)
def test_a_selection_draws_what_the_whole_log_draws(conditions: dict[str, object]) -> None:
    """Also where the log was not cleaned before the jobs were chosen, so that nothing had counted."""
    trace = read_swf(io.BytesIO(LOG))
    chosen = select_jobs(trace, **conditions)  # type: ignore[arg-type]
    rows = np.flatnonzero(trace.jobs["line_number"].isin(chosen.jobs["line_number"]))
    assert 0 < len(rows) == len(chosen) < len(trace)
    whole = generate_utility(trace)["logged_utility"].to_numpy()
    assert whole[rows].tolist() == generate_utility(chosen)["logged_utility"].tolist()


@examples(0.5)
@given(st.lists(st.lists(st.none() | st.integers(0, 6) | st.sampled_from([2**62, 2**63 - 1024]), max_size=12)))
@example([[1, 2, 3], [4, 5], [], [3], [2, 3, 3, 4]])
@example([[None], [None, 0], [0]])
def test_parts_are_counted_as_the_whole(parts: list[list[int | None]]) -> None:
    """Any numbers, in any order, in any parts; jobs without a number are counted like one number."""
    counter = OccurrenceCounter()
    counted = [int(place) for part in parts for place in counter.count(numbered(part))]
    assert count_occurrences(numbered([number for part in parts for number in part])).tolist() == counted


def test_the_order_within_a_part_is_that_of_its_lines() -> None:
    """As in a whole log, where rows stand in another order than lines."""
    counter = OccurrenceCounter()
    jobs = numbered([7, 7, 8]).assign(line_number=[5, 2, 1])
    assert [1, 0, 0] == counter.count(jobs).tolist()
    assert [3, 2, 1] == counter.count(jobs).tolist()


def test_numbers_in_order_take_no_room() -> None:
    """However long the log: of numbers that have all stood equally often, only the ends are kept."""
    counter = OccurrenceCounter()
    for _ in range(2):
        for begin in range(1, 10_000, 1000):
            counter.count(numbered(list(range(begin, begin + 1000))))
            assert len(counter._begins) <= 3
    assert [2, 0] == counter.count(numbered([10_000, 10_001])).tolist()
