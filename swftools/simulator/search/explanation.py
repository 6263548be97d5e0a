# SPDX-License-Identifier: BSD-3-Clause
"""What an explained decision is: its figures, in words of at most 80 columns, and as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.output.amounts import duration, percent
from swftools.output.figure import new_figure
from swftools.output.shown_text import WIDTH
from swftools.simulator.placement import on_processors
from swftools.simulator.planning import LEAST_TIME
from swftools.simulator.search.search_parameters import Searching

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_JOBS = 20
"""So many jobs are shown; of the others it is said how many there are."""

_NAMED = 4  # jobs that a sentence names before it counts the others


@dataclass(frozen=True, eq=False)
class Explanation:
    """One decision of a search; ``str`` tells of it in lines of at most 80 columns, ``draw`` shows it.

    Parameters
    ----------
    decision : int
        Which one of the schedule, from 0.
    time : float
        Its instant, s.
    parameters : Searching
        Of the policy: what it wants, with which order it begins, and how it searches.
    nodes, paths : int
        How many placements of a job were tried, and how many whole orders of the waiting jobs. Where orders are bred:
        how many orders there were, and how many of them were planned, each once.
    is_exhausted : bool
        Nothing was left to search.
    processors : int
        Size of the machine.
    measures : pandas.DataFrame
        One row for each measure of the objective: ``measure`` as it stands there, and its values under the heuristic's
        order (``heuristic``) and under the one that was chosen (``chosen``).
    jobs : pandas.DataFrame
        One row for each waiting job, in the chosen order: keys, ``submit_time``, ``waited`` (s, so far),
        ``processors``, ``estimated_time`` (s), ``heuristic_place`` and ``chosen_place`` (from 0),
        ``heuristic_planned_start`` and ``planned_start`` (s), ``is_started``, at this decision. What the job asks for
        is missing where it had not ended when a partial schedule was made.
    running : pandas.DataFrame
        One row for each job that ran: keys, ``start_time``, ``expected_end`` (s) and ``processors``. In a partial
        schedule those are not there that had not ended.
    improvements : pandas.DataFrame
        One row each time that a better order was found, and first one for the heuristic's: ``nodes``, ``iteration`` of
        the traversal, or the generation, and a column for each measure. No rows where they were not kept.
    generations : pandas.DataFrame
        Where orders are bred, one row for each generation: ``generation``, ``best`` and ``mean``, what the best order
        so far and those of the generation in the mean are worth, or cost by the first measure. No rows else.
    """

    decision: int
    time: float
    parameters: Searching
    nodes: int
    paths: int
    is_exhausted: bool
    processors: int
    measures: pd.DataFrame
    jobs: pd.DataFrame
    running: pd.DataFrame
    improvements: pd.DataFrame
    generations: pd.DataFrame

    def __str__(self) -> str:
        return "\n".join(line for part in _told(self) for line in _wrapped(part))

    def draw(self) -> Figure:
        """Draw what the search found, node by node, and the two plans.

        On the left, for each measure, its value under the best order so far, by the nodes visited. On the right, who
        has the processors from this instant on, as the chosen order plans it and as the heuristic's would: grey who
        runs, a job of equal colour in both, with an edge who started.

        Raises
        ------
        MissingLibraryError
            matplotlib is not installed.
        """
        times = self.jobs["estimated_time"]
        ends = times.where(times > 0, LEAST_TIME)
        jobs = self.jobs.assign(
            end=self.jobs["planned_start"] + ends, heuristic_end=self.jobs["heuristic_planned_start"] + ends
        )
        return draw_search(
            *(self.time, self.processors, self.nodes, self.parameters.baseline, self.parameters.visited),
            *(self.measures, jobs, self.running, self.improvements),
        )


def _told(found: Explanation) -> Iterator[str]:
    """Yield what is told of a decision: sentences, and lines of tables."""
    number, started = f"Decision {found.decision:,} of the search", int(found.jobs["is_started"].sum())
    waited = f"{_count(len(found.jobs), 'job')} waited, {started:,} of them started"
    yield f"{number}, at {found.time:,.10g} s: {waited}."
    wanted = f"the best by {found.parameters.objective}" if found.parameters.aim else "as much utility as can be"
    yield f"Wanted: {wanted}."
    yield ""
    yield from _measure_lines(found)
    yield ""
    yield from _search_lines(found)
    yield from _turn_lines(found)
    yield ""
    yield from _job_lines(found)


def _wrapped(part: str) -> list[str]:
    """Return a sentence in lines; a line of a table, which begins with a blank, as it is."""
    return textwrap.wrap(part, WIDTH, break_on_hyphens=False) if part[:1] not in ("", " ") else [part]


def _measure_lines(found: Explanation) -> list[str]:
    """Return a table of the measures under both orders."""
    rows = [["", found.parameters.baseline, "chosen order", "change"]]
    for name, heuristic, chosen in found.measures.itertuples(index=False):
        rows.append([_short(name, 32), _value(heuristic), _value(chosen), _change(heuristic, chosen)])
    return _table(rows, left=1)


def _search_lines(found: Explanation) -> Iterator[str]:
    """Yield what was searched, and when the best was found."""
    rest = "nothing was left to search" if found.is_exhausted else "there are more"
    tried = _count(found.nodes, found.parameters.visited[:-1])
    yield found.parameters.manner(tried, _count(found.paths, "whole order"), rest)
    if len(found.generations):
        yield from _generation_lines(found)
    if len(found.improvements) > 1:
        last = found.improvements.iloc[-1]
        times = _count(len(found.improvements) - 1, "time")
        step = "generation" if len(found.generations) else "iteration"
        tried = _count(int(last["nodes"]), found.parameters.visited[:-1])
        when = f"after {tried}, in {step} {int(last['iteration'])}"
        yield f"A better one was found {times}, at last {when}."


def _generation_lines(found: Explanation) -> Iterator[str]:
    """Yield a table of some generations: the first, the last, and a few on the way, ever further apart."""
    last = int(found.generations["generation"].iloc[-1])
    shown = sorted({0, *(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if step < last), last})
    rows = [["generation", "best so far", "mean"]]
    for number, best, mean in found.generations[found.generations["generation"].isin(shown)].itertuples(index=False):
        rows.append([f"{int(number):,}", _value(best), _value(mean)])
    yield from _table(rows)


def _turn_lines(found: Explanation) -> Iterator[str]:
    """Yield what became of the jobs by the chosen order: who started, who would have, who goes ahead of others."""
    jobs, places = found.jobs, found.jobs["heuristic_place"].to_numpy()
    if (np.diff(places) > 0).all():
        yield f"None of them is better by the objective than the {found.parameters.baseline}, which is kept."
        return
    is_ahead = places > np.minimum.accumulate(places[::-1])[::-1]
    starts = jobs["is_started"].to_numpy()
    would = (jobs["heuristic_planned_start"] <= found.time).to_numpy()
    yield from _of_some(found, np.flatnonzero(starts), "started", is_ahead)
    yield from _of_some(found, np.flatnonzero(would & ~starts), "would have started", is_ahead)
    yield from _of_some(found, np.flatnonzero(is_ahead & ~would & ~starts), "went ahead of others", is_ahead)


def _of_some(
    found: Explanation, places: npt.NDArray[np.intp], what: str, is_ahead: npt.NDArray[np.bool_]
) -> Iterator[str]:
    """Yield a sentence about the job at each of some places of the chosen order, the first few of many."""
    before = found.jobs["heuristic_place"].to_numpy()
    for place in places[:_NAMED]:
        job = found.jobs.iloc[place]
        planned, other = (_when(job[name], found.time) for name in ("planned_start", "heuristic_planned_start"))
        if job["is_started"]:
            so = "started, as it would either way" if other == "now" else f"started; else it would {other}"
        elif planned == "now":  # on processors of a job that should have ended
            so = "is to start as soon as there is room"
        elif other == "now":
            so = f"would have started, but is to start {planned}"
        else:
            so = f"is to start {planned}" + (" either way" if other == planned else f", instead of {other}")
        behind = place + np.flatnonzero(before[place:] < before[place])
        went = f"went ahead of {_listed(found.jobs, behind)}, and " if is_ahead[place] else ""
        yield f"Job {_name(job)} {went}{so}."
    if len(places) > _NAMED:
        yield f"And {_count(len(places) - _NAMED, 'more job')} {what}."


def _job_lines(found: Explanation) -> Iterator[str]:
    """Yield a table of the jobs in the chosen order: those that started, and of the others the first."""
    order = found.jobs.assign(waits=~found.jobs["is_started"]).sort_values(["waits", "chosen_place"])
    shown = order.head(MOST_JOBS).sort_values("chosen_place")
    short = found.parameters.baseline.removeprefix("order of ")
    rows = [["place", short, "job", "width", "waited", "estimate", "starts", f"by {short}"]]
    for _, job in shown.iterrows():
        rows.append(
            [
                *(f"{job['chosen_place'] + 1:,}", f"{job['heuristic_place'] + 1:,}", _short(_name(job))),
                "?" if pd.isna(job["processors"]) else f"{int(job['processors']):,}",
                *(duration(job["waited"]), duration(job["estimated_time"])),
                "started" if job["is_started"] else _when(job["planned_start"], found.time),
                _when(job["heuristic_planned_start"], found.time),
            ]
        )
    yield from _table(rows)
    if len(shown) < len(order):
        yield f"  and {_count(len(order) - len(shown), 'more job')}"


def _table(rows: Sequence[Sequence[str]], left: int = 0) -> list[str]:
    """Return rows as lines whose cells are as wide as their column; all stand right but the first ``left`` columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    gap = "  " if sum(widths) + 2 * len(widths) <= WIDTH else " "
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        cells[:left] = [cell.ljust(width) for cell, width in zip(row[:left], widths[:left], strict=True)]
        lines.append((gap + gap.join(cells)).rstrip())
    return lines


