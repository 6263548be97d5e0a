# SPDX-License-Identifier: BSD-3-Clause
"""Workers that are jobs of a batch system: what is submitted, asked, replaced and cancelled, by one that is made up."""

from __future__ import annotations

import gc
import importlib
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.tasks.engines import find_engine, job_commands, jobs
from pipelines.tasks.engines.batch_system import BatchSystem
from pipelines.tasks.engines.batches import Cells
from pipelines.tasks.engines.job_commands import CommandError, interruptible, said_by, uninterrupted
from pipelines.tasks.engines.job_file import JobFile, read_job_file
from pipelines.tasks.engines.job_kinds import CANNOT_START, ENDED, KINDS, RUNS, WAITS
from pipelines.tasks.engines.jobs import ENDED_WITHIN, REACHED_WITHIN, SAY_EVERY, TRIES, SubmittedJobs
from swftools.errors import ClusterError, ParameterError
from tests.pipelines.trial_cells import trial_cells

FILE = {"jobs": 2, "cores": 2, "memory": "4 GB", "walltime": "02:00:00"}
HEAD = "tcp://head:1234"


class MadeUpSlurm:
    """Answers as the commands of Slurm do."""

    def __init__(self) -> None:
        self.jobs: dict[str, str] = {}
        self.refusal = self.silence = ""
        self.asked, self.number = 0, 9

    def __call__(self, command: Sequence[str], given: str = "") -> str:
        """Do what a command says."""
        name, *words = command
        if name == "sbatch":
            if self.refusal:
                raise CommandError(f"sbatch says: {self.refusal}")
            assert "dask_worker" in given or "pipelines.cli.main" in given
            self.number += 1
            self.jobs[str(self.number)] = "PENDING|Priority"
            return f"Submitted batch job {self.number}\n"
        if name == "squeue":
            self.asked += 1
            if self.silence:
                raise CommandError(f"squeue says: {self.silence}")
            return "".join(f"{number}|{told}\n" for number, told in self.jobs.items())
        if name == "scancel":
            self.say(words, "CANCELLED|None")
            return ""
        assert name == "sacct"
        return f"{self.jobs.get(words[-1], '').partition('|')[0]}|1:0|00:01:02|n7\n"

    def say(self, numbers: Sequence[str], told: str) -> None:
        """Say something else of some jobs."""
        self.jobs.update(dict.fromkeys(numbers, told))

    def states(self) -> list[str]:
        """Return the states of all jobs, in their order."""
        return [told.partition("|")[0] for told in self.jobs.values()]


