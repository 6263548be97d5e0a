# SPDX-License-Identifier: BSD-3-Clause
"""Pages that are parts of others now: whether each old address leads to a page, and to a heading, that is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def check(app: Sphinx, exception: Exception | None) -> None:
    """Warn of each address of ``redirects.yaml`` that leads nowhere, or that a page still has."""
    from sphinx.util.logging import getLogger  # noqa: PLC0415 (tests need no Sphinx)

    if exception is None and app.builder.name == "html":
        for told in faults(app.config.redirects, app.env.found_docs, Path(app.outdir)):
            getLogger(__name__).warning("redirects.yaml: %s", told)


def faults(redirects: Mapping[str, str], pages: set[str], site: Path) -> Iterator[str]:
    """Yield what is wrong with addresses of pages that moved."""
    for old, new in redirects.items():
        target, _, heading = new.partition("#")
        file = Path(normpath((site / old).parent / target))
        if old in pages:
            yield f"{old} is a page"
        elif not file.exists():
            yield f"{old} leads to {target}, which is not there"
        elif heading and f'id="{heading}"' not in file.read_text(encoding="utf-8"):
            yield f"{old} leads to {new}, which has no such heading"
