# SPDX-License-Identifier: BSD-3-Clause
"""The report on a centre, by the two commands of the page for analysts, as somebody looks at it in Chromium.

On a wide screen and on a phone, in print, with scripts and without them. Skipped where there is no Chromium.
"""

from __future__ import annotations

import base64
import csv
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from tests.pipelines.service.browser import CHROMIUM, Browser

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]

RUN = Path(__file__).parents[2] / "slurm_runs" / "topology"

POINT = """(() => {
const figures = [...document.querySelectorAll("figure")];
const figure = figures.find(each => each.getAttribute("aria-label").startsWith(%r));
const svg = figure.querySelector("svg"), box = svg.getBoundingClientRect();
const view = svg.viewBox.baseVal, place = figure.dataset;
const along = (low, high, share) => Number(low) + share * (high - low);
svg.dispatchEvent(new PointerEvent("pointermove", { bubbles: true,
  clientX: box.left + along(place.left, place.right, %f) / view.width * box.width,
  clientY: box.top + along(place.top, place.bottom, %f) / view.height * box.height }));
return figure.querySelector(".values").textContent;
})()"""
"""Points into a picture whose words begin so, at a share of its width and height; what stands below it then."""

SAVED = """new Promise(told => {
URL.createObjectURL = blob => { blob.text().then(told); return "#"; };
document.querySelectorAll("main table.sorts")[%d].closest(".wide").nextElementSibling.querySelector("button").click();
})"""
"""Saves a table, and says what would be in the file."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which an analyst gave the two commands."""
    folder = tmp_path_factory.mktemp("centre")
    (folder / "sacct.txt").write_bytes(gzip.decompress((RUN / "sacct.txt.gz").read_bytes()))
    said = ["--accounts", RUN / "accounts.cfg", "--qos", RUN / "qos.txt", "--to", folder / "site.yaml"]
    read = [folder / "sacct.txt", "--format", "slurm:time_zone=UTC", "--machine", folder / "site.yaml"]
    for words in (
        ["machine", RUN / "slurm.conf", *said],
        ["report", *read, "-o", folder / "centre.html", "--tables", folder / "tables"],
    ):
        done = CliRunner().invoke(main, [*map(str, words)])
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def browser(tmp_path: Path, made: Path) -> Iterator[Browser]:
    """Return a browser on a wide screen, with the page open."""
    found = Browser(tmp_path / "profile")
    found.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    found.open(f"file://{made / 'centre.html'}")
    yield found
    found.close()


def quiet(browser: Browser) -> bool:
    """Return whether nothing was told on the console, and nothing asked for but the page."""
    return browser.console == [] and all(address.startswith(("file://", "data:")) for address in browser.asked)


def shown(browser: Browser) -> list[str]:
    """Return the headings of the sections that are shown."""
    found: list[str] = browser.look(
        "[...document.querySelectorAll('main section')].filter(each => each.checkVisibility())"
        ".map(each => each.querySelector('h2').firstChild.textContent)"
    )
    return found


def test_values_where_somebody_points(browser: Browser) -> None:
    """Of a picture over time the step that holds then, also after a closer look; of the heat map the hour."""
    told = browser.look(POINT % ("Queue", 0.5, 0.5))
    assert re.fullmatch(r"2026-11-28 11:0\d(:\d\d)? to 2026-11-28 11:0\d(:\d\d)?: jobs waiting [0-9]+", told), told
    browser.look("document.querySelectorAll('figure.zooms')[1].dispatchEvent(new KeyboardEvent('keydown', {key: '+'}))")
    near = [browser.look(POINT % ("Queue", share, 0.5)) for share in (0.05, 0.5, 0.95)]
    assert near[1] == told
    assert near[0] < told < near[2]
    reasons = browser.look(POINT % ("What jobs wait for", 0.5, 0.5))
    assert re.search(r": cores \d+, memory \d+, .* \(jobs waiting\)$", reasons)
    hour = browser.look(POINT % ("Waits by hour", 11.5 / 24, 5.5 / 7))
    assert re.fullmatch(r"Saturday 11:00 to 12:00: median wait .*, 268 jobs", hour)
    assert browser.look(POINT % ("Waits by hour", 0.5 / 24, 0.5 / 7)) == "Monday 00:00 to 01:00: no job"
    assert browser.look(POINT % ("Waits by hour", 1.5, 0.5)) == "\u00a0"
    assert quiet(browser)


