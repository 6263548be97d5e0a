# SPDX-License-Identifier: BSD-3-Clause
"""first-price: each user pays what the job was worth at the turnaround that it got.

A job without a utility function has no price. A job that came too late to be worth anything costs nothing.

References
----------
Lee 2009, section 3.4.3, "GA as an Approximate First-Price Auction".
"""

from __future__ import annotations

from swftools.kernel import FloatArray
from swftools.market.registry import mechanism
from swftools.market.sale import Sale
from swftools.parameters import Parameters


@mechanism("first-price", needs=("utility",))
def first_price(sale: Sale, parameters: Parameters) -> FloatArray:  # noqa: ARG001 (it takes none)
    """Return the utility of each job."""
    return sale.utility
