# SPDX-License-Identifier: BSD-3-Clause
"""When jobs of a queue start under Slurm's rules: drawn by hand, beside whole runs, and what cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import swftools
from swftools import MachineDescription, Trace
from swftools.errors import ParameterError
from swftools.formats.slurm.queue_owners import QueueOwner
from swftools.formats.slurm.queue_requests import QueueRequest
from swftools.formats.slurm.queue_snapshot import QueueSnapshot
from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import (
    SlurmAssociation,
    SlurmLimits,
    SlurmPartition,
    SlurmPriority,
    SlurmQos,
    SlurmSite,
)
from swftools.simulator.questions.slurm_starts import (
    NOBODY_COMES,
    OTHERS_COME,
    OTHERS_FOR_BOUND,
    SlurmStarts,
    slurm_starts,
)
from tests.drawn import rows_of
from tests.interpreted import all_interpreted
from tests.machines.tables import machine

AT_ONCE = {"bf_interval": 1, "bf_resolution": 1, "sched_interval": 1, "batch_sched_delay": 0}
"""A scheduler that looks each second."""

NOW = 1_000_000.0
NUMBERS = (
    *("processors", "requested_time", "elapsed", "waited", "priority", "requested_nodes", "array_limit", "eligible"),
    *("max_nodes", "cpus_per_task", "requested_gpus_per_node"),
)
SHORT = {"cpus": "processors", "limit": "requested_time", "ran": "elapsed", "job": "name", "many": "requested_nodes"}
OTHERS = {**QueueRequest()._asdict(), **QueueOwner()._asdict()}


def table_of(kinds: str = "cpu 2 4 1000 0", partitions: str = "batch cpu default", **changes: Any) -> NodeTable:
    """Return a machine, and a Slurm that looks each second; priorities are sizes unless it is changed."""
    found = machine(kinds, partitions)
    known: dict[str, Any] = {
        "partitions": tuple(SlurmPartition(each.name) for each in found.partitions),
        "priority": SlurmPriority(is_multifactor=False),
        "scheduler": AT_ONCE,
    }
    return replace(found, slurm=SlurmSite(**{**known, **changes}))


def jobs_of(text: str) -> pd.DataFrame:
    """Read jobs; ``.`` is not told."""
    headings, *rows = rows_of(text)
    names = [SHORT.get(heading, heading) for heading in headings]
    frame = pd.DataFrame([dict(zip(names, row, strict=True)) for row in rows], columns=names).replace(".", None)
    frame = frame.assign(**{name: value for name, value in OTHERS.items() if name not in frame})
    frame["node_cores"] = frame["node_cores"].map(lambda text: tuple(map(float, text.split(","))) if text else None)
    for name in NUMBERS:
        frame[name] = pd.to_numeric(frame[name]) if name in frame else np.nan
    for name in ("user", "account", "qos", "reason", "array", "preceding", "partition", "nodes"):
        frame[name] = frame[name].fillna("")
    frame[["gpu_types", "constraints"]] = None
    return frame


def queue_of(running: str = "", waiting: str = "") -> QueueSnapshot:
    """Return a queue by two small tables."""
    nobody = jobs_of("job cpus limit / x 1 1").iloc[:0]
    ran, waits = (jobs_of(text) if text else nobody for text in (running, waiting))
    return QueueSnapshot(ran, waits, present=NOW)


def asked(table: Any, running: str = "", waiting: str = "", *jobs: dict[str, Any], **options: Any) -> SlurmStarts:
    """Return when jobs start."""
    given = {"draws": 1, "parameters": {"phase": 0.0}, "compiled": False, **options}
    with all_interpreted():
        return slurm_starts(queue_of(running, waiting), table, jobs, **given)


def medians(found: SlurmStarts) -> dict[str, float]:
    """Return the median of each job, in whole seconds: the controller looks once a second."""
    return {job: float(np.round(wait)) for job, wait in zip(found.jobs["job"], found.jobs["median"], strict=True)}


RUNNING = "job cpus limit ran nodes / 1 4 30 10 cpu0 / 2 2 100 0 cpu1"


def test_where_running_jobs_leave_room() -> None:
    """2 cores of cpu1 are free; 3 waits for cpu0, at 20 s; 4 needs all; 5 is short, and goes ahead on cpu1."""
    waiting = "job cpus limit / 3 4 10 / 4 8 10 / 5 2 5 / 6 2 200"
    assert medians(asked(table_of(), RUNNING, waiting)) == {"3": 20, "4": 100, "5": 0, "6": 110}


def test_cores_by_node_count() -> None:
    """Job 1 has 1 core of cpu0 and 3 of cpu1: so 3 are free on cpu0 until it ends; spread evenly 2 would be."""
    running = "job cpus limit ran nodes node_cores / 1 4 30 10 cpu[0-1] 1,3"
    waiting = "job cpus limit many / 2 3 10 1"
    assert medians(asked(table_of(), running, waiting)) == {"2": 0}
    evenly = "job cpus limit ran nodes / 1 4 30 10 cpu[0-1]"
    assert medians(asked(table_of(partitions="batch cpu default"), evenly, "job cpus limit max_nodes / 2 3 10 1")) == {
        "2": 20
    }


def test_a_job_may_have_more_nodes_than_the_queue_says_it_needs() -> None:
    """Where no most is told: 5 CPUs of 1 node at least lie on two nodes of 4; of at most 1 they lie nowhere."""
    waiting = "job cpus limit many max_nodes / 2 5 10 1 0 / 3 3 10 1 1"
    assert medians(asked(table_of(), "", waiting)) == {"2": 0, "3": 0}
    found = asked(table_of(), "", waiting.replace("1 0 /", "1 1 /"))
    assert medians(found) == {"3": 0}
    assert sum(found.left_out.values()) == 1


def test_told_priorities_decide() -> None:
    """Jobs with all cores one after the other, by priority; by the weights they would be in order of submission."""
    site = table_of(priority=SlurmPriority(age=1000.0, calc_period=5.0))
    waiting = "job cpus limit priority eligible / 2 8 10 50 999000 / 3 8 10 70 999000 / 4 8 10 60 999000"
    assert medians(asked(site, "", waiting)) == {"3": 0, "4": 10, "2": 20}
    asked_too = asked(site, "", waiting, {"processors": 8, "requested_time": 10.0, "priority": 65.0})
    assert medians(asked_too) == {"3": 0, "job 1": 10, "4": 20, "2": 30}


def test_a_job_without_a_told_priority_differs_as_the_others_do() -> None:
    """The rules say 0 of all, so 60 is what they do not explain: job 9 comes between, not last; by its size before."""
    site = table_of(priority=SlurmPriority(job_size=100.0))
    waiting = "job cpus limit priority / 2 4 10 99 / 3 4 10 97 / 9 8 10 ."
    # 4 of 8 cores and 1 of 2 nodes are a size of .5: 49 and 47 are not explained, 48 in the mean; 9 has 75 and 48.
    assert medians(asked(site, "job cpus limit ran nodes / 1 8 10 0 cpu[0-1]", waiting)) == {"2": 20, "3": 20, "9": 10}


def test_those_of_one_account_are_alike() -> None:
    """Job 9 is of a, whose jobs have 100 more than the rules say; those of b have 300 more."""
    associations = (
        SlurmAssociation("root"),
        SlurmAssociation("a", parent=0),
        SlurmAssociation("a", "u1", parent=1),
        SlurmAssociation("b", parent=0),
        SlurmAssociation("b", "u2", parent=3),
    )
    site = table_of(priority=SlurmPriority(), associations=associations)
    waiting = (
        "job cpus limit priority user account / 2 8 10 101 u1 a / 3 8 10 301 u2 b / 4 8 10 201 u2 b / 9 8 10 . u1 a"
    )
    assert medians(asked(site, "", waiting)) == {"3": 0, "4": 10, "2": 20, "9": 30}
    other = waiting.replace("9 8 10 . u1 a", "9 8 10 . u2 b")
    assert medians(asked(site, "", other)) == {"3": 0, "9": 10, "4": 20, "2": 30}


def test_age_counts_from_when_jobs_could_start() -> None:
    """Told priorities lack; 3 could start long before 2."""
    site = table_of(priority=SlurmPriority(age=1000.0, max_age=1000.0))
    waiting = "job cpus limit eligible / 2 8 10 999990 / 3 8 10 999500"
    assert medians(asked(site, "", waiting)) == {"3": 0, "2": 10}


def test_exclusive_jobs_have_whole_nodes() -> None:
    """Job 3 has 1 core, and cpu1 is not idle before 100 s; cpu0 is at 20 s. Job 4 shares cpu1."""
    waiting = "job cpus limit is_exclusive / 3 1 10 True / 4 1 10 ."
    assert medians(asked(table_of(), RUNNING, waiting)) == {"3": 20, "4": 0}
    whole = "job cpus limit ran nodes is_exclusive / 1 1 30 10 cpu0 True / 2 4 100 0 cpu1 ."
    assert medians(asked(table_of(), whole, "job cpus limit / 3 2 10")) == {"3": 20}


def test_partitions_and_what_runs_there_whatever_their_limits_are_now() -> None:
    """Job 1 runs in a partition that it could not ask for any more: it keeps its node until it ends."""
    site = table_of("cpu 1 4 1000 0 / gpu 1 4 1000 2", "batch cpu default max_time=20 / gpu gpu")
    running = "job cpus limit ran nodes partition / 1 4 30 10 cpu0 batch"
    waiting = "job cpus limit partition / 2 4 10 batch / 3 4 10 gpu / 4 4 10 batch,gpu"
    assert medians(asked(site, running, waiting)) == {"2": 20, "3": 0, "4": 10}
    with pytest.raises(ParameterError, match="job 1 runs in partition old, which the machine does not have"):
        asked(site, running.replace("cpu0 batch", "cpu0 old"), waiting)


def test_gpus_that_run() -> None:
    """Two of three GPUs are held."""
    site = table_of("gpu 1 8 1000 3", "batch gpu default")
    running = "job cpus limit ran nodes requested_gpus_per_node / 1 1 30 10 gpu0 2"
    frame = "job cpus limit requested_gpus_per_node / 2 1 10 2 / 3 1 10 1"
    assert medians(asked(site, running, frame)) == {"2": 20, "3": 0}


def test_arrays_dependencies_and_begin_times() -> None:
    """One task of array 5 at once; 7 waits for both; 8 may start 40 s from now, and 9 when 1 has ended."""
    waiting = (
        "job cpus limit array array_limit preceding eligible / 5_1 1 10 5 1 . . / 5_2 1 10 5 1 . . / "
        "7 1 10 . . 5 . / 8 1 10 . . . 1000040 / 9 1 10 . . =1 ."
    )
    found = medians(asked(table_of(), RUNNING, waiting))
    assert found == {"5_1": 0, "5_2": 10, "7": 20, "8": 40, "9": 20}


def test_who_waits_for_its_own_kind() -> None:
    """6 and 8 wait by singleton for what their user calls the same: a job that runs, and one that came before."""
    running = "job cpus limit ran nodes user called / 9 4 30 10 cpu0 u a"
    waiting = (
        "job cpus limit preceding user called / 5 1 15 . v a / 6 1 10 * u a / 7 1 10 . u b / 8 1 10 * u b / "
        "10 1 10 * v b / 11 1 10 * . . / 12 1 10 . u b"
    )
    found = medians(asked(table_of(), running, waiting))
    assert found == {"5": 0, "6": 20, "7": 0, "8": 10, "10": 0, "11": 0, "12": 10}


def test_an_array_whose_limit_is_not_told() -> None:
    """A text does not tell it: two tasks run and another one waits for one of them, so it is two."""
    running = "job cpus limit ran nodes array / 5_1 1 30 10 cpu0 5 / 5_2 1 40 10 cpu0 5"
    waiting = "job cpus limit array reason / 5_3 1 10 5 JobArrayTaskLimit / 5_4 1 10 5 JobArrayTaskLimit"
    assert medians(asked(table_of(), running, waiting)) == {"5_3": 20, "5_4": 30}


def test_limits_of_a_user() -> None:
    """At most 4 CPUs of a user: 2 of u1 run, so a job of 4 waits for the end of that; of u2 it starts at once."""
    qos = (SlurmQos("normal", limits=SlurmLimits(max_tres_pu={"cpu": 4.0})),)
    site = table_of(qos=qos, enforce=frozenset({"limits", "qos"}))
    running = "job cpus limit ran nodes user qos / 1 2 30 10 cpu0 u1 normal"
    waiting = "job cpus limit user qos / 2 4 10 u1 normal / 3 4 10 u2 normal"
    assert medians(asked(site, running, waiting)) == {"2": 20, "3": 0}


def test_nodes_that_are_away() -> None:
    """n2 is drained: who runs there goes on, nobody starts there. n1 is reserved from 5 s to 50 s."""
    site = MachineDescription.from_mapping(
        {
            "nodes": [{"kind": "cpu", "names": "n[1-2]", "cores": 4}],
            "outages": [
                {"nodes": "n2", "kind": "drain"},
                {"nodes": "n1", "kind": "reservation", "begin": 5, "end": 50},
            ],
            "slurm": {"scheduler": AT_ONCE, "priority": {"type": "basic"}},
        }
    )
    running = "job cpus limit ran nodes / 1 2 30 10 n2"
    assert medians(asked(site, running, "job cpus limit / 2 1 10 / 3 1 5")) == {"2": 50, "3": 0}


def test_who_can_never_start_is_left_out() -> None:
    """3 fits nowhere, a limit keeps back 4, and 6 waits for 4: they are counted, and stand in nobody's way."""
    qos = (SlurmQos("normal"), SlurmQos("none", limits=SlurmLimits(grp_tres={"cpu": 1.0})))
    site = table_of(qos=qos, enforce=frozenset({"limits", "qos"}))
    waiting = "job cpus limit qos preceding / 3 9 10 normal . / 4 2 10 none . / 5 2 10 normal . / 6 1 10 normal 4"
    found = asked(site, "", waiting)
    assert medians(found) == {"5": 0}
    assert found.left_out == {
        "asks for more cores than the nodes of its partition have on which it may run": 1,
        "would wait for ever in Slurm: QOSGrpCpuLimit": 1,
        "waits for a job that can never start": 1,
    }
    with pytest.raises(ParameterError, match="job 1: it could never run on this machine: would wait for ever"):
        asked(site, "", "", {"processors": 2, "requested_time": 10.0, "qos": "none"})


