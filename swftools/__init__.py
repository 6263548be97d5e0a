"""swftools: workload traces of parallel machines, read, cleaned, augmented, simulated and written.

The path of data is ``read_swf`` -> ``clean`` -> augmentations (``generate_utility`` and ``swftools.models``) ->
``simulate`` -> ``measure``, and ``write_swf`` or Parquet at any point; the package ``pipelines`` does the same as Luigi
tasks and publishes versions. Columns are declared in ``swftools.fields.dictionary``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from swftools._version import __version__

if TYPE_CHECKING:
    from swftools.cleaning import CleaningReport, clean, cleaning_rule
    from swftools.cleaning.flurries import propose_flurries
    from swftools.formats.swf.reader import iter_swf, read_swf
    from swftools.formats.swf.writer import write_swf
    from swftools.header import SwfHeader
    from swftools.offered_work import offered_load
    from swftools.selection import scale_to_load, select_jobs
    from swftools.simulator import Schedule, measure, simulate, validate
    from swftools.trace import Trace
    from swftools.utility.functions import UtilityFunctions
    from swftools.utility.model import UtilityParameters, generate_utility

__all__ = [
    "CleaningReport",
    "Schedule",
    "SwfHeader",
    "Trace",
    "UtilityFunctions",
    "UtilityParameters",
    "__version__",
    "clean",
    "cleaning_rule",
    "generate_utility",
    "iter_swf",
    "measure",
    "offered_load",
    "propose_flurries",
    "read_swf",
    "scale_to_load",
    "select_jobs",
    "simulate",
    "validate",
    "write_swf",
]

_ON_FIRST_USE = {
    "CleaningReport": "swftools.cleaning",
    "Schedule": "swftools.simulator",
    "SwfHeader": "swftools.header",
    "Trace": "swftools.trace",
    "UtilityFunctions": "swftools.utility.functions",
    "UtilityParameters": "swftools.utility.model",
    "clean": "swftools.cleaning",
    "cleaning_rule": "swftools.cleaning",
    "generate_utility": "swftools.utility.model",
    "iter_swf": "swftools.formats.swf.reader",
    "measure": "swftools.simulator",
    "offered_load": "swftools.offered_work",
    "propose_flurries": "swftools.cleaning.flurries",
    "read_swf": "swftools.formats.swf.reader",
    "scale_to_load": "swftools.selection",
    "select_jobs": "swftools.selection",
    "simulate": "swftools.simulator",
    "validate": "swftools.simulator",
    "write_swf": "swftools.formats.swf.writer",
}
"""The module of each name: imported when the name is first used, so that importing swftools is quick."""


def __getattr__(name: str) -> Any:
    """Import what is named for the first time."""
    if name in ("models", "simulator"):
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_ON_FIRST_USE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names there are."""
    return sorted(__all__)