class Clock:
    """A time that is set."""

    now = 1000.0

    def monotonic(self) -> float:
        """Return it."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let it pass."""
        self.now += seconds


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> MadeUpSlurm:
    """What answers in place of Slurm."""
    made = MadeUpSlurm()
    for module in (jobs, job_commands):
        monkeypatch.setattr(module, "said_by", made)
    monkeypatch.setattr("pipelines.tasks.engines.batch_system.said_by", made)
    monkeypatch.setattr("pipelines.tasks.engines.batch_system.check_there", lambda command: None)
    return made


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What the jobs take for the time."""
    made = Clock()
    monkeypatch.setattr(jobs, "time", made)
    return made


def job_file(folder: Path, prefix: str = "slurm", **others: object) -> JobFile:
    """Return the file of two jobs of two workers, with other keys."""
    path = folder / f"{prefix}.yaml"
    path.write_text(json.dumps({**FILE, **others}))
    return read_job_file(str(path), prefix)


@pytest.fixture
def two(tmp_path: Path, slurm: MadeUpSlurm, clock: Clock, caplog: pytest.LogCaptureFixture) -> SubmittedJobs:
    """Two jobs that wait; what is said is kept."""
    caplog.set_level(logging.INFO, "pipelines")
    made = SubmittedJobs(job_file(tmp_path), str(tmp_path / "data"), HEAD)
    made.start(100)
    assert slurm.states() == ["PENDING"] * 2
    assert clock.now == 1000
    return made


def look(two: SubmittedJobs, clock: Clock, *workers: str, left: int = 100) -> None:
    """Look at the jobs once it is time."""
    clock.now += 11
    two.look(workers, left)


# ---------------------------------------------------------------- what is submitted


@pytest.mark.parametrize(("left", "submitted"), [(1, 1), (2, 1), (3, 2), (100, 2)])
def test_no_more_jobs_than_there_is_work_for(
    tmp_path: Path, slurm: MadeUpSlurm, clock: Clock, left: int, submitted: int
) -> None:
    """A worker a cell at least."""
    SubmittedJobs(job_file(tmp_path), str(tmp_path), HEAD).start(left)
    assert len(slurm.jobs) == submitted
    assert clock.now == 1000


def test_a_refused_job_is_one_line(tmp_path: Path, slurm: MadeUpSlurm) -> None:
    """With the words of sbatch and the file; by the check before it is a wrong value."""
    slurm.refusal = "invalid partition specified: nope"
    told = r"slurm.yaml: sbatch says: invalid partition specified: nope.*--dry-run"
    with pytest.raises(ClusterError, match=told):
        SubmittedJobs(job_file(tmp_path), str(tmp_path), HEAD).start(9)
    with pytest.raises(ParameterError, match=told):
        BatchSystem(str(tmp_path / "slurm.yaml")).check(str(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_where_only_some_are_taken_those_work(two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock) -> None:
    """A limit of jobs is no error while one is there, and is tried again later."""
    slurm.say(["10"], "FAILED|NonZeroExitCode")
    slurm.refusal = "too many jobs"
    look(two, clock)
    assert len(two.alive) == 1
    slurm.refusal = ""
    look(two, clock)
    assert [job.number for job in two.alive] == ["11", "12"]


def test_logs_go_to_the_work_folder(tmp_path: Path) -> None:
    """Unless the file says otherwise."""
    told = job_file(tmp_path).script(str(tmp_path / "data"))
    assert f"#SBATCH -o {tmp_path}/data/.work/job_logs/swftools-%J.out" in told
    other = job_file(tmp_path, log_directory=str(tmp_path / "logs")).script(str(tmp_path / "data"))
    assert f"#SBATCH -e {tmp_path}/logs/swftools-%J.err" in other


# ---------------------------------------------------------------- what becomes of them


def test_a_job_of_use_is_replaced_as_often_as_it_ends(
    two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """At its walltime for instance; told with the words of squeue and sacct, and its log."""
    logs = two.file.logs(two.data_root)
    (logs / "swftools-10.err").write_text("a - INFO - b\nsome word\nDUE TO TIME LIMIT\n\n")
    (logs / "swftools-110.err").write_text("of another job\n")
    left = 100
    for number in range(10, 10 + 3 * TRIES):
        slurm.say([str(number), str(number + 1)], "RUNNING|None")
        look(two, clock, f"job{number - 10}-0", f"job{number - 10}-1", left=left)
        left -= 5
        slurm.say([str(number)], "TIMEOUT|TimeLimit")
        look(two, clock, f"job{number - 9}-0", left=left)
        assert [job.number for job in two.alive] == [str(number + 1), str(number + 2)]
    (told, *_) = [line for line in caplog.messages if "ended" in line]
    assert told == (
        "job 10 ended: squeue: TIMEOUT (TimeLimit); sacct: TIMEOUT, exit code 1:0, after 00:01:02 on n7; "
        f'{logs}/swftools-10.err ends: "some word | DUE TO TIME LIMIT"; 95 cells left'
    )
    assert "job 12 is submitted in its place" in caplog.messages


@pytest.mark.parametrize("do_workers_come", [False, True])
def test_jobs_in_vain_come_to_an_end(
    two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock, do_workers_come: bool
) -> None:
    """Those that die in their prologue, and those that are too short for a cell: so many, and no more."""
    with pytest.raises(  # noqa: PT012 (nobody knows at which it comes)
        ClusterError, match=r"no job is left.*job \d+ ended: squeue: FAILED \(NonZeroExitCode\); sacct"
    ):
        for _ in range(10):
            names = [f"{job.name}-0" for job in two.alive] if do_workers_come else []
            slurm.say([job.number for job in two.alive], "RUNNING|None")
            look(two, clock, *names)
            slurm.say([job.number for job in two.alive[:1]], "FAILED|NonZeroExitCode")
            look(two, clock)
    assert slurm.states() == ["FAILED"] * (2 + TRIES - 1)


def test_the_last_cell_may_take_the_last_job_with_it(tmp_path: Path, slurm: MadeUpSlurm, clock: Clock) -> None:
    """One that ended three workers is given up: then nothing is left, and jobs that are gone are no error."""
    engine = BatchSystem(job_file(tmp_path).path)
    engine._jobs = SubmittedJobs(engine.file, str(tmp_path), HEAD)
    engine._jobs.start(1)
    engine._jobs._in_vain = TRIES
    slurm.say(["10"], "FAILED|None")
    clock.now += 11
    engine._watch(Cells([], lambda _: None), 0.0)
    with pytest.raises(ClusterError, match="no job is left"):
        engine._watch(Cells(trial_cells(tmp_path, 1), lambda _: None), 0.0)


def test_one_of_use_lets_others_be_tried(two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock) -> None:
    """Behind a bad node no job is submitted any more, until one ends that did something."""
    for _ in range(TRIES + 2):
        slurm.say(["11"], "RUNNING|None")
        look(two, clock, "job1-0")
        slurm.say([job.number for job in two.alive if job.number != "11"], "FAILED|NonZeroExitCode")
        look(two, clock, "job1-0")
    assert [job.number for job in two.alive] == ["11"]
    assert len(slurm.jobs) == 2 + TRIES - 1
    slurm.say(["11"], "TIMEOUT|TimeLimit")
    look(two, clock, left=90)
    assert len(two.alive) == 2


def test_a_refusal_in_the_middle_is_tried_again(two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock) -> None:
    """So often, and no more; the error has the words of the last."""
    slurm.say(["10", "11"], "RUNNING|None")
    look(two, clock, "job0-0", "job1-0")
    slurm.say(["10", "11"], "TIMEOUT|TimeLimit")
    slurm.refusal = "Socket timed out"
    for _ in range(TRIES - 1):
        look(two, clock, left=90)
    with pytest.raises(
        ClusterError, match=rf"no job is left, and after {TRIES} in vain.*sbatch says: Socket timed out"
    ):
        look(two, clock, left=90)


def test_no_job_is_replaced_without_need(two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock) -> None:
    """Of two cells that are left one job takes care."""
    slurm.say(["10", "11"], "RUNNING|None")
    look(two, clock, "job0-0", "job1-0")
    slurm.say(["10"], "TIMEOUT|TimeLimit")
    look(two, clock, "job1-0", left=2)
    assert [job.number for job in two.alive] == ["11"]


def test_a_job_that_is_not_listed(two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock) -> None:
    """Has ended at the second time, not at the first."""
    told = slurm.jobs.pop("10")
    look(two, clock)
    assert [job.number for job in two.alive] == ["10", "11"]
    slurm.jobs["10"] = told
    look(two, clock)
    del slurm.jobs["10"]
    look(two, clock)
    assert len(two.alive) == 2
    look(two, clock)
    assert [job.number for job in two.alive] == ["11", "12"]


def test_one_that_is_requeued_is_waited_for(two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock) -> None:
    """After a failure of its node Slurm queues it again, under its number."""
    slurm.say(["10", "11"], "RUNNING|None")
    look(two, clock, "job0-0", "job1-0")
    slurm.say(["10", "11"], "PENDING|BeginTime")
    for _ in range(200):
        look(two, clock)
    assert [job.number for job in two.alive] == ["10", "11"]


def test_jobs_that_wait_are_waited_for(
    two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """For as long as it takes; it is said why, now and then."""
    for _ in range(int(2.5 * SAY_EVERY / 11)):
        look(two, clock)
    told = [line for line in caplog.messages if "in the queue: " in line]
    assert len(told) == 3
    assert told[0].startswith("2 jobs in the queue: squeue: PENDING (Priority)")
    slurm.say(["10", "11"], "PENDING|QOSMaxJobsPerUserLimit")
    for _ in range(4):
        look(two, clock)
    assert "QOSMaxJobsPerUserLimit" in caplog.messages[-1]


def test_jobs_that_can_never_start(two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock) -> None:
    """Are an error, once none is left that can."""
    slurm.say(["10"], "PENDING|PartitionTimeLimit")
    look(two, clock)
    slurm.say(["11"], "PENDING|PartitionTimeLimit")
    with pytest.raises(ClusterError, match=r"Slurm will not start job 10 .*PENDING \(PartitionTimeLimit\)"):
        look(two, clock)


def test_a_job_that_runs_without_a_worker(two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock) -> None:
    """Is an error after a time: its nodes may not reach this host."""
    slurm.say(["10", "11"], "RUNNING|None")
    told = r"job 10 has run for 5 min.*can the nodes reach tcp://head:1234.*no log in"
    with pytest.raises(ClusterError, match=told):  # noqa: PT012 (as above)
        for _ in range(int(REACHED_WITHIN / 11) + 3):
            look(two, clock)
    assert clock.now > 1000 + REACHED_WITHIN


def test_a_batch_system_that_does_not_answer(
    two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """Says nothing about jobs; it is asked again, said once, and an error only where no worker is here."""
    slurm.silence = "Unable to contact slurm controller"
    for _ in range(60):
        look(two, clock, "job0-0")
    assert len([line for line in caplog.messages if "Unable" in line]) == 1
    with pytest.raises(ClusterError, match="for 5 min squeue says: Unable to contact"):
        look(two, clock)


def test_it_is_asked_seldom_and_at_once_where_workers_are_gone(
    two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock
) -> None:
    """Sites do not like to be asked each second."""
    for _ in range(100):
        clock.now += 1
        two.look(["job0-0", "job1-0"], 100)
    assert 9 <= slurm.asked <= 11
    asked = slurm.asked
    clock.now += 9  # whenever it was asked last
    for _ in range(8):
        clock.now += 1
        two.look(["job1-0"], 100)
    assert slurm.asked == asked + 1
    clock.now += 2
    two.look([], 100)
    assert slurm.asked == asked + 2


def test_job1_is_not_job10(two: SubmittedJobs, clock: Clock) -> None:
    """Workers are told to jobs by the whole number."""
    look(two, clock, "job10-0")
    assert [job.left_at_join for job in two.alive] == [None, None]
    look(two, clock, "job1")  # a job of one worker
    assert [job.left_at_join for job in two.alive] == [None, 100]


# ---------------------------------------------------------------- their end


def test_jobs_that_worked_end_by_themselves(two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock) -> None:
    """Those that wait are cancelled at once, those that do not end after a time."""
    slurm.say(["10"], "RUNNING|None")
    look(two, clock, "job0-0")
    ends = iter(range(3))

    def sleep(seconds: float) -> None:
        clock.now += seconds
        if next(ends, None) is None:
            slurm.say(["10"], "COMPLETED|None")

    clock.sleep = sleep  # type: ignore[method-assign]
    two.end()
    assert slurm.states() == ["COMPLETED", "CANCELLED"]
    assert clock.now < 1011 + ENDED_WITHIN


def test_jobs_that_do_not_end_are_cancelled(two: SubmittedJobs, slurm: MadeUpSlurm, clock: Clock) -> None:
    """After a time, also where squeue does not answer."""
    slurm.say(["10", "11"], "RUNNING|None")
    look(two, clock, "job0-0", "job1-1")
    two.end()
    assert slurm.states() == ["CANCELLED"] * 2
    assert clock.now == pytest.approx(1011 + ENDED_WITHIN, abs=2)


def test_ctrl_c_while_a_job_is_submitted(
    two: SubmittedJobs, slurm: MadeUpSlurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is heard when its number is known; so it is cancelled with the others."""

    def interrupted(command: Sequence[str], given: str = "") -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return slurm(command, given)

    monkeypatch.setattr(job_commands, "said_by", interrupted)
    two.alive.pop()
    with pytest.raises(KeyboardInterrupt):
        two._fill(100)
    two.cancel()
    assert slurm.states() == ["CANCELLED", "PENDING", "CANCELLED"]


