"""The tasks one may run, as in ``luigi --module pipelines BuildAugmentedTrace``; nothing else."""

from pipelines.config import apply_defaults
from pipelines.tasks.acquire import AcquireLog
from pipelines.tasks.augmentations import AddArrivals, AddCheckpoints, AddEstimates, AddSpeedup, AddUtility
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.simulation import ComparePolicies, SimulatePolicy
from pipelines.tasks.traces import CleanTrace, GenerateTrace, ParseLog

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
