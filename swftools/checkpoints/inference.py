# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs of a trace write checkpoints, inferred from a survey of their users; and the side file for SWF users.

This is a model, because there are no records. A job has its user's own answer, or one drawn from the user's answers for
jobs as wide, or none, and each job says which. Draws are keyed by job, so the order of jobs and answers does not
matter.

References
----------
Lee 2009, "On the user-scheduler relationship in high-performance computing", section 6.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from swftools.checkpoints.pools import SOURCES, columns_of_answers, words
from swftools.checkpoints.survey import (
    CheckpointSurvey,
    minutes_texts,
    raise_faults,
    read_commented_csv,
    seconds_of,
    summarize_checkpoint_survey,
    synthetic_note,
    whole_of,
    write_commented_csv,
)
from swftools.errors import ParameterError
from swftools.fields.dictionary import AUGMENTATION_COLUMNS
from swftools.keyed_random import count_occurrences
from swftools.parameters import LARGEST_SEED, Parameters, choice, whole
from swftools.trace import JobArrays, Trace

IntArray = npt.NDArray[np.int64]

_LINES_AT_ONCE = 1 << 12

WORKLOADS = ("answers", "pooled")
OUTCOMES = ("matched", "no-such-job", "no-such-user")
CLOCK_TOLERANCE = 1.0
"""Seconds by which a survey's submit_time may differ from the log's."""

SIDE_COLUMNS = ("job_number", "job_occurrence", "performs_checkpointing", "interval_minutes", "source")
_NOTES = (
    "synthetic: the survey behind these lines was generated, no user was asked",
    "checkpoints of the jobs of a trace, one line a job: does it write checkpoints, minutes between two of them,",
    "and how it is known: survey (the user's answer), inferred (an answer of the user for jobs as wide), assumed-none",
)
"""The comments of a side file; the first only where it is true."""


@dataclass(frozen=True)
class CheckpointParameters(Parameters):
    """Parameters of the inference.

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1. Logs share the draws of a seed (docs/concepts.md, Seeds): give each its own.
    workload : {"pooled", "answers"}
        Lee's second workload, which infers missing answers, or his first, which uses the answers alone.

    Raises
    ------
    ParameterError
        Names the parameter, its value and its domain.
    """

    NAME: ClassVar[str] = "checkpoints"

    seed: int = whole(0, least=0, most=LARGEST_SEED)
    workload: Literal["pooled", "answers"] = choice(*WORKLOADS, default="pooled")


class CheckpointInference(NamedTuple):
    """What ``infer_checkpoints`` returns, each in the columns of its table of the column dictionary.

    ``columns`` (augmentation ``checkpoints``) has a row for every job, on the index of the jobs; ``answers`` (table
    ``checkpoint_survey``) one for every answer; ``summary`` (table ``checkpoint_summary``) one for every choice.
    """

    columns: pd.DataFrame
    answers: pd.DataFrame
    summary: pd.DataFrame


