# SPDX-License-Identifier: BSD-3-Clause
"""What all tests share: how Hypothesis searches, and where the logs are."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from swftools import Trace, clean, read_swf
from swftools.simulator import run_setup
from swftools.simulator.stepping import serialize
from tests.durations import (  # noqa: F401 (pytest finds its hooks here)
    pytest_runtest_logreport,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    pytest_sessionfinish,
    pytest_terminal_summary,
)
from tests.folders import ROOT
from tests.interpreted import all_interpreted, runs_interpreted

# The same examples in every run, so that a failure is one of the code and not of the day's dice: few by day, and ten
# times as many at night, for "make slow". Set HYPOTHESIS_PROFILE=search to look further, with new examples in each run.
settings.register_profile("day", max_examples=20, derandomize=True, deadline=None, database=None, print_blob=True)
settings.register_profile("night", settings.get_profile("day"), max_examples=200)
settings.register_profile(
    "search", deadline=None, database=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "day"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell has it where tests run in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # so that the commands that tests start heed Ctrl-C


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Let the collector of garbage leave alone what stays: thousands of tests, and all that is imported for them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def unsynced() -> Iterator[None]:
    """Let no test wait for the disk: what it writes is gone with it. Each sync is still a call, of a file that is open.

    A third of what a night of a history, or a publication, takes on a slow disk is waiting for it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)
        yield


@pytest.fixture(scope="session", autouse=True)
def interpreted_runs() -> Iterator[None]:
    """Let a simulation that is not compiled compile nothing: not the kernels either that its policy is made of."""
    with runs_interpreted():
        yield


@pytest.fixture(autouse=True)
def interpreted_as_said(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let a case with ``compiled=False`` or ``interpreted=True`` compile no kernel that Python calls."""
    said = getattr(request.node, "callspec", None)
    is_interpreted = said is not None and (
        said.params.get("interpreted") is True or said.params.get("compiled") is False
    )
    with all_interpreted(is_interpreted):
        yield


@pytest.fixture
def interpreted_by_day(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let tests compile no kernel that Python calls, unless they are marked slow; for kernels that few users call.

    What a simulation or an episode calls is compiled as its ``compiled`` says.
    """
    with all_interpreted(not is_of_the_night(request)):
        yield


@pytest.fixture
def simulated_as_python_by_day(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let tests compile nothing at all, likewise: simulations are interpreted, whatever their ``compiled`` says.

    So are those for which nobody can say it: of commands, and of states from bytes.
    """
    is_wanted = not is_of_the_night(request)
    if is_wanted:
        for module in (run_setup, serialize):
            made = partial(_called_interpreted, module.called_for)
            monkeypatch.setattr(module, "called_for", made)
    with all_interpreted(is_wanted):
        yield


def is_of_the_night(request: pytest.FixtureRequest) -> bool:
    """Whether a test is slow, or runs for the sake of many examples."""
    is_slow = request.node.get_closest_marker("slow") is not None
    return is_slow or os.environ.get("HYPOTHESIS_PROFILE") == "night"


def _called_interpreted(called_for: Callable[..., Any], *given: Any, compiled: bool | str, **options: Any) -> Any:
    return called_for(*given, compiled=False, **options)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the full logs in ``traces/``; without it (environment variable SWFTOOLS_SHARED) a test skips."""
    folder = os.environ.get("SWFTOOLS_SHARED")
    if not folder:
        pytest.skip("SWFTOOLS_SHARED does not name the folder with the full logs")
    return Path(folder)


@pytest.fixture(scope="session")
def shipped_log() -> Path:
    """The log that is shipped with the package."""
    return ROOT / "pipelines/resources/logs/SDSC-BLUE-2000-4.2-cln-5000-9999.swf.gz"


@pytest.fixture(scope="session")
def shipped(shipped_log: Path) -> Trace:
    """The shipped log as it is read."""
    return read_swf(shipped_log)


@pytest.fixture(scope="session")
def cleaned(shipped: Trace) -> Trace:
    """The shipped log, cleaned."""
    return clean(shipped)[0]
