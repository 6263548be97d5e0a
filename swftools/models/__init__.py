# SPDX-License-Identifier: BSD-3-Clause
"""Workload models: they generate jobs instead of reading them. Each has a file of its own.

The public names are listed in ``__init__.pyi``. Each is imported when it is first used. A model of whole workloads is a
module with ``generate``: ``swftools.models.lublin_feitelson.generate(1000)``.
"""

from swftools.output.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
