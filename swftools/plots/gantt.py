# SPDX-License-Identifier: BSD-3-Clause
"""Which job runs when, side by side on the machine's processors or on its nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.named import Known
from swftools.output.amounts import duration, percent
from swftools.parameters import Parameters, choice, number, text, whole
from swftools.plots.gantt_on_nodes import FEW, ShownNodes, blocks_on_nodes, runs_on, shown_nodes
from swftools.plots.gantt_outages import draw_outages, split_outages, told_of, with_outages
from swftools.plots.of_schedules import clock_in, clock_of, sizes_of
from swftools.plots.picture import Picture, register_picture
from swftools.plots.style import COLORS, SEQUENTIAL, count_axis, name_of, time_axis, times_of
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.placement import on_processors
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_RUNS = 5_000
"""Of the window that is chosen where none is given."""

MOST_PIECES = 25_000
"""Beyond this many, which is a window that somebody asked for, the jobs are drawn as an image: the file stays small."""

WEEK = 604_800.0
_WAITS = {60.0: "under 1 min", 600.0: "to 10 min", 3600.0: "to 1 h", 14_400.0: "to 4 h", 86_400.0: "to 1 d"}
_NAMED = (COLORS[0], COLORS[5], COLORS[2], COLORS[6])  # which differ in grey too
_TINTS = (0.0, 0.2, 0.4)
"""How much white is in the colours of runs that are too thin for an edge, in turn: neighbours stay apart, and where
runs are thinner than a pixel, its tone is between them, the lighter the more processors are free."""


@dataclass(frozen=True)
class GanttParameters(Parameters):
    """From when to when, s from the start of the log; and what the colours of jobs are: the word that is given.

    Of a machine of nodes the first ``nodes`` are shown, of a ``kind`` or of all.
    With only one of ``begin`` and ``end`` it is a week. With none it is the busiest week, counted from the first start,
    halved until it has no more than ``MOST_RUNS`` runs, by the busier half each time.
    """

    begin: float | None = number(None, unit="s", optional=True)
    end: float | None = number(None, unit="s", optional=True)
    color: str = choice("user", "queue", "width", "wait")
    kind: str | None = text(None)
    nodes: int = whole(256, least=1, most=100_000)

    def __post_init__(self) -> None:
        super().__post_init__()
        sound = self.begin is None or self.end is None or self.begin < self.end
        self._require("end", sound, f"behind the beginning, {self.begin}")


@register_picture
class Gantt(Picture):
    """Every run in a window, as wide as it has processors, by the colour of its user, queue, width or wait.

    On a machine of nodes each node is a row, and a run lies on the nodes that it had; on shared nodes it is as wide as
    its share of their cores, and where in the row it lies is made up. Where nodes are too many for their names, those
    of their kinds stand beside them, and a line between. Nodes that are down, drained or reserved are hatched behind
    the runs. On a pool a schedule does not tell which
    processors a job had. It is made up: a job gets the lowest neighbours that are free, or, where there are none, the
    lowest that are. Runs that took no time are not seen.
    """

    name = "gantt"
    of = Schedule
    title = "Jobs on the machine"
    parameters = GanttParameters
    aspect = 0.62
    nothing = "no run in this window"

    def table(self, subject: Schedule, chosen: GanttParameters) -> pd.DataFrame:
        """Return a row for each run and block of neighbouring processors.

        ``job_number`` and ``job_occurrence``, ``start`` and ``end``, s from the start of the log, ``wait``, s,
        ``first_processor``, ``processors`` (of the block), ``label`` (what its colour is), ``shade`` (the label's
        place among all), ``window_begin``, ``window_end``, s, ``machine`` (its processors), ``log_start``, UNIX time in
        s, missing where it is not known, and ``log_zone``, the name of its zone.

        Of a machine of nodes ``first_node`` and ``nodes`` (rows and parts of rows), ``cores`` (of the block), and
        ``node`` (the name of the first) stand in the place of processors, ``kind`` is the kind of these nodes,
        ``kind_low`` and ``kind_high`` the rows from which and up to which nodes have it, ``machine`` is how many nodes
        are shown, ``machine_cores`` how many cores these have, and ``others`` how many nodes are not shown. Where nodes
        are away in the window there are rows for that too, at the end, with ``outage``, its kind, and no job.
        """
        shown = _shown_nodes(subject, chosen)
        runs = _runs_of(subject)
        if shown is not None:
            runs = runs[runs_on(subject, shown)[runs.index]]
        begin, end = _window(runs, chosen)
        runs = runs[(runs["start"] < end) & (runs["end"] > begin)]
        of_segments, runs = runs.index.to_numpy(), runs.reset_index(drop=True)
        jobs = subject.jobs.iloc[runs["row"].to_numpy()].reset_index(drop=True)
        names, shades = _labels(jobs, runs, chosen.color, subject.known_names)
        starts, ends = runs["start"].to_numpy(), runs["end"].to_numpy()
        if shown is None:
            placed = on_processors(starts, ends, runs["width"].to_numpy(), subject.processors)
            pieces = [(run, low, high - low) for run, blocks in placed for low, high in blocks]
            run, low, count = np.array(pieces, np.int64).reshape(-1, 3).T
            lies: dict[str, Any] = {"first_processor": low, "processors": count}
            size: dict[str, Any] = {"machine": subject.processors}
        else:
            blocks = blocks_on_nodes(replace(subject, segments=subject.segments.iloc[of_segments]), shown)
            run = blocks["run"].to_numpy()
            lies = {str(name): blocks[name].array for name in blocks if name != "run"}
            cores = subject.machine.cores[shown.nodes].sum() if subject.machine is not None else 0
            size = {"machine": len(shown.nodes), "machine_cores": int(cores), "others": shown.others}
        columns = runs[["job_number", "job_occurrence", "start", "end", "wait"]].iloc[run].reset_index(drop=True)
        table = columns.assign(**lies, label=np.array(names, dtype=object)[shades[run]], shade=shades[run])
        if shown is not None and len(table):
            table = with_outages(table, subject, shown, (begin, end))
        return table.assign(window_begin=begin, window_end=end, **size, **clock_of(subject, subject.jobs))

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: GanttParameters) -> None:
        """Draw the blocks of a colour as one path, with edges where they have room, else of a tint, as one path each.

        Which processors a job has is made up, and the picture says so; so it does of nodes that are left out.
        """
        from matplotlib import rcParams  # noqa: PLC0415 (an extra)
        from matplotlib.collections import PathCollection  # noqa: PLC0415 (an extra)
        from matplotlib.patches import Patch  # noqa: PLC0415 (an extra)

        start, zone = clock_in(table)
        begin, end = (float(table[name].iloc[0]) for name in ("window_begin", "window_end"))
        machine = int(table["machine"].iloc[0])
        table, outages = split_outages(table)
        left, right = (times_of(table[name].clip(begin, end), start) for name in ("start", "end"))
        on_nodes = _is_on_nodes(table)
        first_row, rows = ("first_node", "nodes") if on_nodes else ("first_processor", "processors")
        low = table[first_row].to_numpy(dtype=float)
        high = low + table[rows].to_numpy()
        first, last = times_of([begin, end], start)
        top = max(machine, float(high.max()))
        points = np.asarray(axes.bbox.size) * 72.0 / axes.figure.dpi
        roomy = ((right - left) / (last - first) * points[0] > 5) & ((high - low) / top * points[1] > 3)
        kinds = table[["shade", "label"]].drop_duplicates().sort_values("shade")
        colors = _colors_of(kinds, is_ordered=chosen.color in ("width", "wait"))
        paths, faces, edges = [], [], []
        shade, turn = table["shade"].to_numpy(), _turn_of(table)
        for of_kind, color in zip(kinds["shade"].tolist(), colors, strict=True):
            looks = [(roomy, color, "white")]
            looks += [(~roomy & (turn == each), _mixed(color, white), "none") for each, white in enumerate(_TINTS)]
            for having, face, edge in looks:
                those = (shade == of_kind) & having
                if those.any():
                    paths.append(_rectangles(left[those], right[those], low[those], high[those]))
                    faces.append(face)
                    edges.append(edge)
        rasterized = len(table) > MOST_PIECES
        made = PathCollection(paths, facecolors=faces, edgecolors=edges, linewidths=0.4, rasterized=rasterized)
        made.set_antialiased(True)
        axes.add_collection(made, autolim=False)
        axes.set(xlim=(first, last), ylim=(0, top), ylabel=rows)
        axes.grid(visible=False)
        time_axis(axes, start, zone)
        note = "; ".join(_left_out(table, "which processors a job has"))
        axes.set_xlabel(f"{axes.get_xlabel()}\n{note}" if note else axes.get_xlabel())
        count_axis(axes, "y")
        if on_nodes and machine <= FEW:
            _name_rows(axes, pd.concat([table, outages]))
        elif on_nodes:
            _draw_kinds(axes, table, machine)
        handles, words = [Patch(color=color) for color in colors], kinds["label"].tolist()
        for handle, word in draw_outages(axes, _paths_of(outages, start)):
            handles.append(handle)
            words.append(word)
        letters = float(rcParams["legend.fontsize"]) * 0.5
        columns = int(np.clip(points[0] / (letters * (max(map(len, words)) + 5)), 1, 5))
        where: Any = {
            "loc": "lower left",
            "bbox_to_anchor": (0, 1),
            "ncols": columns,
            "handlelength": 1,
            "borderpad": 0.2,
        }
        axes.legend(handles, words, title=chosen.color, alignment="left", columnspacing=1.0, **where)

    def tell(self, table: pd.DataFrame, chosen: GanttParameters) -> str:
        """Return the window, its runs and its utilization."""
        begin, end = (float(table[name].iloc[0]) for name in ("window_begin", "window_end"))
        table, outages = split_outages(table)
        inside = table["end"].clip(upper=end) - table["start"].clip(lower=begin)
        on_nodes = _is_on_nodes(table)
        held, of_all = ("cores", "machine_cores") if on_nodes else ("processors", "machine")
        used = float((inside * table[held]).sum()) / ((end - begin) * int(table[of_all].iloc[0]))
        what = "cores of these nodes are held" if on_nodes else "processors are in use"
        runs = len(table.drop_duplicates(["job_number", "job_occurrence", "start"]))
        return (
            f"{runs:,} {'run' if runs == 1 else 'runs'} in {duration(end - begin)} from {duration(begin)} after the "
            f"start of the log; {percent(used, digits=1)} of the {what}"
            + "".join(f"; {told}" for told in (*told_of(outages), *_left_out(table, "which ones a job had")))
        )


def _name_rows(axes: Axes, table: pd.DataFrame) -> None:
    """Write the name of each node beside its row."""
    named = table.assign(row=np.floor(table["first_node"])).drop_duplicates("row").sort_values("row")
    axes.set_yticks(named["row"] + 0.5, [name_of(name) for name in named["node"]])


def _draw_kinds(axes: Axes, table: pd.DataFrame, machine: int) -> None:
    """Draw a line where the kind of nodes changes, and beside the picture the names of the kinds that have room."""
    bands = table[["kind", "kind_low", "kind_high"]].drop_duplicates().sort_values("kind_low")
    if len(bands) < 2:
        return
    for kind, low, high in bands.itertuples(index=False, name=None):
        axes.axhline(low, color="black", linewidth=0.6)
        if high - low >= 0.04 * machine:
            beside = axes.get_yaxis_transform()
            axes.text(1.01, (low + high) / 2, name_of(kind), transform=beside, va="center", fontsize="small")


def _shown_nodes(schedule: Schedule, chosen: GanttParameters) -> ShownNodes | None:
    """Return which nodes are shown; None of a pool, which a kind is not asked of."""
    if schedule.machine is None and chosen.kind is None:
        return None
    return shown_nodes(schedule, chosen.kind, chosen.nodes)


def _is_on_nodes(table: pd.DataFrame) -> bool:
    """Return whether a table is of a machine of nodes; beside one that is, that of a pool has its columns empty."""
    return "node" in table and bool(table["node"].notna().all())


def _left_out(table: pd.DataFrame, which: str) -> list[str]:
    """Return what the picture makes up and leaves out, in words; ``which`` says which processors are meant."""
    if not _is_on_nodes(table):
        return [f"{which} is made up"]
    told, others = [], int(table["others"].iloc[0])
    if others:
        told.append(f"the first {int(table['machine'].iloc[0]):,} of {int(table['machine'].iloc[0]) + others:,} nodes")
    if (table["nodes"] % 1 != 0).any():
        told.append("shared nodes by shares of their cores")
    return told


def _runs_of(schedule: Schedule) -> pd.DataFrame:
    """Return the runs that took time, with the row of their job among the jobs, and its wait."""
    runs = schedule.segments
    table = pd.DataFrame(
        {
            "job_number": runs["job_number"].to_numpy(),
            "job_occurrence": runs["job_occurrence"].to_numpy(),
            "start": column_of(runs, "start_time"),
            "end": column_of(runs, "end_time"),
            "width": runs["allocated_processors"].to_numpy(dtype=np.int64, na_value=0),
            "row": rows_of(runs, schedule.jobs) if len(runs) else np.zeros(0, np.int64),
        }
    )
    table["wait"] = column_of(schedule.jobs, "wait_time")[table["row"].to_numpy()]
    return table[(table["end"] > table["start"]) & (table["width"] > 0)]


def _window(runs: pd.DataFrame, chosen: GanttParameters) -> tuple[float, float]:
    """Return from when to when runs are shown; see ``GanttParameters``."""
    if chosen.begin is not None:
        return chosen.begin, chosen.begin + WEEK if chosen.end is None else chosen.end
    if chosen.end is not None:
        return chosen.end - WEEK, chosen.end
    if not len(runs):
        return 0.0, WEEK
    first, last = float(runs["start"].min()), float(runs["end"].max())
    if last - first <= WEEK:
        begin, length = first, last - first
    else:
        begin, length = _busiest(runs, first, WEEK, math.ceil((last - first) / WEEK)), WEEK
    while _count(runs, begin, begin + length) > MOST_RUNS and length > 1.0:
        length /= 2
        begin = _busiest(runs, begin, length, 2)
    return begin, begin + length


def _busiest(runs: pd.DataFrame, first: float, length: float, many: int) -> float:
    """Return when the busiest of some windows begins that follow each other; of equal ones the first."""
    edges = first + length * np.arange(many + 1)
    work = np.zeros(many + 1)
    for name, sign in (("start", 1.0), ("end", -1.0)):
        at, width = runs[name].to_numpy() - first, runs["width"].to_numpy(dtype=float)
        by_time = np.argsort(at, kind="stable")
        before = np.searchsorted(at[by_time], edges - first)
        count, moment = (np.append(0.0, np.cumsum(each[by_time])) for each in (width, width * at))
        work += sign * ((edges - first) * count[before] - moment[before])  # of those that began, the time since
    return float(edges[int(np.argmax(np.diff(work).round(3)))])


def _count(runs: pd.DataFrame, begin: float, end: float) -> int:
    """Return how many runs a window has."""
    return int(((runs["start"] < end) & (runs["end"] > begin)).sum())


def _labels(jobs: pd.DataFrame, runs: pd.DataFrame, by: str, known: Known) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return what colours stand for, in order, and the place of each run among them."""
    if by == "wait":
        waits = np.nan_to_num(runs["wait"].to_numpy())
        return [*_WAITS.values(), "longer"], np.searchsorted(np.array(list(_WAITS)), waits, side="right")
    if by == "width":
        sizes = sizes_of(pd.DataFrame({"allocated_processors": runs["width"], "run_time": 0.0}))
        return sizes.widths, sizes.of_width
    who = jobs.reindex(columns=[f"{by}_id"])[f"{by}_id"]
    is_known = who.notna().to_numpy()
    work = (runs["end"] - runs["start"]) * runs["width"]
    by_work = work[is_known].groupby(who[is_known].to_numpy(), sort=True).sum().sort_values(kind="stable")
    most = by_work.index[::-1][: len(_NAMED)].tolist()
    told = known.get(by, {})
    names = [name_of(told.get(each) or (f"{each:g}" if isinstance(each, float) else each)) for each in most]
    place = {each: number for number, each in enumerate(most)}
    others, unknown = len(_NAMED), len(_NAMED) + 1
    shades = [place.get(each, others) if known else unknown for each, known in zip(who, is_known, strict=True)]
    return [*names, *[""] * (others - len(names)), "others", "unknown"], np.array(shades, dtype=np.int64)


