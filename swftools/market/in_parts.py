# SPDX-License-Identifier: BSD-3-Clause
"""Long work on many jobs, in parts: by several processes, with progress, and kept so that it can be gone on with.

What is found does not depend on how many processes there are, nor on how often the work broke off.
"""

from __future__ import annotations

import hashlib
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray
from swftools.output.whole_files import create_file
from swftools.parameters import is_whole

Progress = Callable[[int, int, float], None]
Pricer = Callable[[int, int], FloatArray]
"""Takes the first place and the one behind the last; what it is asked for next stands behind that."""

PART = 10
"""Jobs in a part: what is lost at most when the work breaks off, for each process."""

ASKED = "asked.txt"


@dataclass(frozen=True)
class Work:
    """How to carry out work that takes long.

    Parameters
    ----------
    processes : int
        Processes at a time, if the system can fork; otherwise one.
    kept : str or path, optional
        Folder for finished parts, which is made if need be; the same call again continues from there.
    progress : callable, optional
        Called after each part with the jobs done, all jobs, and the submission of the last one (s).

    Raises
    ------
    ParameterError
        ``processes`` is no whole number of 1 or more.
    """

    processes: int = 1
    kept: str | Path | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if not is_whole(self.processes, 1):
            raise ParameterError(f"processes={self.processes!r} is not an integer of 1 or more")

    def carry_out(self, make: Callable[[], Pricer], times: FloatArray, asked: str) -> FloatArray:
        """Return a number for each job.

        Parameters
        ----------
        make : callable
            Called once in each process; returns a function that computes the numbers of some jobs, one after the other.
        times : numpy.ndarray of float64
            Submissions of the jobs, rising, s; for progress.
        asked : str
            Stands for everything that the result depends on; kept parts of something else are refused.

        Raises
        ------
        ParameterError
            The folder has parts of something else.
        """
        found = np.full(len(times), np.nan)
        spans = [(first, min(first + PART, len(times))) for first in range(0, len(times), PART)]
        missing = self._read(spans, found, asked)
        done = len(times) - sum(end - first for first, end in missing)
        if self.progress:
            self.progress(done, len(times), float(times[0]) if len(times) else 0.0)
        for (first, end), values in _results(make, missing, self.processes):
            found[first:end] = values
            if self.kept is not None:
                with create_file(self._file(first)) as file:
                    file.write(np.asarray(values, "<f8").tobytes())
            done += end - first
            if self.progress:
                self.progress(done, len(times), float(times[end - 1]))
        return found

    def _read(self, spans: list[tuple[int, int]], found: FloatArray, asked: str) -> list[tuple[int, int]]:
        """Fill in what is kept; return the parts that are not."""
        if self.kept is None:
            return spans
        folder, digest = Path(self.kept), hashlib.sha256(asked.encode()).hexdigest()
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise ParameterError(f"kept={folder}: no folder can be made there: {error.strerror}") from error
        before = folder / ASKED
        if before.exists() and before.read_text(encoding="utf-8").strip() != digest:
            raise ParameterError(f"{folder}: keeps prices of another schedule, mechanism or jobs; give another folder")
        if not before.exists():
            with create_file(before) as file:
                file.write(digest.encode() + b"\n")
        missing = []
        for first, end in spans:
            path = self._file(first)
            if path.exists() and path.stat().st_size == 8 * (end - first):
                found[first:end] = np.frombuffer(path.read_bytes(), "<f8")
            else:
                missing.append((first, end))
        return missing

    def _file(self, first: int) -> Path:
        """Return the file of a part."""
        return Path(self.kept or "") / f"from_{first}.f8"


def _results(
    make: Callable[[], Pricer], spans: list[tuple[int, int]], processes: int
) -> Iterator[tuple[tuple[int, int], FloatArray]]:
    """Yield parts with what was found, in their order."""
    if min(processes, len(spans)) < 2 or "fork" not in multiprocessing.get_all_start_methods():
        pricer = make() if spans else None
        for span in spans:
            yield span, pricer(*span)  # type: ignore[misc]
        return
    # A process that is forked has what it begins with; it could not be sent to it.
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(min(processes, len(spans)), context, _begin, (make,))
    try:
        yield from zip(spans, pool.map(_price_part, spans), strict=True)
    finally:
        pool.shutdown(cancel_futures=True)


_PRICER: list[Any] = []


def _begin(make: Callable[[], Pricer]) -> None:
    """Remember, in a process of the pool, what makes its pricer: made at its first part, so that an error is told."""
    _PRICER[:] = [make, None]


def _price_part(span: tuple[int, int]) -> FloatArray:
    """Price a part in a process of the pool, which is handed parts in their order."""
    if _PRICER[1] is None:
        _PRICER[1] = _PRICER[0]()
    found: FloatArray = _PRICER[1](*span)
    return found
