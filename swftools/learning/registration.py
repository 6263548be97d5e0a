# SPDX-License-Identifier: BSD-3-Clause
"""The environments under their names in Gymnasium."""

from __future__ import annotations

from importlib.util import find_spec

from swftools.errors import MissingLibraryError

NAME = "swftools/SchedulingEnv-v1"


def is_gymnasium_there() -> bool:
    """Whether Gymnasium is installed; it is not imported."""
    return find_spec("gymnasium") is not None


def need_gymnasium() -> None:
    """Raise MissingLibraryError, which says how to get it, if Gymnasium is not installed."""
    if not is_gymnasium_there():
        raise MissingLibraryError("environments need Gymnasium: pip install swftools[learning]")


def register_environments() -> None:
    """Register ``swftools/SchedulingEnv-v1``, where Gymnasium is installed."""
    if not is_gymnasium_there():
        return
    import gymnasium  # noqa: PLC0415 (an extra)

    if NAME not in gymnasium.registry:
        gymnasium.register(
            NAME,
            entry_point="swftools.learning.environment:SchedulingEnv",
            vector_entry_point="swftools.learning.vector_environment:SchedulingVectorEnv",
        )
