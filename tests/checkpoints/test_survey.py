# SPDX-License-Identifier: BSD-3-Clause
"""The file of a checkpoint survey: read, checked, written back, and summed up."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swftools.checkpoints.survey import (
    ANSWER_COLUMNS,
    CHOICES,
    CheckpointSurvey,
    minutes_texts,
    read_checkpoint_survey,
    seconds_of,
    summarize_checkpoint_survey,
    write_checkpoint_survey,
)
from swftools.errors import ParameterError, UnreadableLogError
from swftools.tables import to_arrow
from tests.examples import examples

HEADER = "user_id,processors,job_number,submit_time,choice,interval_minutes\n"


def survey_of(*lines: str, header: str = HEADER) -> CheckpointSurvey:
    """Return the survey of some lines below the header."""
    return read_checkpoint_survey(io.StringIO(header + "\n".join(lines)))


def rows_of(survey: CheckpointSurvey) -> list[tuple[Any, ...]]:
    """Return the answers, None for missing, without their numbers."""
    frame = survey.answers.drop(columns="answer_number").astype(object)
    return list(frame.where(frame.notna(), None).itertuples(index=False, name=None))


def fault_of(*lines: str, header: str = HEADER) -> str:
    """Return the message with which some lines are refused."""
    with pytest.raises(ParameterError) as caught:
        survey_of(*lines, header=header)
    return str(caught.value)


# What is read


def test_a_hand_drawn_survey() -> None:
    """Each column in its type and unit; what is empty is missing."""
    survey = survey_of("3,64,17,1000.5,0,7.5", "3,8,18,,1,", "4,1,,2000,6,", ",2,20,,5,")
    assert [
        (3, 64, 17, 1000.5, 0, 450.0),
        (3, 8, 18, None, 1, None),
        (4, 1, None, 2000.0, 6, None),
        (None, 2, 20, None, 5, None),
    ] == rows_of(survey)
    assert [1, 2, 3, 4] == survey.answers["answer_number"].tolist()
    assert ANSWER_COLUMNS == tuple(survey.answers)
    types = ["float64" if name in {"submit_time", "interval"} else "Int64" for name in ANSWER_COLUMNS]
    assert types == [str(dtype) for dtype in survey.answers.dtypes]
    assert (False, None, 4) == (survey.is_synthetic, survey.synthetic_note, len(survey))


@pytest.mark.parametrize(
    "text",
    [
        "choice,interval_minutes,user_id,processors,job_number\n0,15,3,64,17\n",
        "user_id,processors,job_number,choice,interval_minutes\r\n3,64,17,0,15\r\n",
        "\ufeffuser_id,processors,job_number,choice,interval_minutes\n3,64,17,0,15.0",
        "\n# spring\n\n#\nuser_id,processors,job_number,choice,interval_minutes\n\n 3 , 64,17,0,015\n\n",
        'user_id,"processors",job_number,choice,interval_minutes\n"3",64,"17",0,15\n',
        "user_id,processors,job_number,choice,interval_minutes\n3,64,17,0,15\n3,64,17,0,15.00\n",
    ],
)
def test_forms_of_the_same_survey(text: str) -> None:
    """Order of columns, line ends, byte order mark, comments, blanks, quotes and repeated answers do not matter."""
    for file in (io.StringIO(text, newline=""), io.BytesIO(text.encode())):
        assert [(3, 64, 17, None, 0, 900.0)] == rows_of(read_checkpoint_survey(file))


def test_a_path_is_read_and_named(tmp_path: Path) -> None:
    """A file is given by its path; the survey and the errors carry its name."""
    path = tmp_path / "spring.csv"
    path.write_text(HEADER + "3,64,17,,0,15\n", encoding="utf-8")
    assert [1, 1] == [len(read_checkpoint_survey(form)) for form in (path, str(path))]
    assert str(path) == read_checkpoint_survey(path).name
    path.write_text(HEADER + "3,64,17,,9,\n", encoding="utf-8")
    with pytest.raises(ParameterError, match=r"spring\.csv:\n  line 2: choice=9"):
        read_checkpoint_survey(path)


def test_numbers_that_floats_do_not_hold() -> None:
    """Identifiers are read to the last digit."""
    assert (2**53 + 1, 1, 2**62 + 1) == rows_of(survey_of(f"{2**53 + 1},1,{2**62 + 1},,1,"))[0][:3]


def test_a_survey_without_answers() -> None:
    """A header alone is a survey, with columns in their types."""
    survey = survey_of()
    assert 0 == len(survey)
    assert survey_of("1,1,1,1,0,1").answers.dtypes.to_dict() == survey.answers.dtypes.to_dict()


@pytest.mark.parametrize(
    ("comment", "note"),
    [("# synthetic: seed 3", "seed 3"), ("#Synthetic:", ""), ("# not synthetic: real", None), ("# synthetic", None)],
)
def test_the_synthetic_mark(comment: str, note: str | None) -> None:
    """A comment that begins with "synthetic:" marks a generated survey."""
    survey = survey_of("3,64,17,,1,", header=f"# first\n{comment}\n{HEADER}")
    assert note == survey.synthetic_note
    assert (note is not None) == survey.is_synthetic
    assert ("first", comment[1:].strip()) == survey.comments


def test_one_job_answered_twice_alike_is_one_answer() -> None:
    """Repeats are merged, whichever way the job is told; the first keeps its number."""
    survey = survey_of("3,64,17,,0,15", "3,64,,500,1,", "3,64,17,,0,15", "3,64,,500,1,", "3,8,,500,2,", "4,64,17,,2,")
    assert [1, 2, 5, 6] == survey.answers["answer_number"].tolist()


# What is refused


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("3,64,17,,7,", "choice=7 is not 0 to 6 (0 yes, 1 to 4 no, 5 other, 6 declined)"),
        ("3,64,17,,-1,", "choice='-1' is not a whole number of 0 or more"),
        ("3,64,17,,,", "choice=(empty) is not 0 to 6"),
        ("3,64,17,,yes,", "choice='yes' is not a whole number"),
        ("3,64,17,,1.0,", "choice='1.0' is not a whole number"),
        ("3,64,17,,0,", "choice 0 without interval_minutes; give the minutes between two checkpoints"),
        ("3,64,17,,1,15", "interval_minutes=15 with choice 1; only choice 0 has one, leave it empty"),
        ("3,64,17,,6,0.1", "interval_minutes=0.1 with choice 6; only choice 0 has one"),
        ("3,64,17,,0,0", "interval_minutes='0' is not a number of minutes above 0"),
        ("3,64,17,,0,0.0", "interval_minutes='0.0' is not a number of minutes above 0"),
        ("3,64,17,,0,-5", "interval_minutes='-5' is not a number of minutes above 0"),
        ("3,64,17,,0,nan", "interval_minutes='nan' is not a number"),
        ("3,64,17,,0,inf", "interval_minutes='inf' is not a number"),
        ("3,64,17,,0,1e3", "interval_minutes='1e3' is not a number"),
        ("3,64,17,,0,1_000", "interval_minutes='1_000' is not a number"),
        ("3,64,17,,0,٣", "interval_minutes='٣' is not a number"),
        ("3,64,17,,0,15 min", "interval_minutes='15 min' is not a number"),
        ("3,64,17,,0,166666667", "interval_minutes='166666667' is not a number of minutes above 0 (at most 1e+10 s)"),
        ("3,0,17,,1,", "processors=0 is not at least 1; give the width of the job"),
        ("3,,17,,1,", "processors=(empty) is not at least 1"),
        ("3,-4,17,,1,", "processors='-4' is not a whole number"),
        ("3,4.5,17,,1,", "processors='4.5' is not a whole number"),
        ("-3,64,17,,1,", "user_id='-3' is not a whole number of 0 or more; what is not known is left empty"),
        ("3,64,9223372036854775807,,1,", "job_number='9223372036854775807' is not a whole number"),
        ("3,64,,noon,1,", "submit_time='noon' is not a number of seconds of 0 or more, such as 86400"),
        ("3,64,,99999999999,1,", "submit_time='99999999999' is not a number of seconds"),
        ("3,64,,,1,", "neither job_number nor submit_time; give one of them"),
        (",64,,500,1,", "neither user_id nor job_number; submit_time finds a job only together with its user"),
        ("3,64,17,,1", "5 cells, the header has 6; separate them by commas, comments go first"),
        ("# late", "1 cells, the header has 6; separate them by commas, comments go first"),
        ("3;64;17;;1;", "1 cells, the header has 6"),
    ],
)
def test_a_bad_answer_is_refused(line: str, message: str) -> None:
    """The message names file, line, value and remedy."""
    told = fault_of("3,64,1,,2,", line)
    assert told.startswith("a checkpoint survey:\n  line 3: ")
    assert message in told


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "3,64,17,,1,",
            "processors=64, choice=1, but line 2, for the same job, has processors=64, choice=0, interval_min",
        ),
        ("3,64,17,,0,16", "choice=0, interval_minutes=16, but line 2, for the same job, has processors=64, choice=0"),
        ("3,32,17,,0,15", "processors=32, choice=0, interval_minutes=15, but line 2"),
        (
            "3,64,,500,6,",
            "processors=64, choice=6, but line 3, for the same job, has processors=64, choice=2; keep one",
        ),
    ],
)
def test_answers_that_contradict_one_another_are_refused(line: str, message: str) -> None:
    """Both lines are named."""
    told = fault_of("3,64,17,,0,15", "3,64,,500,2,", line)
    assert told.startswith("a checkpoint survey:\n  line 4: ")
    assert message in told


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (
            "user_id,processors,choice,interval_minutes",
            "neither a column 'job_number' nor a column 'submit_time'; give",
        ),
        ("user_id,job_number,choice,interval_minutes", "no column 'processors'; give user_id,processors,job_number"),
        ("user_id,processors,job_number,choice", "no column 'interval_minutes'"),
        ("user_id,processors,job_number,choice,interval_minutes,mood", "column 'mood' is unknown"),
        ("user_id,processors,job_number,choice,choice,interval_minutes", "column 'choice' appears twice"),
        ("user_id;processors;job_number;choice;interval_minutes", "column 'user_id;processors;job_number;choice;"),
        ("3,64,17,0,15", "column '3' is unknown"),
    ],
)
def test_a_bad_header_is_refused(header: str, message: str) -> None:
    """The message names line and column, and the columns that there are."""
    told = fault_of(header=f"# comment\n{header}\n")
    assert told.startswith("a checkpoint survey:\n  line 2: ")
    assert message in told
    assert told.endswith(f"; give {HEADER.strip()}")


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n"])
def test_an_empty_file_is_refused(text: str) -> None:
    """Without a header there is no survey."""
    assert "a checkpoint survey: no header line, the file is empty" in fault_of(header=text)


def test_the_first_ten_faults_are_told_at_once() -> None:
    """One error has ten faults in the order of lines, of whatever kind, and tells how many more there are."""
    told = fault_of(*[f"3,0,{i},,{'x' if i % 2 else 9}," for i in range(8)]).splitlines()
    assert ["line 2: processors=0", "line 2: choice=9", "line 3: choice='x'"] == [
        line.split(" is not")[0].strip() for line in told[1:4]
    ]
    assert (12, "  and 2 more") == (len(told), told[-1])
    assert 11 == len(fault_of(*[f"3,64,{i},,7," for i in range(10)]).splitlines())


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    """The message names file, line and byte."""
    path = tmp_path / "latin.csv"
    path.write_bytes(b"# Universit\xe4t\n" + HEADER.encode())
    with pytest.raises(ParameterError, match=r"latin\.csv:\n  line 1: byte 0xe4 is not UTF-8; save it as UTF-8"):
        read_checkpoint_survey(path)


def test_a_quote_that_does_not_end_is_refused() -> None:
    """The message names the line."""
    assert "line 2: unexpected end of data; mend the quotes" in fault_of('3,64,17,,1,"')


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    """The message names the file and the reason."""
    with pytest.raises(UnreadableLogError, match=r"no\.csv: a checkpoint survey cannot be read: No such file"):
        read_checkpoint_survey(tmp_path / "no.csv")


def test_a_frame_with_other_columns_is_refused() -> None:
    """A survey made in memory has the columns of one that was read; the message says how to have it checked."""
    with pytest.raises(ParameterError, match=r"to_csv\(index=False\)\)\) checks a table of answers"):
        CheckpointSurvey(pd.DataFrame({"user_id": [1]}))


# There and back


identifiers = st.integers(0, 2**63 - 2)
times = st.floats(0, 1e10, allow_nan=False)
intervals = st.floats(5e-324, 1e10, exclude_min=True) | st.integers(1, 600).map(lambda minutes: 60.0 * minutes)


@st.composite
def answers(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an answer as it is held."""
    number = draw(st.none() | identifiers)
    choice = draw(st.integers(0, 6))
    return {
        "user_id": draw(identifiers) if number is None else draw(st.none() | identifiers),
        "processors": draw(st.integers(1, 2**63 - 2)),
        "job_number": number,
        "submit_time": draw(times) if number is None else draw(st.none() | times),
        "choice": choice,
        "interval": draw(intervals) if choice == 0 else None,
    }


