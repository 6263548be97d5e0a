# SPDX-License-Identifier: BSD-3-Clause
"""A report in Chromium: no error, nothing is asked for from elsewhere, a click sorts a table. Skipped without one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pipelines.reports import Version, report_page
from pipelines.store.data_root import DataRoot
from tests.pipelines.luigi_runs import SWFTOOLS, run

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="needs Chromium")]

LOG = "; MaxProcs: 8\n; UnixStartTime: 946684800\n" + "".join(
    f"{n} {n * 60} 5 60 4 -1 -1 4 90 -1 1 {n} -1 -1 3 -1 -1 -1\n" for n in range(1, 9)
)

CLICK = """<script>
const head = [...document.querySelectorAll("table.sorts th")].find(each => each.textContent === "policy");
head.click(); head.click();
document.title = [...head.closest("table").tBodies[0].rows].map(row => row.cells[0].textContent).join(" ");
</script></body>"""
"""Sorts by policy, downwards, and says in the title what came of it."""


ZOOM = """<script>
const figure = document.querySelector("figure.zooms"), svg = figure.querySelector("svg");
const state = () => [...svg.querySelectorAll("g[clip-path] > g")].map(each => each.getAttribute("transform"));
const every = () => [...svg.querySelectorAll("text:not([transform])")].map(each => each.textContent);
const words = () => every().filter(each => /^[0-9]{2}:[0-9]{2}:[0-9]{2}$/.test(each));
const box = svg.getBoundingClientRect();
const told = { whole: state(), figures: document.querySelectorAll("figure.zooms").length };
const point = (type, x) => svg.dispatchEvent(new PointerEvent(type, {
  button: 0, clientX: box.left + x * box.width, clientY: box.top + box.height / 2, bubbles: true }));
const key = key => figure.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
svg.setPointerCapture = svg.hasPointerCapture = () => true;
point("pointerdown", 0.5), point("pointermove", 0.6), point("pointerup", 0.75);
told.dragged = state(), told.words = words();
svg.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
told.back = state(), told.wordsBack = words();
key("+");
told.plus = state();
key("ArrowRight");
told.right = state();
key("0");
told.zero = state();
document.title = JSON.stringify(told);
</script></body>"""
"""Looks closer at the first picture over time, by dragging and by keys, and says in the title what came of it."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> DataRoot:
    """A comparison, and the schedules that it compares."""
    folder = tmp_path_factory.mktemp("browser")
    (folder / "mine.swf").write_text(LOG)
    command = [*SWFTOOLS, "compare", "--log", "mine.swf", "--policies", "fcfs,easy,sjf", "--schedules", "--quiet"]
    done = run(command, folder)
    assert (0, "") == (done.returncode, done.stderr)
    return DataRoot.open(folder / "data")


@pytest.fixture(scope="module")
def page(root: DataRoot) -> str:
    """A report on a comparison."""
    return report_page(Version(root, root.manifest("mine-policies")))


@pytest.fixture(scope="module")
def over_time(root: DataRoot) -> str:
    """A report on a schedule."""
    return report_page(Version(root, root.manifest("mine-schedules")))


def opened(page: str, folder: Path, width: int = 1280) -> tuple[str, str, list[str]]:
    """Open a page; return what became of it, what the console told, and the addresses that were asked for."""
    (folder / "page.html").write_text(page)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=2000"]
    flags.append(f"--window-size={width},900")
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


def test_it_opens_quietly(over_time: str, tmp_path: Path) -> None:
    """No word on the console, no request, and the pictures are there."""
    shown, console, asked = opened(over_time, tmp_path)
    assert console == ""
    assert of_the_page(asked) == []
    assert shown.count("<svg") == over_time.count("<svg") > 0


def test_a_click_sorts(page: str, tmp_path: Path) -> None:
    """Upwards, then downwards."""
    shown, console, _ = opened(page.replace("</body>", CLICK), tmp_path)
    assert console == ""
    assert "<title>sjf fcfs easy</title>" in shown


def stretch(state: list[str | None]) -> set[float]:
    """Return by how much what is drawn is stretched along the axis of time; 1 of a picture that is whole."""
    return {1.0 if each is None else float(each.removeprefix("matrix(").split()[0]) for each in state}


def test_a_picture_over_time_can_be_looked_at_closer(over_time: str, tmp_path: Path) -> None:
    """A quarter of its width is dragged over, keys halve and move; double-click and 0 show what was there before."""
    shown, console, asked = opened(over_time.replace("</body>", ZOOM), tmp_path)
    assert (console, of_the_page(asked)) == ("", [])
    title = re.search("<title>(.*?)</title>", shown)
    assert title
    told = json.loads(title[1])
    assert told["figures"] == 3
    assert stretch(told["whole"]) == stretch(told["back"]) == stretch(told["zero"]) == {1.0}
    (figure,) = re.findall(r'<figure[^>]*?aria-label="Utilization[^>]*>', over_time)
    left, right = (float(re.search(f'data-{name}="(.*?)"', figure)[1]) for name in ("left", "right"))  # type: ignore[index]
    (wide,) = {float(each) for each in re.findall(r'<svg[^>]*viewBox="0 0 ([0-9.]+)', over_time)}
    assert list(stretch(told["dragged"])) == [pytest.approx((right - left) / (0.25 * wide), rel=0.01)]
    assert stretch(told["plus"]) == stretch(told["right"]) == {2.0}
    assert told["plus"] != told["right"]
    assert len(told["words"]) >= 3
    assert len(set(told["words"])) == len(told["words"])
    assert told["wordsBack"] == []


def test_on_a_phone(over_time: str, tmp_path: Path) -> None:
    """Pictures keep a width at which words can be read, and say that they go on, as tables do in their words."""
    table = f"<div class='wide'><table><tr><td>{'x' * 99}</td></tr></table></div>"
    said = (
        "[...document.querySelectorAll('.wide')].map(each => `${each.scrollWidth} ${each.previousSibling.textContent}`)"
    )
    look = f"<script>document.title = JSON.stringify({said})</script></body>"
    text = over_time.replace("<h2>", f"{table}<h2>", 1).replace("</body>", look)
    found, console, _ = opened(text, tmp_path, width=500)
    assert console == ""
    told = json.loads(re.search("<title>(.*)</title>", found)[1])  # type: ignore[index]
    assert "There are more columns to the right \u2192" in told[0]
    assert "672 The picture goes on to the right \u2192" in told


def test_without_scripts_it_is_whole(over_time: str, tmp_path: Path) -> None:
    """No word of dragging, which nobody could, and each picture."""
    forbidden = over_time.replace("script-src 'unsafe-inline'", "script-src 'none'")
    shown, console, _ = opened(forbidden, tmp_path)
    assert "Content Security Policy" in console
    assert shown.count("<svg") == over_time.count("<svg")
    assert 'class="hint"' not in shown
    assert 'class="hint"' in opened(over_time, tmp_path)[0]


def test_a_request_would_be_seen(page: str, tmp_path: Path) -> None:
    """The page's own rule refuses it, and the console tells."""
    _, console, _ = opened(page.replace("</body>", '<img src="http://localhost:9/x.png"></body>'), tmp_path)
    assert "Content Security Policy" in console