def test_a_start_that_does_not_come() -> None:
    """All nodes are drained: nobody starts, in no draw; the answer comes all the same."""
    site = MachineDescription.from_mapping(
        {
            "nodes": [{"kind": "cpu", "names": "n[1-2]", "cores": 4}],
            "outages": [{"nodes": "ALL", "kind": "drain"}],
            "slurm": {"scheduler": AT_ONCE, "priority": {"type": "basic"}},
        }
    )
    found = asked(site, "job cpus limit ran nodes / 1 2 30 10 n2", "job cpus limit / 2 1 10")
    assert medians(found) == {"2": np.inf}
    assert found.jobs["never"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ({"partition": "fast"}, "job 1: the machine has no partition 'fast'; there are: batch"),
        ({"qos": "hig"}, "job 1: the machine has no qos 'hig'; there are: normal, high; did you mean high"),
        ({"account": "x"}, "job 1: the machine has no account 'x'; there are: root, a"),
        ({"user": "u9"}, "job 1: the machine has no user 'u9'; there are: u1"),
        ({"processors": 9}, "job 1: it could never run on this machine: asks for more cores"),
    ],
)
def test_jobs_that_cannot_be(job: dict[str, Any], message: str) -> None:
    """What is asked about names what is there."""
    associations = (
        SlurmAssociation("root"),
        SlurmAssociation("a", parent=0),
        SlurmAssociation("a", "u1", parent=1),
    )
    site = table_of(qos=(SlurmQos("normal"), SlurmQos("high")), associations=associations)
    with pytest.raises(ParameterError, match=message):
        asked(site, RUNNING, "", {"processors": 1, "requested_time": 10.0, **job})


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("cpu7", "job 1 runs on node cpu7, which the machine does not have"),
        (".", "job 1 runs on nodes that are not told"),
    ],
)
def test_queues_of_other_machines(nodes: str, message: str) -> None:
    """Running jobs say where they are."""
    with pytest.raises(ParameterError, match=message):
        asked(table_of(), f"job cpus limit ran nodes / 1 4 30 10 {nodes}")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"draws": 0}, "draws=0 is not a whole number from 1"), ({"bound": 1.0}, "bound=1.0 is not a share from .5")],
)
def test_options_that_cannot_be(options: dict[str, Any], message: str) -> None:
    """They are refused."""
    with pytest.raises(ParameterError, match=message):
        asked(table_of(), RUNNING, "", **options)


