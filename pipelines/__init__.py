"""The tasks one may run, as in ``luigi --module pipelines BuildAugmentedTrace``; nothing else."""

from pipelines.acquire import AcquireLog
from pipelines.augmentation import AddUtility
from pipelines.build import BuildAugmentedTrace
from pipelines.config import apply_defaults
from pipelines.traces import CleanTrace, ParseLog

apply_defaults()

__all__ = ["AcquireLog", "AddUtility", "BuildAugmentedTrace", "CleanTrace", "ParseLog"]
