# SPDX-License-Identifier: BSD-3-Clause
"""fixed: so much for a processor-hour, whatever the schedule.

References
----------
Lee 2009, section 3.4.3, "GA within a Single-Price Framework": 1 SU for each processor-hour.
"""

from __future__ import annotations

from dataclasses import dataclass

from swftools.kernel import FloatArray
from swftools.market.registry import mechanism
from swftools.market.sale import Sale
from swftools.parameters import Parameters, number


@dataclass(frozen=True)
class FixedParameters(Parameters):
    """Parameters of ``fixed``.

    Parameters
    ----------
    rate : float
        Price of a processor-hour.
    """

    rate: float = number(1.0, least=0)


@mechanism("fixed", parameters=FixedParameters)
def fixed(sale: Sale, parameters: FixedParameters) -> FloatArray:
    """Return the price of the hours that were run; the paper leaves open whether it means the requested ones."""
    return parameters.rate * sale.processor_hours
