# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of PBS, as qsub reads them: hand-drawn, of what OpenPBS and Torque say of their options."""

from __future__ import annotations

from pathlib import Path

import pytest

from swftools.errors import JobScriptError
from swftools.job_scripts import JobRequest, read_job_script


def read(folder: Path, *lines: str, arguments: tuple[str, ...] = ()) -> JobRequest:
    """Return what a script requests whose first line is that of a shell."""
    path = folder / "job.pbs"
    path.write_text("\n".join(["#!/bin/sh", *lines, "true", ""]))
    return read_job_script(path, arguments=arguments, environment={"SBATCH_TIMELIMIT": "1"}, system="pbs")


GB = 1024

DRAWN = [
    ("", (1, 1, 1, 0, None)),
    ("select=2:ncpus=8:mpiprocs=4:ngpus=1:mem=4gb", (2, 16, 8, 2, 8 * GB)),
    ("select=2:ncpus=8", (2, 16, 2, 0, None)),
    ("select=4", (4, 4, 4, 0, None)),
    ("select=ncpus=3:mem=100mb", (1, 3, 1, 0, 100)),
    ("select=1:ncpus=2:ngpus=2+3:ncpus=4:mpiprocs=4:mem=1gb", (4, 14, 13, 2, 3 * GB)),
    ("select=2:ncpus=2:host=n1:ompthreads=2", (2, 4, 2, 0, None)),
    ("nodes=2:ppn=8", (2, 16, 16, 0, None)),
    ("nodes=2:ppn=8:gpus=2:bigmem,pmem=2gb", (2, 16, 16, 4, 32 * GB)),
    ("nodes=n1:ppn=2+2:ppn=3", (3, 8, 8, 0, None)),
    ("nodes=3,mem=6gb", (3, 3, 3, 0, 6 * GB)),
    ("ncpus=4,mem=1500kb,ngpus=1", (1, 4, 1, 1, 2)),
    ("procs=16", (1, 16, 16, 0, None)),
    ("mem=131072kw", (1, 1, 1, 0, GB)),
    ("mem=1048577", (1, 1, 1, 0, 2)),
    ("mem=1tb", (1, 1, 1, 0, GB * GB)),
]


@pytest.mark.parametrize(("resources", "drawn"), DRAWN, ids=[resources or "nothing" for resources, _ in DRAWN])
def test_resources(resources: str, drawn: tuple[int, int, int, int, int | None], tmp_path: Path) -> None:
    """Nodes, processors, tasks, GPUs and MiB of all chunks."""
    request = read(tmp_path, *([f"#PBS -l {resources}"] if resources else []))
    found = (request.nodes, request.processors, request.tasks, request.gpus, request.memory_mb)
    assert found == drawn
    assert request.unread == ()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90.0), ("5:30", 330.0), ("1:30:00", 5400.0), ("100:00:00", 360_000.0), ("30.5", 30.0), ("0:75", 75.0)],
)
def test_times(text: str, seconds: float, tmp_path: Path) -> None:
    """A plain number is of seconds."""
    assert read(tmp_path, f"#PBS -l walltime={text}").time_limit == seconds
    assert read(tmp_path).time_limit is None


def test_queue_array_and_place(tmp_path: Path) -> None:
    """The server behind a queue is not its name; an array may say how many run at once."""
    request = read(tmp_path, "#PBS -q long@server -J 0-9:2%3", "#PBS -l select=1,place=scatter:excl")
    assert (request.partition, request.array_size, request.components[0].is_exclusive) == ("long", 5, True)
    request = read(tmp_path, "#PBS -t 1-4%2 -q @server")
    assert (request.partition, request.array_size, request.components[0].is_exclusive) == (None, 4, False)


def test_the_command_line_goes_before_the_script(tmp_path: Path) -> None:
    """Each resource by itself; variables of Slurm are none of PBS."""
    lines = ["#PBS -l select=2:ncpus=4,walltime=1:00:00", "#PBS -q long -N 'a b' -m abe -V -W group_list=x"]
    request = read(tmp_path, *lines, arguments=("-l", "walltime=2:00:00", "-q", "short"))
    assert (request.processors, request.time_limit, request.partition) == (8, 7200.0, "short")


def test_directives_end_at_the_first_command(tmp_path: Path) -> None:
    """Those behind are comments; later ones go before."""
    lines = ["#PBS -l ncpus=2", "# solve", "", "#PBS -l ncpus=3", "cd $PBS_O_WORKDIR", "#PBS -l ncpus=4"]
    assert read(tmp_path, *lines).processors == 3


def test_a_script_need_not_name_an_interpreter(tmp_path: Path) -> None:
    """PBS takes the user's shell."""
    path = tmp_path / "job.pbs"
    path.write_text("#PBS -l select=2:ncpus=4\ntrue\n")
    assert read_job_script(path, system="pbs").processors == 8
    with pytest.raises(JobScriptError, match="names no interpreter"):
        read_job_script(path, system="slurm")


def test_what_is_not_known_is_named(tmp_path: Path) -> None:
    """With its line: a resource of the centre, in a chunk too, and another syntax."""
    lines = ["#PBS -l select=1:ncpus=2:scratch=5gb", "#PBS -l matlab=1", "#PBS -L tasks=2"]
    unread = read(tmp_path, *lines).unread
    assert [each.split(": ", 1)[1].split(";")[0] for each in unread] == [
        "line 3: resource matlab is not known here, and not counted",
        "line 2: resource scratch is not known here, and not counted",
        "line 4: -L is not read",
    ]


@pytest.mark.parametrize(
    "line",
    [
        *("-l walltime=1:00:00:00", "-l walltime=1h", "-l mem=4gib", "-l mem=", "-l ncpus=0", "-l ncpus=x", "-l ncpus"),
        *("-l select=0", "-l select=x", "-l select=2:ncpus", "-l select=2:ncpus=x", "-l nodes=0", "-l nodes=2:ppn=x"),
        *("-l nodes=2:ppn=0", "-l select=2:ncpus=0", "-l select=2:ncpus=2+1:ncpus=0"),
        *("-l nodes=", "-l nodes=2+", "-Y", "--name", "-l", "solve", "-N 'a", "-J 4-2", "-l ngpus=-1", "-l =1"),
    ],
)
def test_what_is_wrong_is_named(line: str, tmp_path: Path) -> None:
    """The error names file and line."""
    with pytest.raises(JobScriptError, match=r"job\.pbs: line 3: .*; "):
        read(tmp_path, "# a job", f"#PBS {line}")
