# SPDX-License-Identifier: BSD-3-Clause
"""What a saved state is asked about a job of a group: which group, which cluster, by which method.

``swftools.qbets.prediction`` asks it of waits, ``swftools.reservations`` of starts by a time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray
from swftools.named import kind_of, named_groups
from swftools.parameters import did_you_mean, is_number, is_whole
from swftools.parameters.as_text import read_entry
from swftools.qbets.change_points import (
    rare_events,
)
from swftools.qbets.known_queue import KnownQueue, check_numbers, nothing_known
from swftools.qbets.live_methods import (
    FIRST_WAIT,
    LiveBinomial,
    LiveBound,
    LiveCluster,
    LiveMethod,
    LiveObject,
    kept_waits,
)
from swftools.qbets.saved_state import SavedState

SHOWN = 20
"""Groups that a message lists."""

EVERYBODY = "all"
"""What the one group of all jobs is called."""

OPTIONS = {
    "requested_time": ("requested_time",),
    "requested_processors": ("processors",),
    "requested_work": ("requested_time", "processors"),
}
"""What must be said of a job to know its explanatory variable."""


def check_state(saved: SavedState, method: object) -> None:
    """Refuse a state of a rival, and one of somebody's own object without that."""
    about = saved.about
    if saved.is_of_rival:
        raise ParameterError(
            f"{saved.name} is of the rival {about['name']}, which needs to know the jobs that wait and run at a "
            "submission, so it cannot predict for a job that is in no log; replay the log with it, or use the state of "
            "a bound"
        )
    if about["method"] is None and method is None:
        raise ParameterError(
            f"{saved.name} was made with an object, {about['name']}, which is not in the file: in Python, pass "
            "method= to predict_wait"
        )
    if method is not None:
        from swftools.qbets.methods import check_given  # noqa: PLC0415 (takes a second)

        check_given(saved.name, about["method"], method)
    with saved.refusing():
        check_parameters(about["parameters"])


def check_parameters(chosen: Mapping[str, Any]) -> None:
    """Refuse parameters of a saved state that no predictor has, by ParameterError.

    They are those of ``ReplayParameters``, which takes a second to load.
    """
    if set(chosen) != {*_FRACTIONS, *_TRUTHS, *_WHOLE, *_WORDS, "rare_events"}:
        raise ParameterError(f"parameters {sorted(chosen)} are others than a predictor has")
    checks = (
        (_FRACTIONS, lambda value, _: is_number(value) and 0.0 < value < 1.0),
        (_TRUTHS, lambda value, _: isinstance(value, bool)),
        (_WHOLE, lambda value, name: is_whole(value, *_WHOLE[name])),
        (_WORDS, lambda value, name: value in _WORDS[name]),
    )
    for names, is_fine in checks:
        for name in names:
            if not is_fine(chosen[name], name):
                raise ParameterError(f"{name}={chosen[name]!r:.40} is none that a predictor has")
    rare_events(chosen["rare_events"])
    for name, confidence in (("quantile", chosen["confidence"]), ("availability_quantile", 0.95)):
        if math.log1p(-confidence) / math.log(chosen[name]) > _MOST_WAITS:
            raise ParameterError(f"{name}={chosen[name]!r}: a bound needs more waits than a log has")


_FRACTIONS = ("quantile", "confidence", "availability_quantile")
_TRUTHS = ("trimming", "clustering", "availability")
_WHOLE = {"cluster_every": (1, 10**9), "most_clusters": (1, 100), "training": (0, 10**9)}
_WORDS = {"explanatory": tuple(OPTIONS), "unavailable_if": ("either", "both")}
_MOST_WAITS = 10**7


def known_of(saved: SavedState, label: str) -> KnownQueue:
    """Return what is known of a group.

    Raises
    ------
    StateError
        No replay leaves that.
    """
    known: KnownQueue = saved.known(label, nothing_known())
    if not saved.is_trusted:  # the check takes longer than an answer
        with saved.refusing(f"group {label!r}: "):
            check_numbers(known)
    return known


def label_of(saved: SavedState, group: str | Mapping[str, object] | None) -> str:
    """Return the group that is meant, as the state calls it: by numbers, where the log has names behind them.

    A text is a group as the state calls it, or else by names: ``3/17``, ``batch/17``. A text for one column, as for
    ``queue``, is a name first, since logs have names that look like numbers.

    Raises
    ------
    ParameterError
        There is no such group; or a name is that of several numbers.
    """
    by, labels = saved.about["by"], saved.labels
    if isinstance(group, Mapping):
        _check_columns(saved, group)
        said = "/".join(str(group[name]) for name in by) if by else EVERYBODY
        found = "/".join(_number_of(saved, name, group[name]) for name in by)
        meant = found if found in labels else said
    elif group is None:
        said = meant = _only_group(saved)
    else:
        said = meant = str(group)
        if said not in labels:
            parts = said.split("/") if len(by) > 1 else [said]
            meant = "/".join(map(partial(_number_of, saved), by, parts)) if len(parts) == len(by) else said
    if meant in labels:
        return meant
    names = _named(saved)
    there_are = f"there are: {_listed(names)}" if names else "nothing was replayed"
    raise ParameterError(
        f"{saved.name} knows no {'/'.join(by) or 'group'} {said!r}; {there_are}{did_you_mean([said], names)}"
    )