@examples(0.5)
@given(
    st.lists(
        answers(), max_size=8, unique_by=lambda answer: (answer["user_id"], answer["job_number"], answer["submit_time"])
    ),
    st.booleans(),
)
def test_what_is_written_is_read_back(rows: list[dict[str, Any]], as_text: bool) -> None:
    """Every answer has the same values, to the last bit, and the comments are kept."""
    frame = pd.DataFrame(rows, columns=list(ANSWER_COLUMNS[1:]), dtype=object)
    frame.insert(0, "answer_number", range(1, len(rows) + 1))
    types = {name: "float64" if name in {"submit_time", "interval"} else "Int64" for name in ANSWER_COLUMNS}
    survey = CheckpointSurvey(frame.astype(types), ("synthetic: seed 1", "Ünïcode"))
    file: Any = io.StringIO() if as_text else io.BytesIO()
    write_checkpoint_survey(survey, file)
    file.seek(0)
    again = read_checkpoint_survey(file)
    pd.testing.assert_frame_equal(survey.answers, again.answers)
    assert survey.comments == again.comments


def test_a_survey_is_written_as_people_write_it(tmp_path: Path) -> None:
    """Comments first, then the header and the answers, in minutes."""
    survey = survey_of("3,64,17,1000.5,0,7.50", "4,1,,2000,6,", header=f"# spring\n{HEADER}")
    write_checkpoint_survey(survey, tmp_path / "s.csv")
    expected = f"# spring\n{HEADER}3,64,17,1000.5,0,7.5\n4,1,,2000,6,\n"
    assert expected == (tmp_path / "s.csv").read_bytes().decode()


