# SPDX-License-Identifier: BSD-3-Clause
"""One scheme of exit statuses for the console and for luigi's own command, and one line for each mistake."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import pipelines.cli.logs
from pipelines import exit_statuses
from pipelines.cli.main import main
from pipelines.config import shipped_settings
from pipelines.logs.find import SHIPPED_LOG
from swftools.errors import ParameterError
from tests.pipelines.luigi_runs import LUIGI, SWFTOOLS, run

ROOT = Path(__file__).parent.parent.parent.parent

WRONG = [
    (["BuildAugmentedTrace", "--augment", "tea"], "no augmentation 'tea'"),
    (["BuildAugmentedTrace", "--rules", "tidy"], "no cleaning rule 'tidy'"),
    (["BuildAugmentedTrace", "--seed", "x"], "--seed 'x' is not a whole number"),
    (["BuildAugmentedTrace", "--BuildAugmentedTrace-seed", "x"], "--seed 'x' is not a whole number"),
    (["BuildAugmentedTrace", "--seed", "-1"], "seed=-1"),
    (["BuildAugmentedTrace", "--data-set", "../evil"], "'../evil'"),
    (["BuildAugmentedTrace", "--BuildAugmentedTrace-log", "lublin-feitelson:tea=1"], "tea"),
    (["BuildAugmentedTrace", "--BuildAugmentedTrace-log", "-"], "can be read once only"),
    (["BuildAugmentedTrace", "--parameters", '{"utility": {"queue_ranks": "best"}}'], "there are: over-fitted"),
    (["BuildAugmentedTrace", "--tea"], "unrecognized arguments: --tea"),
    (["SimulatePolicy", "--policy", "esay"], "esay"),
    (["SimulatePolicy", "--policy", "fcfs,easy"], "2 policies"),
    (["SimulatePolicy", "--load", "x"], "--load 'x' is not a number"),
    (["SimulatePolicy", "--load", "nan"], "load=nan"),
    (["SimulatePolicy", "--overrun", "tea"], "overrun='tea'"),
    (["ComparePolicies", "--seeds", "0,-1"], "seed=-1"),
    (["ComparePolicies", "--unmeasured-queues", "a"], "unmeasured_queues='a'"),
]
"""Command lines of tasks that no task can be made of, and what is said."""


@pytest.mark.parametrize(("arguments", "said"), WRONG, ids=[" ".join(arguments) for arguments, _ in WRONG])
def test_a_wrong_command_line_of_a_task_is_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    """The console says in one line what is wrong, and begins nothing."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["run", *arguments, "--data-root", "data"])
    assert (2, True) == (result.exit_code, said in result.stderr), result.output
    assert 1 == len(result.stderr.splitlines())
    assert result.stderr.startswith("error: ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("arguments", "said"), [WRONG[0], WRONG[2], WRONG[3], WRONG[5], WRONG[9], WRONG[10]])
def test_luigis_own_command_says_the_same(tmp_path: Path, arguments: list[str], said: str) -> None:
    """The same status and line, where luigi by itself would end in 40, 35, a page of usage or a traceback."""
    done = run([*LUIGI, *arguments], tmp_path)
    assert (2, True) == (done.returncode, said in done.stderr), done.stderr
    assert re.fullmatch(r"error: [^\n]+\n", done.stderr)


@pytest.mark.parametrize("name", ["SimulatePolicy", "AddUtility", "BuildAugmentedTrace"])
def test_a_wrong_task_is_never_made(name: str) -> None:
    """In Python neither, and also where no step would draw by the seed."""
    nothing = {} if name == "AddUtility" else {"augment": ""}
    with pytest.raises(ParameterError, match="seed=-1"):
        getattr(pipelines, name)(seed=-1, data_root="data", **nothing)


def test_an_unknown_task_is_2(tmp_path: Path) -> None:
    """With the name that was meant, by luigi; with all names, by the console."""
    done = run([*LUIGI, "BuildAugmentdTrace"], tmp_path)
    assert (2, "error: no task 'BuildAugmentdTrace'; did you mean BuildAugmentedTrace") == (
        done.returncode,
        done.stderr.partition("?")[0],
    )
    result = CliRunner().invoke(main, ["run", "BuildAugmentdTrace"])
    assert (2, True) == (result.exit_code, "there are: AcquireLog" in result.stderr)


def test_luigi_runs_the_modules_of_others(tmp_path: Path) -> None:
    """A task of one's own that needs ours is found, and what is wrong with it is luigi's to say."""
    (tmp_path / "mine.py").write_text(
        "import luigi\nfrom pipelines import CleanTrace\n\n\nclass Mine(luigi.WrapperTask):\n"
        "    def requires(self):\n        return CleanTrace()\n"
    )
    done = run([sys.executable, "-m", "luigi", "--module", "mine", "Mine"], tmp_path, PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert (0, 1) == (done.returncode, len(list((tmp_path / "data/.work/cleaned").glob("[0-9a-f]*")))), done.stderr


@pytest.mark.parametrize(
    "command", [[*LUIGI, "CleanTrace", "--CleanTrace-log"], [*SWFTOOLS, "run", "CleanTrace", "--log"]]
)
def test_a_missing_log_is_20_in_one_line(tmp_path: Path, command: list[str]) -> None:
    """What luigi adds to what we say is left out."""
    done = run([*command, "nowhere.swf"], tmp_path)
    assert 20 == done.returncode
    assert re.fullmatch(r"error: log 'nowhere.swf' is neither [^\n]+\n", done.stderr)


@pytest.mark.parametrize(
    "command", [[*LUIGI, "CleanTrace", "--CleanTrace-log"], [*SWFTOOLS, "run", "CleanTrace", "--log"]]
)
def test_a_failed_task_is_30(tmp_path: Path, command: list[str]) -> None:
    """The message stands behind one word error, not two."""
    (tmp_path / "bad.swf").write_text("no job\n")
    done = run([*command, "bad.swf"], tmp_path)
    assert 30 == done.returncode
    (line,) = (line for line in done.stderr.splitlines() if "not one of 1 lines" in line)
    assert line.startswith("error: ")
    assert 1 == line.lower().count("error")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["describe", "nowhere.swf"], 20, "nowhere.swf"),
        (["validate", "nowhere.swf"], 20, "nowhere.swf"),
        (["convert", "nowhere.swf", "x.swf"], 20, "nowhere.swf"),
        (["simulate", "nowhere.swf"], 20, "nowhere.swf"),
        (["simulate", "KTH-SP2-1996-2.1-cln"], 20, "swftools run AcquireLog"),
        (["check-schedule", "nowhere.csv", "--log", SHIPPED_LOG], 20, "nowhere.csv"),
        (["check-schedule", "some.csv", "--log", "nowhere.swf"], 20, "nowhere.swf"),
        (["versions", "--data-root", "dta"], 20, "there is no data root"),
        (["versions", "--data-root", "."], 20, "nothing is published"),
        (["versions", "mine", "--data-root", "."], 20, "no data set 'mine'"),
        (["verify", "mine", "--data-root", "dta"], 20, "there is no data root"),
        (["prune", "--data-root", "dta"], 20, "there is no data root"),
        (["describe", "damaged.gz"], 30, "damaged.gz"),
        (["check-schedule", "bad.csv", "--log", SHIPPED_LOG], 2, "job_number"),
        (["check-schedule", "some.csv", "--log", SHIPPED_LOG, "--policy", "esay"], 2, "esay"),
        (["check-schedule", "some.csv", "--log", SHIPPED_LOG, "--tolerance", "-1"], 2, "--tolerance"),
        (["check-schedule", "some.csv", "--log", SHIPPED_LOG, "--least-run-time", "inf"], 2, "--least-run-time"),
        (["simulate", SHIPPED_LOG, "--policy", "esay"], 2, "esay"),
        (["simulate", SHIPPED_LOG, "--load", "0"], 2, "--load"),
        (["simulate", SHIPPED_LOG, "--load", "nan"], 2, "--load"),
        (["simulate", SHIPPED_LOG, "--seed", "-1"], 2, "--seed"),
        (["simulate", SHIPPED_LOG, "--overrun", "tea"], 2, "--overrun"),
        (["simulate", SHIPPED_LOG, "--rules", "tidy"], 2, "tidy"),
        (["simulate", SHIPPED_LOG, "--rules", "duplicates", "--raw"], 2, "--rules or --raw"),
        (["validate", SHIPPED_LOG, "--lines", "-3"], 2, "--lines"),
        (["augment", "--seed", "-1"], 2, "--seed"),
        (["compare", "--load", "0"], 2, "--load"),
        (["compare", "--workers", "0"], 2, "--workers"),
        (["prune", "--keep", "-1"], 2, "--keep"),
    ],
)
def test_statuses_of_the_console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], status: int, said: str
) -> None:
    """20 for what is not there, 2 for what cannot be meant, 30 for what fails; 1 is for faults that were found."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.csv").write_text("job_number,start_time\n1,0\n")
    (tmp_path / "bad.csv").write_text("a,b\n1,0\n")
    (tmp_path / "damaged.gz").write_bytes(b"\x1f\x8b\x08\x00abc")
    result = CliRunner().invoke(main, arguments)
    assert (status, True) == (result.exit_code, said in result.stderr), result.output
    assert isinstance(result.exception, SystemExit)


def test_validate_goes_on_and_ends_with_the_worst(tmp_path: Path) -> None:
    """A log that is missing, or has no job at all, does not keep the others from being checked."""
    sound, empty, comments, damaged = (tmp_path / name for name in ("s.swf", "e.swf", "c.swf", "d.gz"))
    sound.write_text("1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n")
    empty.touch()
    comments.write_text("; Version: 2.2\n")
    damaged.write_bytes(b"\x1f\x8b\x08\x00abc")
    for log, said in ((empty, "it is empty"), (comments, "only comments"), (damaged, "d.gz")):
        result = CliRunner().invoke(main, ["validate", str(log), str(sound)])
        assert (1, True, True) == (result.exit_code, said in result.output, "s.swf: 1 job," in result.output)
    result = CliRunner().invoke(main, ["validate", str(empty), "nowhere", str(sound)])
    assert (20, True) == (result.exit_code, "s.swf: 1 job," in result.output)


def test_ctrl_c_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not 1, which would say that faults were found."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipelines.cli.logs, "load", interrupted)
    assert 130 == CliRunner().invoke(main, ["describe", SHIPPED_LOG]).exit_code


def test_the_docs_list_every_status() -> None:
    """The table of docs/console.md has the numbers of the module, and those of luigi's settings."""
    ours = {value for name, value in vars(exit_statuses).items() if name.isupper() and isinstance(value, int)}
    luigis = {int(value) for value in shipped_settings()["retcode"].values()}
    rows = re.findall(r"^\| (\d+) \|", (ROOT / "docs/console.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {0, *ours, *luigis} == {int(row) for row in rows}
