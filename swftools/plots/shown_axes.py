# SPDX-License-Identifier: BSD-3-Clause
"""Axes that show themselves: as the last line of a notebook's cell, and by pyplot where that is in use.

Imported when the first picture is drawn, because it needs matplotlib.
"""

from __future__ import annotations

import io
import sys
from typing import Any

from matplotlib.axes import Axes

from swftools.output.figure import new_figure

LARGEST_SVG = 300_000
"""Bytes: a schedule of thousands of jobs is a smaller image as PNG."""


class ShownAxes(Axes):
    """Axes of a picture that was drawn on a figure of its own. A notebook shows them as an image, once."""

    def _repr_png_(self) -> bytes | None:
        """Return the picture for a notebook, or None if it stands in a window already."""
        return self._image("png", dpi=100)

    def _repr_svg_(self) -> str | None:
        """Return the picture as SVG, which is sharp on any screen; None if that is too much for a notebook to hold."""
        image = self._image("svg")
        return None if image is None or len(image) > LARGEST_SVG else image.decode()

    def _image(self, kind: str, **how: Any) -> bytes | None:
        """Return the picture as an image, and take it from pyplot if that would show it once more below the cell."""
        figure: Any = self.figure
        if getattr(type(figure.canvas), "required_interactive_framework", None) is not None:
            return None
        file = io.BytesIO()
        figure.savefig(file, format=kind, **how)
        pyplot: Any = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None and "inline" in pyplot.get_backend():
            pyplot.close(figure)
        return file.getvalue()


def new_axes(width: float, height: float) -> Axes:
    """Return axes of a new figure of that size in inches, which pyplot knows if it is in use, or in a notebook."""
    figure = new_figure(width, height)
    if "matplotlib.pyplot" in sys.modules or _is_notebook():
        import matplotlib.pyplot as plt  # noqa: PLC0415 (it chooses a backend, which scripts may not want)

        figure = plt.figure(figsize=(width, height), layout="constrained")
    return figure.add_subplot(axes_class=ShownAxes)


def _is_notebook() -> bool:
    """Whether IPython runs here."""
    ipython: Any = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None
