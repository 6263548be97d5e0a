# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of a quantile of waits, learnt from waits: one file each, registered by being imported here."""

from swftools.qbets.bounds.binomial import BinomialBound
from swftools.qbets.bounds.log_normal import LogNormalBound, LogNormalPlainBound
from swftools.qbets.bounds.log_uniform import LogUniformBound
from swftools.qbets.bounds.registry import Bound, find_bound, list_bounds
from swftools.qbets.bounds.trailing import TrailingQuantile
from swftools.qbets.bounds.weibull import WeibullBound

__all__ = [
    "BinomialBound",
    "Bound",
    "LogNormalBound",
    "LogNormalPlainBound",
    "LogUniformBound",
    "TrailingQuantile",
    "WeibullBound",
    "find_bound",
    "list_bounds",
]
