"""The augmentations: utility functions, checkpointing, other arrivals, speedup curves, user estimates.

Each is a task of its own, in a file of its own, with its own output; none reads what another makes, so they go in any
combination. ``registry.py`` says what one is.
"""

from pipelines.tasks.augmentations.arrivals import AddArrivals
from pipelines.tasks.augmentations.checkpoints import AddCheckpoints
from pipelines.tasks.augmentations.estimates import AddEstimates
from pipelines.tasks.augmentations.speedup import AddSpeedup
from pipelines.tasks.augmentations.utility import AddUtility

__all__ = ["AddArrivals", "AddCheckpoints", "AddEstimates", "AddSpeedup", "AddUtility"]
