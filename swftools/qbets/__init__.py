# SPDX-License-Identifier: BSD-3-Clause
"""QBETS: bounds of how long jobs wait in queues, learnt from a log, told at submission (Nurmi 2009), and rivals.

The public names are listed in ``__init__.pyi``. Each is imported when it is first used, so a question to a saved state
is answered at once.
"""

from swftools.output.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
