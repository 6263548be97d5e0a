# SPDX-License-Identifier: BSD-3-Clause
"""The pages in Chromium: by keyboard, on a phone, in the dark, without scripts; axe-core finds nothing serious.

axe-core is no part of this: SWFTOOLS_AXE names its file (axe.min.js of the npm package axe-core).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest

from tests.pipelines.luigi_runs import SWFTOOLS, environment
from tests.pipelines.service.browser import CHROMIUM, Browser

AXE = os.environ.get("SWFTOOLS_AXE")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]

MOST_PAGES = 15

ANSWER = "document.querySelector('[role=status]')?.textContent"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service that plays the shipped log, slowly."""
    command = [
        *SWFTOOLS,
        "serve",
        "--replay",
        "SDSC-BLUE-2000-4.2-cln-5000-9999",
        "--port",
        "0",
        "--quiet",
        "--speed",
        "1",
    ]
    folder = tmp_path_factory.mktemp("served")
    with subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())  # type: ignore[union-attr]
            assert found is not None
            yield found[0]
        finally:
            process.kill()


@pytest.fixture
def browser(tmp_path: Path, address: str) -> Iterator[Browser]:
    """A browser; what it was used for wrote nothing to the console, and asked nobody else for anything."""
    made = Browser(tmp_path / "profile")
    try:
        yield made
        assert made.console == []
        assert [asked for asked in made.asked if not asked.startswith((address, "data:", "about:"))] == []
        assert any(asked.startswith(address) for asked in made.asked)
    finally:
        made.close()


def pages(browser: Browser, address: str) -> list[str]:
    """Return the pages that a visitor finds from the first one on, an answer and a refusal among them."""
    group = first_of(browser, address, "select[name=group] option:last-child")
    found = [address, f"{address}?group={group}&time=4h&within=2h", f"{address}queues"]
    seen = {*found}
    for page in found:
        if len(found) >= MOST_PAGES:
            break
        browser.open(page)
        for link in browser.look("[...document.querySelectorAll('a[href]')].map(each => each.getAttribute('href'))"):
            other = urljoin(page, link)
            is_page = other.startswith(address) and not urlsplit(other).path.startswith(("/api/", "/metrics"))
            if is_page and other not in seen and len(found) < MOST_PAGES:
                seen.add(other)
                found.append(other)
    return found


def first_of(browser: Browser, address: str, selector: str) -> str:
    """Return the value of an element of the first page."""
    browser.open(address)
    value = browser.look(f"document.querySelector({selector!r}).value")
    assert isinstance(value, str)
    return value


def focused(browser: Browser) -> dict[str, Any]:
    """Return what has the focus: its name, and what is drawn around it."""
    told = browser.look(
        "(() => { const it = document.activeElement, style = getComputedStyle(it);"
        " const width = parseFloat(style.outlineWidth);"
        " return { name: it.name || it.tagName, outline: style.outlineStyle, width } })()"
    )
    assert isinstance(told, dict)
    return told


def test_it_is_asked_by_keyboard(browser: Browser, address: str) -> None:
    """Tab leads through all of it, each place is seen, a queue is chosen by its first letter, Enter asks."""
    browser.open(address)
    assert browser.look(ANSWER) is None
    # A placeholder would do for axe-core, and is gone as soon as something is typed.
    fields = "[...document.querySelectorAll('input, select')]"
    assert browser.look(f"{fields}.length > 2 && {fields}.every(each => each.labels.length === 1)")
    places = []
    for _ in range(20):
        browser.press("Tab")
        place = focused(browser)
        assert (place["outline"] != "none", place["width"] >= 2) == (True, True), place
        places.append(place["name"])
        if place["name"] == "group":
            browser.type("n")
        if place["name"] == "time":
            browser.type("4h")
        if place["name"] == "within":
            browser.type("2h")
            break
    assert [name for name in places if name in ("group", "time", "within")] == ["group", "time", "within"]
    before = browser.loads
    browser.press("Enter")
    browser.wait_for_a_page(before)
    assert "such jobs start within" in browser.look(ANSWER)
    assert "start within 2 h, as you asked" in browser.look(ANSWER)
    assert browser.look("document.querySelector('[name=group] option:checked').textContent").startswith("n")
    assert browser.look("document.querySelector('[name=time]').value") == "4h"


