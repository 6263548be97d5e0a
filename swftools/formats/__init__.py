# SPDX-License-Identifier: BSD-3-Clause
"""Logs and traces as files: formats of logs by name, compression, Parquet.

The public names stand in ``__init__.pyi``; each is imported when it is first used. ``read_log``, the front door, is
``swftools.read_log``.
"""

from swftools.output.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
