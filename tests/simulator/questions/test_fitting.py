# SPDX-License-Identifier: BSD-3-Clause
"""Which simulator made a schedule: dr_evt and RAPS restated, their own fixture, and what is named as fitting best."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from swftools import Trace, read_swf
from swftools.errors import ParameterError, UnreadableLogError
from swftools.parameters.choices import SEMANTICS
from swftools.simulator import Schedule, fit_semantics, list_policies, simulate, validate
from tests.folders import ROOT
from tests.naive.simulator import TWINS
from tests.pages import table_on_page
from tests.simulator.twin import naive_starts
from tests.strategies import crowded_trace

SET = ROOT / "examples" / "referee"
STARTS = pd.read_csv(SET / "starts.csv")
LOGS = sorted(path.stem for path in SET.glob("*.swf"))
TRIED = ("fcfs", "easy")


def starts_of(log: str, policy: str, semantics: str = "instant", **options: str) -> list[float]:
    """Return when the jobs of a log of the set start."""
    predictor = "exact" if semantics == "cqsim" else "request"
    trace = read_swf(SET / f"{log}.swf")
    schedule = simulate(trace, policy, semantics=semantics, predictor=predictor, compiled=False, **options)  # type: ignore[arg-type]
    return schedule.jobs["start_time"].tolist()


# ---------------------------------------------------------------- the set


def test_every_log_has_its_schedules() -> None:
    """One for each rule, of every job; each log is small, and says why it is there."""
    assert LOGS == sorted(STARTS["log"].unique())
    assert 15 == len(LOGS)
    for log in LOGS:
        trace = read_swf(SET / f"{log}.swf")
        assert (0, 1, True) == (len(trace.quarantine), len(trace.header.notes), len(trace) <= 5)
        rules = STARTS[STARTS["log"] == log].groupby("rule")["job_number"].apply(list).to_dict()
        assert {rule: trace.jobs["job_number"].tolist() for rule in ("conservative", "easy", "fcfs")} == rules


@pytest.mark.parametrize("rule", ["fcfs", "easy", "conservative"])
@pytest.mark.parametrize("log", LOGS)
def test_schedules_of_the_set(log: str, rule: str) -> None:
    """As the simulator has them, and its slow twin."""
    known = STARTS[(STARTS["log"] == log) & (STARTS["rule"] == rule)]["start_time"].tolist()
    assert known == starts_of(log, rule)
    twin = next(each for name, given, each in TWINS if name == rule and given in ({}, TWINS[6][1]))
    assert known == naive_starts(read_swf(SET / f"{log}.swf"), twin, "request", "extend")


# ---------------------------------------------------------------- other simulators

COLUMNS = (
    ("easy", "instant", {}),
    *(("easy", semantics, {}) for semantics in ("pyss", "cqsim", "dr_evt", "raps")),
    ("easy-in-time", "instant", {"shadow": "fixed"}),
    ("easy-in-time", "instant", {"shadow": "fixed", "ends": "before"}),
)
"""The columns of the table of docs/validation.md, but the last."""


def test_the_page_has_these_schedules() -> None:
    """Each cell is what comes out, or says that it is as it is known."""
    table = table_on_page("validation.md", "log")
    assert sorted(table) == LOGS
    for log in LOGS:
        made = [starts_of(log, policy, semantics, **options) for policy, semantics, options in COLUMNS]
        words = [" ".join(f"{start:g}" for start in each) for each in made]
        assert [words[0], *("=" if each == words[0] else each for each in words[1:])] == table[log][:-1]


def test_dr_evt_on_the_set() -> None:
    """Nobody ends at the shadow time or takes what is left over."""
    assert [0, 10, 20] == starts_of("ends-at", "easy", "dr_evt")
    assert [0, 10, 2] == starts_of("ends-before", "easy", "dr_evt")
    assert [0, 10, 10] == starts_of("extra", "easy", "dr_evt") == starts_of("extra", "easy", "raps")
    assert [0, 10, 20, 2] == starts_of("order-of-backfilling", "easy", "dr_evt")


def test_raps_on_the_set() -> None:
    """Who ends at the shadow time goes ahead; limits are added up instead of ends, and the first job loses 4 s."""
    assert [0, 10, 2] == starts_of("ends-at", "easy", "raps")
    assert [0, 15, 24, 17] == starts_of("order-of-ends", "easy", "raps")
    assert [0, 15, 20, 25] == starts_of("order-of-ends", "easy", "dr_evt")


# 100 nodes: wide jobs of 150 s and narrow ones of 50 s, one every 10 s, as in a fixture of LLNL's dr_evt (MIT).
WIDE, NARROW = (70, 150), (10, 50)
FIXTURE = [WIDE if place % 5 == 0 else NARROW for place in range(30)]
DR_EVT = [
    *(0, 10, 20, 30, 60, 150, 70, 80, 150, 150, 300, 150, 200, 200, 200, 450, 300, 300, 300, 350),
    *(600, 350, 350, 450, 450, 750, 450, 500, 500, 500),
]
"""What dr_evt itself makes of it."""


def fixture() -> Trace:
    """Return the jobs of the fixture."""
    return Trace.from_columns(
        machine_processors=100,
        job_number=range(30),
        submit_time=range(0, 300, 10),
        requested_processors=[width for width, _ in FIXTURE],
        run_time=[run for _, run in FIXTURE],
        requested_time=[run for _, run in FIXTURE],
    )


def test_dr_evts_own_fixture() -> None:
    """All of its 30 starts; the usual EASY has 12 of them."""
    theirs = pd.DataFrame({"job_id": range(30), "start_time": DR_EVT})
    found = fit_semantics(theirs, fixture(), policies=TRIED)
    best = found.iloc[0]
    assert ("easy", "dr_evt", 30, 1.0, 0.0) == tuple(best[["policy", "semantics", "same", "share", "mean_difference"]])
    assert pd.isna(best["first_job"])
    usual = found[(found["policy"] == "easy") & (found["semantics"] == "instant")].iloc[0]
    assert (12, 8, 150.0, 110.0) == tuple(usual[["same", "first_job", "first_start", "first_start_here"]])


@pytest.mark.parametrize("semantics", ["pyss", "dr_evt", "raps"])
def test_a_schedule_is_known_by_its_simulator(semantics: str) -> None:
    """Each makes a busy machine's schedule by which it is told from all others."""
    rng = np.random.default_rng(5)
    run = rng.integers(1, 20, 200)
    trace = Trace.from_columns(
        machine_processors=16,
        job_number=range(200),
        submit_time=np.cumsum(rng.integers(0, 6, 200)),
        requested_processors=rng.integers(1, 10, 200),
        run_time=run,
        requested_time=run + rng.integers(0, 20, 200),
    )
    made = simulate(trace, "easy", semantics=semantics)
    found = fit_semantics(made, trace, policies=["easy"])
    assert [semantics] == found[found["share"] == 1.0]["semantics"].tolist()
    assert list(SEMANTICS) == sorted(found["semantics"], key=list(SEMANTICS).index)
    assert ((found["same"] < found["jobs"]) == found["first_job"].notna()).all()