def _name(job: pd.Series[Any]) -> str:
    """Return what a job is called: its number; if an earlier job of the log has it too, which one it is."""
    again = int(job["job_occurrence"])
    return f"{job['job_number']}#{again + 1}" if again else f"{job['job_number']}"


def _short(name: str, most: int = 12) -> str:
    """Return a name, or the end of it where it is too long for a table."""
    return name if len(name) <= most else f"...{name[3 - most :]}"


def _listed(jobs: pd.DataFrame, places: Sequence[int] | npt.NDArray[np.intp]) -> str:
    """Return the jobs at some places as a part of a sentence, the first few of many."""
    shown = len(places) if len(places) <= _NAMED else _NAMED - 1
    names = [_name(jobs.iloc[place]) for place in places[:shown]]
    last = names.pop() if shown == len(places) else f"{len(places) - shown:,} more"
    return f"{', '.join(names)} and {last}" if names else last


def _count(number: int, what: str) -> str:
    """Return a number of things."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _value(value: float) -> str:
    """Return a value of a measure."""
    return f"{value:,.1f}" if 1e3 <= abs(value) < 1e9 else f"{value:.4g}"


def _change(before: float, after: float) -> str:
    """Return by how much a measure changes, in words."""
    if after == before:
        return "none"
    word = "less" if after < before else "more"
    share = f" ({percent(abs(after - before) / before, digits=1)})" if before > 0 else ""
    return f"{_value(abs(after - before))} {word}{share}"


def _when(planned: float, time: float) -> str:
    """Return when a job is planned to start, as seen from the decision."""
    return "now" if planned <= time else f"in {duration(planned - time)}"


_COLORS = [*range(14), *range(16, 20)]  # of the map tab20 those that are not grey
_EDGES: dict[bool, dict[str, Any]] = {
    False: {"edgecolor": "white", "linewidth": 0.5},
    True: {"edgecolor": "black", "linewidth": 1.2, "zorder": 2},
}


def draw_search(
    time: float,
    processors: int,
    nodes: int,
    baseline: str,
    visited: str,
    measures: pd.DataFrame,
    jobs: pd.DataFrame,
    running: pd.DataFrame,
    improvements: pd.DataFrame,
) -> Figure:
    """Draw what a search found, node by node, and its two plans; the arguments are fields of ``Explanation``.

    ``jobs`` has ``end`` and ``heuristic_end`` beside, when each job is planned to end (s). Jobs of which too little is
    known are left out.

    Raises
    ------
    MissingLibraryError
        matplotlib is not installed.
    """
    figure = new_figure(11, 4.5)
    grid = figure.add_gridspec(len(measures), 3, width_ratios=(1, 1.2, 1.2))
    before = None
    for place, (name, heuristic, _) in enumerate(measures.itertuples(index=False)):
        before = figure.add_subplot(grid[place, 0], sharex=before)
        _draw_progress(before, str(name), float(heuristic), improvements, nodes)
        before.tick_params(which="both", labelbottom=place == len(measures) - 1)
    if before is not None:
        before.set_xlabel(f"{visited} tried")
    held = running[running["expected_end"] > time].assign(planned_start=time, end=running["expected_end"])
    held = held.assign(heuristic_planned_start=time, heuristic_end=held["end"], color=-1, is_started=False)
    known = jobs.assign(color=np.resize(_COLORS, len(jobs))).dropna(subset=["processors", "end"])
    both = pd.concat([held, known], ignore_index=True)
    last = both[["end", "heuristic_end"]].max().max() - time if len(both) else 1.0
    unit, length = ("hours", 3600.0) if last > 7200 else ("s", 1.0)
    chosen = figure.add_subplot(grid[:, 1])
    other = figure.add_subplot(grid[:, 2], sharex=chosen, sharey=chosen)
    for axes, prefix, title in ((chosen, "", "chosen order"), (other, "heuristic_", baseline)):
        starts, ends = (both[f"{prefix}{column}"].to_numpy(dtype=float) for column in ("planned_start", "end"))
        _draw_plan(axes, both, (starts - time) / length, (ends - time) / length, processors)
        axes.set(title=title, xlabel=f"{unit} from now", xlim=(0, last / length), ylim=(0, processors))
    chosen.set_ylabel("processors")
    other.tick_params(labelleft=False)
    return figure


def _draw_progress(axes: Axes, name: str, heuristic: float, improvements: pd.DataFrame, nodes: int) -> None:
    """Draw a measure under the best order so far, by what was tried, and under the heuristic's order."""
    axes.axhline(heuristic, color="grey", linestyle=":")
    if len(improvements):
        found = improvements["nodes"].to_numpy(dtype=float)
        values = improvements[name].to_numpy(dtype=float)
        last = max(nodes, found[-1])
        axes.step(np.append(found, last), np.append(values, values[-1]), where="post")
        axes.plot(found[1:], values[1:], ".", color="C0")
        if last > 20 * found[0]:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:,.0f}")  # a power would be a formula, which a style may turn off
            axes.xaxis.set_minor_formatter("")
    axes.set_ylabel(name)


