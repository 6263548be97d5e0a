"""A report in Chromium: no error, nothing is asked for from elsewhere, a click sorts a table. Skipped without one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pipelines.reports import Version, report_page
from pipelines.store.data_root import DataRoot
from tests.pipelines.luigi_runs import SWFTOOLS, run

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")

LOG = "; MaxProcs: 8\n" + "".join(f"{n} {n * 60} 5 60 4 -1 -1 4 90 -1 1 {n} -1 -1 3 -1 -1 -1\n" for n in range(1, 9))

CLICK = """<script>
const head = [...document.querySelectorAll("table.sorts th")].find(each => each.textContent === "policy");
head.click(); head.click();
document.title = [...head.closest("table").tBodies[0].rows].map(row => row.cells[0].textContent).join(" ");
</script></body>"""
"""Sorts by policy, downwards, and says in the title what came of it."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report on a comparison."""
    folder = tmp_path_factory.mktemp("browser")
    (folder / "mine.swf").write_text(LOG)
    done = run([*SWFTOOLS, "compare", "--log", "mine.swf", "--policies", "fcfs,easy,sjf", "--quiet"], folder)
    assert (0, "") == (done.returncode, done.stderr)
    root = DataRoot.open(folder / "data")
    return report_page(Version(root, root.manifest("mine-policies")))


def opened(page: str, folder: Path) -> tuple[str, str, list[str]]:
    """Open a page; return what became of it, what the console told, and the addresses that were asked for."""
    (folder / "page.html").write_text(page)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=2000"]
    private = [f"--user-data-dir={folder / 'profile'}", f"--log-net-log={folder / 'net.json'}"]
    told = subprocess.run(
        [str(BROWSER), *flags, *private, "--dump-dom", f"file://{folder / 'page.html'}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    console = "".join(line for line in told.stderr.splitlines(keepends=True) if "CONSOLE" in line)
    events = json.loads((folder / "net.json").read_text())["events"]
    asked = [event["params"]["url"] for event in events if "url" in event.get("params", {})]
    return told.stdout, console, asked


def of_the_page(asked: list[str]) -> list[str]:
    """Return the addresses that a page asked for; the browser itself looks for news of its own."""
    return [url for url in asked if not url.startswith("file://") and ".google" not in url and "gvt1" not in url]


def test_it_opens_quietly(page: str, tmp_path: Path) -> None:
    """No word on the console, no request, and the pictures are there."""
    shown, console, asked = opened(page, tmp_path)
    assert console == ""
    assert of_the_page(asked) == []
    assert shown.count("<svg") == page.count("<svg") > 0


def test_a_click_sorts(page: str, tmp_path: Path) -> None:
    """Upwards, then downwards."""
    shown, console, _ = opened(page.replace("</body>", CLICK), tmp_path)
    assert console == ""
    assert "<title>sjf fcfs easy</title>" in shown


def test_a_request_would_be_seen(page: str, tmp_path: Path) -> None:
    """The page's own rule refuses it, and the console tells."""
    _, console, _ = opened(page.replace("</body>", '<img src="http://localhost:9/x.png"></body>'), tmp_path)
    assert "Content Security Policy" in console
