"""QBETS: bounds of how long jobs wait in queues, learnt from a log, told at submission (Nurmi 2009), and rivals."""

from swftools.qbets.bounds import BinomialBound, Bound, find_bound, list_bounds
from swftools.qbets.change_points import RareEvents, autocorrelation, rare_events, register_rare_events
from swftools.qbets.clusters import cluster
from swftools.qbets.evaluation import evaluate
from swftools.qbets.methods import find_method, list_methods
from swftools.qbets.replay import ReplayParameters, WaitPredictor, replay
from swftools.qbets.rivals import features_at_submission, list_rivals

__all__ = [
    "BinomialBound",
    "Bound",
    "RareEvents",
    "ReplayParameters",
    "WaitPredictor",
    "autocorrelation",
    "cluster",
    "evaluate",
    "features_at_submission",
    "find_bound",
    "find_method",
    "list_bounds",
    "list_methods",
    "list_rivals",
    "rare_events",
    "register_rare_events",
    "replay",
]