# ---------------------------------------------------------------- signals, commands


def test_sigterm_is_ctrl_c() -> None:
    """Within the block, and not behind it; what is held back comes at the end."""
    before = signal.getsignal(signal.SIGTERM)
    done = []
    with pytest.raises(KeyboardInterrupt), interruptible(), uninterrupted():  # noqa: PT012 (the end raises)
        os.kill(os.getpid(), signal.SIGTERM)
        done.append("all")
    assert done == ["all"]
    with pytest.raises(KeyboardInterrupt), interruptible():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == before


def test_the_import_leaves_ctrl_c_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """dask-jobqueue takes it for itself when it is imported."""
    for name in [each for each in sys.modules if each.startswith("dask_jobqueue")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "pipelines.tasks.engines.job_file")
    before = signal.getsignal(signal.SIGINT)
    anew = importlib.import_module("pipelines.tasks.engines.job_file")
    assert signal.getsignal(signal.SIGINT) is before
    assert anew.dask_jobqueue.SLURMCluster
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["sh", "-c", "echo sh: error: no such queue >&2; echo sh: bye >&2; exit 3"], "sh says: no such queue; bye"),
        (["false"], "false says: status 1"),
        (["no-such-qsub"], "no-such-qsub cannot be run (No such file or directory): start where jobs can be submitted"),
    ],
)
def test_what_a_command_says_of_a_failure(command: list[str], told: str) -> None:
    """One line."""
    with pytest.raises(CommandError) as caught:
        said_by(command)
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)


