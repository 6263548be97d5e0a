# SPDX-License-Identifier: BSD-3-Clause
"""Plant small changes at random and see whether the nearest tests notice: ``make mutants``.

The checkout itself is only read. Prints each change with its verdict, and the share that was caught of all that could
be judged; status 1 if that is less than ``LEAST``.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import click

from tests.folders import ROOT
from tests.mutants.changes import Change, changes_of, draw, is_real
from tests.mutants.nearest import sources
from tests.mutants.trial import CAUGHT, NOT_CAUGHT, NOT_JUDGED, TIMES_OUT, Trial

LEAST = 0.95
HARMLESS = Path(__file__).with_name("harmless.txt")
"""Changes that change nothing, as somebody has seen: a line with file, line before and line after, and why, each."""


def harmless(path: Path = HARMLESS) -> set[tuple[str, str, str]]:
    """Return the changes that are known to change nothing, as file, line before and line after."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    found = set()
    for line in lines:
        source, before, after, _why = line.split("\t")
        found.add((source, before, after))
    return found


def candidates(root: Path, folder: str, lines: Mapping[str, set[int]] | None) -> dict[str, list[Change]]:
    """Return the changes that may be drawn by file: below a folder, and only on some lines if these are given."""
    known = harmless()
    found = {}
    for source in sources(root):
        if not f"{source}/".startswith(folder and f"{folder.rstrip('/')}/"):
            continue
        if lines is not None and source not in lines:
            continue
        text = (root / source).read_bytes()
        changes = [
            change
            for change in changes_of(text)
            if (lines is None or change.line in lines[source]) and (source, *change.lines(text)) not in known
        ]
        if changes:
            found[source] = changes
    return found


def choose(root: Path, found: Mapping[str, list[Change]], number: int, seed: int) -> list[tuple[str, Change]]:
    """Draw changes, none twice: files by how much there is to change in them, then as ``draw`` does."""
    choice = random.Random(seed)
    left = {source: list(changes) for source, changes in sorted(found.items())}
    drawn: list[tuple[str, Change]] = []
    while left and len(drawn) < number:
        source = choice.choices(list(left), [len(changes) for changes in left.values()])[0]
        change = draw(left[source], choice)
        left[source].remove(change)
        if not left[source]:
            del left[source]
        if is_real((root / source).read_bytes(), change):
            drawn.append((source, change))
    return drawn


def changed_lines(root: Path, since: str) -> dict[str, set[int]]:
    """Return the lines that are new since a commit, by file."""
    command = ["git", "diff", "--unified=0", "--no-color", "--no-prefix", since, "--", "*.py"]
    said = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return lines_of_diff(said)


def lines_of_diff(diff: str) -> dict[str, set[int]]:
    """Return the new lines of what git prints of a difference."""
    found: dict[str, set[int]] = {}
    here: set[int] = set()
    for line in diff.splitlines():
        if line.startswith("+++ "):
            here = found.setdefault(line[4:], set())
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            here |= set(range(first, first + count))
    return {source: lines for source, lines in found.items() if lines}


@click.command()
@click.option("--number", default=20, show_default=True, type=click.IntRange(1), help="How many changes to plant.")
@click.option("--seed", default=0, show_default=True, help="Of what is drawn; the same seed draws the same changes.")
@click.option("--folder", default="", help="Only below this folder, or in this file: swftools/qbets.")
@click.option("--changed-since", default="", help="Only on lines that are new since a commit: main.")
@click.option("--at", multiple=True, help="All changes of a line, FILE:LINE, in place of drawn ones; may be repeated.")
@click.option("--limit", default=600.0, show_default=True, help="Seconds that the tests of one change may take.")
@click.option("--compiled", is_flag=True, help="Compile kernels also where one is changed, which takes minutes.")
@click.option("--list", "only_list", is_flag=True, help="Show what would be planted, and plant nothing.")
def main(
    number: int,
    seed: int,
    folder: str,
    changed_since: str,
    at: tuple[str, ...],
    limit: float,
    *,
    compiled: bool,
    only_list: bool,
) -> None:
    """Plant changes and run the nearest tests."""
    lines = changed_lines(ROOT, changed_since) if changed_since else None
    if at:
        lines, number = {}, sys.maxsize
        for place in at:
            source, _, line = place.rpartition(":")
            lines.setdefault(source, set()).add(int(line))
    drawn = choose(ROOT, candidates(ROOT, folder, lines), number, seed)
    if not drawn:
        click.echo("there is nothing to change there")
        return
    if only_list:
        for source, change in drawn:
            click.echo(_shown(source, change))
        return
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        trial = Trial(ROOT, Path(scratch), limit=limit, compiled=compiled)
        for count, (source, change) in enumerate(drawn, 1):
            verdict = trial.judge(source, change)
            counts[verdict.word] += 1
            click.echo(f"[{count} of {len(drawn)}] {verdict.word}, {verdict.seconds:.0f} s {verdict.by}")
            click.echo(_shown(source, change))
    sys.exit(report(counts))


def report(counts: Mapping[str, int]) -> int:
    """Print how many were caught, and return the status."""
    caught = counts.get(CAUGHT, 0) + counts.get(TIMES_OUT, 0)
    judged = caught + counts.get(NOT_CAUGHT, 0)
    share = caught / judged if judged else 0.0
    click.echo(f"{caught} of {judged} caught, {share:.1%}; {', '.join(f'{n} {word}' for word, n in counts.items())}")
    if counts.get(NOT_CAUGHT):
        click.echo(f"A change that no test caught wants a test, or if it changes nothing a line in {HARMLESS.name}.")
    if counts.get(NOT_JUDGED):
        click.echo("What was not judged does not count.")
    return 0 if share >= LEAST else 1


def _shown(source: str, change: Change) -> str:
    """Return file, line and kind of a change, and the line before and after."""
    before, after = change.lines((ROOT / source).read_bytes())
    return f"    {source}:{change.line}: {change.kind}\n    - {before}\n    + {after}"


if __name__ == "__main__":
    main()
