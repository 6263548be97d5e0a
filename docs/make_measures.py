# SPDX-License-Identifier: BSD-3-Clause
"""Write the tables of measures into the page of metrics, as they are declared: ``make measures``.

``--check`` says whether they are as they would be written.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from swftools.simulator.measure_definitions import EXCESS, MACHINE, SPREAD, TRUTH, Measure

PAGE = Path(__file__).parent / "metrics.md"
_HEAD = "| measure | unit | meaning |\n|---|---|---|\n"
_TABLE = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)*")


def rows(measures: Mapping[str, Measure]) -> str:
    """Return the table of measures: name, unit, meaning."""
    return _HEAD + "".join(f"| `{name}` | {each.unit} | {each.meaning} |\n" for name, each in measures.items())


def written(text: str) -> str:
    """Return the page with its two tables, of jobs and of the machine, as they are declared."""
    tables = [rows({**SPREAD, **TRUTH, **EXCESS}), rows(MACHINE)]
    if len(_TABLE.findall(text)) != len(tables):
        raise ValueError(f"{PAGE.name} has not {len(tables)} tables of measures")
    return _TABLE.sub(lambda _: tables.pop(0), text)


def main(words: list[str] | None = None) -> int:
    """Write the tables, or check them; return the exit status."""
    parser = argparse.ArgumentParser(prog="docs/make_measures.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page differs")
    check = parser.parse_args(words).check
    text = PAGE.read_text(encoding="utf-8")
    if (new := written(text)) == text:
        return 0
    sys.stdout.write(f"{PAGE.name}: {'differs; run make measures' if check else 'written'}\n")
    if not check:
        PAGE.write_text(new, encoding="utf-8")
    return int(check)


if __name__ == "__main__":
    sys.exit(main())
