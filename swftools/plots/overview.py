# SPDX-License-Identifier: BSD-3-Clause
"""What somebody wants to see first of a log, or of a schedule: four pictures in one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from swftools.plots.arrivals import Arrivals
from swftools.plots.load import Load
from swftools.plots.panels import panels, say, set_heading
from swftools.plots.picture import Picture, register_picture
from swftools.plots.queue import Queue
from swftools.plots.sizes import Sizes
from swftools.plots.utilization import Utilization
from swftools.plots.wait_by_size import WaitBySize
from swftools.plots.waits import LoggedWaits, Waits
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Overview(Picture):
    """Several pictures of one thing, each with its defaults.

    Attributes
    ----------
    parts : sequence of Picture
        The pictures, row by row.
    """

    name = "overview"
    title = "Overview"
    aspect = 0.75
    parts: ClassVar[Sequence[Picture]]

    def aspect_for(self, width: float) -> float:
        """Return height / width: in a column of a paper the pictures stand below each other."""
        return self.aspect if width > _WIDE else 0.62 * len(self.parts)

    def table(self, subject: Any, chosen: Any) -> pd.DataFrame:
        """Return the tables of all pictures below each other; ``picture`` says which rows are whose."""
        tables = []
        for part in self.parts:
            found = part.table(subject, part.parameters())
            whole = found.select_dtypes("int64").columns
            tables.append(found.astype(dict.fromkeys(whole, "Int64")).assign(picture=part.name))
        filled = [each for each in tables if len(each)]
        if not filled:
            return pd.DataFrame({"picture": []})
        return pd.concat(filled, ignore_index=True)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: Any) -> None:
        """Draw a panel each."""
        figure: Any = axes.figure
        is_wide = axes.get_position().width * figure.get_figwidth() > _WIDE
        columns = 2 if is_wide else 1
        places = panels(axes, -(-len(self.parts) // columns), columns)
        for place, (part, rows) in zip(places, self._parts_of(table), strict=False):
            if rows.empty:
                say(place, part.nothing)
            else:
                part.draw(place, rows, part.parameters())
            set_heading(place, part.title)

    def tell(self, table: pd.DataFrame, chosen: Any) -> str:
        """Return what each picture says, a sentence each."""
        return ". ".join(
            f"{part.title}: {part.nothing if rows.empty else part.tell(rows, part.parameters())}"
            for part, rows in self._parts_of(table)
        )

    def _parts_of(self, table: pd.DataFrame) -> Iterator[tuple[Picture, pd.DataFrame]]:
        """Yield each picture with its own rows, whole numbers as they were."""
        for part in self.parts:
            rows = table[table["picture"] == part.name].drop(columns="picture").reset_index(drop=True)
            whole = [name for name in rows.select_dtypes("Int64") if rows[name].notna().all()]
            yield part, rows.astype(dict.fromkeys(whole, "int64"))


_WIDE = 4.5
"""Inches from which on two pictures have room side by side."""


@register_picture
class OverviewOfTrace(Overview):
    """When jobs arrive, how large they are, which load they bring and how long they waited by the log."""

    of = Trace
    nothing = "no job of which anything is known"
    parts = (Arrivals(), Sizes(), Load(), LoggedWaits())


@register_picture
class OverviewOfSchedule(Overview):
    """How busy the machine is, how much waits, how long jobs wait, and which sizes of jobs wait long."""

    of = Schedule
    nothing = "no job that ran"
    parts = (Utilization(), Queue(), Waits(), WaitBySize())
