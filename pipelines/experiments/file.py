# SPDX-License-Identifier: BSD-3-Clause
"""The file of an experiment: read strictly, so that a slip of the pen is told before any work.

A file ``experiments/NAME.yaml`` is a mapping. Its axes (``axes.AXES``) are lists, or one value; all else is the same
for all cells. The same as a dict is taken in Python.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import Any

from pipelines.experiments.axes import AXES, cells_of
from pipelines.keys import canonical_json
from pipelines.names import check_name
from swftools.errors import ParameterError
from swftools.parameters import did_you_mean
from swftools.parameters.run_option_table import RUN_OPTIONS
from swftools.parameters.strict_yaml import check_keys, read_yaml_file

COMMON = ("augment", "parameters", "rules", "metrics", "unmeasured_queues", "shake_seconds")
"""Parameters of a simulation, or of its measurement, that all cells of an experiment share."""

OTHERS = ("name", "baseline", "exclude", "subsets")
KEYS = (*OTHERS, *AXES, *COMMON)
_OF_RUN = {each.axis: each for each in RUN_OPTIONS.values()}
_WHOLE = ("shakes", "processors", *(axis for axis, each in _OF_RUN.items() if each.is_repetition))
_NUMBERS = ("loads",)
_MAPPINGS = ("policies", "windows")
_LISTS = ("changes",)


@dataclass(frozen=True)
class Experiment:
    """What a file says.

    Parameters
    ----------
    name : str
        By which its data set is called.
    axes : mapping of str to list
        Values by axis; policies and windows may be mappings.
    common : mapping
        Parameters that all cells share.
    baseline : str, optional
        The policy, as the file writes it, that others are compared with; by default the first.
    exclude : list of mapping
        As ``cells_of`` takes it.
    subsets : mapping of str to mapping
        By name, the values of some axes; the others keep theirs.
    """

    name: str
    axes: Mapping[str, list[Any]]
    common: Mapping[str, Any] = field(default_factory=dict)
    baseline: Any = None
    exclude: list[dict[str, list[Any]]] = field(default_factory=list)
    subsets: Mapping[str, dict[str, list[Any]]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All of it as canonical JSON, which ``read_experiment`` takes too."""
        told = {
            "name": self.name,
            **self.axes,
            **self.common,
            **({"baseline": self.baseline} if self.baseline is not None else {}),
            **({"exclude": self.exclude} if self.exclude else {}),
            **({"subsets": self.subsets} if self.subsets else {}),
        }
        return canonical_json(told)

    def cells(self, only: str = "") -> list[dict[str, Any]]:
        """Return the cells, each a value by parameter; with ``only`` those of a subset.

        Raises
        ------
        ParameterError
            There is no such subset, or nothing is left.
        """
        if only and only not in self.subsets:
            known = ", ".join(self.subsets) or "none"
            raise ParameterError(
                f"experiment {self.name}: no subset {only!r}; there are: {known}{did_you_mean([only], self.subsets)}"
            )
        narrower = self.subsets.get(only, {})
        cells = [
            cell
            for cell in cells_of(self.axes, self.exclude)
            if all(cell[AXES[name]] in values for name, values in narrower.items())
        ]
        if not cells:
            where = f"the subset {only!r}" if only else "the product of its axes"
            raise ParameterError(f"experiment {self.name}: {where} is empty; take a line out of exclude")
        return cells


def read_experiment(source: Any) -> Experiment:
    """Read an experiment.

    Parameters
    ----------
    source : str, Path or mapping
        Path of a YAML file; what such a file holds as a mapping, or as JSON.

    Raises
    ------
    ParameterError
        There is no such file, it is not YAML, a key is unknown, a value has another form, a value stands twice on its
        axis, or no cell is left.
    """
    content, where = _content_of(source)
    if not isinstance(content, Mapping):
        raise ParameterError(f"{where}: it must be a mapping with the keys name, logs and policies")
    check_keys(content, KEYS, where)
    for key in ("name", "logs", "policies"):
        if key not in content:
            raise ParameterError(f"{where}: {key} is missing; give name, logs and policies")
    name = content["name"]
    if not isinstance(name, str):
        raise ParameterError(f"{where}: name {name!r} is not a word")
    check_name(name, "experiment")
    content = {**content, "logs": _each_log(content["logs"], where)}
    axes = {axis: _values(content[axis], axis, where) for axis in AXES if axis in content}
    subsets = _mapping(content, "subsets", where)
    listed = content.get("exclude", [])
    if not isinstance(listed, list):
        raise ParameterError(f"{where}: exclude is not a list of mappings")
    experiment = Experiment(
        name,
        {"seeds": [0], **axes},
        {key: content[key] for key in COMMON if key in content},
        content.get("baseline"),
        [_part(rule, axes, f"{where}: exclude, entry {number}") for number, rule in enumerate(listed, 1)],
        {str(key): _part(part, axes, f"{where}: subset {key}") for key, part in subsets.items()},
    )
    if experiment.baseline is not None and experiment.baseline not in axes["policies"]:
        raise ParameterError(f"{where}: baseline {experiment.baseline!r} is none of the policies")
    for only in ("", *experiment.subsets):
        experiment.cells(only)
    if isinstance(source, str | Path) and not str(source).startswith("{"):
        _check_only_one(Path(source), name)
    return experiment


