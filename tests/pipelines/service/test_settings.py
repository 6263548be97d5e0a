# SPDX-License-Identifier: BSD-3-Clause
"""The settings of a service: their defaults, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.service.settings import read_service_settings
from swftools.errors import ParameterError


def read(folder: Path, text: str) -> object:
    """Return settings of a text."""
    (folder / "service.yaml").write_text(text)
    return read_service_settings(folder / "service.yaml")


def test_what_holds_by_default(tmp_path: Path) -> None:
    """A sensor is enough; times are written as everywhere."""
    path = tmp_path / "service.yaml"
    path.write_text("clusters:\n  blue: {sensor: slurm, every: 5m}\n  red: {sensor: {kind: replay, log: LOG}}\n")
    settings = read_service_settings(path, {"port": 80})
    blue, red = settings.clusters.values()
    assert (list(settings.clusters), settings.host, settings.port) == (["blue", "red"], "127.0.0.1", 80)
    assert (blue.sensor, blue.every, blue.file_every, blue.method) == ({"kind": "slurm"}, 300.0, 3600.0, "binomial")
    assert red.sensor == {"kind": "replay", "log": "LOG"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "clusters:\n  a: {sensor: slurm, jornal: x}\n",
            "line 2: .* jornal: unknown key; did you mean journal",
        ),
        (
            "clusters:\n  a:\n    sensor: slrm\n",
            "line 3: .* sensor: no sensor .slrm.; .*did you mean slurm",
        ),
        ("clusters:\n  a: {sensor: {url: x}}\n", "line 2: clusters > a > sensor: should be slurm, or a mapping"),
        ("clusters:\n  a: {sensor: slurm, every: soon}\n", "line 2: clusters > a > every: should be a time such as 60"),
        ("clusters:\n  a: {sensor: slurm, every: 0}\n", "line 2: clusters > a > every: should be greater than"),
        (
            "clusters:\n  a: {sensor: slurm, method: binomal}\n",
            "line 2: .* method: .*did you mean binomial",
        ),
        ("clusters:\n  a: {sensor: slurm, by: quue}\n", "line 2: .* by: .*did you mean queue"),
        ("clusters:\n  a: {sensor: slurm, options: {quantil: 1}}\n", "line 2: .* options: .*did you mean quantile"),
        ("clusters:\n  a: {sensor: slurm, policy: eazy}\n", "line 2: .* policy: .*did you mean easy"),
        ("clusters:\n  a/b: {sensor: slurm}\n", "line 1: clusters: cluster 'a/b': a name has letters"),
        ("clusters: {}\n", "line 1: clusters: should name a cluster"),
        ("port: 1\n", "clusters: missing; add it"),
        ("clusters: {a: {sensor: slurm}}\nport: 70000\n", "line 2: port: should be less than"),
        ("- a\n", "it must be a mapping"),
        ("clusters: {a: {sensor: slurm, inbox: x}}\n", "cluster a: an inbox needs a journal"),
        ("clusters: {a: {sensor: {kind: replay}, journal: x}}\n", "cluster a: a log is there already"),
        (
            "clusters:\n  a: {sensor: slurm, journal: x}\n  b: {sensor: slurm, journal: ./x}\n",
            "clusters a and b have one journal",
        ),
        (
            "clusters:\n  a: {sensor: slurm, journal: x, inbox: i}\n  b: {sensor: slurm, journal: y, inbox: i}\n",
            "clusters a and b have one inbox",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, told: str) -> None:
    """With file, line, key and remedy."""
    with pytest.raises(ParameterError, match=told):
        read(tmp_path, text)


def test_one_file_by_two_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From where the command runs, and from the root: two clusters would write one journal."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="clusters a and b have one journal"):
        read(
            tmp_path, f"clusters:\n  a: {{sensor: slurm, journal: x}}\n  b: {{sensor: slurm, journal: {tmp_path}/x}}\n"
        )


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It is said what to check."""
    with pytest.raises(ParameterError, match="check the path of the settings"):
        read_service_settings(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "give one of --config FILE, --slurm, --pbs, --sensor KIND"),
        (["--slurm", "--pbs"], "give one of --config FILE"),
        (["--slurm", "--sensor", "slurm"], "give one of --config FILE"),
        (["--slurm"], "name the file that keeps what is heard: journal: FILE (--journal FILE)"),
        (["--sensor", "slrm"], "no sensor 'slrm'"),
        (["--slurm", "--inbox", "."], "an inbox needs a journal"),
        (["--slurm", "--journal", "j", "--inbox", "none"], "none: is no folder; make it"),
        (["--config", "s.yaml", "--slurm", "--every", "5"], "--config names the clusters: put --slurm, --every into"),
        (["--config", "none.yaml"], "none.yaml: "),
        (["--slurm", "--journal", "none/j"], "none/j: cannot be written: No such file or directory"),
    ],
)
def test_what_the_command_refuses(words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a status that is not 0, and one line."""
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(main, ["collect", *words])
    assert ended.exit_code != 0
    said = ended.output + str(ended.exception)
    assert told in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["serve", "--slurm", "--policy", "eazy"], "error: --policy: no policy 'eazy'"),
        (["collect", "--slurm", "--file-every", "0", "--journal", "j"], "error: --file-every: should be greater than"),
    ],
)
def test_what_is_wrong_on_the_command_line_is_named_as_there(words: list[str], told: str) -> None:
    """And not as in a file of settings."""
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 2
    assert told in ended.output


def test_a_log_that_is_played_is_read_by_the_thread_that_makes_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the options of the command, though it is another thread than the command's."""
    log = tmp_path / "a.swf"
    log.write_text("".join(f"{job} {60 * job} 5 60 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1\n" for job in range(1, 30)))
    made: list[Any] = []

    def run(make: Any, host: str, port: int, told: Any) -> None:
        thread = Thread(target=lambda: made.append(make()))
        thread.start()
        thread.join()

    monkeypatch.setattr("pipelines.service.web_server.run", run)
    words = ["serve", "--replay", str(log), "--format", "swf", "--processors", "4", "--name", "blue", "--speed", "1"]
    ended = CliRunner().invoke(main, words)
    assert (ended.exit_code, len(made)) == (0, 1), ended.output
