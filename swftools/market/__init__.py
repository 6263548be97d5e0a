# SPDX-License-Identifier: BSD-3-Clause
"""Prices of finished schedules: what each user owes, by named mechanisms; a file each, registered by being imported.

``price(schedule, "vcg", trace=trace)`` returns the prices of jobs, and the bill of each user.

References
----------
Lee 2009, section 3.4.3.
"""

import swftools.market.first_price  # noqa: F401 (imported for what it registers, as are the others)
from swftools.market.by_queue import QueueParameters
from swftools.market.fixed import FixedParameters
from swftools.market.in_parts import Work
from swftools.market.prices import Prices, price
from swftools.market.registry import Mechanism, find_mechanism, list_mechanisms, mechanism
from swftools.market.sale import Sale
from swftools.market.vcg import VcgParameters

__all__ = [
    "FixedParameters",
    "Mechanism",
    "Prices",
    "QueueParameters",
    "Sale",
    "VcgParameters",
    "Work",
    "find_mechanism",
    "list_mechanisms",
    "mechanism",
    "price",
]