def test_what_is_wrong_is_said(browser: Browser, address: str) -> None:
    """In the page, as an alert; the form keeps what was typed."""
    group = first_of(browser, address, "select[name=group] option")
    browser.console.clear()
    browser.open(f"{address}?group={group}&time=soon")
    assert "time='soon' is not a time" in browser.look("document.querySelector('[role=alert]').textContent")
    assert browser.look("document.querySelector('[name=time]').value") == "soon"
    told = [line for line in browser.console if "status of 400" not in line]  # the browser's own word of the status
    browser.console[:] = told


def test_without_scripts(browser: Browser, address: str) -> None:
    """Nothing is missing: no page has one, and the form works in a browser that runs none."""
    for page in pages(browser, address):
        browser.open(page)
        assert browser.look("document.scripts.length + document.querySelectorAll('[onclick], [onload]').length") == 0, (
            page
        )
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(address)
    for _ in range(20):
        browser.press("Tab")
        if focused(browser)["name"] == "time":
            break
    browser.type("4h")
    before = browser.loads
    browser.press("Enter")
    browser.wait_for_a_page(before)
    assert browser.look(ANSWER)


def test_on_a_phone(browser: Browser, address: str) -> None:
    """Nothing sticks out at 390 px but what scrolls by itself, letters can be read, fields be touched."""
    browser.be_a_phone()
    for page in pages(browser, address):
        browser.open(page)
        wide, letters, low = browser.look(
            "[document.documentElement.scrollWidth, parseFloat(getComputedStyle(document.body).fontSize),"
            " Math.min(99, ...[...document.querySelectorAll('input, select, button')].map(each => each.offsetHeight))]"
        )
        assert wide <= 390, page
        assert letters >= 16
        assert low >= 32, page


def brightness(browser: Browser, what: str) -> float:
    """Return how bright a colour of the page is, 0 to 255."""
    color = browser.look(f"getComputedStyle(document.body).{what}")
    red, green, blue = (int(part) for part in re.findall(r"\d+", color)[:3])
    return 0.3 * red + 0.6 * green + 0.1 * blue


def test_in_the_dark(browser: Browser, address: str) -> None:
    """Bright letters on dark paper for who prefers that, and the other way round else; the browser's own parts too."""
    for scheme, is_dark in (("dark", True), ("light", False)):
        browser.prefer(scheme)
        browser.open(address)
        paper, ink = brightness(browser, "backgroundColor"), brightness(browser, "color")
        assert (paper < 60 and ink > 180) if is_dark else (paper > 200 and ink < 80)
        assert "dark" in browser.look("document.querySelector('meta[name=color-scheme]').content")


@pytest.mark.skipif(AXE is None, reason="SWFTOOLS_AXE does not name axe.min.js of axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("is_phone", [False, True], ids=["desk", "phone"])
def test_axe_finds_nothing_serious(browser: Browser, address: str, scheme: str, is_phone: bool) -> None:
    """On any page that a visitor finds, in both schemes and widths."""
    source = Path(str(AXE)).read_text(encoding="utf-8")
    browser.call("Page.setBypassCSP", enabled=True)
    browser.prefer(scheme)
    if is_phone:
        browser.be_a_phone()
    checked = 0
    for page in pages(browser, address):
        browser.open(page)
        browser.look(f"{source}; 0")
        told = browser.look(
            "axe.run(document).then(found => ({ passes: found.passes.length, wrong: found.violations }))"
        )
        serious = [
            (each["id"], each["impact"], [node["html"] for node in each["nodes"]])
            for each in told["wrong"]
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == [], page
        checked += told["passes"]
    assert checked > 20
