"""QBETS: bounds of how long jobs wait in queues, learnt from a log, told at submission (Nurmi 2009, chapter 4)."""

from swftools.qbets.bounds import BinomialBound, Bound, find_bound, list_bounds
from swftools.qbets.change_points import RareEvents, autocorrelation, rare_events, register_rare_events
from swftools.qbets.clusters import cluster
from swftools.qbets.evaluation import evaluate
from swftools.qbets.replay import ReplayParameters, WaitPredictor, replay

__all__ = [
    "BinomialBound",
    "Bound",
    "RareEvents",
    "ReplayParameters",
    "WaitPredictor",
    "autocorrelation",
    "cluster",
    "evaluate",
    "find_bound",
    "list_bounds",
    "rare_events",
    "register_rare_events",
    "replay",
]
