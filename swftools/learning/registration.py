"""The environments under their names in Gymnasium."""

from __future__ import annotations

from importlib.util import find_spec

NAME = "swftools/SchedulingEnv-v1"


def register_environments() -> None:
    """Register ``swftools/SchedulingEnv-v1``, where Gymnasium is installed."""
    if find_spec("gymnasium") is None:
        return
    import gymnasium  # noqa: PLC0415 (an extra)

    if NAME not in gymnasium.registry:
        gymnasium.register(
            NAME,
            entry_point="swftools.learning.environment:SchedulingEnv",
            vector_entry_point="swftools.learning.vector_environment:SchedulingVectorEnv",
        )
