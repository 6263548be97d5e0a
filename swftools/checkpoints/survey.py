# SPDX-License-Identifier: BSD-3-Clause
"""The checkpoint survey: users' answers whether their jobs write checkpoints, read, checked, written, summed up.

A survey is a CSV file with one answer for each line. ``swftools.checkpoints.inference`` gives the answers to the jobs
of a trace; ``swftools.checkpoints.synthetic_survey`` makes up surveys where there is none.

References
----------
Lee 2009, "On the user-scheduler relationship in high-performance computing", section 6.4 (the questions) and
Tables 6.1 and 6.2 (the summary).
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.by_job import in_one_order
from swftools.errors import ParameterError, UnreadableLogError
from swftools.fields.definition import MAX_TIME
from swftools.output.whole_files import create_file
from swftools.parameters.small_files import PRINTED_LIMIT, read_small_file

CHOICES = (
    "yes: performs checkpointing",
    "no: debug or trial run",
    "no: will probably end successfully",
    "no: not available for this program",
    "no: incurs a slowdown",
    "other",
    "declined to participate",
)
"""The meanings of choices 0 to 6 (Table 6.1)."""

YES, DECLINED = 0, 6
SURVEY_COLUMNS = ("user_id", "processors", "job_number", "submit_time", "choice", "interval_minutes")
"""The columns of a survey file, as they are written."""

ANSWER_COLUMNS = ("answer_number", "user_id", "processors", "job_number", "submit_time", "choice", "interval")
MOST_FAULTS = 10
"""An error lists so many faults, and how many more there are."""

SYNTHETIC = "synthetic:"
_LINES_AT_ONCE = 1 << 12
_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{1,400})?", re.ASCII)
_WHOLE = re.compile(r"[0-9]{1,19}", re.ASCII)


class _Answer(NamedTuple):
    """An answer in plain Python; None is missing, the interval is in seconds."""

    answer_number: int
    user_id: int | None
    processors: int | None
    job_number: int | None
    submit_time: float | None
    choice: int | None
    interval: float | None


@dataclass(frozen=True, eq=False)
class CheckpointSurvey:
    """Answers to the checkpoint survey, checked: from ``read_checkpoint_survey`` or ``generate_checkpoint_survey``.

    Parameters
    ----------
    answers : pandas.DataFrame
        One row for each answer, one answer for each job: answer_number (row of the file, first = 1), user_id,
        processors, job_number, submit_time (s), choice, interval (s). Integers are Int64, times float64; missing is NA
        or NaN.
    comments : tuple of str
        The comment lines before the header of the file, without the ``#``.
    name : str
        Name of the survey in error messages: the file's name.

    Raises
    ------
    ParameterError
        The columns are not the ones above.
    """

    answers: pd.DataFrame
    comments: tuple[str, ...] = ()
    name: str = "checkpoint survey"

    def __post_init__(self) -> None:
        if tuple(self.answers) != ANSWER_COLUMNS:
            remedy = "read_checkpoint_survey(io.StringIO(frame.to_csv(index=False))) checks a table of answers"
            raise ParameterError(f"{self.name}: columns {list(self.answers)}, not {list(ANSWER_COLUMNS)}; {remedy}")

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def synthetic_note(self) -> str | None:
        """What the comment ``synthetic: ...`` says of how the survey was made; None for a real survey."""
        return synthetic_note(self.comments)

    @property
    def is_synthetic(self) -> bool:
        """Whether the survey was generated, and no user was asked."""
        return self.synthetic_note is not None


def read_checkpoint_survey(path_or_file: str | Path | IO[Any]) -> CheckpointSurvey:
    r"""Read a checkpoint survey from a CSV file.

    The file is UTF-8 text: comment lines (``# ...``), a header with the names of the columns in any order, and one
    line for each answer: user_id, processors, job_number, submit_time, choice, interval_minutes. One of job_number and
    submit_time may be empty, or its column left out; user_id may be empty if job_number is given. A comment
    ``# synthetic: ...`` marks a generated survey. The same answer twice for one job counts once. A file with only a
    header is a survey without answers.

    Parameters
    ----------
    path_or_file : str, Path or file
        The file, opened for text or bytes.

    Raises
    ------
    ParameterError
        Lists the first ten faults with line, value and remedy: unknown, missing or repeated columns; values that are
        no numbers; a choice outside 0 to 6; an interval missing for choice 0, given for another, or not positive;
        less than 1 processor; neither job_number nor submit_time; different answers for one job; an empty file.
    UnreadableLogError
        The file cannot be opened.

    References
    ----------
    Lee 2009, section 6.4. The paper does not give the form of the file; this one is ours.

    Examples
    --------
    >>> text = "# spring\nuser_id,processors,job_number,choice,interval_minutes\n3,64,17,0,15\n3,8,18,1,\n"
    >>> read_checkpoint_survey(io.StringIO(text)).answers["interval"].tolist()
    [900.0, nan]
    """
    table = read_commented_csv(path_or_file, "a checkpoint survey")
    _check_header(table)
    faults: list[str] = []
    rows: list[_Answer] = []
    seen: dict[Any, tuple[int, _Answer]] = {}
    for number, (line, cells) in enumerate(table.rows, 1):
        mistakes, answer = _parsed(number, dict(zip(table.header, cells, strict=True)))
        faults += [f"line {line}: {mistake}" for mistake in mistakes or _mistakes(answer)]
        key = (answer.user_id, answer.job_number, answer.submit_time)
        job = key if answer.job_number is not None else (*key, answer.processors)
        first, other = seen.setdefault(job, (line, answer))
        if first == line:
            rows.append(answer)
        elif other[1:] != answer[1:] and not mistakes:
            differs = f"{_said(answer)}, but line {first}, for the same job, has {_said(other)}"
            faults.append(f"line {line}: {differs}; keep one of them")
    raise_faults(table.name, faults)
    types = {name: "float64" if name in {"submit_time", "interval"} else "Int64" for name in ANSWER_COLUMNS}
    frame = pd.DataFrame(rows, columns=list(types), dtype=object).astype(types)
    return CheckpointSurvey(frame, table.comments, table.name)


def write_checkpoint_survey(survey: CheckpointSurvey, path_or_file: str | Path | IO[Any]) -> None:
    """Write a checkpoint survey as the CSV file that ``read_checkpoint_survey`` reads, its comments first.

    Parameters
    ----------
    survey : CheckpointSurvey
        The survey; reading the file gives the same values, to the last bit, with new answer numbers.
    path_or_file : str, Path or file
        A file opened for text or bytes is left open.

    Raises
    ------
    StorageError
        The path cannot be written; an old file stays as it was.
    """
    answers = survey.answers
    columns = {name: answers[name].astype("str").fillna("").tolist() for name in SURVEY_COLUMNS[:5]}
    columns["submit_time"] = [
        "" if np.isnan(time) else _decimal(Decimal(repr(time))) for time in answers["submit_time"]
    ]
    columns["interval_minutes"] = minutes_texts(answers["interval"])
    write_commented_csv(path_or_file, survey.comments, columns, zip(*columns.values(), strict=True))


def summarize_checkpoint_survey(choice: npt.ArrayLike, processor_hours: npt.ArrayLike) -> pd.DataFrame:
    """Sum up a survey by choice: Tables 6.1 and 6.2 of Lee 2009 for any survey.

    Parameters
    ----------
    choice : array_like of int, shape (answers,)
        0 to 6.
    processor_hours : array_like of float, shape (answers,)
        Width x logged run time of the job of each answer; NaN (no job, width or run time known) counts 0.

    Returns
    -------
    pandas.DataFrame
        The table ``checkpoint_summary``: one row for each choice. Shares are missing where there is nothing to share.

    References
    ----------
    Lee 2009, Tables 6.1 and 6.2; the paper counts node-hours.

    Examples
    --------
    >>> summarize_checkpoint_survey([0, 1, 1], [30, 10, np.nan])["processor_hours_share"].tolist()[:2]
    [0.75, 0.25]
    """
    choice, processor_hours = in_one_order(choice=choice, processor_hours=processor_hours)
    choices = np.asarray(choice, np.int64)
    responses = np.bincount(choices, minlength=len(CHOICES))
    hours = np.bincount(choices, np.nan_to_num(np.asarray(processor_hours, float)), len(CHOICES)).astype(float)
    columns: dict[str, Any] = {
        "choice": pd.array(range(len(CHOICES)), dtype="Int64"),
        "meaning": pd.array(CHOICES, dtype="str"),
        "responses": pd.array(responses, dtype="Int64"),
        "response_share": responses / responses.sum() if responses.sum() else np.nan,
        "processor_hours": hours,
        "processor_hours_share": hours / hours.sum() if hours.sum() else np.nan,
    }
    return pd.DataFrame(columns)


def _check_header(table: CommentedCsv) -> None:
    """Raise ParameterError unless the columns are those of a survey."""
    header, optional = table.header, {"job_number", "submit_time"}
    faults = [f"column {name!r} is unknown" for name in header if name not in SURVEY_COLUMNS]
    faults += [f"column {name!r} appears twice" for name in SURVEY_COLUMNS if header.count(name) > 1]
    faults += [f"no column {name!r}" for name in SURVEY_COLUMNS if name not in {*header, *optional}]
    faults += [] if optional & set(header) else ["neither a column 'job_number' nor a column 'submit_time'"]
    if faults:
        raise_faults(table.name, [f"line {table.header_line}: {'; '.join(faults)}; give {','.join(SURVEY_COLUMNS)}"])


def _parsed(number: int, cells: dict[str, str]) -> tuple[list[str], _Answer]:
    """Return what is not a number in a line, and its answer without that."""
    values: dict[str, Any] = dict.fromkeys(SURVEY_COLUMNS)
    mistakes = []
    for name, cell in cells.items():
        text = cell.strip()
        if not text:
            continue
        if name == "interval_minutes":
            values[name], form = seconds_of(text), f"a number of minutes above 0 (at most {MAX_TIME:g} s), such as 7.5"
        elif name == "submit_time":
            values[name] = float(text) if _NUMBER.fullmatch(text) and float(text) <= MAX_TIME else None
            form = "a number of seconds of 0 or more, such as 86400"
        else:
            values[name], form = whole_of(text), "a whole number of 0 or more; what is not known is left empty"
        if values[name] is None:
            mistakes.append(f"{name}={cell!r} is not {form}")
    return mistakes, _Answer(number, *values.values())


def _mistakes(answer: _Answer) -> Iterator[str]:
    """Yield what is wrong with an answer."""
    if answer.processors is None or answer.processors < 1:
        yield f"processors={_shown(answer.processors)} is not at least 1; give the width of the job"
    if answer.job_number is None and answer.submit_time is None:
        yield "neither job_number nor submit_time; give one of them"
    elif answer.job_number is None and answer.user_id is None:
        yield "neither user_id nor job_number; submit_time finds a job only together with its user"
    if answer.choice is None or answer.choice > DECLINED:
        yield f"choice={_shown(answer.choice)} is not 0 to 6 (0 yes, 1 to 4 no, 5 other, 6 declined)"
    elif answer.choice == YES and answer.interval is None:
        yield "choice 0 without interval_minutes; give the minutes between two checkpoints"
    elif answer.choice != YES and answer.interval is not None:
        minutes = _minutes_text(answer.interval)
        yield f"interval_minutes={minutes} with choice {answer.choice}; only choice 0 has one, leave it empty"


def _said(answer: _Answer) -> str:
    """Return what two answers for one job must agree in."""
    interval = "" if answer.interval is None else f", interval_minutes={_minutes_text(answer.interval)}"
    return f"processors={_shown(answer.processors)}, choice={_shown(answer.choice)}{interval}"


def _shown(value: object) -> str:
    """Return a value for a message."""
    return "(empty)" if value is None else str(value)


def raise_faults(name: str, faults: Sequence[str]) -> None:
    """Raise one ParameterError with the first faults of a file, if there are any."""
    if faults:
        more = f"\n  and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
        raise ParameterError(f"{name}:" + "".join(f"\n  {fault}" for fault in faults[:MOST_FAULTS]) + more)


# Comma-separated text with comments, and minutes in it


class CommentedCsv(NamedTuple):
    """A CSV file: its name, comments, header and the line it stands on, and rows with the lines they end on."""

    name: str
    comments: tuple[str, ...]
    header: list[str]
    header_line: int
    rows: list[tuple[int, list[str]]]


def read_commented_csv(path_or_file: str | Path | IO[Any], what: str) -> CommentedCsv:
    """Read comment lines, a header and rows of as many cells; empty lines are skipped.

    Raises
    ------
    ParameterError
        The text is not UTF-8, has no header, or rows of another length.
    UnreadableLogError
        The file cannot be opened.
    """
    name = getattr(path_or_file, "name", what) if hasattr(path_or_file, "read") else path_or_file
    name = str(name)
    try:
        data = path_or_file.read() if hasattr(path_or_file, "read") else read_small_file(path_or_file, PRINTED_LIMIT)
        text = data if isinstance(data, str) else data.decode()
    except OSError as error:
        raise UnreadableLogError(f"{name}: {what} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        wrong = error.object[error.start]
        line = error.object[: error.start].count(b"\n") + 1
        raise ParameterError(f"{name}:\n  line {line}: byte {wrong:#04x} is not UTF-8; save it as UTF-8") from error
    lines = io.StringIO(text.removeprefix("\ufeff"), newline="").readlines()
    before = list(itertools.takewhile(lambda line: not line.strip() or line.startswith("#"), lines))
    comments = tuple(line[1:].strip() for line in before if line.strip())
    start = len(before)
    reader = csv.reader(lines[start:], strict=True)
    try:
        rows = [(start + reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise ParameterError(f"{name}:\n  line {start + reader.line_num}: {error}; mend the quotes") from error
    if not rows:
        raise ParameterError(f"{name}: no header line, the file is empty; {what} without rows has its header")
    header_line, header = rows[0]
    faults = [
        f"line {line}: {len(cells)} cells, the header has {len(header)}; separate them by commas, comments go first"
        for line, cells in rows[1:]
        if len(cells) != len(header)
    ]
    raise_faults(name, faults)
    return CommentedCsv(name, comments, [cell.strip() for cell in header], header_line, rows[1:])


def write_commented_csv(
    path_or_file: str | Path | IO[Any], comments: Iterable[str], header: Iterable[str], rows: Iterable[Iterable[str]]
) -> None:
    """Write comment lines, a header and rows to a path, or to a file opened for text or bytes, which stays open.

    Raises
    ------
    StorageError
        The path cannot be written; an old file stays as it was.
    """
    notes = (f"# {line}\n" for comment in comments for line in comment.splitlines())
    lines = itertools.chain(notes, (",".join(row) + "\n" for row in itertools.chain([header], rows)))
    if isinstance(path_or_file, str | Path):
        with create_file(path_or_file) as file:
            while piece := "".join(itertools.islice(lines, _LINES_AT_ONCE)):
                file.write(piece.encode())
    else:
        text = "".join(lines)
        path_or_file.write(text if hasattr(path_or_file, "encoding") else text.encode())


def synthetic_note(comments: Iterable[str]) -> str | None:
    """Return what the comment ``synthetic: ...`` says; None without one."""
    notes = (comment[len(SYNTHETIC) :].strip() for comment in comments if comment.casefold().startswith(SYNTHETIC))
    return next(notes, None)


def whole_of(text: str) -> int | None:
    """Return a whole number of 0 or more and less than 64 bits; None if the text is not one."""
    return int(text) if _WHOLE.fullmatch(text) and int(text) < 2**63 - 1 else None


def seconds_of(minutes: str) -> float | None:
    """Return the seconds of a text of minutes, rounded once; None if it is not a number above 0."""
    if not _NUMBER.fullmatch(minutes):
        return None
    seconds = float(Fraction(minutes) * 60)
    return seconds if 0 < seconds <= MAX_TIME else None


def minutes_texts(seconds: pd.Series[Any]) -> list[str]:
    """Return the shortest texts of minutes that ``seconds_of`` reads as these seconds; empty where missing."""
    texts = {value: _minutes_text(value) for value in seconds.dropna().unique().tolist()}
    return ["" if missing else texts[value] for value, missing in zip(seconds.tolist(), seconds.isna(), strict=True)]


def _minutes_text(seconds: float) -> str:
    """Return the shortest decimal number of minutes that is exactly so many seconds, once rounded."""
    if not 0 < seconds <= MAX_TIME:
        raise ParameterError(
            f"an interval of {seconds} s between checkpoints: it is above 0 and at most {MAX_TIME:g} s"
        )
    texts = (_decimal(Context(prec=digits).divide(Decimal(seconds), Decimal(60))) for digits in range(1, 30))
    return next(text for text in texts if seconds_of(text) == seconds)


def _decimal(number: Decimal) -> str:
    """Return a number without exponent and without zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