def infer_checkpoints(
    trace: Trace, survey: CheckpointSurvey, parameters: CheckpointParameters | None = None
) -> CheckpointInference:
    r"""Infer from a survey which jobs of a trace write checkpoints, and how often.

    Parameters
    ----------
    trace : Trace
        Its key (job_number, job_occurrence), user, width and submit_time are used, and for the summary the run time.
        A job without a known user or width has no pool; missing widths and run times count 0 in the summary.
    survey : CheckpointSurvey
        From ``read_checkpoint_survey`` or ``generate_checkpoint_survey``.
    parameters : CheckpointParameters, optional
        Defaults if not given.

    Returns
    -------
    CheckpointInference
        ``columns``: performs_checkpointing, checkpoint_interval (s; missing: no checkpointing), checkpoint_choice
        (missing: no answer, given or inferred), checkpoint_source, is_checkpoint_survey_synthetic; ``answers`` in the
        order of the survey; ``summary``.

    Raises
    ------
    ParameterError
        An answer contradicts its job (another user, width or submit_time), fits several jobs, or contradicts another
        answer for the same job; or no answer is by a user of the trace (unless the trace has no jobs).

    Notes
    -----
    An answer belongs to the job with its job_number; if several have it, to the one whose user, width and submit_time
    agree. Without a job_number it belongs to the nearest job of the user with that width, submitted within 1 s. A value
    missing in the answer, and a missing width, agree with anything. "Other" (choice 5) means no checkpointing; a
    declined answer does not count as an answer. Each other job draws one of its user's answers for that many
    processors, also answers for jobs that are not in the trace. A job without such answers is assumed to write no
    checkpoints. Unknown users are not treated as one user: their answers serve only their own jobs. An interval may be
    longer than its job ran, because users were asked beforehand.

    The draw of a job depends on seed, job_number and job_occurrence, and on the answers in its pool in any order.

    References
    ----------
    Lee 2009, section 6.6, which does not say how answers were matched to jobs; the draw and the pools are the paper's.

    Examples
    --------
    >>> import io
    >>> from swftools.checkpoints.survey import read_checkpoint_survey
    >>> trace = Trace.from_columns(job_number=[1, 2, 3], user_id=[7, 7, 7], requested_processors=[4, 4, 8])
    >>> survey = io.StringIO("user_id,processors,job_number,choice,interval_minutes\n7,4,1,0,15")
    >>> infer_checkpoints(trace, read_checkpoint_survey(survey)).columns["checkpoint_source"].tolist()
    ['survey', 'inferred', 'assumed-none']
    """
    chosen = parameters or CheckpointParameters()
    arrays = trace.views
    answers, row, outcome = match_answers(trace, survey)
    choice = answers["choice"].to_numpy(np.int64)
    columns = columns_of_answers(
        trace, answers, row, seed=chosen.seed, is_pooled=chosen.workload == "pooled", is_synthetic=survey.is_synthetic
    )
    work = np.maximum(arrays.width, 0) * np.nan_to_num(arrays.run_time) / 3600.0
    return CheckpointInference(
        columns,
        _answer_table(answers, row, outcome, trace.jobs),
        summarize_checkpoint_survey(choice, np.where(row >= 0, np.append(work, 0.0)[row], 0.0)),
    )


def match_answers(trace: Trace, survey: CheckpointSurvey) -> tuple[pd.DataFrame, IntArray, IntArray]:
    """Return the answers, one a job, the row of the job of each (-1: none), and the place of its outcome in OUTCOMES.

    Raises
    ------
    ParameterError
        As ``infer_checkpoints`` says.
    """
    arrays = trace.views
    answers, row = _matched(survey, arrays)
    user = answers["user_id"].to_numpy(np.int64, na_value=-1)
    known_users = np.unique(arrays.user_id[arrays.user_id >= 0])
    outcome = np.where(row >= 0, 0, np.where(np.isin(user, known_users), 1, 2))
    if len(answers) and len(trace) and (outcome == 2).all():
        raise ParameterError(
            f"{survey.name}: none of the {len(answers)} answers is by a user of the trace; users of the survey "
            f"{_some(user)}, of the trace {_some(known_users)}: is it the survey of another system?"
        )
    return answers, row, outcome


def _some(numbers: IntArray) -> str:
    """Return the first few different numbers for a message."""
    different = [str(number) for number in np.unique(numbers[numbers >= 0])]
    return ", ".join(different[:5] + ["..."] * (len(different) > 5)) or "unknown"


def _answer_table(answers: pd.DataFrame, row: IntArray, outcome: IntArray, jobs: pd.DataFrame) -> pd.DataFrame:
    """Return the answers as the table ``checkpoint_survey``: what was not told is taken from the job."""
    key = jobs[["job_number", "submit_time"]].assign(job_occurrence=pd.array(count_occurrences(jobs), dtype="Int64"))
    found = key.reset_index(drop=True).reindex(row).reset_index(drop=True)  # row -1 is no row
    table = answers.reset_index(drop=True)
    for name in ("job_number", "submit_time"):
        table[name] = table[name].fillna(found[name])
    table.insert(list(table).index("job_number") + 1, "job_occurrence", found["job_occurrence"])
    return table.assign(outcome=words(outcome.astype(np.int8), OUTCOMES))


