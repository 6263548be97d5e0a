# SPDX-License-Identifier: BSD-3-Clause
"""Pictures need matplotlib, which is an extra: the figure that all of them begin with, and what is said without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swftools.errors import MissingLibraryError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of that size in inches, whose parts are laid out so that none covers another.

    Raises
    ------
    MissingLibraryError
        matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise MissingLibraryError("pictures need matplotlib: pip install matplotlib") from error
    return Figure(figsize=(width, height), layout="constrained")
