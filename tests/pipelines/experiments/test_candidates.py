# SPDX-License-Identifier: BSD-3-Clause
"""Candidates beside what is: paired differences by hand, machines and energy, and the sentences that come of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipelines.experiments.advice import advice_of
from pipelines.experiments.blocks import DAY, ratio_interval
from pipelines.experiments.candidate_runs import Power, RunFigures, figures_of
from pipelines.experiments.candidate_words import read_candidate, read_candidates
from pipelines.experiments.candidates import CandidateStudy, of_all_jobs, study_candidates
from swftools import Trace, simulate
from swftools.energy import NodePower
from swftools.errors import ParameterError
from swftools.waits.groups import Groups
from swftools.waits.widths import first_runs_of
from tests.on_nodes import draw_machine, draw_on_nodes

WEEK = 7 * DAY


def run(waits: Sequence[float], jobs: Sequence[int] | None = None, **told: Any) -> RunFigures:
    """Return what is kept of a run: a job a week, of 2 nodes, of groups a and b in turn."""
    numbers = list(range(len(waits))) if jobs is None else list(jobs)
    table = pd.DataFrame(
        {
            "job_number": pd.array(numbers, dtype="Int64"),
            "job_occurrence": pd.array([0] * len(numbers), dtype="Int64"),
            "submit_time": [WEEK * each for each in numbers],
            "wait": [float(each) for each in waits],
            "bounded_slowdown": [1 + each / 10 for each in waits],
            "waited": [2 * each / 3600 for each in waits],
        }
    )
    groups = {"account": Groups(["a", "b"], np.array(numbers) % 2)}
    usual = {"utilization": 0.5, "size": 4, "first": 0.0, "last": 10 * WEEK, "left_out": 0, "unit": "node-hours"}
    return RunFigures(table, groups, **{**usual, **told})


def rows(study: CandidateStudy, name: str, by: str = "all") -> pd.DataFrame:
    """Return the rows of a candidate by measure and group."""
    table = study.candidates[(study.candidates["candidate"] == name) & (study.candidates["classed_by"] == by)]
    return table.set_index(table["measure"] + "_" + table["statistic"] if by == "all" else table["job_class"])


BASE = [10.0, 20, 30, 40, 50, 60, 70, 80]


def test_differences_by_hand() -> None:
    """Of eight weeks with a job each, all of which wait 4 s less, or 1 to 8 s more; p-values for two candidates."""
    more = [wait + 1 + place for place, wait in enumerate(BASE)]
    study = study_candidates([run(BASE)], {"less": [run([wait - 4 for wait in BASE])], "more": [run(more)]})
    assert study.noise == "weeks"
    less = rows(study, "less")
    wait = less.loc["wait_mean"]
    assert (wait["value"], wait["baseline_value"], wait["difference"]) == (41, 45, -4)
    assert (wait["low"], wait["high"], wait["blocks"], wait["jobs"]) == (-4, -4, 8, 8)
    assert wait["p_value"] == 2 / 2**8
    assert wait["adjusted_p_value"] == 2 * 2 / 2**8
    assert wait["is_told_apart"]
    assert less.loc["bounded_slowdown_mean", "difference"] == pytest.approx(-0.4)
    assert less.loc["waited_total", "difference"] == pytest.approx(-8 * 2 * 4 / 3600)
    assert less.loc["waited_total", ["low", "high"]].tolist() == pytest.approx([-64 / 3600] * 2)
    assert less.loc["wait_p50", ["value", "baseline_value", "low", "high"]].tolist() == [36, 40, -4, -4]
    assert less.loc["wait_p90", ["value", "baseline_value"]].tolist() == [76, 80]
    own = rows(study, "more").loc["wait_mean"]
    assert own["difference"] == 4.5
    assert 1 < own["low"] < 4.5 < own["high"] < 8
    blocks = study.blocks[study.blocks["candidate"] == "more"]
    assert blocks["wait_difference"].tolist() == list(range(1, 9))
    assert blocks["begin"].tolist() == [WEEK * place for place in range(8)]


def test_groups_have_p_values_of_their_own() -> None:
    """Fourteen weeks: account a waits less, b longer, each in seven; Holm over both."""
    base = [100.0] * 14
    own = [90.0 if place % 2 == 0 else 130.0 for place in range(14)]
    study = study_candidates([run(base)], {"x": [run(own)]})
    found = rows(study, "x", "account")
    assert found["difference"].tolist() == [-10, 30]
    assert found["blocks"].tolist() == [7, 7]
    assert found["p_value"].tolist() == [2 / 2**7] * 2
    assert found["adjusted_p_value"].tolist() == [4 / 2**7] * 2
    assert found["is_told_apart"].all()
    assert found["jobs"].tolist() == [7, 7]
    assert rows(study, "as it is", "account")["value"].tolist() == [100, 100]
    assert rows(study, "x").loc["wait_mean", "adjusted_p_value"] == rows(study, "x").loc["wait_mean", "p_value"]


def test_groups_with_too_few_blocks_are_not_counted() -> None:
    """In six weeks one of them could be more than noise, of two none; in five weeks there is no p-value."""
    base = [100.0] * 12
    own = [90.0 if place % 2 == 0 else 130.0 for place in range(12)]
    six = rows(study_candidates([run(base)], {"x": [run(own)]}), "x", "account")
    assert six["p_value"].tolist() == [2 / 2**6] * 2
    assert six["adjusted_p_value"].isna().all()
    five = rows(study_candidates([run(base[:11])], {"x": [run(own[:11])]}), "x", "account")
    assert five["p_value"].isna().tolist() == [False, True]
    assert five["adjusted_p_value"].isna().tolist() == [False, True]
    assert five["is_told_apart"].tolist() == [True, False]
    said = advice([run(base)], run(own))["loses"]
    assert said == "Waits of none of 2 groups differ in enough weeks to say who loses; 6 are the least."


def test_a_week_counts_by_its_jobs() -> None:
    """Of means; of what is waited in all each week counts once, whatever the number of its jobs."""
    numbers = list(range(8))
    base, own = run([50.0] * 8), run([50.0 + 10 * each for each in numbers])
    twice = [
        pd.concat([each.jobs, each.jobs.iloc[[7]].assign(job_number=99)], ignore_index=True) for each in (base, own)
    ]
    groups = {"account": Groups(["a", "b"], np.append(base.groups["account"].of_job, 0))}
    base, own = (replace(each, jobs=jobs, groups=groups) for each, jobs in zip((base, own), twice, strict=True))
    found = rows(study_candidates([base], {"x": [own]}), "x")
    differences, count = np.array([0.0, 10, 20, 30, 40, 50, 60, 140]), np.array([1.0] * 7 + [2])
    assert found.loc["wait_mean", "difference"] == pytest.approx(differences.sum() / 9)
    assert tuple(found.loc["wait_mean", ["low", "high"]]) == ratio_interval(differences, count)
    of_all = np.array(ratio_interval(2 * differences / 3600, np.ones(8))) * 8
    assert found.loc["waited_total", ["low", "high"]].tolist() == pytest.approx(of_all.tolist())


def test_groups_are_of_the_jobs_that_are_compared() -> None:
    """Those that run in one only are taken out of their groups."""
    base, own = run([100.0] * 20), run([100.0 + each for each in range(3, 20)], range(3, 20))
    found = rows(study_candidates([base], {"x": [own]}), "x", "account")
    assert found["jobs"].to_dict() == {"a": 8, "b": 9}
    assert found["difference"].to_dict() == {"a": np.mean(range(4, 20, 2)), "b": np.mean(range(3, 20, 2))}


def test_jobs_that_run_in_one_only_do_not_count() -> None:
    """Pairs are by number, whatever the order; the others are told as left out."""
    numbers = [8, 1, 2, 3, 4, 5, 6, 7]
    own = run([BASE[each % 8] + each for each in numbers], numbers, left_out=1)
    base = run([*BASE, 1000.0])  # of jobs 0 to 8
    found = rows(study_candidates([base], {"x": [own]}), "x")
    assert found.loc["wait_mean", "jobs"] == 8
    common = [BASE[each] for each in range(1, 8)]
    assert found.loc["wait_mean", "baseline_value"] == pytest.approx((sum(common) + 1000) / 8)
    assert found.loc["wait_mean", "difference"] == pytest.approx((sum(range(1, 8)) + BASE[0] + 8 - 1000) / 8)
    assert found.loc["left_out_count", ["value", "difference"]].tolist() == [1, 1]


def test_runs_are_taken_together() -> None:
    """Of several phases the mean; as it is may have more of them than a candidate."""
    base = [run([wait + shift for wait in BASE]) for shift in (-3, 0, 6)]
    study = study_candidates(base, {"x": [run(BASE)]})
    assert rows(study, "as it is").loc["wait_mean", "value"] == 46
    assert rows(study, "x").loc["wait_mean", ["value", "baseline_value", "difference"]].tolist() == [45, 46, -1]
    assert rows(study, "x").loc["wait_mean", "blocks"] == 8


def test_runs_tell_noise_where_a_log_is_short() -> None:
    """Six phases do for it, five do not."""
    base = [run([10.0 + phase, 20.0]) for phase in range(6)]
    own = [run([11.0 + phase + 0.5 * phase, 21.0]) for phase in range(6)]
    study = study_candidates(base, {"x": own})
    assert study.noise == "runs"
    wait = rows(study, "x").loc["wait_mean"]
    assert wait["difference"] == pytest.approx(1 + 0.25 * 2.5)
    assert (wait["blocks"], wait["p_value"]) == (6, 2 / 2**6)
    assert wait["low"] < wait["difference"] < wait["high"]
    assert len(study.blocks) == 0
    short = study_candidates(base[:5], {"x": own[:5]})
    assert short.noise == ""
    assert rows(short, "x").loc["wait_mean", ["low", "p_value"]].isna().all()


def test_time_and_energy_of_the_machine_are_up_to_one_end() -> None:
    """That of the schedule which ends last, also of one that ends earlier, whose machine idles meanwhile."""
    early = run(BASE, size=4, last=1 * WEEK, power=Power(3.6e6 * 100, 1000.0))
    late = run(BASE, size=5, last=1 * WEEK + 3600, power=Power(3.6e6 * 120, 1250.0))
    study = study_candidates([early], {"x": [late]})
    hours = 7 * 24 + 1
    base, own = rows(study, "as it is"), rows(study, "x")
    assert (base.loc["machine_total", "value"], own.loc["machine_total", "value"]) == (4 * hours, 5 * hours)
    assert (base.loc["energy_total", "value"], own.loc["energy_total", "value"]) == (101, 120)
    assert own.loc["machine_size", "difference"] == 1
    unknown = study_candidates([replace(early, power=None)], {"x": [late]})
    assert np.isnan(rows(unknown, "x").loc["energy_total", "difference"])


def test_what_the_log_tells_is_beside_it() -> None:
    """Its waits; not what it waited with where it does not name its nodes."""
    logged = run([wait * 2 for wait in BASE], unit="processor-hours")
    found = of_all_jobs(study_candidates([run(BASE)], {"x": [run(BASE)]}, logged).candidates)
    assert found.loc["wait_mean", ["logged", "as it is", "x"]].tolist() == [90, 45, 45]
    assert np.isnan(found.loc["waited_total", "logged"])
    assert found.loc["waited_total", "unit"] == "node-hours"
    same = of_all_jobs(study_candidates([run(BASE)], {"x": [run(BASE)]}, replace(logged, unit="node-hours")).candidates)
    assert same.loc["waited_total", "logged"] == 2 * same.loc["waited_total", "as it is"]


def test_figures_of_a_schedule_on_nodes() -> None:
    """By a picture: half a node for an hour is half a node-hour; one of four nodes runs; power by kind."""
    machine = draw_machine("kind count cores / thin 2 4 / fat 2 8", {"thin": "0-1", "fat": "2-3"})
    table = """
        job submit start run   nodes cores partition
        A   0      0     3600  0     2     thin
        B   0      3600  3600  0-1   4     thin
        C   0      7200  3600  2     4     fat
    """
    schedule = draw_on_nodes(table, machine)
    powers = {"thin": NodePower(10, 5), "fat": NodePower(10, 5)}
    found = figures_of(schedule, None, powers=powers)
    assert found.jobs["waited"].tolist() == [0, 1 * 2, 2 * 0.5]
    assert (found.size, found.unit, found.first, found.last) == (4, "node-hours", 0, 3 * 3600)
    assert list(found.groups) == ["partition", "processors"]
    assert found.groups["partition"].words == ["thin", "fat"]
    assert found.utilization == pytest.approx((2 + 8 + 4) / (3 * 24))
    assert found.power == Power(3600 * (3 * 24 * 5 + (2 + 8 + 4) * 5), 24 * 5)
    some = figures_of(schedule, ["partition"], where=np.array([False, True, True]))
    assert some.jobs["waited"].tolist() == [2, 1]
    assert some.groups["partition"].of_job.tolist() == [0, 1]
    assert some.power is None
    with pytest.raises(ParameterError, match="by=account: the log tells it of no job; leave it out"):
        figures_of(schedule, ["account"])


def test_a_job_that_runs_twice_waits_for_its_first_run() -> None:
    """With the nodes of that run, wherever it stands among the runs."""
    machine = draw_machine("kind count cores / thin 2 4", {"thin": "0-1"})
    table = """
        job submit start run   nodes cores partition
        A   0      3600  600   0-1   4     thin
        B   0      7200  600   0     2     thin
    """
    schedule = draw_on_nodes(table, machine)
    again = schedule.segments.iloc[[0]].assign(start_time=9000.0, end_time=9600.0)
    again["nodes"] = schedule.segments.iloc[[1]]["nodes"].array
    start, width = first_runs_of(replace(schedule, segments=pd.concat([schedule.segments, again], ignore_index=True)))
    assert start.tolist() == [3600, 7200]
    assert width.tolist() == [2, 0.5]


def test_figures_of_a_pool() -> None:
    """Waits are weighed by processors."""
    trace = Trace.from_columns(
        machine_processors=4,
        submit_time=[0, 0],
        run_time=[3600, 60],
        requested_processors=[4, 3],
        requested_time=[9999] * 2,
    )
    found = figures_of(simulate(trace, "fcfs"))
    assert found.jobs["waited"].tolist() == [0, 3]
    assert found.unit == "processor-hours"
    assert found.power is None


def advice(
    base: list[RunFigures], *own: RunFigures, beside: str = "", logged: RunFigures | None = None
) -> dict[str, str]:
    """Return the sentences on candidate x, by kind; those on all without a name."""
    study = study_candidates(base, {name: [each] for name, each in zip("xyz", own, strict=False)}, logged)
    table = advice_of(study, beside)
    assert table["sentence"].str.contains(r"\d").all()  # no sentence without a figure
    return dict(zip(table["kind"] + table["candidate"].fillna("").replace("x", ""), table["sentence"], strict=True))


def test_advice_where_a_candidate_helps() -> None:
    """What it brings, what it costs, who gains; and which is best."""
    base = [run([3600.0 * 2] * 24)]
    told = advice(
        base,
        run([3600.0] * 24, size=5, power=None),
        run([3600.0 * 1.5] * 24),
        beside="the mean wait is 2 h, by the log 9 h",
    )
    assert told["best"] == (
        "Of 2 candidates 2 shorten the mean wait by more than noise; most does x: 1 h on average in place of 2 h "
        "(-60 min, 95 % interval -60 min to -60 min, adjusted p 0.0002)."
    )
    assert told["belief"].startswith("The simulation is far from the log: the mean wait is 2 h, by the log 9 h. So")
    assert told["wait"].startswith("Jobs wait less, by more than noise: 1 h on average in place of 2 h")
    saved = "48 node-hours less are waited, 0.0286 for each that is added."
    assert told["cost"] == f"It takes 1 node more, +1,680 node-hours over the log; {saved}"
    assert told["loses"] == "None of 2 groups that could be judged waits longer by more than noise."
    assert told["gains"].startswith(
        "2 of 2 groups wait less by more than noise: account a (60 min, which is -60 min; 12 jobs);"
    )
    assert "costy" not in told


def test_advice_where_somebody_loses() -> None:
    """Though all wait less on average; groups are named with their figures."""
    own = [3600.0 * (1 if place % 2 else 9) for place in range(24)]
    told = advice([run([3600.0 * 6] * 24)], run(own, left_out=2))
    assert told["loses"] == "1 of 2 groups waits longer by more than noise: account a (9 h, which is +3 h; 12 jobs)."
    assert told["gains"] == "1 of 2 groups waits less by more than noise: account b (60 min, which is -5 h; 12 jobs)."
    assert told["wait"].startswith("Nothing certain: 5 h on average in place of 6 h (-60 min, 95 % interval")
    assert told["wait"].endswith(", which may be chance.")
    assert told["best"] == "Of 1 candidate none shortens the mean wait of 6 h by more than noise."
    assert told["left_out"] == "2 jobs more cannot run at all, and count in no wait."


def test_advice_names_those_alone_that_are_told_apart() -> None:
    """Account b waits longer by chance, a for certain; of all none is."""
    chance = [2.0 if each % 4 == 1 else -1.5 for each in range(24)]  # h
    own = [36_000.0 + (3600 * chance[each] if each % 2 else 600) for each in range(24)]
    told = advice([run([36_000.0] * 24)], run(own))
    assert (
        told["loses"] == "1 of 2 groups waits longer by more than noise: account a (10.2 h, which is +10 min; 12 jobs)."
    )
    assert "gains" not in told


def test_advice_where_few_weeks_differ() -> None:
    """Five of eight are too few to tell anything apart, though all of them are longer."""
    told = advice([run(BASE)], run([each + (60 if each < 55 else 0) for each in BASE]))
    assert told["wait"].startswith("Jobs wait 82.5 s on average in place of 45 s (+37.5 s, 95 % interval ")
    assert told["wait"].endswith("); waits differ in too few weeks to tell whether that is more than noise.")


def test_advice_where_nothing_is_known() -> None:
    """A short log, one that tells no waits; and one that is near."""
    told = advice([run([60.0, 70.0])], run([50.0, 60.0]))
    assert told["best"].startswith("Of 1 candidate none can be told from noise: fewer than 8 days of the log have jobs")
    assert (
        told["wait"]
        == "Jobs wait 55 s on average in place of 65 s (-10 s); whether that is more than noise cannot be told."
    )
    assert told["belief"].startswith("How near the mean wait as simulated, 65 s, is to the real one cannot be said")
    assert "loses" not in told
    near = advice([run(BASE)], run(BASE), logged=run([each + 1 for each in BASE]))
    assert near["belief"] == "The simulation is near the log: its mean wait is 45 s, by the log 46 s, a factor of 1.02."
    assert near["wait"] == "The mean wait of 8 jobs stays 45 s."
    assert "loses" not in near


def test_candidates_that_may_be_as_good_as_each_other() -> None:
    """Their intervals overlap, and the best one says so."""
    rng = np.random.default_rng(4)
    base = rng.exponential(7200, 30) + 7200
    shift = rng.uniform(1000, 6000, 30)
    told = advice(
        [run(base.tolist())], run((base - shift).tolist()), run((base - 0.9 * shift).tolist()), run((base - 1).tolist())
    )
    assert told["best"].endswith("Its interval overlaps with that of y: these 2 may be as good as each other.")


def test_a_longer_wait_is_said() -> None:
    """And a smaller machine costs less."""
    told = advice(
        [run(BASE, power=Power(3.6e6, 1.0))], run([each + 60 for each in BASE], size=2, power=Power(0.0, 0.5))
    )
    assert told["wait"].startswith("Jobs wait longer, by more than noise: 105 s on average in place of 45 s")
    assert (
        told["cost"]
        == "It takes 2 nodes fewer, -3,360 node-hours over the log and -1 kWh of energy; +0.267 node-hours are waited."
    )


def test_words_of_candidates() -> None:
    """Changes and options between semicolons."""
    found = read_candidate(" nodes.gpu.count+=8 ;on-outage=requeue:delay=60; away: nodes=n1,in=3h,for=2h;policy = fcfs")
    assert found.text == "nodes.gpu.count+=8; on-outage=requeue:delay=60; away: nodes=n1,in=3h,for=2h; policy = fcfs"
    assert found.changes == ("nodes.gpu.count+=8", "away: nodes=n1,in=3h,for=2h")
    assert found.options == (("on_outage", "requeue:delay=60"), ("policy", "fcfs"))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([" ; "], "changes nothing; write a change"),
        (["polcy=easy"], "there is no option 'polcy'; did you mean policy"),
        (["seed=3"], "there is no option 'seed'"),
        (["policy=easy; policy=fcfs"], "policy stands there twice; leave one out"),
        (["policy=easy", "policy=easy "], "candidate 'policy=easy' stands there twice; leave one out"),
    ],
)
def test_words_that_are_wrong(texts: list[str], message: str) -> None:
    """One sentence, which says what to do."""
    with pytest.raises(ParameterError, match=message):
        read_candidates(texts)
