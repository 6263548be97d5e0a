"""What the parameter classes of models have in common: one clear error for each mistake, to and from mappings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from swftools.errors import ParameterError


@dataclass(frozen=True)
class Parameters:
    """Base of parameter classes: frozen dataclasses that check themselves in ``__post_init__`` by ``_require``.

    ``NAME`` is the model's name, with which every error begins.
    """

    NAME: ClassVar[str]

    def _require(self, name: str, condition: bool, domain: str) -> None:
        """Raise ParameterError unless a parameter is in its domain, which is given in words."""
        if not condition:
            raise ParameterError(f"{self.NAME}: {name}={getattr(self, name)!r} is not {domain}")

    def _require_seed(self) -> None:
        """Raise ParameterError unless the parameter ``seed`` is an integer of 64 bits."""
        self._require("seed", is_whole(self.seed, 0, 2**64 - 1), "an integer from 0 to 2**64 - 1")  # type: ignore[attr-defined]

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the parameters in order."""
        return [field.name for field in fields(cls)]

    @classmethod
    def from_mapping(cls, parameters: Mapping[str, Any]) -> Self:
        """Make parameters from a mapping, as a command line or a file gives them.

        Raises
        ------
        ParameterError
            A name is unknown or a value outside its domain.
        """
        if unknown := sorted(map(str, set(parameters) - set(cls.names()))):
            raise ParameterError(f"{cls.NAME}: unknown parameters {unknown}; there are {', '.join(cls.names())}")
        return cls(**parameters)

    def to_mapping(self) -> dict[str, Any]:
        """Return every parameter by name, in types that JSON holds; ``from_mapping`` takes it back."""
        return {name: getattr(self, name) for name in self.names()}


def is_whole(value: object, least: float = -math.inf, most: float = math.inf) -> bool:
    """Whether a value is an integer, no truth value, and within bounds."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def is_number(value: object, least: float = -math.inf, most: float = math.inf) -> bool:
    """Whether a value is a finite number, no truth value, and within bounds."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return -math.inf < value < math.inf and least <= value <= most
