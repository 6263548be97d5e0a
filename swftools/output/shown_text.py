# SPDX-License-Identifier: BSD-3-Clause
"""Text from outside, a log or the name of a file, as it is shown: it can neither steer a terminal nor forge a page.

A queue may be called what clears the screen, and a file what looks like a line of ours. So whatever prints such a text,
or writes it to a page, takes it through here. What is shown tells what stands there, but need not be read back.
"""

from __future__ import annotations

import re

WIDTH = 80
"""Columns that sentences and tables fit, whatever the terminal."""

_CONTROLS = "\x00-\x1f\x7f-\x9f"
"""ASCII's controls and those of ISO 6429, which some terminals obey in UTF-8 too."""

_INVISIBLE = "\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
"""What turns the order of what follows, ends a line or is not seen."""

_UNSHOWN = re.compile(f"[{_CONTROLS}{_INVISIBLE}\ud800-\udfff]")
_OF_PAGES = re.compile(r"<(?=/|!--|script)", re.IGNORECASE)
"""What ends a script in a page, or begins another: JSON-LD stands in one."""
_UNSHOWN_BUT_LINES = re.compile(f"(?!\n)[{_CONTROLS}{_INVISIBLE}\ud800-\udfff]")
_MARKUP = re.compile(r"[\\`*\[\]|#]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def shown(text: object) -> str:
    r"""Return a text as one line that a terminal shows and does not obey.

    Controls, line ends, marks of direction, what is invisible, and bytes that were no UTF-8 (lone surrogates) stand
    there as Python writes them.

    Examples
    --------
    >>> print(shown("night\x1b[2J\nfinding: all is well"))
    night\x1b[2J\nfinding: all is well
    """
    return _UNSHOWN.sub(_escaped, str(text))


def shown_lines(text: object) -> str:
    r"""Return a message of several lines as ``shown`` would, but for its line ends; only the first begins in front.

    So a name in it may bring line ends of its own, and yet not begin a line that looks like one of ours.

    Examples
    --------
    >>> print(shown_lines("a\nfinding: b\n  c"))
    a
      finding: b
      c
    """
    first, *rest = _UNSHOWN_BUT_LINES.sub(_escaped, str(text)).split("\n")
    return "\n".join([first, *(line if not line or line.startswith("  ") else f"  {line}" for line in rest)])


def shown_in_markdown(text: object) -> str:
    r"""Return a text as one line of Markdown that reads as the text: no HTML, cell, link or heading is made of it.

    Examples
    --------
    >>> print(shown_in_markdown("a|b <img src=x> `c` & d"))
    a\|b &lt;img src=x&gt; \`c\` &amp; d
    """
    return _MARKUP.sub(r"\\\g<0>", shown(text)).translate(_ENTITIES)


def shown_in_json(text: str) -> str:
    r"""Return JSON that reads back as the same, without what a terminal would obey, or a web page that it is put into.

    Parameters
    ----------
    text : str
        JSON; its own line ends stay.

    Examples
    --------
    >>> print(shown_in_json('{"queue": "\u202etac"}'))
    {"queue": "\u202etac"}
    >>> print(shown_in_json('{"queue": "</script>"}'))
    {"queue": "\u003c/script>"}
    """
    return _OF_PAGES.sub(_as_json, _UNSHOWN_BUT_LINES.sub(_as_json, text))


def can_be_shown(text: str) -> bool:
    """Return whether a text has nothing but line ends that a terminal would obey."""
    return not _UNSHOWN_BUT_LINES.search(text)


def _escaped(found: re.Match[str]) -> str:
    """Return a character as Python writes it."""
    return found[0].encode("unicode_escape").decode("ascii")


def _as_json(found: re.Match[str]) -> str:
    """Return a character as JSON writes it: beyond 16 bits as a pair of surrogates."""
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\u{0xD800 + (code - 0x10000 >> 10):04x}\\u{0xDC00 + (code - 0x10000 & 0x3FF):04x}"
