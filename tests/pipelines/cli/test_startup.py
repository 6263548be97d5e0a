# SPDX-License-Identifier: BSD-3-Clause
"""What is loaded, and when: help appears at once, and reading data changes nobody's luigi or logging."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

import pipelines
from pipelines.cli.main import main
from pipelines.config import named_tasks
from swftools.simulator.run_options import check_options
from tests.pipelines.luigi_runs import environment

HEAVY = ("numpy", "pandas", "pyarrow", "numba", "scipy", "luigi", "pydantic", "yaml", "requests", "boto3", "gymnasium")
COMMANDS = [
    *("describe", "validate", "convert", "augment", "run", "simulate", "compare", "check-schedule"),
    *("versions", "diff", "tag", "rollback", "promote", "verify", "prune", "warm-up", "status"),
]


def python(code: str, folder: Path, **extra: str) -> str:
    """Run a program in a process of its own, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment(**extra),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


def test_help_and_version_load_nothing_heavy(tmp_path: Path) -> None:
    """All commands and their choices are shown by what the console itself holds; each in a process that has no more."""
    asked = [["--version"], ["--help"], *([command, "--help"] for command in COMMANDS)]
    code = f"""
import os, sys
from pipelines.cli.main import main
for arguments in {asked}:
    if os.fork():
        assert not os.wait()[1], arguments
        continue
    try:
        main(arguments)
    except SystemExit as end:
        assert not end.code
    print("loaded:", [name for name in {HEAVY} if name in sys.modules], len(sys.modules) < 300, flush=True)
    os._exit(0)
"""
    output = python(code, tmp_path)
    assert output.count("loaded: [] True\n") == output.count("loaded: ") == len(asked)
    assert output.count("Usage: ") == len(asked) - 1


def test_the_package_loads_next_to_nothing() -> None:
    """Not even typing, which would be a third of its time; in a Python that has loaded nothing of its site."""
    code = f"import sys; sys.path += {sys.path}; import swftools; print({{'typing', 're', 'numpy'}} & set(sys.modules))"
    bare = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert bare.stdout == "set()\n"


def test_choices_in_help_are_those_of_the_engine() -> None:
    """There is one definition, which both take."""
    text = " ".join(CliRunner().invoke(main, ["simulate", "--help"]).output.split())
    for option in ("overrun", "cancelled", "semantics"):
        words = text.partition(f"--{option} [")[2].partition("]")[0].split("|")
        assert len(words) == (5 if option == "semantics" else 3), text
        given = {"overrun": "extend", "cancelled": "drop", "semantics": "instant"}
        for word in words:
            check_options(predictor="request", **{**given, option: word})


def test_reading_data_leaves_luigi_and_logging_alone(tmp_path: Path) -> None:
    """A program that opens a data root has neither luigi nor a handler of ours, nor a level."""
    code = """
import logging, sys
from pipelines.store.data_root import DataRoot
assert DataRoot.open("data").data_sets() == []
ours = logging.getLogger("pipelines")
print("luigi" in sys.modules, ours.handlers, ours.level, ours.propagate, logging.getLogger().handlers)
"""
    assert python(code, tmp_path) == "False [] 0 True []\n"


@pytest.mark.slow
def test_tasks_in_python_have_the_shipped_settings(tmp_path: Path) -> None:
    """A task is got by its name, luigi.build runs it, luigi.cfg wins, and logging stays the program's own."""
    (tmp_path / "luigi.cfg").write_text("[swftools]\ndata_root = ./elsewhere\n[worker]\nkeep_alive = true\n")
    code = """
import logging, luigi, pipelines
task = pipelines.CleanTrace()
config = luigi.configuration.get_config()
assert config.getboolean("worker", "check_complete_on_run") and config.getboolean("worker", "keep_alive")
assert luigi.build([task], log_level="WARNING")
print(task.output().path.is_dir(), str(task.data_root), logging.getLogger("pipelines").handlers)
"""
    assert python(code, tmp_path) == "True ./elsewhere []\n"


