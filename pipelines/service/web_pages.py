# SPDX-License-Identifier: BSD-3-Clause
"""Pages for people, rendered here: no script, nothing from elsewhere, and each text of a log is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined

from pipelines.service.clusters import Cluster
from pipelines.service.words import REASONS, share, spoken
from swftools.output.amounts import duration, percent
from swftools.output.shown_text import shown

NAMES = ("ask", "queues", "queue", "job", "error")


class WebPages:
    """The pages of a service."""

    def __init__(self) -> None:
        self._pages = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        self._pages.filters.update(duration=duration, percent=percent, shown=shown, spoken=spoken, share=share)
        self._pages.filters.update(moment=_moment, quoted=_quoted, reason=lambda why: REASONS.get(why, why))
        self._templates = {name: self._pages.from_string(page_text(f"{name}.html")) for name in NAMES}
        self._frame = self._pages.from_string(page_text("frame.html"))

    def render(self, name: str, title: str, clusters: Iterable[Cluster], **told: Any) -> str:
        """Return a page in its frame.

        Parameters
        ----------
        name : str
            One of ``NAMES``.
        title : str
            Its heading.
        clusters : iterable of Cluster
            How old is what is known of them stands below; what is too old, or what the sensor says, on top.
        **told
            What the page shows.
        """
        every = list(clusters)
        body = self._templates[name].render(**told)
        return self._frame.render(
            title=title,
            body=body,
            stale=[each.silence for each in every if each.is_stale],
            notices=[f"{each.name}: {each.notice}" for each in every if each.notice],
            clusters=every,
        )


def page_text(name: str) -> str:
    """Return a file of the folder of pages."""
    return (files("pipelines.service") / "pages" / name).read_text(encoding="utf-8")


def _moment(date: str | None, seconds: float | None = None) -> str:
    """Return a moment with its zone; where there are no dates the second of the log."""
    if date is None:
        return "?" if seconds is None else f"second {seconds:,.0f}"
    return f"{date[:10]} {date[11:16]} UTC"


def _quoted(text: str) -> str:
    """Return a text as a part of an address."""
    return quote(text, safe="")
