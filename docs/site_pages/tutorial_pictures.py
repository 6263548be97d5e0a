# SPDX-License-Identifier: BSD-3-Clause
"""Whether each tutorial on the site shows a picture, and no text in the place of one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_PICTURE = re.compile(r"<img [^>]*src=\"[^\"]*/sphx_glr_plot_\w+_\d{3}\.\w+\"")
_AXES = "&lt;Axes"


def check(app: Sphinx, exception: Exception | None) -> None:
    """Warn of each tutorial without a picture, or with the text of one."""
    from sphinx.util.logging import getLogger  # noqa: PLC0415 (tests need no Sphinx)

    if exception is not None or app.builder.name != "html":
        return
    for path in sorted((Path(app.outdir) / "made" / "tutorials").glob("plot_*.html")):
        if wrong := fault(path.read_text(encoding="utf-8")):
            getLogger(__name__).warning("%s %s", path.name, wrong)


def fault(page: str) -> str:
    """Return what is wrong with the pictures of a tutorial's HTML; nothing if all is well."""
    if _AXES in page:
        return "shows the name of axes where a picture is meant"
    return "" if _PICTURE.search(page) else "shows no picture"
