# SPDX-License-Identifier: BSD-3-Clause
"""Names from logs that are markup, formulas or turn text round, and what pictures of them must do."""

from __future__ import annotations

import warnings
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

from swftools.plots import plot

ODD = ("<script>alert(1)</script>", "$x^2$", "\u202egnol\u202c", "a" * 60)
"""Names of queues, users or rules that somebody may have."""


def drawn_at_both_sizes(subject: object, name: str, **parameters: Any) -> Axes:
    """Draw a picture at both sizes, as an image, without a warning; return that of a screen."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in ("column", "screen"):
            axes = plot(subject, name, size=size, **parameters)
            FigureCanvasAgg(axes.get_figure(root=True)).draw()  # a file would lay out all of it twice
    return axes


def words_on(axes: Axes) -> list[str]:
    """Return all that is written on axes and in their legend, and see that none of it is a formula or turned round."""
    legend = axes.get_legend()
    texts = [*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels(), axes.xaxis.label, axes.yaxis.label]
    texts += legend.get_texts() if legend else []
    assert not any(text.get_parse_math() for text in texts if "$" in text.get_text())
    words = [text.get_text() for text in texts if text.get_text()]
    assert not any("\u202e" in each for each in words)
    return words


def legend_of(axes: Axes) -> list[str]:
    """Return what the legend says."""
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]
