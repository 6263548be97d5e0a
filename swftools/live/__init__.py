# SPDX-License-Identifier: BSD-3-Clause
"""Waits that become known while a machine runs: events as they come, and the bounds that are told meanwhile.

The public names stand in ``__init__.pyi``; each is imported when it is first used.

References
----------
Nurmi 2009, section 8.1 (the service), 3 and 4 (QBETS).
"""

from swftools.output.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
