# SPDX-License-Identifier: BSD-3-Clause
"""luigi's central scheduler, luigid: asked where the settings say so, and told of where they do not."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from luigi.execution_summary import LuigiStatusCode

from pipelines.tasks import luigi_settings
from tests.pipelines.luigi_runs import LUIGI, run, start
from tests.pipelines.small_logs import small_log

SETTINGS = "[core]\nlocal_scheduler = false\nscheduler_host = 127.0.0.1\nscheduler_port = {port}\nrpc-retry-wait = 1\n"


def publish(folder: Path) -> list[str]:
    """Return luigi's command that publishes a small log of a folder."""
    (folder / "small.swf").write_text(small_log())
    return [*LUIGI, "BuildAugmentedTrace", "--BuildAugmentedTrace-log", "small.swf", "--data-root", "data"]


def test_a_luigid_that_is_not_asked_is_told_of(tmp_path: Path) -> None:
    """The shipped settings have luigi's own scheduler, whatever the command line says."""
    ended = run([*publish(tmp_path), "--scheduler-host", "x"], tmp_path)
    assert ended.returncode == 0
    assert "warning: --scheduler-host counts for nothing" in ended.stderr


@contextmanager
def luigid(folder: Path, port: int) -> Iterator[None]:
    """Let luigid run on a port."""
    folder.mkdir(exist_ok=True)
    program = "from luigi.cmdline import luigid; luigid()"
    options = {"address": "127.0.0.1", "port": port, "state-path": folder / "state", "logdir": folder}
    command = [sys.executable, "-c", program, *(f"--{name}={value}" for name, value in options.items())]
    with (folder / "out").open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        for _ in range(400):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_luigid_that_is_asked(tmp_path: Path) -> None:
    """The run ends with 0; where luigid is away it ends with 30, and one line says where it was looked for."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "luigi.cfg").write_text(SETTINGS.format(port=port))
    command = publish(tmp_path)
    with luigid(tmp_path / "luigid", port):
        ended = start(command, tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "published" in ended.stdout
    assert "counts for nothing" not in ended.stderr
    away = start([*command, "--seed", "8"], tmp_path)
    assert away.returncode == 30
    assert f"127.0.0.1:{port}" in away.stderr
    assert "is luigid running there?" in away.stderr
    assert "Traceback" not in away.stderr


@pytest.mark.parametrize(
    ("is_local", "is_complete", "status"), [(False, False, 10), (False, True, 0), (True, False, 0)]
)
def test_a_task_that_another_program_runs(
    monkeypatch: pytest.MonkeyPatch, is_local: bool, is_complete: bool, status: int
) -> None:
    """Luigi calls that a success; the status says that somebody else is at it. luigi's own scheduler knows nobody."""
    result = SimpleNamespace(status=LuigiStatusCode.SUCCESS)
    monkeypatch.setattr(luigi_settings.luigi, "build", lambda *_, **__: result)
    monkeypatch.setattr(luigi_settings, "core", lambda: SimpleNamespace(no_lock=True, local_scheduler=is_local))
    task: Any = SimpleNamespace(complete=lambda: is_complete)
    assert luigi_settings.run_to_end(task) == status
