"""Workload models: what is generated rather than read, each in a file of its own.

``swftools.models.lublin_feitelson`` and its siblings are imported when they are first named.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Import a model by its name."""
    if name not in __dir__():
        raise AttributeError(f"no model {name!r} in {__name__}; there are: {', '.join(__dir__())}")
    return importlib.import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    """Return the names of the models."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))
