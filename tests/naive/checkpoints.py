# SPDX-License-Identifier: BSD-3-Clause
"""A slow, obvious version of the inference of checkpoints, and traces with surveys that fit them.

Plain Python, one job at a time, with numpy's own Philox.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from swftools import Trace
from swftools.checkpoints.survey import CheckpointSurvey

STEP = int.from_bytes(hashlib.blake2b(b"checkpoints", digest_size=8).digest(), "little")


def plain(frame: pd.DataFrame, *names: str) -> list[tuple[Any, ...]]:
    """Return columns as tuples by row, None for missing."""
    values = frame[list(names)].astype(object)
    return list(values.where(values.notna(), None).itertuples(index=False, name=None))


def naive_inference(trace: Trace, survey: CheckpointSurvey, seed: int, pooled: bool) -> list[tuple[Any, ...]]:
    """Return interval, choice and source of each job: plain loops, numpy's own Philox, answers that fit one job."""
    jobs = plain(trace.jobs, "job_number", "user_id", "allocated_processors", "requested_processors", "submit_time")
    answers = plain(survey.answers, "user_id", "processors", "job_number", "submit_time", "choice", "interval")
    own: dict[int, tuple[int, float | None]] = {}
    pools: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for user, processors, number, time, choice, interval in answers:
        if choice == 6:
            continue
        whose = user
        for place, (job, theirs, allocated, requested, submitted) in enumerate(jobs):
            width = allocated if allocated and allocated > 0 else requested
            if number == job if number is not None else (theirs, submitted, width) == (user, time, processors):
                own[place] = (choice, interval)
                whose = theirs
        if whose is not None and any(job[1] == whose for job in jobs):
            pools.setdefault((whose, processors), []).append((choice, -1 if interval is None else interval))
    rows: list[tuple[Any, ...]] = []
    for place, (job, user, allocated, requested, _) in enumerate(jobs):
        pool = sorted(pools.get((user, allocated if allocated and allocated > 0 else requested), [])) if pooled else []
        if place in own:
            rows.append((own[place][1], own[place][0], "survey"))
        elif pool and user is not None:
            key = np.array([seed, STEP], dtype=np.uint64)
            bits = np.random.Philox(key=key, counter=np.array([0, job, 0, 0], dtype=np.uint64))
            choice, interval = pool[math.floor(np.random.Generator(bits).random() * len(pool))]
            rows.append((None if interval < 0 else interval, choice, "inferred"))
        else:
            rows.append((None, None, "assumed-none"))
    return rows


@st.composite
def surveyed(draw: st.DrawFn) -> tuple[Trace, list[str]]:
    """Draw a trace of jobs with much missing, and the lines of a survey that fits it."""
    size = draw(st.integers(0, 9))

    def column(*values: int) -> list[int]:
        return draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))

    users, allocated, requested = column(-1, 1, 1, 2), column(-1, 0, 4, 4, 8), column(-1, 4, 8)
    trace = Trace.from_columns(
        job_number=list(range(1, size + 1)),
        submit_time=[10 * place for place in range(size)],
        user_id=users,
        allocated_processors=allocated,
        requested_processors=requested,
        run_time=column(-1, 0, 7, 3600),
    )
    lines = []
    for place in range(size):
        width = int(trace.arrays.width[place])
        answer = draw(st.sampled_from(["", "0,5", "0,7.25", "1,", "2,", "5,", "6,"]))
        if answer:
            user = "" if users[place] < 0 else str(users[place])
            by_time = bool(user) and width > 0 and draw(st.booleans())
            told = draw(st.sampled_from(["", user]))
            job = f"{user},{width},,{10 * place}" if by_time else f"{told},{width if width > 0 else 4},{place + 1},"
            lines.append(f"{job},{answer}")
    for number in range(100, 100 + draw(st.integers(0, 3))):
        line = f"{draw(st.sampled_from([1, 2, 9]))},{draw(st.sampled_from([4, 8]))},{number},"
        lines.append(f"{line},{draw(st.sampled_from(['0,5', '3,', '6,']))}")
    return trace, draw(st.permutations(lines))