def _content_of(source: Any) -> tuple[Any, str]:
    """Return what a file, text or mapping holds, and what to call it."""
    if isinstance(source, Mapping):
        return source, "experiment"
    if isinstance(source, str) and source.startswith("{"):
        try:
            return json.loads(source), "experiment"
        except (ValueError, RecursionError) as error:
            raise ParameterError(f"experiment: not readable as JSON: {error}") from error
    return read_yaml_file(source, ParameterError, "give the path of a YAML file")[1], str(source)


def _each_log(logs: Any, where: str) -> list[Any]:
    """Return the logs, with a log for each file that an entry ``{each: PATTERN}`` means."""
    found: list[Any] = []
    for log in logs if isinstance(logs, list | tuple) else [logs]:
        if not isinstance(log, Mapping):
            found.append(log)
            continue
        if list(log) != ["each"] or not isinstance(log["each"], str):
            raise ParameterError(f"{where}: logs: {dict(log)!r}: a mapping is written {{each: PATTERN}}")
        files = sorted(glob(str(Path(log["each"]).expanduser())))  # noqa: PTH207 (a Path's own takes no absolute pattern)
        if not files:
            raise ParameterError(f"{where}: logs: no file is like {log['each']!r}; mend the pattern")
        found += files
    return found


def _check_only_one(path: Path, name: str) -> None:
    """Raise ParameterError if another file of the folder has an experiment of the same name: one would hide the other.

    Files that are no experiments are none of its business.
    """
    for other in sorted([*path.parent.glob("*.yaml"), *path.parent.glob("*.yml")]):
        if other.resolve() == path.resolve():
            continue
        try:
            content = read_yaml_file(other, ParameterError, "")[1]
        except ParameterError:
            continue
        if isinstance(content, Mapping) and content.get("name") == name and "policies" in content:
            raise ParameterError(f"{path}: {other} is called {name!r} too; give one of them another name")


def _mapping(content: Mapping[str, Any], key: str, where: str) -> Mapping[Any, Any]:
    """Return a mapping, empty where the key is not there."""
    found = content.get(key, {})
    if not isinstance(found, Mapping):
        raise ParameterError(f"{where}: {key} is not a mapping")
    return found


def _part(part: Any, axes: Mapping[str, list[Any]], where: str) -> dict[str, list[Any]]:
    """Return some values of some axes; each must be on its axis."""
    if not isinstance(part, Mapping) or not part:
        raise ParameterError(f"{where}: it is not a mapping of axes to values")
    check_keys(part, list(axes), where)
    chosen = {str(axis): _values(values, str(axis), where) for axis, values in part.items()}
    for axis, values in chosen.items():
        for value in values:
            if value not in axes[axis]:
                raise ParameterError(f"{where}: {value!r} is not on the axis {axis}")
    return chosen


def _values(given: Any, axis: str, where: str) -> list[Any]:
    """Return the values of an axis, checked for their type."""
    values = list(given) if isinstance(given, list | tuple) else [given]
    if not values:
        raise ParameterError(f"{where}: {axis} is empty; give at least one value, or leave the axis out")
    for value in values:
        if axis in _WHOLE:
            is_fine, form = isinstance(value, int) and not isinstance(value, bool) and value >= 0, "a whole number >= 0"
        elif axis in _NUMBERS:
            is_fine, form = (
                isinstance(value, int | float) and not isinstance(value, bool) and value >= 0,
                "a number >= 0",
            )
        elif axis in _OF_RUN and _OF_RUN[axis].type is not str:
            is_fine, form = _OF_RUN[axis].domain.admits(value), _OF_RUN[axis].domain.words
        elif axis in _OF_RUN and isinstance(_OF_RUN[axis].default, float):
            is_fine = isinstance(value, str | int | float) and not isinstance(value, bool)
            form = f"{_OF_RUN[axis].forms[0]} or a text"
        elif axis in _MAPPINGS:
            is_fine, form = isinstance(value, str | Mapping), "a text or a mapping"
        elif axis in _LISTS:
            texts = value if isinstance(value, list) else [value]
            is_fine, form = all(isinstance(text, str) for text in texts), "a text or a list of texts"
        else:
            is_fine, form = isinstance(value, str) and value != "", "a text"
        if not is_fine:
            raise ParameterError(f"{where}: {axis}: {value!r} is not {form}")
    for number, value in enumerate(values):
        if value in values[:number]:
            raise ParameterError(f"{where}: {axis}: {value!r} stands there twice")
    return values
