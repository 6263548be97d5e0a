# SPDX-License-Identifier: BSD-3-Clause
"""swftools: workload traces of parallel machines, read, cleaned, augmented, simulated and written.

The path of data is ``read_swf`` -> ``clean`` -> augmentations (``generate_utility`` and ``swftools.models``) ->
``simulate`` -> ``measure``, and ``write_swf`` or Parquet at any point; the package ``pipelines`` does the same as Luigi
tasks and publishes versions. Columns are declared in ``swftools.fields``.

The public names are listed in ``__init__.pyi``. Each is imported when it is first used, so importing swftools is quick.
"""

from swftools._version import __version__ as __version__
from swftools.output.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