def test_the_bound_is_of_so_many_draws() -> None:
    """Half of the past runs ended after a tenth of the request: cpu0 is free after 10 s, or, of every other, at 100."""
    past = Trace.from_columns(
        job_number=np.arange(1, 201),
        submit_time=np.zeros(200),
        wait_time=np.zeros(200),
        run_time=np.tile([20.0, 100.0], 100),
        requested_time=np.full(200, 100.0),
        requested_processors=np.ones(200, np.int64),
    )
    running = "job cpus limit ran nodes / 1 4 100 10 cpu0 / 2 4 1000 0 cpu1"
    found = asked(
        table_of(), running, "job cpus limit / 3 4 10", past=past, arrivals=False, draws=60, bound=0.9, parameters={}
    )
    row = found.jobs.iloc[0]
    assert found.learnt_from == 200
    assert set(np.round(found.waits[:, 0])) <= {10.0, 11.0, 90.0, 91.0}
    assert 0.3 < (found.waits[:, 0] < 50).mean() < 0.7
    assert row["bound"] >= 90.0
    assert (found.waits[:, 0] <= row["bound"]).mean() >= 0.9
    again = asked(
        table_of(), running, "job cpus limit / 3 4 10", past=past, arrivals=False, draws=60, bound=0.9, parameters={}
    )
    assert (again.waits == found.waits).all()
    # As the next draw is another one, .9 of 61 have to lie below: the 55th of 60 draws, not the 54th.
    assert row["bound"] == np.sort(found.waits[:, 0])[54]
    other = asked(
        table_of(), running, "job cpus limit / 3 4 10", past=past, arrivals=False, draws=60, seed=1, parameters={}
    )
    assert (other.waits != found.waits).any()
    assert found.jobs["median"].isin(found.waits[:, 0]).all()