def test_all_that_restate_are_tried() -> None:
    """Without a choice every policy that restates another simulator, under each semantics that it does."""
    found = fit_semantics(simulate(fixture(), "fcfs"), fixture())
    pairs = set(zip(found["policy"], found["semantics"], strict=True))
    expected = {
        (name, semantics)
        for name, made in list_policies().items()
        if made.restates
        for semantics in ("instant", *made.restates)
    }
    assert expected == pairs
    assert 1.0 == found["share"].iloc[0]


def test_what_cannot_be_compared() -> None:
    """No jobs, no file, no policy."""
    schedule = simulate(fixture(), "fcfs")
    empty = Schedule(schedule.jobs[:0], schedule.segments[:0], schedule.excluded, 100, "fcfs")
    with pytest.raises(ParameterError, match="the schedule has no job"):
        fit_semantics(empty, fixture())
    with pytest.raises(UnreadableLogError, match="not a schedule"):
        fit_semantics("none.csv", fixture())
    with pytest.raises(ParameterError, match="no policy 'easyy'"):
        fit_semantics(schedule, fixture(), policies=["easyy"])


@pytest.mark.parametrize(
    ("policy", "options", "told"),
    [
        ("sjf-backfill", {"semantics": "dr_evt"}, "semantics='dr_evt' is known for .*easy.*, not for 'sjf-backfill'"),
        ("easy:reservations=2", {"semantics": "raps"}, "semantics='raps' with easy:reservations"),
        ("easy", {"semantics": "raps", "predictor": "exact"}, "needs predictor='request', not 'exact'"),
        ("easy", {"semantics": "batsim"}, "semantics='batsim' is not one of instant, pyss, cqsim, dr_evt, raps"),
    ],
)
def test_semantics_that_are_not_known(policy: str, options: dict[str, str], told: str) -> None:
    """Refused before anything runs."""
    with pytest.raises(ParameterError, match=told):
        simulate(fixture(), policy, **options)  # type: ignore[arg-type]


