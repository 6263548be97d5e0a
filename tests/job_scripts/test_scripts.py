# SPDX-License-Identifier: BSD-3-Clause
"""What is no script, what is read and not counted, and the request as others have it."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import JobScriptError, JobScriptNotFoundError, ParameterError
from swftools.job_scripts import SYSTEMS, Component, JobRequest, read_job_script
from swftools.job_scripts.pbs import read_pbs
from swftools.job_scripts.sbatch import read_sbatch
from swftools.job_scripts.sbatch_options import GRAMMAR, VARIABLES
from swftools.job_scripts.source import LARGEST, Source
from tests.job_scripts.scripts import SCRIPTS


def requested(*lines: str, arguments: tuple[str, ...] = (), environment: dict[str, str] | None = None) -> JobRequest:
    """Return what lines behind ``#!/bin/sh`` request of Slurm."""
    return read_sbatch(Source("job.sh", "\n".join(["#!/bin/sh", *lines])), arguments, environment or {})


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "job.sh: the script is empty; "),
        (b" \n\n", "job.sh: the script is empty; "),
        (b"echo\n", "job.sh: line 1: names no interpreter; "),
        (b"\n#!/bin/sh\n", "job.sh: line 1: names no interpreter; "),
        (b"#!/bin/sh\r\ntrue\r\n", "job.sh: line 1: has line ends of DOS; "),
        (b"#!/bin/sh\n\0\n", "job.sh: has a null character"),
        (b"#!/bin/sh\n".ljust(LARGEST + 1, b"x"), "job.sh: the script is larger than 4 MiB; "),
    ],
)
def test_what_is_no_script(data: bytes, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One error that names the file, and the line where there is one."""
    monkeypatch.chdir(tmp_path)
    Path("job.sh").write_bytes(data)
    with pytest.raises(JobScriptError) as raised:
        read_job_script("job.sh")
    assert str(raised.value).startswith(problem)


def test_a_script_may_be_as_large_as_slurm_takes(tmp_path: Path) -> None:
    """Not a byte more; bytes that are no UTF-8 do not matter."""
    path = tmp_path / "job.sh"
    path.write_bytes(b"#!/bin/sh\n#SBATCH -n 3\n# \xff\n".ljust(LARGEST, b"x"))
    assert read_job_script(path).processors == 3


def test_there_is_no_file(tmp_path: Path) -> None:
    """A folder is none either."""
    with pytest.raises(JobScriptNotFoundError, match=r"a\.sh: there is no such file; name a job script"):
        read_job_script(tmp_path / "a.sh")
    with pytest.raises(JobScriptError, match="cannot be read"):
        read_job_script(tmp_path)
    with pytest.raises(JobScriptError, match="cannot be read"):
        read_job_script("a\0b")


def test_the_batch_system_is_known(tmp_path: Path) -> None:
    """Others are refused, by a hint."""
    with pytest.raises(ParameterError, match="no batch system 'slurn'; there are: slurm, pbs"):
        read_job_script(tmp_path / "a.sh", system="slurn")
    assert SYSTEMS == ("slurm", "pbs")


def test_the_environment_is_that_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless another is given."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "job.sh"
    path.write_text("#!/bin/sh\n#SBATCH -t 60\n")
    monkeypatch.setenv("SBATCH_TIMELIMIT", "10")
    assert read_job_script(path).time_limit == 600.0
    assert read_job_script(path, environment={}).time_limit == 3600.0
    assert "SBATCH_TIMELIMIT" in os.environ


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["#SBATCH --cpus-per-gpu=4 -G 2"], "line 2: --cpus-per-gpu=4 is not counted"),
        (["#SBATCH --mincpus=4"], "line 2: --mincpus=4 is not counted"),
        (["#SBATCH --tres-per-task=gres/gpu:1"], "line 2: --tres-per-task=gres/gpu:1 is not counted"),
        (["#SBATCH --mem=0"], "line 2: --mem=0 is all memory of the nodes"),
        (["#PBS -l walltime=60"], "line 2: Slurm reads walltime=60 as minutes, PBS as seconds"),
        (["#PBS -l select=1:ngpus=2"], "line 2: Slurm passes over ngpus=2"),
        (["#PBS -l procs=8"], "line 2: Slurm passes over procs=8"),
        (["", "#BSUB -W 1:30"], "line 3: Slurm reads -W 1:30 as minutes:seconds, LSF as hours:minutes"),
    ],
)
def test_what_is_not_counted_is_named(lines: list[str], told: str) -> None:
    """With file, line and remedy; once, however many components there are."""
    (note,) = requested(*lines, "#SBATCH hetjob").unread
    assert note.startswith(f"job.sh: {told}; ")
    assert requested("#SBATCH -n 2", "#PBS -l walltime=1:00:00").unread == ()


def test_where_an_error_is() -> None:
    """The command line and variables have no line."""
    with pytest.raises(JobScriptError, match=r"^command line: sbatch has no option --foo; "):
        requested(arguments=("--foo",))
    with pytest.raises(JobScriptError, match=r"^environment: SBATCH_TIMELIMIT: --time=x is no time; "):
        requested(environment={"SBATCH_TIMELIMIT": "x"})
    with pytest.raises(JobScriptError, match=r"^job\.sh: line 2: --mem-per-gpu is there, and no GPU; add --gpus$"):
        requested("#SBATCH --mem-per-gpu=1G")


def test_nodes_for_oneself() -> None:
    """Not those that other jobs of the same user may share."""
    for text, is_exclusive in (("--exclusive", True), ("--exclusive=user", False), ("-n 2", False)):
        assert requested(f"#SBATCH {text}").components[0].is_exclusive == is_exclusive
    assert requested(environment={"SBATCH_EXCLUSIVE": ""}).components[0].is_exclusive


def test_tasks_that_share_gpus() -> None:
    """Those that are said, if these are more than the GPUs have; else as many as the GPUs have."""
    assert requested("#SBATCH --ntasks-per-gpu=2 -n 8 --gpus-per-node=1").tasks == 8
    assert requested("#SBATCH --ntasks-per-gpu=2 -n 8 -G 8").tasks == 16


def test_no_nodes() -> None:
    """Slurm takes 0 nodes, of which nothing can come; we do not."""
    with pytest.raises(JobScriptError, match=r"line 2: --nodes=0 is no range from 1 on"):
        requested("#SBATCH -N 0")


def test_a_mistyped_option_has_a_hint() -> None:
    """The nearest one."""
    with pytest.raises(JobScriptError, match="did you mean ntasks"):
        requested("#SBATCH --ntaks=4")


def test_an_error_does_not_steer_a_terminal() -> None:
    """What a script has is shown as it is written."""
    with pytest.raises(JobScriptError) as raised:
        requested("#SBATCH --time=\x1b[2J")
    assert "\x1b" not in str(raised.value)
    assert "\\x1b[2J" in str(raised.value)


@pytest.mark.parametrize(("text", "count"), [("n1,n2", 2), ("n1 n2\nn2\nn[3-4]\n", 4)])
def test_nodes_of_a_file(text: str, count: int, tmp_path: Path) -> None:
    """Named by ``--nodefile``, or by ``--nodelist`` with a slash; each counts once."""
    path = tmp_path / "hosts"
    path.write_text(text)
    assert requested(f"#SBATCH -F {path}").nodes == count
    assert requested(f"#SBATCH -w {path}").processors == count
    for wrong in (tmp_path / "none", tmp_path):
        with pytest.raises(JobScriptError, match=r"line 2: --nodefile=.* cannot be read"):
            requested(f"#SBATCH -F {wrong}")
    path.write_text("\n")
    with pytest.raises(JobScriptError, match="is no list of nodes"):
        requested(f"#SBATCH -F {path}")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        *(("r[1-2]n[1-3]", 6), ("n[01-03,7]", 4), ("n[9-11]", 3), ("n1,n1", 1), ("a[1-2],b", 3), ("n[2-1]", None)),
        *(("n[x]", None), ("n[1-]", None), ("n[1-9999999]", None), (",", None)),
        *(("n[1-2", None), ("n]", None), ("n[1-999]m[1-999]", None), ("n[]", None), ("n[1-100]m[1-900]", 90_000)),
    ],
)
def test_lists_of_nodes(text: str, count: int | None) -> None:
    """Each name is counted once; numbers that fall, or are none, are refused."""
    if count is None:
        with pytest.raises(JobScriptError, match="line 2: --nodelist="):
            requested(f"#SBATCH -w {text}")
    else:
        assert requested(f"#SBATCH -w {text}").nodes == count


def test_what_never_ends_is_no_file_of_nodes(tmp_path: Path) -> None:
    """A device, a pipe that nobody writes to, and a file that is too large."""
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    for name in ("/dev/zero", pipe, f"{tmp_path}/\0"):
        with pytest.raises(JobScriptError, match=r"line 2: --nodelist=.* cannot be read; name a file"):
            requested(f"#SBATCH -w {name}")
    large.write_bytes(b"n1\n".ljust(LARGEST))
    assert requested(f"#SBATCH -w {large}").nodes == 1
    large.write_bytes(b"n1\n".ljust(LARGEST + 1))
    with pytest.raises(JobScriptError, match=r"line 2: --nodelist=.* is larger than 4 MiB"):
        requested(f"#SBATCH -w {large}")


@pytest.mark.parametrize(
    "text",
    [
        ",".join(["n[0-99998]"] * 100_000),
        f"n[{','.join(['0-99998'] * 100_000)}]",
        "n" + "[0-1]" * 200_000,
        "n" * 1_000_000 + "[1-99999]",
        "[" * 1_000_000,
        "n[1[2]]",
        f"n[1-{'9' * 5000}]",
        f"n[{'9' * 5000}]",
    ],
    ids=["names", "ranges", "brackets", "letters", "open", "nested", "range", "number"],
)
def test_hosts_are_counted_before_they_are_named(text: str) -> None:
    """So a list that names more than there may be costs no memory."""
    with pytest.raises(JobScriptError, match=r"line 2: --nodelist=.*; ") as raised:
        requested(f"#SBATCH -w {text}")
    assert len(str(raised.value)) < 500


NINES = "9" * 5000
OF_BOTH = [f"#PBS -l {each}{NINES}" for each in ("nodes=", "nodes=1:ppn=", "select=1:ncpus=", "mem=", "walltime=")]
OF_SLURM = [f"#SBATCH {each}{NINES}" for each in ("-n ", "-B ", "-a ", "--mem=", "-t ", "-G a:", "-N ")]


@pytest.mark.parametrize(
    ("system", "line"),
    [("slurm", line) for line in (*OF_BOTH, *OF_SLURM, f"#BSUB -n {NINES}")] + [("pbs", line) for line in OF_BOTH],
)
def test_numbers_that_no_machine_needs(system: str, line: str) -> None:
    """They are refused like others that are wrong, wherever they are read."""
    source = Source("job.sh", f"#!/bin/sh\n{line}")
    with pytest.raises(JobScriptError, match=r"^job\.sh: line 2: "):
        read_pbs(source, ()) if system == "pbs" else read_sbatch(source, (), {})


@pytest.mark.parametrize("line", ["#PBS -l " + "a" * 300_000, "#SBATCH " + "-O " * 300_000], ids=["letters", "words"])
def test_long_lines_are_read_once(line: str) -> None:
    """Not again and again from each place of them, which would take hours."""
    assert requested(line).nodes == 1


def test_an_array_of_slurm() -> None:
    """As many as it ever takes, each named once; not more."""
    assert requested("#SBATCH -a 0-4000000:2").array_size == 2_000_001
    assert requested("#SBATCH -a 0-9%3").array_size == 10
    assert requested("#SBATCH -a 5,0-10:5,4-6").array_size == 5
    for text in ("0-4000001", "0-3000000,0-3000000", "1%x", "1-", "-1", "1,,2", "1 2"):
        with pytest.raises(JobScriptError, match=r"line 2: --array="):
            requested(f"#SBATCH '--array={text}'")


def test_a_job_of_components() -> None:
    """Sums of all; the time is the longest, and unknown if one of them is."""
    request = requested("#SBATCH -n 2 --mem=1G -t 5 -G 1 -p a", "#SBATCH hetjob", "#SBATCH -N 2 -n 6 -c 2 -t 9 -p b")
    sums = (request.nodes, request.tasks, request.processors, request.gpus, request.memory_mb)
    assert sums == (3, 8, 14, 1, 3072)
    assert (request.time_limit, request.partition, request.cpus_per_task) == (540.0, "a", 1)
    request = requested("#SBATCH -n 2", "#SBATCH hetjob", "#SBATCH -t 9 --mem=1G")
    assert (request.time_limit, request.memory_mb) == (None, None)


def test_it_is_json() -> None:
    """Every field, an unlimited time as a text."""
    request = requested("#SBATCH -t UNLIMITED -n 2 --exclusive", "#SBATCH --array=1-3 --mem=0")
    told = json.loads(json.dumps(request.to_mapping(), allow_nan=False))
    (component,) = told["components"]
    assert component == {**vars(Component(tasks=2, processors=2, is_exclusive=True)), "time_limit": "unlimited"}
    assert (told["array_size"], len(told["unread"])) == (3, 1)
    assert request.time_limit == math.inf
    assert requested().to_mapping()["components"][0]["time_limit"] is None


def test_options_have_no_name_twice() -> None:
    """Each letter stands for a long name that there is; so does each variable."""
    long_names = {name for name in GRAMMAR.takes if len(name) > 1}
    assert {*GRAMMAR.long_of.values(), *VARIABLES.values()} <= long_names
    assert all(GRAMMAR.takes[letter] == GRAMMAR.takes[name] for letter, name in GRAMMAR.long_of.items())


_LINE = st.builds("{} {}".format, st.sampled_from(["#SBATCH", "#PBS", "#BSUB", "#"]), st.text(max_size=12))
_KNOWN = st.sampled_from([line for script in SCRIPTS.values() for line in script.lines])


@given(st.lists(st.one_of(_LINE, _KNOWN), max_size=6), st.sampled_from(SYSTEMS))
def test_any_script_is_read_or_refused(lines: list[str], system: str) -> None:
    """A request has at least a node, a task and a processor; an error names where."""
    source = Source("job.sh", "\n".join(["#!/bin/sh", *lines]))
    refused = ""
    try:
        request = read_pbs(source, ()) if system == "pbs" else read_sbatch(source, (), {})
    except JobScriptError as error:
        refused, request = str(error), JobRequest(())
    assert refused.startswith("job.sh: line ") == (not request.components)
    assert all(min(each.nodes, each.tasks, each.processors) >= 1 for each in request.components)
    assert all(each.time_limit is None or each.time_limit >= 0 for each in request.components)