@pytest.mark.parametrize(("draws", "bound", "least"), [(19, 0.95, 0), (18, 0.95, 19), (9, 0.9, 0), (98, 0.99, 99)])
def test_too_few_draws(draws: int, bound: float, least: int) -> None:
    """The longest of them is the bound, which does not reach so far: it is told how many would."""
    found = asked(table_of(), RUNNING, "job cpus limit / 3 4 10", draws=draws, bound=bound)
    told = [text for text in found.told if "draws are too few" in text]
    assert told == ([f"{draws} draws are too few for a bound of {bound:g}: draw {least} or more"] if least else [])
    assert found.jobs["bound"].tolist() == [found.waits[:, 0].max()]


def past_of(many: int = 20, every: float = 20.0, cpus: int = 8, run: float = 10.0) -> Trace:
    """Return jobs that came at equal distances, the last one just when it ended."""
    submit = every * np.arange(many)
    return Trace.from_columns(
        job_number=np.arange(1, many + 1),
        submit_time=submit,
        wait_time=np.zeros(many),
        run_time=np.full(many, run),
        requested_time=np.full(many, run),
        requested_processors=np.full(many, cpus),
    )


def test_others_come() -> None:
    """Jobs of all cores come each 20 s and stand before a job of low priority while they wait; no other one did."""
    site = table_of(priority=SlurmPriority(job_size=1000.0))
    running = "job cpus limit ran nodes / 1 8 30 0 cpu[0-1]"
    waiting = "job cpus limit priority / 2 4 10 1"
    alone, beside = (asked(site, running, waiting, past=past_of(), arrivals=arrivals) for arrivals in (False, True))
    assert medians(alone) == {"2": 30}
    assert medians(beside)["2"] in (40, 50)  # of the one or two that came in 30 s each has 10 s
    assert (alone.told[0], beside.told[0]) == (NOBODY_COMES, OTHERS_COME)
    assert alone.jobs["bound"].tolist() == alone.jobs["median"].tolist()
    usual = asked(site, running, waiting, past=past_of())
    assert usual.jobs["median"].tolist() == alone.jobs["median"].tolist()
    assert usual.jobs["bound"].tolist() == beside.jobs["bound"].tolist()
    assert (usual.told[0], usual.waits.tolist()) == (OTHERS_FOR_BOUND, alone.waits.tolist())
    assert asked(site, running, waiting).told[0] == NOBODY_COMES
    with pytest.raises(ParameterError, match="arrivals=True needs a past"):
        asked(site, running, waiting, arrivals=True)