def test_promises_of_dr_evt_and_raps() -> None:
    """dr_evt delays no first job, also by the checks of EASY; RAPS does, and promises less."""
    trace = crowded_trace(150, seed=2)
    made = simulate(trace, "easy", semantics="dr_evt")
    assert ("easy-in-time", "dr_evt") == (made.policy, made.options["semantics"])
    for policy in (None, "easy"):
        report = validate(made, trace=trace, policy=policy)
        assert (True, True) == (report.ok, "head-reservation" in report.checked)
    late = simulate(read_swf(SET / "order-of-ends.swf"), "easy", semantics="raps")
    assert (True, False) == (validate(late).ok, "head-reservation" in validate(late).checked)
    assert not validate(late, policy="easy").ok


# ---------------------------------------------------------------- at the console


def test_check_schedule_names_what_fits(tmp_path: Path) -> None:
    """In words and for programs."""
    log, theirs = SET / "order-of-ends.swf", tmp_path / "theirs.csv"
    pd.DataFrame({"job_number": [1, 2, 3, 4], "start_time": [0, 15, 24, 17]}).to_csv(theirs, index=False)
    run = CliRunner().invoke(main, ["check-schedule", str(theirs), "--log", str(log), "--fit", "--policy", "easy"])
    assert "fits best: easy under semantics raps: 4 of 4 starts" in run.output
    assert "job 4: 17 s, here 25 s" in run.output
    assert 1 == run.exit_code  # it breaks the promises of EASY
    told = CliRunner().invoke(main, ["check-schedule", str(theirs), "--log", str(log), "--fit", "--json"])
    best = json.loads(told.stdout)["fit"][0]
    assert (0, "easy", "raps", None) == (told.exit_code, best["policy"], best["semantics"], best["first_job"])
    assert np.isclose(best["share"], 1.0)


def test_check_schedule_says_whether_the_best_is_any_good(tmp_path: Path) -> None:
    """Beside it stands how many jobs start at once, which is what anybody gets right."""
    log, theirs = SET / "order-of-ends.swf", tmp_path / "theirs.csv"
    submit = read_swf(log).jobs["submit_time"].tolist()
    command = ["check-schedule", str(theirs), "--log", str(log), "--fit", "--policy", "easy"]
    best = "the best is easy under semantics"
    for starts, said, at_once in (
        (submit, f"nothing fits: {best} raps: 3 of 4 starts, 75.0 %, and 100 % of the jobs", "100 %"),
        ([0, 15, 50, 70], f"nothing fits: {best} instant: 2 of 4 starts, 50.0 %, and 50.0 % of the jobs", "50.0 %"),
        ([0, 15, 20, 70], "fits best, but not well: easy under semantics instant: 3 of 4 starts, 75.0 %;", "50.0 %"),
        ([0, 15, 20, 25], "fits best: easy under semantics instant: 4 of 4 starts\n", "50.0 %"),
    ):
        pd.DataFrame({"job_number": [1, 2, 3, 4], "start_time": starts}).to_csv(theirs, index=False)
        output = CliRunner().invoke(main, command).output
        assert said in output
        assert re.search(rf"every job at once +{at_once}\n", output)
    found = fit_semantics(theirs, read_swf(log), policies=["easy", "fcfs"])
    assert found["at_once"].tolist() == [0.5] * len(found)
