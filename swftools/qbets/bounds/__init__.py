"""Bounds of a quantile of waits, learnt from waits: one file each, registered by being imported here."""

from swftools.qbets.bounds.binomial import BinomialBound
from swftools.qbets.bounds.registry import Bound, find_bound, list_bounds

__all__ = ["BinomialBound", "Bound", "find_bound", "list_bounds"]