@pytest.mark.parametrize("seed", range(4))
def test_a_run_goes_on_from_any_moment(seed: int) -> None:
    """A whole run under the rules, and the queue that it has at a moment: the rest of the starts are the same."""
    drawn = np.random.default_rng(seed)
    many, now = 30, 50.0
    submit = np.sort(drawn.integers(0, 45, many)).astype(float)
    run, cpus = drawn.integers(2, 40, many).astype(float), drawn.integers(1, 9, many)
    trace = Trace.from_columns(
        job_number=np.arange(1, many + 1),
        submit_time=submit,
        run_time=run,
        requested_time=run,
        requested_processors=cpus,
    )
    site = table_of("cpu 3 4 1000 0")
    with all_interpreted():
        schedule = swftools.simulate(trace, "slurm", machine=site, compiled=False, phase=0.0)
    start = schedule.jobs.set_index("job_number")["start_time"]
    segments = schedule.segments.set_index("job_number")
    running, waiting, expected = [], [], {}
    for job in range(1, many + 1):
        length, width = run[job - 1], cpus[job - 1]
        if start[job] < now < start[job] + length:
            nodes, cores = where(segments.loc[job])
            running.append(f"{job} {width} {length:g} {now - start[job]:g} {nodes} {cores}")
        elif start[job] >= now:
            waiting.append(f"{job} {width} {length:g}")
            expected[str(job)] = start[job] - now
    assert len(running) > 1
    assert len(waiting) > 5
    found = asked(
        site,
        " / ".join(["job cpus limit ran nodes node_cores", *running]),
        " / ".join(["job cpus limit", *waiting]),
    )
    assert medians(found) == expected


