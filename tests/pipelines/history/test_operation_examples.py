# SPDX-License-Identifier: BSD-3-Clause
"""The files to begin from, ``examples/reevaluate``, and the first lines of the page about them, are tried."""

from __future__ import annotations

import configparser
import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.history import reevaluate
from pipelines.cli.main import main
from pipelines.history.settings import Settings, read_settings
from pipelines.history.task import ReevaluateLogs
from pipelines.store.data_root import DataRoot
from swftools.parameters.strict_yaml import read_yaml
from tests.folders import ROOT
from tests.pages import DOCS
from tests.pipelines.history.nights import HEADER, days
from tests.pipelines.luigi_runs import environment

EXAMPLES = ROOT / "examples" / "reevaluate"
SERVICE, MAIL = EXAMPLES / "swftools-reevaluate.service", EXAMPLES / "swftools-reevaluate-mail.service"
TIMER, CRONTAB = EXAMPLES / "swftools-reevaluate.timer", EXAMPLES / "crontab"
LINES = re.search(r"```sh\n(.*?)```", (DOCS / "histories.md").read_text(encoding="utf-8"), re.DOTALL)
SACCT = "JobID|User|Partition|State|Submit|Start|End|NCPUS|TimelimitRaw\n"


def unit(path: Path) -> dict[str, dict[str, str]]:
    """Return the sections of a unit file, whose keys stand once."""
    parser = configparser.ConfigParser(interpolation=None, strict=True, delimiters=("=",), comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(path.read_text(encoding="utf-8").replace("\\\n", " "))
    return {name: dict(parser[name]) for name in parser.sections()}


def fake(folder: Path, name: str, text: str) -> None:
    """Put a command into a folder."""
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """Return a folder of commands that stand for those of the system: swftools is the true one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    fake(folder, "swftools", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m pipelines.cli.main "$@"\n')
    return folder


CALLED = """#!/bin/sh
{{ pwd; printf '%s\\n' "$@"; echo; }} >> {top}/called
echo what is told
"""
"""A command that notes where it was called, and how."""


def run_as_called(top: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    """Run in this process what the command was called for, once: from the start of Python it takes seconds."""
    place, *words = (top / "called").read_text(encoding="utf-8").removesuffix("\n\n").splitlines()
    monkeypatch.chdir(place)
    ReevaluateLogs.clear_instance_cache()
    return CliRunner().invoke(main, words)


IN_ANOTHER_PROCESS = pytest.param(True, marks=pytest.mark.slow, id="in another process")
"""By day swftools is called, and runs in the process of the tests."""


def shell(text: str, folder: Path, commands: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run lines of the shell, with other commands before those of the system."""
    known = environment(PATH=f"{commands}:{os.environ['PATH']}", PYTHONPATH=str(ROOT), **extra)
    return subprocess.run(["sh", "-ec", text], cwd=folder, env=known, capture_output=True, text=True, check=False)


def test_settings_are_the_defaults() -> None:
    """The file is valid, says of every key what holds without it, and leaves none out."""
    path = EXAMPLES / "reevaluate.yaml"
    assert read_settings(path) == Settings()
    content = read_yaml(path.read_bytes())
    assert list(content) == [each.name for each in dataclasses.fields(Settings)]
    for name, value in content.items():
        section = getattr(Settings(), name)
        if dataclasses.is_dataclass(section):
            assert list(value) == [each.name for each in dataclasses.fields(section)]


SYSTEMCTL = """#!/bin/sh
echo "systemctl $*" >> {top}/done
[ "$1" = start ] || exit 0
unit={top}/units/$2.service
cd "$(sed -n 's/^WorkingDirectory=//p' $unit)"
exec $(sed -n 's/^ExecStart=//p' $unit)
"""

VENV = """#!/bin/sh
[ "$1 $2" = "-m venv" ] || exit 64
mkdir -p "$3/bin"
ln -s {bin}/swftools "$3/bin/swftools"
printf '#!/bin/sh\\n[ "$*" = "install ." ]\\n' > "$3/bin/pip"
chmod +x "$3/bin/pip"
"""


@pytest.mark.parametrize("is_process", [False, IN_ANOTHER_PROCESS])
@pytest.mark.parametrize("kind", ["slurm", pytest.param("swf", marks=pytest.mark.slow)])
def test_ten_lines(
    kind: str, is_process: bool, tmp_path: Path, commands: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From an empty directory and a folder of daily files to a timer: the page's lines, and the unit that they put."""
    assert LINES is not None
    text = LINES[1]
    assert len(text.splitlines()) == 10
    for name in ("exports", "units", "opt"):
        (tmp_path / name).mkdir()
    for day, lines in enumerate(days(3)):
        if kind == "slurm":
            rows = "".join(
                f"{day}{hour}|zoe|batch|COMPLETED|2024-01-0{day + 1}T0{hour}:00:00|2024-01-0{day + 1}T0{hour}:10:00|"
                f"2024-01-0{day + 1}T0{hour}:30:00|4|60\n"
                for hour in range(9)
            )
            (tmp_path / f"exports/{day}.txt").write_text(SACCT + rows)
        else:
            (tmp_path / f"exports/{day}.swf").write_text(HEADER + lines)
    if kind == "swf":
        text = re.sub(r"\\nlog: [^\n]*?\\n", r"\\n", text)
        assert "log:" not in text
    if not is_process:
        fake(commands, "swftools", CALLED.format(top=tmp_path))
    fake(commands, "sudo", '#!/bin/sh\n[ "$1" = -u ] && shift 2\nexec "$@"\n')
    fake(commands, "useradd", f'#!/bin/sh\n[ "$3 $4" = "--home-dir {tmp_path}/site" ] && mkdir "$4"\n')
    fake(commands, "python3", VENV.format(bin=commands))
    fake(commands, "systemctl", SYSTEMCTL.format(top=tmp_path))
    places = {
        "/srv/swftools": tmp_path / "site",
        "/opt/swftools": tmp_path / "opt/swftools",
        "/etc/systemd/system": tmp_path / "units",
        "/var/spool/exports": tmp_path / "exports",
        "/var/cache/swftools": tmp_path / "cache",
    }
    checkout = tmp_path / "checkout"
    shutil.copytree(EXAMPLES, checkout / "examples/reevaluate")
    for path, place in places.items():
        assert path in text or path == "/var/cache/swftools"
        text = text.replace(path, str(place))
    for path in (checkout / "examples/reevaluate").iterdir():
        content = path.read_text(encoding="utf-8")
        for old, new in places.items():
            content = content.replace(old, str(new))
        path.write_text(content, encoding="utf-8")
    done = shell(text, checkout, commands)
    assert done.returncode == 0, done.stderr
    if not is_process:
        ran = run_as_called(tmp_path, monkeypatch)
        assert ran.exit_code == 0, ran.output
    root = DataRoot.open(str(tmp_path / "site/data"))
    assert root.read_table("blue", "jobs").num_rows == (27 if kind == "slurm" else 36)
    assert root.manifest("blue")["machine_processors"] == (1152 if kind == "slurm" else 64)
    assert {path.name for path in (tmp_path / "units").iterdir()} == {SERVICE.name, MAIL.name, TIMER.name}
    assert (tmp_path / "done").read_text().splitlines() == [
        "systemctl daemon-reload",
        "systemctl start swftools-reevaluate",
        "systemctl enable --now swftools-reevaluate.timer",
    ]


def test_units_belong_together() -> None:
    """The timer starts the service of its name, whose command has those options, and which writes where it may."""
    service, timer, mail = unit(SERVICE), unit(TIMER), unit(MAIL)
    assert TIMER.stem == SERVICE.stem
    assert timer["Install"]["WantedBy"] == "timers.target"
    assert service["Unit"]["OnFailure"] == MAIL.name
    assert "OnFailure" not in mail["Unit"]
    run = service["Service"]
    assert run["Type"] == mail["Service"]["Type"] == "oneshot"
    assert "SuccessExitStatus" not in run
    program, command, *words = shlex.split(run["ExecStart"])
    assert (program, command) == ("/opt/swftools/bin/swftools", "reevaluate")
    given = reevaluate.make_context(command, words).params
    places = [str(given["settings"]), str(given["data_root"])]
    assert all(place.startswith(f"{run['ReadWritePaths']}/") for place in places)
    assert run["WorkingDirectory"] == run["ReadWritePaths"]
    assert run["Environment"] == f"NUMBA_CACHE_DIR=/var/cache/{run['CacheDirectory']}"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not here")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    """systemd-analyze has nothing to say: no key is unknown, no value wrong, and every program is there."""
    for path in (SERVICE, MAIL, TIMER):
        text = path.read_text(encoding="utf-8").replace("/opt/swftools/bin/swftools", sys.executable)
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", *(str(tmp_path / path.name) for path in (SERVICE, MAIL, TIMER))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if str(tmp_path) in line or "swftools-reevaluate" in line]
    assert (done.returncode, ours) == (0, [])


def test_mail_of_the_unit(tmp_path: Path, commands: Path) -> None:
    """It has a heading with the status, and what that run said."""
    fake(commands, "journalctl", '#!/bin/sh\n[ "$3" = _SYSTEMD_INVOCATION_ID=ab12 ] && echo "finding: drift: x"\n')
    fake(commands, "sendmail", '#!/bin/sh\n[ "$*" = -t ] && cat > mail\n')
    program, flag, line = shlex.split(unit(MAIL)["Service"]["ExecStart"])
    assert (program, flag) == ("/bin/sh", "-c")
    told = {"MAILTO": "root", "MONITOR_EXIT_STATUS": "3", "MONITOR_INVOCATION_ID": "ab12"}
    done = shell(line.replace("%%", "%"), tmp_path, commands, **told)
    assert done.returncode == 0, done.stderr
    mail = (tmp_path / "mail").read_text()
    assert mail == "To: root\nSubject: swftools reevaluate: exit status 3\n\nfinding: drift: x\n"


@pytest.mark.skipif(not shutil.which("flock"), reason="flock is not here")
@pytest.mark.parametrize("is_process", [False, IN_ANOTHER_PROCESS])
def test_line_of_cron(is_process: bool, tmp_path: Path, commands: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs as written; what it publishes goes to a file, and nothing is left for a mail where nothing is found.

    While another holds the lock it ends with a status of its own.
    """
    line = CRONTAB.read_text(encoding="utf-8").splitlines()[-1]
    assert "%" not in line
    minute, hour, *stars, user, command = line.split(maxsplit=6)
    assert (minute, hour, stars, user) == ("30", "3", ["*"] * 3, "swftools")
    command = command.replace("/srv/swftools", str(tmp_path)).replace("/opt/swftools/bin/", "")
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox/one.swf").write_text(HEADER + days(1)[0])
    (tmp_path / "reevaluate.yaml").write_text("inbox: inbox\n")
    if not is_process:
        fake(commands, "swftools", CALLED.format(top=tmp_path))
    done = shell(command, tmp_path, commands)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    told = (tmp_path / "reevaluate.log").read_text()
    if not is_process:
        assert told == "what is told\n"
        ran = run_as_called(tmp_path, monkeypatch)
        assert (ran.exit_code, ran.stderr) == (0, "")
        told = ran.stdout
    assert "1 file taken: 12 new jobs" in told
    impatient = command.replace("--wait 600", "--wait 0")
    assert impatient != command
    done = shell(f"flock .lock sh -c {shlex.quote(impatient)}", tmp_path, commands)
    assert done.returncode == 75


class Chat(BaseHTTPRequestHandler):
    """A chat that keeps what is posted, or refuses it."""

    posted: list[dict[str, Any]]

    def do_POST(self) -> None:
        """Take a post."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.posted.append({"type": self.headers["Content-Type"], **json.loads(body)})
        self.send_response(200 if self.path == "/hook" else 403)
        self.end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@pytest.fixture
def chat() -> Iterator[str]:
    """Serve a chat on a free port of loopback."""
    Chat.posted = []
    server = HTTPServer(("127.0.0.1", 0), Chat)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


FINDINGS = {
    "history": "blue",
    "path": "/srv/swftools/data/blue/1234",
    "findings": [{"kind": "drift", "subject": "users", "message": "users: é", "value": 1.0, "limit": 0.5}],
}


def test_post_of_findings(chat: str) -> None:
    """Each is a line of what is posted; a chat that refuses, or that is not there, is a failure with one line."""

    def post(address: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(EXAMPLES / "post_findings.py"), address]
        return subprocess.run(command, input=json.dumps(FINDINGS), capture_output=True, text=True, check=False)

    assert post(f"{chat}/hook").returncode == 0
    text = "blue: 1 to look at, in /srv/swftools/data/blue/1234/summary.md\n* drift: users: é"
    assert Chat.posted == [{"type": "application/json", "text": text}]
    for address, why in ((f"{chat}/other", "403"), ("http://127.0.0.1:9", "refused")):
        done = post(address)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith(f"{address}: ")
        assert why in done.stderr


FAKE_SACCT = """#!/bin/sh
[ "$TZ" = UTC ] && printf '%s\\n' "$@" > {top}/asked
printf 'JobID|User|State|Submit|Start|End|NCPUS\\n1|zoe|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:01:00|'
ls -A {top}/inbox > {top}/seen
printf '2024-01-01T00:02:00|4\\n'
exit {status}
"""


def test_export_of_slurm(tmp_path: Path, commands: Path) -> None:
    """It asks for what the reader's page says, and its file appears whole, or not at all."""
    (tmp_path / "inbox").mkdir()
    fake(commands, "sacct", FAKE_SACCT.format(top=tmp_path, status=0))
    command = f"{EXAMPLES / 'export_slurm.sh'} inbox 3"
    done = shell(command, tmp_path, commands)
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "inbox").iterdir()
    assert re.fullmatch(r"sacct-\d{4}-\d\d-\d\d\.txt", path.name)
    assert (tmp_path / "seen").read_text() == f".{path.name}\n"
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[:-1] == ["--allusers", "--duplicates", "--parsable2", "--starttime", "now-3days", "--endtime", "now"]
    page = (DOCS / "formats/slurm.md").read_text(encoding="utf-8").replace("\\\n", "")
    columns = re.search(r"--format=(\S+)", page)
    assert columns is not None
    assert asked[-1] == f"--format={columns[1]}"
    assert "slurm:time_zone=UTC" in (DOCS / "histories.md").read_text(encoding="utf-8")
    path.unlink()
    fake(commands, "sacct", FAKE_SACCT.format(top=tmp_path, status=1))
    assert shell(command, tmp_path, commands).returncode == 1
    assert list((tmp_path / "inbox").iterdir()) == []


def test_page_names_the_files() -> None:
    """Each of the files is told of."""
    page = (DOCS / "histories.md").read_text(encoding="utf-8")
    names = {path.name for path in EXAMPLES.iterdir()} - {SERVICE.name, TIMER.name}
    assert [name for name in sorted(names) if f"](../examples/reevaluate/{name})" not in page] == []
    assert "examples/reevaluate/swftools-reevaluate* /etc/systemd/system" in page