def test_ctrl_c_does_not_reach_a_command() -> None:
    """It has a session of its own, which a terminal's signals pass by."""
    assert int(said_by([sys.executable, "-S", "-c", "import os; print(os.getsid(0))"])) != os.getsid(0)


def test_a_command_reads_the_script_and_may_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended then."""
    assert said_by(["cat"], "script") == "script"
    monkeypatch.setattr(job_commands, "ANSWERS_WITHIN", 0.05)
    with pytest.raises(CommandError, match="sleep has not answered"):
        said_by(["sleep", "60"])


# ---------------------------------------------------------------- kinds

SQUEUE = """\
17|RUNNING|None
18|PENDING|Priority
19|COMPLETING|None
20|NODE_FAIL|NodeDown
21|PENDING|QOSMaxWallDurationPerJobLimit
"""
PBS = """\
Job id            Name             User              Time Use S Queue
----------------  ---------------- ----------------  -------- - -----
17.head           swftools         me                00:00:12 R workq
18.head           swftools         me                       0 Q workq
19.head           swftools         me                00:00:12 C workq
20[].head         array            me                       0 H workq
"""
SGE = """\
job-ID  prior   name       user         state submit/start at     queue                          slots ja-task-ID
-----------------------------------------------------------------------------------------------------------------
     17 0.55500 swftools   me           r     11/26/2026 12:00:00 all.q@n1                          16
     18 0.00000 swftools   me           qw    11/26/2026 12:00:00                                   16
     19 0.55500 swftools   me           Eqw   11/26/2026 12:00:00                                   16
     20 0.55500 swftools   me           hqw   11/26/2026 12:00:00                                   16
