"""The tasks one may run, as in ``luigi --module pipelines BuildAugmentedTrace``; nothing else."""

from pipelines.acquire import AcquireLog
from pipelines.augmentations import AddArrivals, AddCheckpoints, AddEstimates, AddSpeedup, AddUtility
from pipelines.build import BuildAugmentedTrace
from pipelines.config import apply_defaults
from pipelines.simulation import ComparePolicies, SimulatePolicy
from pipelines.traces import CleanTrace, GenerateTrace, ParseLog

apply_defaults()

__all__ = [
    "AcquireLog",
    "AddArrivals",
    "AddCheckpoints",
    "AddEstimates",
    "AddSpeedup",
    "AddUtility",
    "BuildAugmentedTrace",
    "CleanTrace",
    "ComparePolicies",
    "GenerateTrace",
    "ParseLog",
    "SimulatePolicy",
]
