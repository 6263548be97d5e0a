# SPDX-License-Identifier: BSD-3-Clause
"""What a machine has: its partitions, by kinds of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.machines.amounts import shown_memory
from swftools.output.amounts import counted
from swftools.parameters import Parameters, choice, whole
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import legend_above
from swftools.plots.style import COLORS, count_axis, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HATCHES = ("", "///", "...")
_OTHERS = "other kinds"


@dataclass(frozen=True)
class MachineParameters(Parameters):
    """What is counted, how many partitions have bars, and how many kinds have a look of their own."""

    count: str = choice("nodes", "cores", "memory", "gpus")
    partitions: int = whole(25, least=1, most=200)
    kinds: int = whole(9, least=1, most=20)


@register_picture
class Machine(Picture):
    """What partitions of a machine have, by kinds of nodes; a node of several partitions counts in each.

    The partitions that have most are shown, in their order; of the kinds of nodes those that have most, all others
    together.
    """

    name = "machine"
    of = pd.DataFrame
    columns = ("partition", "kind", "nodes", "cores", "memory", "gpus")
    title = "Machine"
    parameters = MachineParameters
    aspect = 0.5
    nothing = "no partition has any"

    def table(self, subject: pd.DataFrame, chosen: MachineParameters) -> pd.DataFrame:
        """Return a row for each partition that is shown, and kind: ``partition``, ``kind``, ``amount``, ``left_out``.

        Memory is in MB; ``left_out`` is how many partitions are not shown.
        """
        rows: Any = subject[["partition", "kind"]].assign(amount=subject[chosen.count].astype("Float64").fillna(0.0))
        rows = rows[rows["amount"] > 0]
        order = rows["partition"].drop_duplicates()
        largest = rows.groupby("partition")["amount"].sum().nlargest(chosen.partitions).index
        # The largest partition that has a kind says how much of it there is, since nodes may be in several.
        kinds = rows.groupby("kind")["amount"].max().nlargest(chosen.kinds).index
        if rows["kind"].nunique() > chosen.kinds + 1:
            rows["kind"] = rows["kind"].where(rows["kind"].isin(kinds), _OTHERS)
        rows = rows[rows["partition"].isin(largest)]
        rows = rows.groupby(["partition", "kind"], sort=False, as_index=False)["amount"].sum()
        return rows.assign(left_out=len(order) - len(largest))

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: MachineParameters) -> None:
        """Draw a bar for each partition, of a part for each kind."""
        names = table["partition"].drop_duplicates().tolist()
        ends = np.zeros(len(names))
        unit = 1024.0 if chosen.count == "memory" else 1.0
        kinds = table["kind"].drop_duplicates()
        for place, kind in enumerate([*kinds[kinds != _OTHERS], *kinds[kinds == _OTHERS]]):
            rows = table[table["kind"] == kind].set_index("partition")["amount"]
            lengths = rows.reindex(names).fillna(0.0).to_numpy(dtype=float) / unit
            color = "0.7" if kind == _OTHERS else COLORS[place % len(COLORS)]
            hatch = "" if kind == _OTHERS else _HATCHES[place // len(COLORS) % len(_HATCHES)]
            places = np.arange(len(names))
            axes.barh(places, lengths, left=ends, label=name_of(kind), edgecolor="white", color=color, hatch=hatch)
            ends = ends + lengths
        axes.set_yticks(np.arange(len(names)), [name_of(each) for each in names])
        axes.set(
            xlabel={"memory": "memory, GB", "gpus": "GPUs"}.get(chosen.count, chosen.count),
            ylim=(len(names) - 0.4, -0.6),
            xlim=(0, None),
        )
        axes.grid(visible=False, axis="y")
        count_axis(axes, "x")
        legend_above(axes)

    def tell(self, table: pd.DataFrame, chosen: MachineParameters) -> str:
        """Return how many partitions and kinds there are, and which partition has most."""
        amounts: Any = table.groupby("partition", sort=False)["amount"].sum()
        left_out = int(table["left_out"].iloc[0])
        what = chosen.count.removesuffix("s").replace("gpu", "GPU")
        most = float(amounts.max())
        amount = f"{shown_memory(int(most))} of memory" if what == "memory" else counted(int(most), what)
        told = f"{counted(len(amounts) + left_out, 'partition')}; {name_of(amounts.idxmax())} has most: {amount}"
        return told + (f"; {left_out:,} smaller ones are not shown" if left_out else "")
