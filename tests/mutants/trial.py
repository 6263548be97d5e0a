# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the checkout in which one change at a time is planted, and the nearest tests are run."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from tests.mutants.changes import Change
from tests.mutants.nearest import nearest

CAUGHT, TIMES_OUT, NOT_CAUGHT, NOT_JUDGED = "caught", "times out", "not caught", "not judged"

_LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "build", "data", "*.egg-info", ".*_cache")
_MODULO = "ignore:overflow encountered:RuntimeWarning"
"""numpy's word on a product modulo 2**64; compiled code says nothing of it."""

_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Verdict:
    """What became of a change: one of the words above, by which test or why, and the seconds that it took."""

    word: str
    by: str
    seconds: float


class Trial:
    """Two copies of a checkout, with the kernels that are compiled: a sound one, and one to change.

    Parameters
    ----------
    root : Path
        The checkout; it is only read.
    folder : Path
        Where the copies are made.
    limit : float
        Seconds that the tests of a change may take.
    compiled : bool
        Compile also where a file with kernels is changed, which is all kernels anew, minutes; else they run as Python.
    """

    def __init__(self, root: Path, folder: Path, *, limit: float, compiled: bool = False) -> None:
        self.sound, self.changed, self.limit = folder / "sound", folder / "changed", limit
        self.compiled = compiled
        self._unsound: set[str] = set()
        for copy in (self.sound, self.changed):
            shutil.copytree(root, copy, ignore=_LEFT_OUT)

    def judge(self, source: str, change: Change) -> Verdict:
        """Plant a change, run the tests, and take it back."""
        begin = monotonic()
        path = self.changed / source
        text = path.read_bytes()
        path.write_bytes(change.of(text))
        self._forget(path)
        has_kernels = b"swftools.kernel" in text
        try:
            word, by = self._run(source, interpreted=has_kernels and not self.compiled)
        finally:
            path.write_bytes(text)
            self._forget(path)
            if has_kernels and self.compiled:
                shutil.rmtree(self.changed)
                shutil.copytree(self.sound, self.changed)
        return Verdict(word, by, monotonic() - begin)

    def _run(self, source: str, *, interpreted: bool) -> tuple[str, str]:
        end = monotonic() + self.limit
        left = nearest(self.changed, source)
        while left:
            tests = left[0]
            seconds = end - monotonic()
            told = self._pytest(self.changed, tests, seconds, interpreted)
            if told is None:
                # It is the change that takes so long only where the tests take far less without it.
                if self._pytest(self.sound, tests, seconds / 2, interpreted) is None:
                    return NOT_JUDGED, f"{' '.join(tests)} take too long without it; give --limit"
                return TIMES_OUT, " ".join(tests)
            if told:
                if self._pytest(self.sound, [told], self.limit, interpreted) == "":
                    return CAUGHT, told
                # A test that fails anyway has caught nothing: the others are asked without it.
                if told in self._unsound:
                    return NOT_JUDGED, f"{told} fails without it"
                self._unsound.add(told)
            else:
                left.pop(0)
        return NOT_CAUGHT, ""

    def _pytest(self, folder: Path, tests: list[str], seconds: float, interpreted: bool) -> str | None:
        """Run tests; return the first that fails, nothing if none does, None if they do not end in time."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:xdist", *tests]
        command += [f"--deselect={test}" for test in sorted(self._unsound - set(tests))]
        environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        if interpreted:
            environment["NUMBA_DISABLE_JIT"] = "1"
            command += ["-W", _MODULO]
        with subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as run:
            try:
                said, _ = run.communicate(timeout=max(1.0, seconds))
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)  # with the processes that tests have begun
                return None
        if run.returncode in {0, 5}:  # all passed, or all were left out
            return ""
        failed = _FAILED.search(said)
        return failed[1] if failed else tests[0]

    @staticmethod
    def _forget(path: Path) -> None:
        """Remove what Python compiled of a file: it goes by size and second, which two changes may share."""
        for kept in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            kept.unlink()
