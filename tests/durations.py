# SPDX-License-Identifier: BSD-3-Clause
"""How long tests take: each file's seconds of CPU stand in ``durations.txt``, and a run tells where one takes far more.

``make durations`` writes the file. A run of most tests is held against it, by how fast this machine is on what both
know: a file of tests that takes a second more than twice what is written is named, and fails the run where
``SWFTOOLS_DURATIONS=check``. So what tests cost shows in a
change of that file, and ``python -m tests.quick`` knows what fits into a minute.
"""

from __future__ import annotations

import os
import resource
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

WRITTEN = Path(__file__).with_name("durations.txt")

MOST = 1.0
"""Seconds that a file may take beyond twice what is written of it; so much, in all, one of which nothing is written."""

ENOUGH = 100
"""Files with something written of them that a run has, if others are held against it."""

_NAME = "cpu seconds"
_begun: dict[str, float] = {}
_seconds: defaultdict[str, float] = defaultdict(float)
_heaviest: dict[str, tuple[float, str]] = {}
_told: list[str] = []


def read(path: Path = WRITTEN) -> dict[str, float]:
    """Return the seconds of each file of tests, by its path from the top."""
    pairs = (line.split(maxsplit=1) for line in path.read_text(encoding="utf-8").splitlines() if line[:1] != "#")
    return {name: float(seconds) for seconds, name in pairs}


def write(found: Mapping[str, float], path: Path = WRITTEN) -> None:
    """Write the seconds of each file of tests, the longest first."""
    lines = [f"{seconds:.1f} {name}" for name, seconds in sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))]
    heading = (
        f"# Seconds of CPU that each file of tests takes, {sum(found.values()):,.0f} in all; made by make durations"
    )
    path.write_text("\n".join([heading, *lines, ""]), encoding="utf-8")


def too_long(found: Mapping[str, float], written: Mapping[str, float]) -> dict[str, float]:
    """Return the files that take far longer than is written of them, with what they take on the machine of that.

    Parameters
    ----------
    found : mapping of str to float
        Seconds of CPU by file, as this machine takes them.
    written : mapping of str to float
        The same as it was written.
    """
    known = [found[name] / written[name] for name in found if written.get(name, 0.0) >= 0.5]
    if len(known) < ENOUGH:
        return {}
    pace = statistics.median(known)
    here = {name: seconds / pace for name, seconds in found.items()}
    return {name: seconds for name, seconds in here.items() if seconds > 2 * written.get(name, 0.0) + MOST}


def _spent() -> float:
    """Return the seconds of CPU of this process and of those that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look at the clock."""
    _begun[item.nodeid] = _spent()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Put what a test took into its last report, which goes to the process that asked for it."""
    if call.when == "teardown" and item.nodeid in _begun:
        item.user_properties.append((_NAME, _spent() - _begun.pop(item.nodeid)))
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up what the tests of a file took."""
    for name, seconds in report.user_properties if report.when == "teardown" else ():
        if name == _NAME:
            file = report.nodeid.partition("::")[0]
            _seconds[file] += float(str(seconds))
            _heaviest[file] = max(_heaviest.get(file, (0.0, "")), (float(str(seconds)), report.nodeid))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what was found, where that is wanted; else fail a run in which a file took too long."""
    if hasattr(session.config, "workerinput"):
        return
    if os.environ.get("SWFTOOLS_DURATIONS") == "write":
        write(_seconds)
        return
    for file, seconds in too_long(_seconds, read()).items():
        _told.append(
            f"{file} takes {seconds:.1f} s of CPU, as {WRITTEN.name} counts them; its heaviest test is "
            f"{_heaviest[file][1]}. Make it lighter or slow; or write what tests take: make durations"
        )
    is_asked = os.environ.get("SWFTOOLS_DURATIONS") == "check"  # else it is told: kernels may have been compiled
    if is_asked and _told and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which files took too long."""
    for line in _told:
        terminalreporter.write_line(f"WARNING {line}", yellow=True)
