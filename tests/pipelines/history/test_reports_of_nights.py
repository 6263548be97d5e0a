# SPDX-License-Identifier: BSD-3-Clause
"""Nights that write a report: beside the version, told, mailed; a failure is told and loses nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.history import task as night
from pipelines.reports import page
from pipelines.store.data_root import DataRoot
from tests.folders import ROOT
from tests.pages import DOCS
from tests.pipelines.history.nights import HEADER, days

COMMAND = ["reevaluate", "--inbox", "inbox", "--history", "site", "--settings", "settings.yaml", "--data-root", "data"]
SETTINGS = "waits: {widest: 0.01, least_jobs: 5, options: {training: 5, quantile: 0.5, confidence: 0.5}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an inbox of three days, where commands run, and settings that want a report."""
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox/first.swf").write_text(HEADER + "".join(days(3)))
    (tmp_path / "settings.yaml").write_text(SETTINGS + "report: true\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def reevaluate(*more: str) -> Result:
    """Run a night in this process."""
    night.ReevaluateLogs.clear_instance_cache()
    return CliRunner().invoke(main, [*COMMAND, *more, "--quiet"])


def fails(*_: object) -> str:
    """Stand for what draws."""
    raise ZeroDivisionError("of a picture")


def test_it_is_written_and_told(folder: Path) -> None:
    """Beside the version, once; it changes no version, and the first night that wants it writes it."""
    settings = folder / "settings.yaml"
    settings.write_text(SETTINGS)
    assert "report:" not in reevaluate().stdout
    root = DataRoot.open(folder / "data")
    version = str(root.latest("site"))
    settings.write_text(SETTINGS + "report: true\n")
    report = folder / f"data/site/{version}.html"
    assert not report.exists()
    assert f"  report: {report}\n" in reevaluate().stdout
    assert "<h2>What to look at</h2>" in report.read_text()
    written = report.stat().st_mtime_ns
    again = json.loads(reevaluate("--json").stdout)
    assert (again["report"], again["version"], again["is_new"]) == (str(report), version, False)
    assert report.stat().st_mtime_ns == written


def test_a_failure_is_told_and_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The version is published, findings are told; the next night tries again."""
    with monkeypatch.context() as patch:
        patch.setattr(night, "put_report", fails)
        done = reevaluate()
    assert done.exit_code == 30
    (record,) = [each for each in caplog.records if each.name == "luigi-interface"]
    assert (record.levelname, record.message) == ("error", "no report was written: ZeroDivisionError('of a picture')")
    assert "finding: tightness" in done.stderr
    assert "error: no report was written" in (DOCS / "histories.md").read_text(encoding="utf-8")
    root = DataRoot.open(folder / "data")
    version = str(root.latest("site"))
    assert not root.has_report("site", version)
    with monkeypatch.context() as patch:
        patch.setattr(night, "put_report", fails)
        assert (reevaluate("--json").exit_code, root.latest("site")) == (30, version)
    again = reevaluate()
    assert (again.exit_code, root.latest("site"), root.has_report("site", version)) == (3, version, True)


def test_json_has_the_status_of_the_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a night that is published, and whose report could not be written."""
    with monkeypatch.context() as patch:
        patch.setattr(night, "put_report", fails)
        done = reevaluate("--json")
    assert (done.exit_code, json.loads(done.stdout)["exit_status"]) == (30, 30)
    done = reevaluate("--json")
    assert (done.exit_code, json.loads(done.stdout)["exit_status"]) == (3, 3)
    assert DataRoot.open(folder / "data").latest("site")


def test_what_is_not_installed_is_told_by_the_check(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the settings; a night goes on without."""
    monkeypatch.setattr(page, "find_spec", lambda _: None)
    done = reevaluate("--check")
    assert (done.exit_code, "pip install swftools[report]" in done.output) == (30, True)
    (folder / "settings.yaml").write_text(SETTINGS)
    assert reevaluate("--check").exit_code == 0


@pytest.mark.slow
def test_old_nights_take_their_reports_along(folder: Path) -> None:
    """By ``keep``."""
    (folder / "settings.yaml").write_text(SETTINGS + "report: true\nkeep: 1\n")
    for number, text in enumerate(days(2, first=3)):
        reevaluate()
        (folder / f"inbox/{number}.swf").write_text(HEADER + text)
    reevaluate()
    latest = DataRoot.open(folder / "data").latest("site")
    assert [path.name for path in (folder / "data/site").glob("*.html")] == [f"{latest}.html"]


def test_it_is_mailed(folder: Path) -> None:
    """The script of the examples hands sendmail a mail that has the findings, and the report as it is."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "sendmail").write_text('#!/bin/sh\n[ "$*" = -t ] && cat > mail\n')
    (bin_folder / "sendmail").chmod(0o755)
    told = json.loads(reevaluate("--json").stdout)
    script = ROOT / "examples/reevaluate/mail_findings.py"
    known = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    for given in (told, {**told, "report": None}):
        command = [sys.executable, str(script), "operators@example.org"]
        subprocess.run(command, input=json.dumps(given).encode(), cwd=folder, env=known, check=True)
        mail = message_from_bytes((folder / "mail").read_bytes(), policy=default)
        assert mail["To"] == "operators@example.org"
        assert mail["Subject"] == f"site: {len(told['findings'])} to look at"
        body = mail.get_body(("plain",))
        assert body is not None
        assert all(finding["message"] in body.get_content() for finding in told["findings"])
        attached = [part.get_content() for part in mail.iter_attachments()]
        assert attached == ([Path(told["report"]).read_text()] if given["report"] else [])
