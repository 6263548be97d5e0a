# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison of candidates comes to, in sentences: each has its figure, and says where nothing is certain."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

import pandas as pd

from pipelines.experiments.blocks import LEAST, LEAST_OF_GROUP
from pipelines.experiments.candidates import AS_IT_IS, CandidateStudy
from swftools.output.amounts import amount, counted, difference, duration, number
from swftools.simulator.logged import LOGGED
from swftools.waits.study import ALL

MOST_GROUPS = 5
"""Groups that a sentence names."""

COLUMNS = ("candidate", "kind", "sentence")

Row = dict[str, Any]


def advice_of(study: CandidateStudy, beside: str = "") -> pd.DataFrame:
    """Return the sentences, a row each.

    Parameters
    ----------
    study : CandidateStudy
        What was compared.
    beside : str
        What is said of the simulation as it is beside the log (``beside_log``); empty where both are near, or the log
        tells no waits.

    Returns
    -------
    pandas.DataFrame
        ``candidate`` (missing: of all), ``kind`` (belief, best, wait, cost, left_out, loses, gains), ``sentence``.
    """
    table = study.candidates
    names = [name for name in table["candidate"].drop_duplicates() if name not in (LOGGED, AS_IT_IS)]
    rows = [(None, "best", _best(study, names)), (None, "belief", _belief(table, beside))]
    for name in names:
        own = table[table["candidate"] == name]
        rows += [(name, kind, sentence) for kind, sentence in _of_candidate(own, study)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _one(table: pd.DataFrame, measure: str, statistic: str) -> Row:
    """Return the row of a measure of all jobs."""
    is_it = (table["classed_by"] == ALL) & (table["measure"] == measure) & (table["statistic"] == statistic)
    return {str(name): value for name, value in table[is_it].iloc[0].items()}


def _best(study: CandidateStudy, names: list[str]) -> str:
    """Return which candidate shortens waits most; or that none is told apart."""
    table = study.candidates
    waits = {name: _one(table[table["candidate"] == name], "wait", "mean") for name in names}
    base = _one(table[table["candidate"] == AS_IT_IS], "wait", "mean")
    if not study.noise:
        return (
            f"Of {counted(len(names), 'candidate')} none can be told from noise: fewer than {LEAST} days of the log "
            f"have jobs, and it takes {LEAST_OF_GROUP} phases to do without; take every difference below as one draw."
        )
    helps = {name: row for name, row in waits.items() if row["is_told_apart"] and row["difference"] < 0}
    if not helps:
        return (
            f"Of {counted(len(names), 'candidate')} none shortens the mean wait of {duration(base['value'])} by more "
            "than noise."
        )
    best = min(helps, key=lambda name: float(helps[name]["difference"]))
    row = helps[best]
    said = (
        f"Of {counted(len(names), 'candidate')} {len(helps)} shorten{'s' if len(helps) == 1 else ''} the mean wait by "
        f"more than noise; most does {best}: {_between(row)}."
    )
    near = [name for name, other in helps.items() if name != best and other["low"] <= row["high"]]
    if near:
        alike = f"these {len(near) + 1} may be as good as each other"
        said += f" Its interval overlaps with that of {', '.join(near)}: {alike}."
    return said


def _belief(table: pd.DataFrame, beside: str) -> str:
    """Return how near the simulation is to the log."""
    base = _one(table[table["candidate"] == AS_IT_IS], "wait", "mean")
    if beside:
        return (
            f"The simulation is far from the log: {beside}. So take from what follows which way waits go, and not by "
            "how much."
        )
    logged = table[table["candidate"] == LOGGED]
    if not len(logged):
        return (
            f"How near the mean wait as simulated, {duration(base['value'])}, is to the real one cannot be said: the "
            "log tells no waits, or other jobs were simulated."
        )
    wait = _one(logged, "wait", "mean")["value"]
    apart = f"{max(base['value'], wait) / min(base['value'], wait):.3g}" if min(base["value"], wait) > 0 else "a few s"
    return (
        f"The simulation is near the log: its mean wait is {duration(base['value'])}, by the log {duration(wait)}, a "
        f"factor of {apart}."
    )


def _of_candidate(own: pd.DataFrame, study: CandidateStudy) -> Iterator[tuple[str, str]]:
    """Yield the sentences on a candidate."""
    wait = _one(own, "wait", "mean")
    yield "wait", _of_wait(wait, study.noise)
    if cost := _cost(own, wait):
        yield "cost", cost
    left_out = int(_one(own, "left_out", "count")["difference"])
    if left_out:
        more = "more" if left_out > 0 else "fewer"
        yield "left_out", f"{counted(abs(left_out), 'job')} {more} cannot run at all, and count in no wait."
    groups = own[own["classed_by"] != ALL]
    if len(groups) and study.noise and wait["jobs"]:
        yield from _of_groups(groups, study.noise)


def _of_wait(row: Row, noise: str) -> str:
    """Return what becomes of the mean wait."""
    if not row["jobs"]:
        return "No job runs both with it and without, so 0 waits are compared."
    if row["difference"] == 0 and not (row["low"] < 0 or row["high"] > 0):
        return f"The mean wait of {counted(int(row['jobs']), 'job')} stays {duration(row['value'])}."
    way = "less" if row["difference"] < 0 else "longer"
    if not noise:
        return f"Jobs wait {_between(row)}; whether that is more than noise cannot be told."
    if row["is_told_apart"]:
        return f"Jobs wait {way}, by more than noise: {_between(row)}."
    if isnan(row["adjusted_p_value"]):
        return f"Jobs wait {_between(row)}; waits differ in too few {noise} to tell whether that is more than noise."
    return f"Nothing certain: {_between(row)}, which may be chance."


def _between(row: Row) -> str:
    """Return the values, their difference with its interval, and by what it was judged."""
    like = max(abs(row["value"]), abs(row["baseline_value"]))
    said = (
        f"{amount(row['value'], row['unit'], like)} on average in place of "
        f"{amount(row['baseline_value'], row['unit'], like)}"
    )
    inner = [difference(row["difference"], row["unit"])]
    if row["low"] == row["low"]:
        longest = max(abs(row["low"]), abs(row["high"]))
        low, high = (difference(row[end], row["unit"], longest) for end in ("low", "high"))
        inner.append(f"95 % interval {low} to {high}")
    if row["adjusted_p_value"] == row["adjusted_p_value"]:
        inner.append(f"adjusted p {row['adjusted_p_value']:.2g}")
    return f"{said} ({', '.join(inner)})"


def _cost(own: pd.DataFrame, wait: Row) -> str:
    """Return what a candidate costs, and what it saves for that; nothing where the machine stays as large."""
    size, total, waited = (_one(own, *key) for key in (("machine", "size"), ("machine", "total"), ("waited", "total")))
    energy = _one(own, "energy", "total")
    more = float(energy["difference"])
    of_energy = "" if isnan(more) else f"{difference(more, 'kWh')} of energy"
    if size["difference"] == 0:
        return f"It takes no other machine, and {of_energy}." if of_energy and more else ""
    unit = size["unit"].removesuffix("s")
    nodes = f"{counted(abs(int(size['difference'])), unit)} {'more' if size['difference'] > 0 else 'fewer'}"
    said = f"It takes {nodes}, {difference(total['difference'], total['unit'])} over the log"
    said += f" and {of_energy}" if of_energy else ""
    change = float(waited["difference"])
    if total["difference"] > 0 and change < 0 and wait["is_told_apart"]:
        each = -change / float(total["difference"])
        return f"{said}; {number(-change)} {waited['unit']} less are waited, {number(each)} for each that is added."
    if change == 0:
        return f"{said}; the {number(waited['value'])} {waited['unit']} that are waited stay."
    return f"{said}; {difference(change, waited['unit'])} are waited."


def _of_groups(groups: pd.DataFrame, noise: str) -> Iterator[tuple[str, str]]:
    """Yield who loses and who gains by more than noise."""
    judged = int(groups["adjusted_p_value"].notna().sum())
    if not judged and (groups["difference"] != 0).any():
        many = counted(len(groups), "group")
        yield (
            "loses",
            f"Waits of none of {many} differ in enough {noise} to say who loses; {LEAST_OF_GROUP} are the least.",
        )
    if not judged:
        return
    told = groups[groups["is_told_apart"]]
    for kind, way, chosen in (
        ("loses", "longer", told[told["difference"] > 0].sort_values("difference", ascending=False, kind="stable")),
        ("gains", "less", told[told["difference"] < 0].sort_values("difference", kind="stable")),
    ):
        if not len(chosen):
            if kind == "loses":
                yield kind, f"None of {counted(judged, 'group')} that could be judged waits longer by more than noise."
            continue
        named = [
            f"{row['classed_by']} {row['job_class']} ({duration(row['value'])}, which is "
            f"{difference(row['difference'], 's')}; {counted(int(row['jobs']), 'job')})"
            for row in chosen.head(MOST_GROUPS).to_dict("records")
        ]
        more = f", and {len(chosen) - len(named)} more" if len(chosen) > len(named) else ""
        waits = f"{'waits' if len(chosen) == 1 else 'wait'} {way} by more than noise"
        yield kind, f"{len(chosen)} of {counted(judged, 'group')} {waits}: {'; '.join(named)}{more}."
