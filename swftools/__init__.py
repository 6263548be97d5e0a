"""swftools: workload traces of parallel machines, read, cleaned, augmented, simulated and written.

The path of data is ``read_swf`` -> ``clean`` -> augmentations (``generate_utility`` and ``swftools.models``) ->
``simulate`` -> ``measure``, and ``write_swf`` or Parquet at any point; the package ``pipelines`` does the same as Luigi
tasks and publishes versions. Columns are declared in ``swftools.fields``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from swftools._version import __version__
from swftools.cleaning import CleaningReport, clean, cleaning_rule
from swftools.flurries import propose_flurries
from swftools.header import SwfHeader
from swftools.models.utility import UtilityParameters, generate_utility
from swftools.offered_load import offered_load
from swftools.swf import iter_swf, read_swf, write_swf
from swftools.trace import Trace
from swftools.utility_functions import UtilityFunctions

if TYPE_CHECKING:
    from swftools.selection import scale_to_load, select_jobs
    from swftools.simulator import Schedule, measure, simulate, validate

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
    "Schedule": "swftools.simulator",
    "measure": "swftools.simulator",
    "scale_to_load": "swftools.selection",
    "select_jobs": "swftools.selection",
    "simulate": "swftools.simulator",
    "validate": "swftools.simulator",
}
"""What is imported when it is first named, so that importing swftools stays quick."""


def __getattr__(name: str) -> Any:
    """Import what is named for the first time."""
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_ON_FIRST_USE[name]), name)
