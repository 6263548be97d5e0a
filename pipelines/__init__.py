"""The tasks one may run, as in ``luigi --module pipelines BuildAugmentedTrace``; nothing else."""

from pipelines.config import apply_defaults
from pipelines.tasks.acquire import AcquireLog
from pipelines.tasks.augmentations import AddArrivals, AddCheckpoints, AddEstimates, AddSpeedup, AddUtility
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.check_source import CheckSource
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.measure import MeasureSchedule
from pipelines.tasks.parse import GenerateTrace, ParseLog
from pipelines.tasks.simulate import SimulatePolicy

apply_defaults()

__all__ = [
    "AcquireLog",
    "AddArrivals",
    "AddCheckpoints",
    "AddEstimates",
    "AddSpeedup",
    "AddUtility",
    "BuildAugmentedTrace",
    "CheckSource",
    "CleanTrace",
    "ComparePolicies",
    "GenerateTrace",
    "MeasureSchedule",
    "ParseLog",
    "SimulatePolicy",
]
