# SPDX-License-Identifier: BSD-3-Clause
"""The augmentations: utility functions, checkpointing, other arrivals, speedup curves, user estimates.

Each is a task of its own, in a file of its own, with its own output; none reads what another makes, so they go in any
combination. ``registry.py`` says what one is.
"""

# The order is that in which options and columns are listed, so it is not the alphabet's.
from pipelines.tasks.augmentations.utility import AddUtility  # isort: skip
from pipelines.tasks.augmentations.checkpoints import AddCheckpoints  # isort: skip
from pipelines.tasks.augmentations.arrivals import AddArrivals  # isort: skip
from pipelines.tasks.augmentations.speedup import AddSpeedup  # isort: skip
from pipelines.tasks.augmentations.estimates import AddEstimates  # isort: skip

__all__ = ["AddArrivals", "AddCheckpoints", "AddEstimates", "AddSpeedup", "AddUtility"]