@example(0.1)
@example(5e-324)
@example(1e10)
@example(math.nextafter(64 * 60, 0))
@given(intervals)
def test_minutes_give_the_same_seconds(seconds: float) -> None:
    """The text of minutes is read as exactly the seconds it was written for."""
    assert seconds == seconds_of(minutes_texts(pd.Series([seconds]))[0])


def test_minutes_are_short() -> None:
    """Whole minutes and tenths look like it; missing is empty."""
    texts = minutes_texts(pd.Series([900.0, 6.0, math.nan, 1.0, 3.6e6]))
    assert ["15", "0.1", "", "0.016666666666666667", "60000"] == texts


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.inf, 2e10])
def test_an_impossible_interval_is_not_written(seconds: float) -> None:
    """What could not be read back is refused."""
    with pytest.raises(ParameterError, match="above 0 and at most 1e\\+10 s"):
        minutes_texts(pd.Series([seconds]))


# The summary


def test_summary_of_hand_drawn_answers() -> None:
    """Responses and hours by choice with their shares; an unknown hour counts 0."""
    summary = summarize_checkpoint_survey([0, 0, 2, 6, 2], [10, 20, 5, math.nan, 5])
    to_arrow(summary, "checkpoint_summary")
    assert [2, 0, 2, 0, 0, 0, 1] == summary["responses"].tolist()
    assert [0.4, 0, 0.4, 0, 0, 0, 0.2] == summary["response_share"].tolist()
    assert [30, 0, 10, 0, 0, 0, 0] == summary["processor_hours"].tolist()
    assert [0.75, 0, 0.25, 0, 0, 0, 0] == summary["processor_hours_share"].tolist()
    assert list(CHOICES) == summary["meaning"].tolist()


def test_summary_of_nothing() -> None:
    """Without answers, or hours, there are no shares."""
    summary = summarize_checkpoint_survey([], [])
    to_arrow(summary, "checkpoint_summary")
    assert 7 == len(summary)
    assert summary[["response_share", "processor_hours_share"]].isna().all(axis=None)
    assert 0 == summary["processor_hours"].sum()
