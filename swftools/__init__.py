"""swftools: workload traces of parallel machines, read, cleaned, augmented and written.

The path of data is ``read_swf`` -> ``clean`` -> ``generate_utility`` -> ``write_swf`` or Parquet; the package
``pipelines`` does the same as Luigi tasks and publishes versions. Columns are declared in ``swftools.fields``.
"""

from swftools._version import __version__
from swftools.cleaning import CleaningReport, clean, cleaning_rule
from swftools.flurries import propose_flurries
from swftools.header import SwfHeader
from swftools.models.utility import UtilityParameters, generate_utility
from swftools.swf import iter_swf, read_swf, write_swf
from swftools.trace import Trace
from swftools.utility_functions import UtilityFunctions

__all__ = [
    "CleaningReport",
    "SwfHeader",
    "Trace",
    "UtilityFunctions",
    "UtilityParameters",
    "__version__",
    "clean",
    "cleaning_rule",
    "generate_utility",
    "iter_swf",
    "propose_flurries",
    "read_swf",
    "write_swf",
]