def where(run: pd.Series) -> tuple[str, str]:
    """Return the nodes of a run, and the cores of each."""
    pairs = list(run["nodes"])
    nodes = [node for low, high in zip(pairs[::2], pairs[1::2], strict=True) for node in range(low, high + 1)]
    by_node = run.get("cores_by_node")
    cores = [run["cores_per_node"]] * len(nodes) if np.ndim(by_node) == 0 else list(by_node)
    return ",".join(f"cpu{node}" for node in nodes), ",".join(f"{int(each)}" for each in cores)


def test_memory_that_a_text_tells_as_the_default_is_of_each_cpu() -> None:
    """3 CPUs at 300 MB are 900 of the 1,000 MB of a node, so one job has room on each; at 310 MB of a node all have."""
    site = table_of(partitions="batch cpu default default_memory_per_core=300")
    text = "job cpus limit requested_memory_per_node / 1 3 10 {0} / 2 3 20 {0} / 3 1 10 {0} / 4 1 10 {0}"
    assert medians(asked(site, "", text.format(300))) == {"1": 0, "2": 0, "3": 10, "4": 10}
    assert medians(asked(site, "", text.format(310))) == {"1": 0, "2": 0, "3": 0, "4": 0}


def test_a_job_that_runs_may_be_suspended_and_goes_on_with_what_it_has_done() -> None:
    """Job 1 stands for job 2 until 20 s, and may run to 90 s: job 4 has ended when job 3 can have both nodes."""
    site = table_of(
        partitions="low cpu default / high cpu tier=2",
        preempt_type="partition_prio",
        preempt_mode="suspend",
    )
    running = "job cpus limit ran nodes partition / 1 4 100 30 cpu0 low / 2 4 20 0 cpu1 high"
    waiting = f"job cpus limit partition eligible / 3 4 20 high . / 4 8 10 low . / 5 4 60 low {NOW + 25:.0f}"
    assert medians(asked(site, running, waiting)) == {"3": 0, "4": 90, "5": 25}


def test_a_job_beyond_its_limit_ends_next() -> None:
    """Job 1 is taken to end in a second, so job 3 can have both nodes then, and job 4 waits for it."""
    running, waiting = "job cpus limit ran nodes / 1 4 30 40 cpu0", "job cpus limit / 3 8 20 / 4 4 10"
    assert medians(asked(table_of(), running, waiting)) == {"3": 1, "4": 21}
