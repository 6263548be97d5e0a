# SPDX-License-Identifier: BSD-3-Clause
"""Parameters: declared once with default and domain, written as text, and what is found by the name before them."""

from swftools.parameters.declared import (
    LARGEST_SEED,
    Parameters,
    choice,
    is_number,
    is_whole,
    number,
    refuse_unknown,
    text,
    truth,
    whole,
)
from swftools.parameters.spelling import did_you_mean

__all__ = [
    "LARGEST_SEED",
    "Parameters",
    "choice",
    "did_you_mean",
    "is_number",
    "is_whole",
    "number",
    "refuse_unknown",
    "text",
    "truth",
    "whole",
]