def test_a_partition_is_chosen(browser: Browser) -> None:
    """Its part alone is shown, and what the words mean; then all again."""
    every = shown(browser)
    assert "In short" in every
    assert not any(heading.startswith("Partition") for heading in every)
    select = "document.querySelector('.choice select')"
    choose = f"{select}.value = %r, {select}.dispatchEvent(new Event('change'))"
    browser.look(choose % "partition gpu")
    assert shown(browser) == ["Partition gpu", "What the words mean"]
    browser.look(choose % "all")
    assert shown(browser) == every
    assert quiet(browser)


def test_each_word_is_one_click_away(browser: Browser) -> None:
    """Each link leads to a row that is shown; a click on it sorts nothing."""
    places = browser.look("[...document.querySelectorAll('a.what')].map(each => each.getAttribute('href'))")
    assert len(places) > 100
    there = "each => document.querySelector(each)?.checkVisibility()"
    assert browser.look(f"{json.dumps([*dict.fromkeys(places)])}.every({there})")
    browser.look("document.querySelector('th a.what').click()")
    assert browser.look("document.querySelector('th[aria-sort]').getAttribute('aria-sort')") == "none"
    assert browser.look("location.hash") == places[1]  # the first one is that of "in short"


def test_tables_are_saved(browser: Browser, made: Path) -> None:
    """What the button saves is what the command wrote."""
    files = sorted((made / "tables").iterdir())
    for place in (0, 1, 2, len(files) - 1):
        saved, written = (
            [*csv.reader(text.splitlines())] for text in (browser.look(SAVED % place), files[place].read_text())
        )
        assert saved[0] == written[0]
        assert [[number(cell) for cell in row] for row in saved] == [[number(cell) for cell in row] for row in written]


def number(cell: str) -> object:
    """Return a cell as a number, if it is one."""
    try:
        return pytest.approx(float(cell))
    except ValueError:
        return cell


def test_on_a_phone(browser: Browser, made: Path) -> None:
    """Nothing is wider than the screen but what says that it goes on to the right."""
    browser.be_a_phone()
    browser.open(f"file://{made / 'centre.html'}")
    assert browser.look("document.documentElement.scrollWidth") <= 390
    wide = "[...document.querySelectorAll('.wide')].filter(each => each.scrollWidth > each.clientWidth + 1)"
    without = f"{wide}.filter(each => each.previousSibling?.className !== 'more').length"
    assert browser.look(f"{wide}.length") > 5
    assert browser.look(without) == 0
    assert quiet(browser)


@pytest.mark.parametrize("has_scripts", [True, False])
def test_in_print(browser: Browser, made: Path, has_scripts: bool) -> None:
    """With scripts what is chosen is printed; without them all, each partition too. No button is printed."""
    if not has_scripts:
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.open(f"file://{made / 'centre.html'}")
    assert any(heading.startswith("Partition") for heading in shown(browser)) == (not has_scripts)
    browser.call("Emulation.setEmulatedMedia", media="print")
    buttons = (
        "[...document.querySelectorAll('.tools, .choice, .hint, .what')].filter(each => each.checkVisibility()).length"
    )
    assert browser.look(buttons) == 0
    browser.call("Emulation.setDeviceMetricsOverride", width=718, height=1000, deviceScaleFactor=1, mobile=False)
    assert browser.look("document.documentElement.scrollWidth") <= 718  # the width of A4 between its margins
    printed = base64.b64decode(browser.call("Page.printToPDF")["data"])
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 3 <= pages <= 40
    assert quiet(browser)


def test_it_is_small_and_whole(made: Path) -> None:
    """Below a megabyte; the drawings are in it."""
    page = (made / "centre.html").read_text()
    assert len(page.encode()) < 1_000_000
    assert page.count("<svg") == page.count("</svg>") >= 10
