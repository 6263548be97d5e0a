# SPDX-License-Identifier: BSD-3-Clause
"""Reservations without a reservation system: when to submit a job so that it runs at a time, with a probability.

The public names stand in ``__init__.pyi``; each is imported when it is first used, so that a plan of a saved state is
made at once.

References
----------
Nurmi 2009, chapters 5 (VARQ) and 6 (CO-VARQ).
"""

from swftools.output.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