def _check_columns(saved: SavedState, group: Mapping[str, object]) -> None:
    """Refuse a group that is not told by what the state groups jobs by."""
    by = saved.about["by"]
    more, missing = [name for name in group if name not in by], [name for name in by if name not in group]
    if more or missing:
        wrong = f"leave out {', '.join(more)}" if more else f"say {', '.join(missing)} too"
        raise ParameterError(f"{saved.name} has {f'groups by {_all(by)}' if by else 'all jobs in one group'}: {wrong}")


def _only_group(saved: SavedState) -> str:
    """Return the group that is meant where nobody says which; refuse a choice between several."""
    by, labels = saved.about["by"], saved.labels
    if by and len(labels) != 1:
        raise ParameterError(f"{saved.name} has groups by {_all(by)}: say which; there are: {_listed(_named(saved))}")
    return labels[0] if by else EVERYBODY


def _named(saved: SavedState) -> list[str]:
    """Return the groups of a state by the names that the log has."""
    return list(named_groups(saved.labels, saved.about["by"], saved.names).values())


def _number_of(saved: SavedState, column: str, value: object) -> str:
    """Return the number behind a name, of a column that jobs are grouped by; what is no name stays."""
    kind = kind_of(column)
    found = [number for number, name in saved.names.get(kind, {}).items() if name == value]
    if len(found) > 1:
        numbers = ", ".join(map(str, found))
        raise ParameterError(f"{saved.name}: several {kind}s are called {value!r}; give the number: {numbers}")
    return str(found[0]) if found else str(value)


def explanatory_of(
    saved: SavedState, name: str, processors: int | None, requested_time: float | None, *, is_needed: bool
) -> float | None:
    """Return the explanatory variable of a job; None if it is not known, and not needed."""
    given = {"processors": processors, "requested_time": requested_time}
    missing = [option for option in OPTIONS[name] if given[option] is None]
    if not missing:
        return math.prod(float(given[option] or 0.0) for option in OPTIONS[name])
    if is_needed:
        asked = " and ".join(f"{option} (--{option.replace('_', '-')})" for option in missing)
        raise ParameterError(f"{saved.name} tells jobs of that group apart by {name.replace('_', ' ')}: give {asked}")
    return None


def starts_of(known: KnownQueue) -> FloatArray:
    """Return when the jobs start that wait, s."""
    return known.waiting.submit + known.waiting.wait


def start_until(known: KnownQueue, cluster: LiveCluster, time: float) -> int:
    """Let the jobs start that do by a time, and a cluster learn the waits of its own; return how many start."""
    start = starts_of(known)
    order = np.lexsort((np.arange(len(start)), start))
    started = order[start[order] <= time]
    for job in started.tolist():
        if cluster.cluster_of(known.waiting.x[job]) == cluster.place:
            cluster.learn(float(known.waiting.wait[job]), float(known.waiting.told[job]), float(start[job]))
    return len(started)


def method_of(saved: SavedState, known: KnownQueue, cluster: LiveCluster, method: Any) -> LiveMethod:
    """Return the method of a state, with the waits that a cluster keeps."""
    begin = int(known.history.places[: cluster.place].sum())
    state = known.history.states[begin : begin + int(known.history.places[cluster.place])]
    quantile = saved.about["parameters"]["quantile"]
    if saved.about["method"] is None:
        kept = cluster.newest() if cluster.is_renewed else [*state[FIRST_WAIT:].tolist(), *cluster.new]
        return LiveObject(method, kept, quantile)
    with saved.refusing():
        name, given = read_entry(saved.about["method"])
        if name == "binomial":
            return LiveBinomial(kept_waits(cluster, state[FIRST_WAIT:]), given)
        return LiveBound(saved.about["method"], state, cluster, quantile)


def date_of(saved: SavedState, seconds: float) -> str | None:
    """Return a moment in words, if the log said when it began."""
    start = saved.about["start"]
    if start is None or not math.isfinite(seconds):
        return None
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=start + seconds)
    except OverflowError:
        return None
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _all(by: Sequence[str]) -> str:
    """Return what jobs are grouped by, in words."""
    return " and ".join(by)


def _listed(labels: Sequence[str]) -> str:
    """Return groups in words, not too many."""
    more = len(labels) - SHOWN
    return ", ".join(labels[:SHOWN]) + (f" and {more} more" if more > 0 else "")
