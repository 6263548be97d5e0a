# SPDX-License-Identifier: BSD-3-Clause
"""The policy, semantics and overrun that a schedule is checked by: a misspelt name is refused, not passed over."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from swftools import Trace
from swftools.errors import ParameterError
from swftools.formats.swf.writer import write_swf
from swftools.simulator.entry_points import simulate
from swftools.simulator.validation.report import validate
from tests.simulator.validation.faults import PROMISES


def small_trace() -> Trace:
    """Make two jobs that do not fit beside each other."""
    return Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2],
        submit_time=[0, 5],
        run_time=[10, 7],
        requested_time=[10, 7],
        requested_processors=[3, 2],
    )


STARTS = pd.DataFrame({"job_number": [1, 2], "start_time": [0, 10]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "esay"}, "no policy 'esay'; there are: cirne-berman, .*; did you mean easy?"),
        ({"policy": "easy:depth=1"}, "easy: unknown parameters ['depth']"),
        ({"policy": "no.such.module:easy"}, "module 'no.such.module' cannot be imported"),
        ({"semantics": "instnat"}, "semantics='instnat' is not one of instant, pyss, cqsim"),
        ({"overrun": "cut"}, "overrun='cut' is not one of extend, kill, run-on"),
    ],
)
def test_unknown_words_are_refused(options: dict[str, Any], message: str) -> None:
    """Of a table of starts, and by the name also of a schedule of ours."""
    pattern = re.escape(message).replace(r"\.\*", ".*")
    with pytest.raises(ParameterError, match=pattern):
        validate(STARTS, trace=small_trace(), **options)
    if "overrun" not in options:
        with pytest.raises(ParameterError, match=pattern):
            validate(simulate(small_trace(), "easy"), **options)


def test_a_policy_that_promises_nothing_says_so() -> None:
    """It is known, and there is nothing to check."""
    report = validate(STARTS, trace=small_trace(), policy="ljf")
    assert "ljf" not in PROMISES
    assert (True, ("ljf promises nothing",), "ljf") == (report.ok, report.notes, report.policy)


def test_a_policy_is_named_as_for_a_simulation() -> None:
    """With its parameters, too; promises are those of its name."""
    report = validate(STARTS, trace=small_trace(), policy="easy:reservations=2", semantics="instant")
    assert "easy" == report.policy
    assert set(PROMISES["easy"]) <= set(report.checked)


def test_the_console_refuses_a_misspelt_policy(tmp_path: Path) -> None:
    """With the exit status of a wrong command line, and no word of a valid schedule."""
    write_swf(small_trace(), tmp_path / "log.swf")
    STARTS.to_csv(tmp_path / "starts.csv", index=False)
    command = ["check-schedule", str(tmp_path / "starts.csv"), "--log", str(tmp_path / "log.swf")]
    command += ["--processors", "4", "--policy"]
    done = CliRunner().invoke(main, [*command, "esay"])
    assert (2, True, False) == (done.exit_code, "did you mean easy?" in done.output, ": valid" in done.output)
    done = CliRunner().invoke(main, [*command, "easy"])
    assert (0, True) == (done.exit_code, ": valid" in done.output)
