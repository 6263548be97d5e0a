# SPDX-License-Identifier: BSD-3-Clause
"""Write the tables of measures and of policies into their pages, as they are declared: ``make lists``.

``--check`` says whether they are as they would be written.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from site_pages.written import first_paragraph, one_line, table

from swftools.simulator import list_policies
from swftools.simulator.measure_definitions import EXCESS, MACHINE, NODES, SPREAD, TRUTH, Measure
from swftools.simulator.registry import Policy

DOCS = Path(__file__).parent


def of_measures(measures: Mapping[str, Measure]) -> str:
    """Return the table of some measures."""
    rows = ((f"`{name}`", each.unit, one_line(each.meaning)) for name, each in measures.items())
    return table(("measure", "unit", "meaning"), rows)


def of_policies() -> str:
    """Return the table of the policies that are shipped."""
    shipped = {name: each for name, each in list_policies().items() if each.module.startswith("swftools.")}
    return table(
        ("policy", "parameters", "what it does", "when"), (_of_policy(shipped[name]) for name in sorted(shipped))
    )


def _of_policy(policy: Policy) -> list[str]:
    """Return the row of a policy: its name, open parameters, what it does and needs, when to use it."""
    open_ones = ", ".join(f"`{name}`" for name in policy.parameters.names() if name not in policy.fixed)
    does = first_paragraph(policy.decide.__doc__).rstrip(".")
    fixed = "".join(f"; `{name}={value}`" for name, value in policy.fixed.items())
    needed = policy.needed({})
    needs = f"; needs {', '.join(f'`{name}`' for name in needed)}" if needed else ""
    return [f"`{policy.name}`", open_ones, f"{does}{fixed}{needs}", one_line(policy.when)]


TABLES: dict[str, list[tuple[str, Callable[[], str]]]] = {
    "metrics.md": [
        ("## Measures of jobs\n", lambda: of_measures({**SPREAD, **TRUTH, **EXCESS})),
        ("## Measures of the machine\n", lambda: of_measures(MACHINE)),
        ("### Of nodes\n", lambda: of_measures(NODES)),
    ],
    "simulator.md": [("## Policies\n", of_policies)],
}
"""By page: the heading behind which the first table is written, and what writes it."""


def written(name: str, text: str) -> str:
    """Return the text of a page with its tables as they are declared."""
    for heading, write in TABLES[name]:
        found = re.compile(r"^(?:\|.*\n)+", re.MULTILINE).search(text, text.index(heading))
        if found is None:
            raise ValueError(f"{name} has no table behind {heading!r}")
        text = text[: found.start()] + write() + text[found.end() :]
    return text


def main(words: list[str] | None = None) -> int:
    """Write the tables, or check them; return the exit status."""
    parser = argparse.ArgumentParser(prog="docs/make_lists.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page differs")
    check, status = parser.parse_args(words).check, 0
    for name in TABLES:
        text = (DOCS / name).read_text(encoding="utf-8")
        if (new := written(name, text)) == text:
            continue
        sys.stdout.write(f"{name}: {'differs; run make lists' if check else 'written'}\n")
        status |= check
        if not check:
            (DOCS / name).write_text(new, encoding="utf-8")
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