def test_tasks_leave_alone_what_only_fits_need(tmp_path: Path) -> None:
    """scikit-learn, which takes half a second and 66 MB, is loaded by whoever fits something."""
    code = (
        "import sys, pipelines; [getattr(pipelines, name) for name in dir(pipelines)]; print('sklearn' in sys.modules)"
    )
    assert python(code, tmp_path) == "False\n"


def test_a_task_brings_along_what_it_requires(tmp_path: Path) -> None:
    """Who builds data sets loads no simulator, nothing of waits, no papers, and no compiler to find out what is."""
    code = """
import sys, pipelines
pipelines.BuildAugmentedTrace
heavy = ("swftools.simulator", "swftools.qbets", "pipelines.papers", "pipelines.history", "numba")
print([name for name in heavy if name in sys.modules])
"""
    assert python(code, tmp_path) == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("CleanTrace --log x", ["CleanTrace"]),
        ("--module pipelines CleanTrace --CleanTrace-log x --ParseLog-format swf", ["CleanTrace", "ParseLog"]),
        ("CleanTrace --help-all", ["CleanTrace", "ParseLog", "SimulatePolicy"]),
        ("--ParseLog-format swf", ["CleanTrace", "ParseLog", "SimulatePolicy"]),
        ("CleanTraces", ["CleanTrace", "ParseLog", "SimulatePolicy"]),
        ("", ["CleanTrace", "ParseLog", "SimulatePolicy"]),
    ],
)
def test_luigi_finds_the_tasks_that_are_named(arguments: str, expected: list[str]) -> None:
    """All of them where none is, or another: luigi then tells which there are."""
    assert expected == named_tasks(["CleanTrace", "ParseLog", "SimulatePolicy"], arguments.split())


MINE = "[swftools]\nlog_path = mine\n"
AS_SHIPPED = (files("pipelines") / "resources" / "luigi.cfg").read_text()


@pytest.mark.parametrize(
    ("file", "text", "loaded"),
    [
        ("", "", False),
        ("luigi.cfg", AS_SHIPPED, False),
        ("luigi.cfg", AS_SHIPPED.replace("log_path =", "log_path = mine"), True),
        ("luigi.cfg", MINE, True),
        ("client.cfg", MINE, True),
        ("other.cfg", MINE, True),
    ],
    ids=["none", "as shipped", "one other line", "luigi.cfg", "client.cfg", "named"],
)
def test_settings_ask_luigi_where_it_may_know(tmp_path: Path, file: str, text: str, loaded: bool) -> None:
    """Without a configuration the shipped settings hold, and luigi is not loaded for them; nor where it is that one."""
    if file:
        (tmp_path / file).write_text(text)
    named = {"LUIGI_CONFIG_PATH": file} if file == "other.cfg" else {}
    code = """
import sys, warnings
warnings.simplefilter("ignore")
from pipelines.config import setting, shipped_settings
print(setting("log_path") == ("mine" if "luigi" in sys.modules else shipped_settings().get("swftools", "log_path")))
print("luigi" in sys.modules)
"""
    assert python(code, tmp_path, **named) == f"True\n{loaded}\n"


def test_describing_a_log_loads_no_luigi(tmp_path: Path) -> None:
    """Nor what downloads and simulations need."""
    log = tmp_path / "log.swf"
    log.write_text("1 0 0 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1\n")
    code = """
import sys
from pipelines.cli.main import main
try:
    main(["describe", "log.swf"])
except SystemExit as end:
    assert not end.code
print([name for name in ("luigi", "requests", "urllib3", "swftools.simulator") if name in sys.modules])
"""
    assert python(code, tmp_path).splitlines()[-1] == "[]"


def test_every_task_has_its_name_in_the_package() -> None:
    """What luigi's command may run is what the package offers, and nothing else of ours is public."""
    for name in dir(pipelines):
        assert getattr(pipelines, name).get_task_family() == name
    with pytest.raises(AttributeError):
        _ = pipelines.MakeTea  # type: ignore[attr-defined]
