# SPDX-License-Identifier: BSD-3-Clause
"""The examples for operators are understood by the programs that read them, and name what there is."""

from __future__ import annotations

import dataclasses
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from pipelines.cli.main import main
from pipelines.exit_statuses import MISSING_INPUT, WRONG_COMMAND
from pipelines.service import web_server
from pipelines.service.settings import ServiceSettings
from tests.folders import ROOT

EXAMPLES = ROOT / "examples" / "service"

SYSTEMD = shutil.which("systemd-analyze")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
OPENSSL = shutil.which("openssl")


def text(name: str) -> str:
    """Return an example."""
    return (EXAMPLES / name).read_text(encoding="utf-8")


def unit() -> dict[str, str]:
    """Return what the unit sets, the last one of each name."""
    return dict(re.findall(r"^(\w+)=(.*)$", text("swftools-serve.service"), re.MULTILINE))


def commands() -> list[list[str]]:
    """Return the words behind ``swftools serve`` in the unit, the Containerfile and what both say of it."""
    image = text("Containerfile")
    entry = [re.findall(r'"([^"]*)"', line) for line in re.findall(r"^ENTRYPOINT .*|^CMD .*", image, re.MULTILINE)]
    runs = re.findall(r"swftools-serve (--.*)", image.replace("\\\n#", ""))
    (starts,) = re.findall(r"^ExecStart=\S+/swftools serve (.*)", text("swftools-serve.service"), re.MULTILINE)
    proxy = re.findall(r"swftools serve \.\.\. (.*)", text("nginx.conf"))
    return [
        entry[0][2:] + entry[1],
        *(entry[0][2:] + shlex.split(run) for run in runs),
        shlex.split(starts),
        *map(shlex.split, proxy),
    ]


def test_commands_have_options_that_there_are() -> None:
    """Each of them."""
    known = {name for parameter in main.commands["serve"].params for name in parameter.opts}
    found = commands()
    assert len(found) == 5
    for words in found:
        assert {word for word in words if word.startswith("--")} <= known, words


def test_all_listen_at_the_same_port() -> None:
    """That of the command, where nobody says another one."""
    (port,) = [each.default for each in dataclasses.fields(ServiceSettings) if each.name == "port"]
    for name in ("nginx.conf", "prometheus.yml", "Containerfile"):
        assert set(re.findall(r"127\.0\.0\.1:(\d+)", text(name))) == {str(port)}
    assert f"EXPOSE {port}\n" in text("Containerfile")


def test_the_unit_has_room_for_what_the_service_wants() -> None:
    """Open files, a place for the journal and for kernels; what would forbid compiling is not set."""
    found = unit()
    assert int(found["LimitNOFILE"]) >= web_server.FILES
    assert found["StateDirectory"] == found["CacheDirectory"] == "swftools"
    assert f"NUMBA_CACHE_DIR=/var/cache/{found['CacheDirectory']}" in found["Environment"]
    assert "MemoryDenyWriteExecute" not in found
    assert int(found["TimeoutStopSec"]) > web_server.IDLE


def test_what_cannot_get_better_is_not_started_again() -> None:
    """Wrong settings, and a file that is not there."""
    assert unit()["Restart"] == "on-failure"
    assert unit()["RestartPreventExitStatus"].split() == [str(WRONG_COMMAND), str(MISSING_INPUT)]


def test_a_container_may_keep_kernels() -> None:
    """They belong to who runs, and each command that may write nothing else mounts a volume for them."""
    image = text("Containerfile")
    (folder,) = re.findall(r"NUMBA_CACHE_DIR=(\S+)", image)
    (user,) = re.findall(r"^USER (\S+)$", image, re.MULTILINE)
    assert f"useradd --uid 1000 --home-dir /var/lib/swftools --create-home {user}\n" in image
    assert image.index("useradd") < image.index(f"chown -R {user} {folder}\n") < image.index(f"USER {user}")
    runs = [run for run in re.findall(r"podman run (.*)", image.replace("\\\n#", "")) if "--read-only" in run]
    assert len(runs) == 2
    assert all(f"--volume swftools-kernels:{folder} " in run for run in runs)


def test_clients_cannot_say_who_they_are() -> None:
    """The proxy clears each header in which the settings or their documentation suggest to name a user."""
    told = text("service.yaml") + (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    named = {name for name in re.findall(r"\bX-[A-Za-z-]+\b", told) if "User" in name}
    assert "X-Remote-User" in named
    cleared = re.findall(r'^    proxy_set_header (\S+) "";$', text("nginx.conf"), re.MULTILINE)
    assert named <= set(cleared)


def test_who_asks_too_much_is_told_so() -> None:
    """By the status of which the client has a message; 503 would say that nothing is known."""
    found = dict(re.findall(r"^    (limit_\w+_status) (\d+);$", text("nginx.conf"), re.MULTILINE))
    assert found == {"limit_req_status": "429", "limit_conn_status": "429"}


@pytest.mark.slow
@pytest.mark.skipif(SYSTEMD is None, reason="needs systemd-analyze")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    """Every line, with a program that there is; and it finds little that the service could do beside its work."""
    path = tmp_path / "swftools-serve.service"
    path.write_text(text("swftools-serve.service").replace("/opt/swftools/bin/swftools", "/bin/true"))
    done = subprocess.run([str(SYSTEMD), "verify", str(path)], capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if "swftools-serve" in line]
    assert (done.returncode, said) == (0, [])
    secure = subprocess.run(
        [str(SYSTEMD), "security", "--offline=true", str(path)], capture_output=True, text=True, check=False
    )
    level = re.search(r"Overall exposure level for \S+: ([\d.]+)", secure.stdout)
    assert level is not None, secure.stderr
    assert float(level[1]) <= 2.0


@pytest.mark.slow
@pytest.mark.skipif(NGINX is None or OPENSSL is None, reason="needs nginx and openssl")
def test_nginx_understands_its_example(tmp_path: Path) -> None:
    """With a certificate of the test's own, in a configuration that is nothing else."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    making = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=waits.example.org", "-days", "2"]
    subprocess.run(
        [str(OPENSSL), *making, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True
    )
    example = text("nginx.conf")
    for place, own in (
        ("/etc/ssl/certs/waits.example.org.pem", certificate),
        ("/etc/ssl/private/waits.example.org.key", key),
    ):
        assert place in example
        example = example.replace(place, str(own))
    (tmp_path / "site.conf").write_text(example)
    folders = "".join(f"{kind}_temp_path {tmp_path};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    http = f"access_log off; {folders} include {tmp_path}/site.conf;"
    whole = f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ {http} }}"
    (tmp_path / "nginx.conf").write_text(whole)
    done = subprocess.run(
        [str(NGINX), "-t", "-q", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
