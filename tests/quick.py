# SPDX-License-Identifier: BSD-3-Clause
"""Run the tests that are nearest to a change, as many as fit into a minute: ``python -m tests.quick [PATH ...]``.

Without a path it is what git says has changed since the branch left main. Tests are near by name, by what they import,
and by the room that they stand in (``tests/mutants/nearest.py``); what they take stands in ``durations.txt``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

from tests.durations import read
from tests.folders import ROOT
from tests.mutants.nearest import nearest, sources

BUDGET = 70.0
"""Seconds of CPU, on two cores: with the start of pytest about a minute less a quarter."""


def changed(base: str = "main") -> list[str]:
    """Return the files that differ from where the branch left another one, those that git does not know yet too."""
    point = subprocess.run(["git", "merge-base", base, "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    since = point.stdout.strip() or "HEAD"
    told = [["git", "diff", "--name-only", since], ["git", "ls-files", "--others", "--exclude-standard"]]
    lines = [subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout for words in told]
    return sorted({*"".join(lines).splitlines()})


def chosen(paths: Iterable[str], budget: float = BUDGET) -> tuple[list[str], list[str]]:
    """Return the files of tests to run for some files or folders, the nearest first; and those that did not fit.

    Parameters
    ----------
    paths : iterable of str
        From the top: files of code or of tests, or folders of such.
    budget : float
        Seconds of CPU.
    """
    paths, known = list(paths), read()
    code = [source for source in sources(ROOT) if any(_is_in(source, path) for path in paths)]
    near = [nearest(ROOT, source) for source in code]
    own = sorted(test for test in _tests() if any(_is_in(test, path) for path in paths))
    order = [*own, *(test for groups in zip_longest(*near, fillvalue=[]) for group in groups for test in group)]
    fits, left, spent = [], [], 0.0
    for test in dict.fromkeys(order):
        seconds = known.get(test, 0.0)
        if spent + seconds > budget and test not in own:
            left.append(test)
        else:
            spent += seconds
            fits.append(test)
    return fits, left


def _is_in(file: str, path: str) -> bool:
    """Whether a file is the one that a path names, or in the folder that it names."""
    return file == path or file.startswith(f"{path.rstrip('/')}/")


def _tests() -> list[str]:
    """Return all files of tests."""
    return [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]


def main(words: Sequence[str]) -> int:
    """Choose and run tests; return pytest's status."""
    parser = argparse.ArgumentParser(prog="python -m tests.quick", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or folders; default: what git says has changed")
    given = [Path(path).resolve().relative_to(ROOT).as_posix() for path in parser.parse_args(words).paths]
    tests, left = chosen(given or changed())
    if not tests:
        sys.stdout.write("no test is near to what has changed\n")
        return 0
    more = f"; {len(left)} more do not fit into a minute, such as {left[0]}" if left else ""
    sys.stdout.write(f"{len(tests)} files of tests{more}\n")
    sys.stdout.flush()
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-n", "2", *tests], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