"""
LSF = "17|RUN|-\n18|PEND|Job slot limit reached\n19|EXIT|-\n20|DONE|-\n"


@pytest.mark.parametrize(
    ("kind", "printed", "phases", "words"),
    [
        ("slurm", SQUEUE, [RUNS, WAITS, ENDED, ENDED, CANNOT_START], "PENDING (Priority)"),
        ("pbs", PBS, [RUNS, WAITS, ENDED, WAITS], "Q"),
        ("sge", SGE, [RUNS, WAITS, CANNOT_START, WAITS], "qw"),
        ("lsf", LSF, [RUNS, WAITS, ENDED, ENDED], "PEND (Job slot limit reached)"),
    ],
)
def test_lists_of_jobs(kind: str, printed: str, phases: list[str], words: str) -> None:
    """Each as its batch system prints it."""
    listed = KINDS[kind].read(printed)
    assert {number: each.phase for number, each in listed.items()} == dict(
        zip(map(str, range(17, 22)), phases, strict=False)
    )
    assert listed["18"].words == words
    assert KINDS[kind].read("") == {}


@pytest.mark.parametrize(
    ("kind", "printed", "words"),
    [
        ("slurm", "OUT_OF_MEMORY|0:125|00:01:02|n1\n", "OUT_OF_MEMORY, exit code 0:125, after 00:01:02 on n1"),
        ("slurm", "\n", ""),
        (
            "pbs",
            "Job Id: 17.head\n    job_state = F\n    Exit_status = 271\n    x = y\n",
            "job_state = F, Exit_status = 271",
        ),
        (
            "sge",
            "====\nqname   all.q\nfailed       100 : assumedly after job\nexit_status  137\n",
            "failed 100 : assumedly after job, exit_status 137",
        ),
        ("lsf", "EXIT       130       TERM_RUNLIMIT: job killed\n", "EXIT 130 TERM_RUNLIMIT: job killed"),
    ],
)
def test_what_became_of_a_job(kind: str, printed: str, words: str) -> None:
    """In the words of the batch system, in one line."""
    assert KINDS[kind].read_end(printed) == words


@pytest.mark.parametrize(
    ("kind", "others", "lines"),
    [
        (
            "pbs",
            {},
            ["#PBS -q short", "#PBS -A traces", "#PBS -l select=1:ncpus=2:mem=3815MB", "#PBS -l walltime=02:00:00"],
        ),
        ("pbs", {"resource_spec": "nodes=1:ppn=2"}, ["#PBS -l nodes=1:ppn=2"]),
        (
            "lsf",
            {"lsf_units": "mb"},
            ["#BSUB -q short", '#BSUB -P "traces"', "#BSUB -n 2", "#BSUB -W 02:00", "#BSUB -M 4000"],
        ),
        (
            "sge",
            {"job_extra_directives": ["-pe smp 2"]},
            ["#$ -q short", "#$ -P traces", "#$ -l h_rt=02:00:00", "#$ -pe smp 2"],
        ),
        (
            "slurm",
            {"job_cpu": 4, "job_mem": "9G"},
            ["#SBATCH -p short", "#SBATCH --cpus-per-task=4", "#SBATCH --mem=9G"],
        ),
    ],
)
def test_scripts_of_all_kinds(tmp_path: Path, kind: str, others: dict[str, object], lines: list[str]) -> None:
    """By the kind in the file, or before it; two workers of one thread."""
    shared = {"queue": "short", "account": "traces", "job_script_prologue": ["module load python"], **others}
    engine = find_engine(f"{kind}:{job_file(tmp_path, kind, **shared).path}", 0)
    (tmp_path / "any.yaml").write_text(json.dumps({**FILE, **shared, "kind": kind}))
    same = find_engine(f"slurm:{tmp_path / 'any.yaml'}", 0)
    assert isinstance(engine, BatchSystem)
    assert isinstance(same, BatchSystem)
    script = engine.job_script(str(tmp_path))
    assert same.job_script(str(tmp_path)) == script
    assert set(lines) <= {*script.splitlines()}
    assert "module load python" in script.splitlines()
    assert "--nthreads 1 " in script
    assert "--nworkers 2 " in script
    assert f"{tmp_path}/.work/job_logs" in script


@pytest.mark.parametrize(
    ("kind", "others", "told"),
    [
        ("slurm", {"kind": "torque"}, "kind 'torque' is no batch system; there are: slurm, pbs, lsf, sge"),
        ("slurm", {"resource_spec": "x"}, "unknown key 'resource_spec'"),
        ("pbs", {"job_cpu": 3}, "unknown key 'job_cpu'"),
        ("slurm", {"job_cpu": "3"}, "job_cpu is not a whole number"),
        ("lsf", {"walltime": "1-00:00:00"}, "walltime .*LSF takes hours and minutes"),
        ("sge", {}, r'job_extra_directives must ask for the cores, such as \["-pe smp 2"\]'),
    ],
)
def test_slips_in_files_of_other_kinds(tmp_path: Path, kind: str, others: dict[str, object], told: str) -> None:
    """Are told with the file."""
    with pytest.raises(ParameterError, match=f"{kind}.yaml: {told}"):
        job_file(tmp_path, kind, **others)


@pytest.mark.parametrize(("walltime", "told"), [("04:00", "04:00"), ("4:30:00", "04:30"), ("00:59:01", "01:00")])
def test_times_as_lsf_takes_them(walltime: str, told: str) -> None:
    """Hours and minutes; seconds are rounded up."""
    assert KINDS["lsf"].settings_of({"walltime": walltime})["walltime"] == told


@pytest.mark.parametrize(("kind", "command"), [("pbs", "qsub"), ("lsf", "bsub"), ("sge", "qsub"), ("slurm", "sbatch")])
def test_a_command_that_is_not_there(tmp_path: Path, kind: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with what to do."""
    monkeypatch.setenv("PATH", str(tmp_path))
    file = job_file(tmp_path, kind, cores=1)
    with pytest.raises(ClusterError, match=f"{kind}.yaml: {command} cannot be run .*start where jobs can be submitted"):
        SubmittedJobs(file, str(tmp_path), HEAD).start(1)
    (tmp_path / "data").mkdir()
    with pytest.raises(ClusterError, match=f"{kind}.yaml: {command} is not there: start where jobs can be submitted"):
        BatchSystem(file.path, kind).check(str(tmp_path / "data"))  # before any work
    assert [*(tmp_path / "data").iterdir()] == []


