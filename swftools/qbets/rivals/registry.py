# SPDX-License-Identifier: BSD-3-Clause
"""What a rival of QBETS is: a model of what is known at a submission, fitted anew on a schedule, and its name.

A bound learns the waits of a group of jobs. A rival learns what waits have to do with the state of the machine: who
waits and runs, what is asked for, and how long the last ones waited (``at_submission``).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray
from swftools.parameters import Parameters, number, refuse_unknown, whole
from swftools.parameters.as_text import write_entry
from swftools.parameters.registry import Registry
from swftools.qbets.bounds.registry import check_fraction, list_bounds

R = TypeVar("R", bound="type[Rival]")


class Model(Protocol):
    """What was fitted."""

    def predict(self, rows: FloatArray) -> FloatArray:
        """Return the quantile of the wait of each row, s."""


class Course(NamedTuple):
    """What happened while jobs were submitted, in order of submission.

    Parameters
    ----------
    wait : ndarray of float
        How long each job waited, s; NaN is not known.
    group : ndarray of int
        Its group, from 0 on.
    learnt : ndarray of int
        The jobs whose waits are known, in the order in which these became known.
    known : ndarray of int
        How many of these were known when each job was told its bound.
    """

    wait: FloatArray
    group: IntArray
    learnt: IntArray
    known: IntArray


@dataclass(frozen=True)
class Rival(Parameters):
    """A predictor of waits that is fitted again and again; a subclass fits, and may correct predictions.

    Parameters
    ----------
    quantile : float
        The quantile of waits that is predicted; between 0 and 1, both excluded.
    first_fit : int
        Waits that must be known for the first fit; earlier jobs get no prediction.
    refit_every : int
        Number of jobs of the machine after which it is fitted again.
    window : int
        How many waits it is fitted to: the newest, of all groups.
    """

    NAME: ClassVar[str] = "rival"
    quantile: float = number(0.95)
    first_fit: int = whole(500, least=1)
    refit_every: int = whole(1000, least=1)
    window: int = whole(20_000, least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction("quantile", self.quantile)

    @abstractmethod
    def fit(self, rows: FloatArray, waits: FloatArray) -> Model:
        """Return a model of the waits (s) of jobs, given what was known at their submissions.

        Parameters
        ----------
        rows : ndarray of float, shape (n, len(COLUMNS))
            As ``at_submission.COLUMNS`` name them, NaN where a value is missing. The last column is the number of the
            group, by first appearance, and NaN from the 255th on.
        waits : ndarray of float, shape (n,)
            Finite and not negative. The model must be the same for the same rows in any process.
        """

    def bounds(self, predicted: FloatArray, course: Course) -> FloatArray:  # noqa: ARG002 (for those who correct)
        """Return the bound of each job, s, given the predictions of the models in force; NaN for none.

        The bound of a job may depend only on ``predicted`` up to this job, and on the waits known by then.
        """
        return predicted

    def short_text(self) -> str:
        """Return the name, and the parameters that differ from their defaults."""
        usual = type(self)().to_mapping()
        return write_entry(self.NAME, {key: value for key, value in self.to_mapping().items() if value != usual[key]})


RIVALS: Registry[type[Rival]] = Registry("rival")


def register_rival(kind: R) -> R:
    """Register a class of rivals by its ``NAME``.

    Raises
    ------
    ParameterError
        The name is taken, by a bound too.
    """
    if kind.NAME in list_bounds():
        raise ParameterError(f"rival {kind.NAME!r}: a bound has that name")
    RIVALS.add(kind.NAME, kind, kind)
    return kind


def list_rivals() -> dict[str, type[Rival]]:
    """Return the registered classes of rivals by name."""
    return RIVALS.list()


def find_rival(rival: str | Rival, **parameters: Any) -> Rival:
    """Return a rival by name, with parameters behind it, as in ``gradient-boosting:window=5000``; one as it is.

    Parameters
    ----------
    rival : str or Rival
        ``module:name`` imports the module that registers it first.
    **parameters
        Parameters of all methods, such as quantile: those that the rival has are set, unless the text says them.

    Raises
    ------
    ParameterError
        There is none of that name, or it takes no such parameter.

    Examples
    --------
    >>> find_rival("gradient-boosting:window=5000", quantile=0.9).short_text()
    'gradient-boosting:quantile=0.9,window=5000'
    """
    if isinstance(rival, Rival):
        return rival
    kind, given = RIVALS.read(rival)
    refuse_unknown(kind.NAME, given, kind.names())
    return kind(**{name: value for name, value in parameters.items() if name in kind.names()} | given)
