# SPDX-License-Identifier: BSD-3-Clause
"""Tables that are printed for people, in lines that fit 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from swftools.output.shown_text import WIDTH

_NAMES = ((24, 20), (16, 12), (10, 10), (8, 8))
"""Columns of the first word of a row, and of the others but for the last: the first of these with which lines fit."""

_LAST = 11
"""Columns of the last word, which has what is left."""

INDENT = "  "
"""Before each line of a table."""


def text_table(rows: Sequence[tuple[str, ...]], sides: str) -> list[str]:
    """Return rows as lines of columns that fit 80; long words are cut, those of the last column to what is left."""
    from swftools.output.shown_html import shortened

    for most in _NAMES:
        limits = [most[0], *[most[1]] * (len(sides) - 1)]
        cut = [(*map(shortened, row[:-1], limits), row[-1]) for row in rows]
        widths = [max(map(len, column)) for column in zip(*cut, strict=True)][:-1]
        left = max(WIDTH - len(INDENT) - sum(widths) - 2 * len(widths), 4)
        if left >= min(_LAST, max(len(row[-1]) for row in rows)):
            break
    lines = []
    for row in cut:
        words = [f"{word:{side}{width}}" for word, side, width in zip(row[:-1], sides, widths, strict=False)]
        lines.append(f"{INDENT}{'  '.join([*words, shortened(row[-1], left)])}".rstrip())
    return lines