def _matched(survey: CheckpointSurvey, arrays: JobArrays) -> tuple[pd.DataFrame, IntArray]:
    """Return the answers, one a job, and the row of the job of each, -1 for none."""
    answers = survey.answers
    ids = [answers[name].to_numpy(np.int64, na_value=-1) for name in ("user_id", "processors", "job_number")]
    times = answers["submit_time"].to_numpy(float)
    by_number = np.argsort(arrays.job_number, kind="stable")
    by_time = np.lexsort((arrays.submit_time, arrays.user_id))  # a user's jobs by time, NaN last
    numbers, users, submitted = arrays.job_number[by_number], arrays.user_id[by_time], arrays.submit_time[by_time]
    numbers_at = [np.searchsorted(numbers, ids[2], side).tolist() for side in ("left", "right")]
    users_at = [np.searchsorted(users, ids[0], side).tolist() for side in ("left", "right")]
    said, answer_numbers = answers[["choice", "interval"]].fillna(-1).to_numpy(float), answers["answer_number"].tolist()
    row = np.full(len(answers), -1)
    faults: list[str] = []
    first_for: dict[int, int] = {}
    for i, (user, width, number, time) in enumerate(zip(*(column.tolist() for column in [*ids, times]), strict=True)):
        if number >= 0:
            jobs = by_number[numbers_at[0][i] : numbers_at[1][i]]
        else:
            mine = slice(users_at[0][i], users_at[1][i])
            near = np.searchsorted(submitted[mine], [time - 2 * CLOCK_TOLERANCE, time + 2 * CLOCK_TOLERANCE])
            jobs = by_time[mine][near[0] : near[1]]
        differences = [_difference(arrays, job, user, width, time) for job in jobs.tolist()]
        fitting = jobs[[not difference for difference in differences]]
        if len(fitting) > 1 and time >= 0:
            far = abs(arrays.submit_time[fitting] - time)
            fitting = fitting[far == far.min()] if (far >= 0).all() else fitting
        place = f"answer {answer_numbers[i]}"
        if number >= 0 and len(jobs) and not len(fitting):
            others = f", and no other of the {len(jobs)} jobs of that number agrees" if len(jobs) > 1 else ""
            faults.append(f"{place}: {differences[0]} of job {number}{others}; correct the answer or leave it out")
        elif len(fitting) > 1:
            what = f"of number {number}" if number >= 0 else f"of user {user} at {time:.15g} s"
            faults.append(f"{place}: fits {len(fitting)} jobs {what}; give job_number, user_id and submit_time")
        elif len(fitting):
            row[i] = fitting[0]
            other = first_for.setdefault(int(row[i]), i)
            if (said[other] != said[i]).any():
                faults.append(f"{place}: differs from answer {answer_numbers[other]} for the same job; keep one")
    raise_faults(survey.name, faults)
    kept = [i for i in range(len(answers)) if row[i] < 0 or first_for[int(row[i])] == i]
    return answers.iloc[kept], row[kept]


def _difference(arrays: JobArrays, job: int, user: int, processors: int, time: float) -> str:
    """Return in words what an answer says otherwise than a job; empty where they agree."""
    its_user, width, submitted = arrays.user_id[job], arrays.width[job], arrays.submit_time[job]
    if user >= 0 and user != its_user:
        return f"user {user} is not the user ({its_user if its_user >= 0 else 'unknown'})"
    if width > 0 and processors != width:
        return f"processors={processors} is not the width ({width})"
    if abs(time - submitted) > CLOCK_TOLERANCE:
        return f"submit_time={time:.15g} is not the submission ({submitted:.15g})"
    return ""


# The side file


