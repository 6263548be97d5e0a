# SPDX-License-Identifier: BSD-3-Clause
"""Where data sets are published: versions, their manifests, the storage below, the catalogue for intake.

The public names stand in ``__init__.pyi``; each is imported when it is first used, and none of them loads luigi.
"""

from swftools.output.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
