"""Measures of planned schedules, by name."""

from __future__ import annotations

from dataclasses import dataclass

from swftools.names import Names


@dataclass(frozen=True)
class PlannedMeasure:
    """A measure of a planned schedule: its name, and whether it takes a threshold."""

    name: str
    takes_threshold: bool


_MEASURES: Names[PlannedMeasure] = Names("measure")
for _name, _takes in (
    *(("T_w", True), ("maxW", False), ("avgW", False), ("avgX", False), ("maxE", True)),
    ("lost-utility", False),
):
    _MEASURES.add(_name, PlannedMeasure(_name, _takes), PlannedMeasure)


def find_measure(name: str) -> PlannedMeasure:
    """Return a measure by name."""
    return _MEASURES.find(name)


def list_measures() -> dict[str, PlannedMeasure]:
    """Return the measures by name."""
    return _MEASURES.known