def _colors_of(kinds: pd.DataFrame, *, is_ordered: bool) -> list[Any]:
    """Return a colour for each kind: of an order from dark to bright, else those that differ."""
    from matplotlib import colormaps  # noqa: PLC0415 (an extra)

    shades = kinds["shade"].tolist()
    if is_ordered:
        return [colormaps[SEQUENTIAL](1.0 - shade / max([1, *shades])) for shade in shades]
    return [(*_NAMED, "#CCCCCC", "#E8E8E8")[shade] for shade in shades]


def _turn_of(table: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Return which of the tints each block has: that of its run, in turn by start."""
    run = table[["job_number", "job_occurrence", "start"]]
    begins = (run != run.shift()).any(axis=1).to_numpy(np.int64)
    return np.cumsum(begins) % len(_TINTS)


def _mixed(color: Any, white: float) -> tuple[float, ...]:
    """Return a colour with so much white in it."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415 (an extra)

    return tuple(part + (1.0 - part) * white for part in to_rgb(color))


def _paths_of(outages: pd.DataFrame, start: float | None) -> dict[str, Any]:
    """Return the outages of each kind as one path."""
    paths = {}
    for kind, of_kind in outages.groupby("outage", sort=False):
        left, right = (times_of(of_kind[name], start) for name in ("start", "end"))
        low = of_kind["first_node"].to_numpy(dtype=float)
        paths[str(kind)] = _rectangles(left, right, low, low + of_kind["nodes"].to_numpy(dtype=float))
    return paths


def _rectangles(left: Any, right: Any, low: Any, high: Any) -> Any:
    """Return rectangles as one path, which a file writes in far less room than each by itself."""
    from matplotlib.path import Path  # noqa: PLC0415 (an extra)

    corners = np.stack((left, low, left, high, right, high, right, low, left, low), axis=1).reshape(-1, 2)
    codes = np.tile(np.array([Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY], dtype=np.uint8), len(left))
    return Path(corners, codes)
