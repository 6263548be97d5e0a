# SPDX-License-Identifier: BSD-3-Clause
"""What a bound is: an estimator of scikit-learn's form over two kernels, and a name by which it is found.

A bound keeps what it has learnt as numbers, its state, and looks up what depends on the number of waits alone, its
facts. ``add`` puts one more wait into a state, ``bound`` reads the bound off it; so does the replay of a log.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt

from swftools.errors import NotFittedError, ParameterError
from swftools.kernel import FloatArray, Kernel, kernel
from swftools.parameters import refuse_unknown
from swftools.parameters.as_text import write_entry
from swftools.parameters.registry import Registry

UPPER, LOWER, TWO_SIDED = SIDES = ("upper", "lower", "two-sided")

B = TypeVar("B", bound="type[Bound]")


class Bound:
    """A bound of a quantile of waits.

    A subclass has its parameters and the two kernels, and says how long state and facts are. It has the methods of
    scikit-learn's estimators, and ``update``; ``get_params`` and ``clone`` work. It does not inherit from
    scikit-learn's classes, because importing them takes as long as everything else that a run needs.

    Attributes
    ----------
    waits_ : int
        How many waits it has learnt from.
    """

    name: ClassVar[str]
    add: ClassVar[Kernel[[FloatArray, FloatArray, float], None]]
    """``add(state, facts, wait)``: learn one more wait, s; the caller guarantees the room."""

    bound: ClassVar[Kernel[[FloatArray, FloatArray], float]]
    """``bound(state, facts)``: the bound, s; NaN where too few waits are known. It may keep notes in the state."""

    quantile: float

    reads_any_quantile: ClassVar[bool] = False
    """Whether a state serves every quantile, since only facts depend on it."""

    @classmethod
    @cache
    def compiled_add(cls) -> Any:
        """Return ``add`` as compiled code calls it."""
        return kernel(add_signature(), allocates=False)(cls.add.py_func).compiled

    @classmethod
    @cache
    def compiled_bound(cls) -> Any:
        """Return ``bound`` as compiled code calls it."""
        return kernel(bound_signature(), allocates=False)(cls.bound.py_func).compiled

    @abstractmethod
    def check(self) -> None:
        """Refuse parameters outside their domains, by ParameterError."""

    @abstractmethod
    def facts(self, waits: int) -> tuple[FloatArray, ...]:
        """Return what the kernels look up, for up to this many waits: one array for each bound that is asked for."""

    @abstractmethod
    def places(self, waits: int) -> int:
        """Return the length of a state with room for this many waits; a state of zeros knows none."""

    def fit(self, waits: npt.ArrayLike) -> Self:
        """Forget what was learnt, and learn these waits.

        Parameters
        ----------
        waits : array_like of float, shape (n,)
            In s, in any order; finite and not negative. May be empty.

        Raises
        ------
        ParameterError
            A parameter is outside its domain, or a wait is.
        """
        self.check()
        column = checked_waits(waits)
        self._room = 0
        self.waits_ = 0
        self._states: list[FloatArray] = []
        return self.update(column)

    def update(self, waits: npt.ArrayLike) -> Self:
        """Learn more waits, in time that grows with the logarithm of how many are known; fit first.

        Raises
        ------
        NotFittedError
            It was not fitted.
        ParameterError
            A wait is missing, negative or infinite.
        """
        self._check_fitted()
        column = checked_waits(waits)
        self._make_room(self.waits_ + len(column))
        for state, facts in zip(self._states, self._facts, strict=True):
            if len(column) > FEW:
                compiled_add_waits()(self.compiled_add(), state, facts, column)
            else:
                add_waits(type(self).add, state, facts, column)
        self.waits_ += len(column)
        return self

    def predict(self) -> Any:
        """Return the bound, s; the lower and the upper one if both are asked for; NaN if too few waits are known.

        Raises
        ------
        NotFittedError
            It was not fitted.
        """
        self._check_fitted()
        self._make_room(self.waits_)
        bounds = [type(self).bound(state, facts) for state, facts in zip(self._states, self._facts, strict=True)]
        return bounds[0] if len(bounds) == 1 else tuple(bounds)

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Return the names of its parameters, in order."""
        return sorted(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 (scikit-learn's; no part has its own)
        """Return the parameters by name, in order of name."""
        return {name: getattr(self, name) for name in self.parameter_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; what was learnt with others is forgotten, so fit again.

        Raises
        ------
        ParameterError
            There is no such parameter.
        """
        refuse_unknown(self.name, parameters, list(self.get_params()))
        for name, value in parameters.items():
            setattr(self, name, value)
        if hasattr(self, "waits_"):
            del self.waits_
        return self

    def __repr__(self) -> str:
        """Return the call that makes it."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({given})"

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn asks of each estimator; whoever does has imported it."""
        from sklearn.base import BaseEstimator  # noqa: PLC0415 (half a second, 66 MB)

        return BaseEstimator.__sklearn_tags__(self)

    def to_text(self) -> str:
        """Return name and parameters in the form that ``find_bound`` takes back."""
        return write_entry(self.name, self.get_params())

    def short_text(self) -> str:
        """Return the same without the parameters that have their defaults."""
        usual = type(self)().get_params()
        return write_entry(self.name, {key: value for key, value in self.get_params().items() if value != usual[key]})

    def _check_fitted(self) -> None:
        """Refuse what was not fitted."""
        if not hasattr(self, "waits_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit(waits) first")

    def _make_room(self, waits: int) -> None:
        """Have states and facts for so many waits."""
        if waits <= self._room and self._states:
            return
        self._room = max(64, 2 * waits)
        self._facts = self.facts(self._room)
        before = self._states or [np.zeros(0) for _ in self._facts]
        self._states = [self.resized(state, self.places(self._room)) for state in before]

    def resized(self, state: FloatArray, places: int) -> FloatArray:
        """Return a state of another length that knows the same; the caller gives enough places."""
        other = np.zeros(places)
        used = min(places, len(state))
        other[:used] = state[:used]
        return other

    def settled(self, state: FloatArray, waits: int) -> FloatArray:
        """Return a state of minimal length, which is the same however it was reached.

        It must hold nothing of forgotten waits, and no order that carries no meaning.
        """
        return self.resized(state, self.places(waits))

    def check_state(self, state: FloatArray, waits: int) -> None:
        """Refuse a settled state of a saved file that does not know so many waits, by ValueError.

        Its kernels trust it. A bound whose kernels find places by the numbers of their state looks at these, too.
        """
        places = self.places(waits)
        if len(state) != places:
            raise ValueError(f"a state of {len(state):,} numbers, of {waits:,} waits, where {places:,} are needed")


def check_count(state: FloatArray, waits: int) -> None:
    """Refuse a state whose first number is not how many waits it knows, or of which one is no number."""
    if state[0] != waits or not np.isfinite(state).all():
        raise ValueError(f"a state of {state[0]:g} waits, where there are {waits:,}")


def checked_waits(waits: npt.ArrayLike) -> FloatArray:
    """Return waits as an array.

    Raises
    ------
    ParameterError
        They are not one-dimensional, or one is missing, negative or infinite.
    """
    try:
        column = np.array(waits, dtype=np.float64)  # kernels take no array that is read-only, or not in one piece
    except (TypeError, ValueError) as error:
        raise ParameterError(f"waits must be numbers, of seconds: {error}") from error
    if column.ndim != 1:
        raise ParameterError(f"waits must be a one-dimensional array, not of shape {column.shape}")
    wrong = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
    if len(wrong):
        raise ParameterError(
            f"wait {wrong[0]} is {column[wrong[0]]:g} s ({len(wrong)} such): waits are finite and not negative; leave "
            "out the jobs that never started"
        )
    return column


def check_fraction(name: str, value: object) -> None:
    """Refuse what is not a number between 0 and 1, both excluded."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < 1.0:
        raise ParameterError(f"{name}={value!r} is not a number between 0 and 1, both excluded")


def check_side(side: object) -> None:
    """Refuse what is no side."""
    if side not in SIDES:
        raise ParameterError(f"side={side!r} is not one of: {', '.join(SIDES)}")


BOUNDS: Registry[type[Bound]] = Registry("bound")


def register_bound(kind: B) -> B:
    """Register a class of bounds by its ``name``."""
    BOUNDS.add(kind.name, kind, kind)
    return kind


def list_bounds() -> dict[str, type[Bound]]:
    """Return the registered classes of bounds by name."""
    return BOUNDS.list()


def find_bound(bound: str | Bound, **parameters: Any) -> Bound:
    """Return a bound by name, with parameters, as in ``binomial:confidence=0.99``; a Bound is returned as it is.

    Parameters
    ----------
    bound : str or Bound
        ``module:name`` imports the module that registers it first.
    **parameters
        Parameters such as quantile and confidence: those that the bound has are set, unless the text gives them.

    Raises
    ------
    ParameterError
        There is none of that name, or it takes no such parameter.
    """
    if isinstance(bound, Bound):
        return bound
    if not isinstance(bound, str):
        raise ParameterError(f"bound {bound!r} is neither a name nor a Bound; there are: {', '.join(BOUNDS.known)}")
    kind, given = BOUNDS.read(bound)
    takes = kind.parameter_names()
    for name in given:
        if name not in takes:
            raise ParameterError(f"bound {kind.name!r} takes no {name!r}; it takes: {', '.join(takes)}")
    made = kind(**{name: value for name, value in parameters.items() if name in takes} | given)
    made.check()
    return made


FEW = 16
"""Waits that are learnt one by one, rather than by a call for all, which takes some tenths of a millisecond."""


@cache
def add_signature() -> Any:
    """Return the types of ``add``."""
    from numba import types  # noqa: PLC0415 (takes half a second)

    return types.void(types.float64[::1], types.float64[::1], types.float64)


@cache
def bound_signature() -> Any:
    """Return the types of ``bound``."""
    from numba import types  # noqa: PLC0415 (as above)

    return types.float64(types.float64[::1], types.float64[::1])


def add_waits(
    add: Callable[[FloatArray, FloatArray, float], None], state: FloatArray, facts: FloatArray, waits: FloatArray
) -> None:
    """Learn waits one by one."""
    for wait in waits:
        add(state, facts, wait)


@cache
def compiled_add_waits() -> Any:
    """Return ``add_waits``, compiled for the ``add`` of any bound."""
    from numba import types  # noqa: PLC0415 (as above)

    numbers = types.float64[::1]
    signature = types.void(types.FunctionType(add_signature()), numbers, numbers, numbers)
    return kernel(signature, allocates=False)(add_waits)