# ---------------------------------------------------------------- --detach, status

EXPERIMENT = {
    "name": "few",
    "logs": ["lublin-feitelson:jobs=30,processors=8,load=0.9,seed=3"],
    "policies": ["easy", "fcfs"],
    "shakes": [1, 2],
    "augment": "none",
}


def test_detached(tmp_path: Path, slurm: MadeUpSlurm, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is submitted as a job of one core; its number is said, and status knows it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SWFTOOLS_LOG_PATH", "/some logs")
    (tmp_path / "few.yaml").write_text(json.dumps(EXPERIMENT))
    job_file(tmp_path, queue="long")
    scripts = []

    def kept(command: Sequence[str], given: str = "") -> str:
        scripts.append(given)
        return slurm(command, given)

    for module in ("job_commands", "batch_system"):
        monkeypatch.setattr(f"pipelines.tasks.engines.{module}.said_by", kept)
    command = ["experiment", "few.yaml", "--cluster", "slurm:slurm.yaml", "--detach", "-q", "--data-root", "some where"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    *_, number = slurm.jobs
    assert done.stdout.splitlines() == [
        f"job {number}: swftools experiment few.yaml --cluster slurm:slurm.yaml -q --data-root 'some where'",
        f"  its log: {tmp_path}/some where/.work/job_logs/*{number}*",
        "  how far it is: swftools status few --data-root 'some where'",
    ]
    lines = scripts[-1].splitlines()
    assert {"#SBATCH -p long", "#SBATCH --cpus-per-task=1", "#SBATCH -t 02:00:00"} <= {*lines}
    assert lines[-3:] == [
        "export SWFTOOLS_LOG_PATH='/some logs'",
        f"cd {tmp_path}",
        f"exec {sys.executable} -m pipelines.cli.main experiment few.yaml --cluster slurm:slurm.yaml -q --data-root "
        "'some where'",
    ]
    monkeypatch.setattr("pipelines.tasks.engines.job_commands.said_by", slurm)
    told = CliRunner().invoke(main, ["status", "few", "--data-root", "some where"])
    assert told.exit_code == 1
    assert told.stdout.splitlines()[0] == "experiment few: 0 of 4 cells finished, 0 %"
    assert f"  job {number}: squeue: PENDING (Priority); its log: " in told.stdout
    assert "submitted 0 s ago, not begun" in told.stdout


def test_detached_without_a_batch_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is a wrong command."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.yaml").write_text(json.dumps(EXPERIMENT))
    done = CliRunner().invoke(main, ["experiment", "few.yaml", "--detach", "--data-root", "data"])
    assert done.exit_code == 2
    assert "--detach goes with --cluster slurm:FILE.yaml" in done.stderr


def test_a_signal_within_a_collection_of_garbage() -> None:
    """Python drops what is raised there; it is heard all the same, and other exceptions are told as ever."""
    came: list[str] = []

    def looks(phase: str, _: dict[str, int]) -> None:
        if phase == "start" and not came:
            came.append("signal")
            signal.raise_signal(signal.SIGTERM)

    hook = sys.unraisablehook
    gc.callbacks.append(looks)
    try:
        with pytest.raises(KeyboardInterrupt), interruptible():  # noqa: PT012 (it comes a little later)
            gc.collect()
            until = time.monotonic() + 10.0
            while time.monotonic() < until:
                time.sleep(0.001)
    finally:
        gc.callbacks.remove(looks)
    assert came == ["signal"]
    assert sys.unraisablehook is hook
