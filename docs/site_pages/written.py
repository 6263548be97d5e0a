# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written only where they change, so that a second build reads no page again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path


def write_pages(folder: Path, pages: Mapping[str, str]) -> None:
    """Write pages by name, and remove those of other names."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        write_file(folder / name, text)


def write_file(path: Path, text: str) -> None:
    """Write a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def first_paragraph(docstring: str | None) -> str:
    """Return the first paragraph of a docstring as Markdown, on one line."""
    return one_line((docstring or "").strip().split("\n\n")[0])


def one_line(text: str) -> str:
    """Return text as a cell of a table in Markdown."""
    return " ".join(text.split()).replace("``", "`").replace("|", r"\|")


def table(heading: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    lines = [list(heading), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"