def _draw_plan(
    axes: Axes,
    jobs: pd.DataFrame,
    starts: npt.NDArray[np.float64],
    ends: npt.NDArray[np.float64],
    processors: int,
) -> None:
    """Draw which job has which processors, from when to when; whoever gets much room is named."""
    from matplotlib import colormaps  # noqa: PLC0415 (an extra)

    axes.set_axisbelow(True)
    colors: Any = colormaps["tab20"]
    room = float(ends.max(initial=0.0)) * processors
    numbers, shades, edges = (jobs[name].tolist() for name in ("job_number", "color", "is_started"))
    for job, pieces in on_processors(starts, ends, jobs["processors"].to_numpy(dtype=np.int64), processors):
        color = "lightgrey" if shades[job] < 0 else colors(shades[job])
        time = ends[job] - starts[job]
        for low, high in pieces:
            axes.broken_barh([(starts[job], time)], (low, high - low), facecolor=color, **_EDGES[edges[job]])
        low, high = max(pieces, key=lambda piece: piece[1] - piece[0])
        if shades[job] >= 0 and time * (high - low) > room / 100:
            middle = (starts[job] + time / 2, (low + high) / 2)
            axes.annotate(str(numbers[job]), middle, ha="center", va="center", fontsize=7, clip_on=True)
