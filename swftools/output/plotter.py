# SPDX-License-Identifier: BSD-3-Clause
"""What ``plot`` of a trace, a schedule or a report is: it draws pictures of it, by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swftools.output.package import swftools_package

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Plotter:
    """Draws pictures of one thing; see ``swftools.plots.plot``.

    Examples
    --------
    >>> from swftools.trace import Trace
    >>> trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 7200], run_time=[60, 60])
    >>> trace.plot.names()[0]
    'arrivals'
    >>> trace.plot("arrivals").get_ylabel()
    'share of jobs, %'
    >>> int(trace.plot.data("arrivals")["jobs"].sum())
    2
    """

    def __init__(self, subject: object, usual: str) -> None:
        self._subject = subject
        self._usual = usual
        """The picture that is drawn if none is named."""

    def __call__(
        self, name: str | None = None, *, ax: Axes | None = None, size: str = "screen", **parameters: Any
    ) -> Axes:
        """Draw the picture of that name, on ``ax`` or a new figure, and return what it is drawn on.

        Without a name it is what one wants to see first: the overview, or of a cleaning report its balance.
        """
        axes: Axes = _plots().plot(self._subject, name or self._usual, ax=ax, size=size, **parameters)
        return axes

    def data(self, name: str, **parameters: Any) -> pd.DataFrame:
        """Return the table behind a picture."""
        table: pd.DataFrame = _plots().data(self._subject, name, **parameters)
        return table

    def caption(self, name: str, **parameters: Any) -> str:
        """Return what a picture shows, in words."""
        return str(_plots().caption(self._subject, name, **parameters))

    def names(self) -> list[str]:
        """Return the names of the pictures that there are."""
        return list(_plots().list_pictures(type(self._subject)))


def _plots() -> Any:
    """Return the room of the pictures, which stands above what it draws."""
    return swftools_package().plots