def write_checkpoints(jobs: pd.DataFrame, path_or_file: str | Path | IO[Any]) -> None:
    """Write the checkpoints of jobs as a CSV file beside an SWF file, which has no field for them.

    Parameters
    ----------
    jobs : pandas.DataFrame
        With job_number, performs_checkpointing, checkpoint_interval, checkpoint_source and
        is_checkpoint_survey_synthetic; job_occurrence is written if numbers repeat.
    path_or_file : str, Path or file
        A file opened for text or bytes is left open.

    Raises
    ------
    ParameterError
        A column is missing.
    StorageError
        The path cannot be written; an old file stays as it was.

    References
    ----------
    Lee 2009, section 6.6: the two things added to a trace. The form of the file is ours.

    Examples
    --------
    >>> import io
    >>> jobs = pd.DataFrame({"job_number": [5], "performs_checkpointing": True, "checkpoint_interval": 900.0,
    ...                      "checkpoint_source": "survey", "is_checkpoint_survey_synthetic": False})
    >>> file = io.StringIO()
    >>> write_checkpoints(jobs, file)
    >>> file.getvalue().splitlines()[-2:]
    ['job_number,performs_checkpointing,interval_minutes,source', '5,true,15,survey']
    """
    needed = [
        "job_number",
        *(field.name for field in AUGMENTATION_COLUMNS["checkpoints"] if field.name != "checkpoint_choice"),
    ]
    if missing := [name for name in needed if name not in jobs]:
        raise ParameterError(f"jobs lack the columns {missing}; join what infer_checkpoints returns to them")
    occurrence = count_occurrences(jobs)
    columns = {
        "job_number": pc.fill_null(pa.array(jobs["job_number"].astype("Int64")).cast(pa.string()), ""),
        "job_occurrence": pa.array(occurrence).cast(pa.string()),
        "performs_checkpointing": pa.array(jobs["performs_checkpointing"], pa.bool_()).cast(pa.string()),
        "interval_minutes": pa.array(minutes_texts(jobs["checkpoint_interval"]), pa.string()),
        "source": pa.array(jobs["checkpoint_source"], pa.string()),
    }
    if not occurrence.any():
        del columns["job_occurrence"]
    notes = _NOTES if jobs["is_checkpoint_survey_synthetic"].any() else _NOTES[1:]
    lines = pc.binary_join_element_wise(*columns.values(), ",")
    parts = (lines[start : start + _LINES_AT_ONCE].to_pylist() for start in range(0, len(lines), _LINES_AT_ONCE))
    write_commented_csv(path_or_file, notes, columns, ((line,) for part in parts for line in part))


def read_checkpoints(path_or_file: str | Path | IO[Any]) -> pd.DataFrame:
    """Read the side file that ``write_checkpoints`` writes.

    Returns
    -------
    pandas.DataFrame
        In the order of the file: job_number, job_occurrence, performs_checkpointing, checkpoint_interval (s, to the
        last bit what was written), checkpoint_source, is_checkpoint_survey_synthetic. The file has no choice.

    Raises
    ------
    ParameterError
        Lists the first ten faults with line, value and remedy.
    UnreadableLogError
        The file cannot be opened.
    """
    table = read_commented_csv(path_or_file, "a side file of checkpoints")
    if sorted({*table.header, "job_occurrence"}) != sorted(SIDE_COLUMNS) or len({*table.header}) < len(table.header):
        fault = f"columns {','.join(table.header)}, not {','.join(SIDE_COLUMNS)} (job_occurrence may be left out)"
        raise_faults(table.name, [f"line {table.header_line}: {fault}"])
    rows = pd.DataFrame([cells for _, cells in table.rows], columns=table.header, dtype=object)
    cells = [rows[name].tolist() if name in rows else ["0"] * len(rows) for name in SIDE_COLUMNS]
    seconds, whole = {t: seconds_of(t) for t in set(cells[3])}, {t: whole_of(t) for t in {*cells[0], *cells[1]}}
    faults: list[str] = []
    for (line, _), number, occurrence, performs, minutes, source in zip(table.rows, *cells, strict=True):
        if (number and whole[number] is None) or whole[occurrence] is None:
            faults.append(f"line {line}: job {number!r}, occurrence {occurrence!r}: not whole numbers of 0 or more")
        if performs not in {"true", "false"}:
            faults.append(f"line {line}: performs_checkpointing={performs!r} is not true or false")
        elif (performs == "true") != bool(minutes) or (minutes and seconds[minutes] is None):
            faults.append(f"line {line}: interval_minutes={minutes!r}: a number above 0 where true, empty where false")
        if source not in SOURCES or (performs == "true" and source == "assumed-none"):
            faults.append(f"line {line}: source={source!r} is not {', '.join(SOURCES)} (which is never true)")
    raise_faults(table.name, faults)
    columns: dict[str, Any] = {
        "job_number": pd.array([whole[text] for text in cells[0]], dtype="Int64"),
        "job_occurrence": pd.array([whole[text] for text in cells[1]], dtype="Int64"),
        "performs_checkpointing": np.array(cells[2]) == "true",
        "checkpoint_interval": np.array([seconds[text] for text in cells[3]], dtype=float),
        "checkpoint_source": pd.array(cells[4], dtype="str"),
        "is_checkpoint_survey_synthetic": np.full(len(rows), synthetic_note(table.comments) is not None),
    }
    return pd.DataFrame(columns)
