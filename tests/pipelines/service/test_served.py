# SPDX-License-Identifier: BSD-3-Clause
"""The command, in a process of its own, as users start it."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipelines.cli import serve as serve_command
from pipelines.cli.main import main
from pipelines.logs.find import SHIPPED_LOG, find_log
from pipelines.service import app as app_module
from pipelines.service import web_server
from pipelines.service.app import Service
from tests.pipelines.luigi_runs import SWFTOOLS, environment

SHIPPED = find_log(SHIPPED_LOG)


@pytest.mark.slow
def test_it_answers_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    """It prints its address when it listens; what it answers is JSON; its status is 0."""
    command = [*SWFTOOLS, "serve", "--replay", "SDSC-BLUE-2000-4.2-cln-5000-9999", "--port", "0", "--quiet"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), **pipes) as process:  # type: ignore[call-overload]
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
            assert address is not None
            with urllib.request.urlopen(f"{address[0]}api/v1/wait?queue=normal&time=4h", timeout=30) as answer:
                told = json.load(answer)
            assert told["queue"] == "normal"
            assert told["waits"] > 100
            with urllib.request.urlopen(f"{address[0]}healthz", timeout=30) as answer:
                assert json.load(answer) == {"ok": True, "stale": []}
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, said) == (0, "")


@pytest.mark.parametrize(
    ("words", "by"), [([], ["queue"]), (["--by", "all"], []), (["--by", "queue,user"], ["queue", "user"])]
)
def test_what_jobs_are_grouped_by(words: list[str], by: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """By queue where the log has some, or as it is said."""
    served: list[Service] = []
    monkeypatch.setattr(app_module, "make_app", lambda service, _: served.append(service))
    monkeypatch.setattr(web_server, "run", lambda make, *_: make())
    log = ["--replay", str(SHIPPED.path), "--quiet"]
    assert CliRunner().invoke(main, ["serve", *log, *words]).exit_code == 0
    (cluster,) = served[0].clusters.values()
    assert list(cluster.predictor.by) == by


def test_a_log_without_queues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has one group of jobs."""
    served: list[Service] = []
    monkeypatch.setattr(app_module, "make_app", lambda service, _: served.append(service))
    monkeypatch.setattr(web_server, "run", lambda make, *_: make())
    lines = "".join(f"{n} {n * 60} 5 60 4 -1 -1 4 90 -1 1 1 -1 -1 -1 -1 -1 -1\n" for n in range(1, 9))
    (tmp_path / "mine.swf").write_text("; MaxProcs: 8\n" + lines)
    done = CliRunner().invoke(main, ["serve", "--replay", str(tmp_path / "mine.swf"), "--quiet", "--name", "one"])
    assert done.exit_code == 0
    (cluster,) = served[0].clusters.values()
    assert (cluster.name, cluster.predictor.by) == ("one", ())


def test_a_port_that_is_taken() -> None:
    """Is told before anything else; the remedy too."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        log = "lublin-feitelson:jobs=20,processors=16,seed=1"
        done = CliRunner().invoke(main, ["serve", "--replay", log, "--port", port])
    assert done.exit_code == 2
    assert f"error: --host 127.0.0.1 --port {port}: cannot listen there: Address already in use" in done.stderr
    assert "choose another port, 0 for any" in done.stderr


def test_what_it_needs_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the extra is not installed."""
    monkeypatch.setattr(serve_command, "LIBRARIES", ("starlette", "no_such_library"))
    done = CliRunner().invoke(main, ["serve", "--replay", "x.swf"])
    assert done.exit_code == 30
    assert "pip install 'swftools[serve]'" in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        ([], 2, "give one of --config FILE, --slurm, --pbs, --sensor KIND, --replay LOG"),
        (["--slurm", "--replay", "x.swf"], 2, "give one of --config FILE, --slurm, --pbs, --sensor KIND, --replay LOG"),
        (["--replay", "x.swf", "--journal", "j"], 2, "a log is there already"),
        (["--replay", "none.swf"], 20, "none.swf"),
        (["--replay", "lublin-feitelson:jobs=20,processors=16,seed=1", "--method", "binomail"], 2, "binomial"),
        (["--replay", "lublin-feitelson:jobs=20,processors=16,seed=1", "--speed", "0"], 2, "--speed"),
    ],
)
def test_bad_input(words: list[str], status: int, told: str) -> None:
    """One error, and its status."""
    done = CliRunner().invoke(main, ["serve", *words])
    assert (done.exit_code, told in done.stderr) == (status, True)
