# SPDX-License-Identifier: BSD-3-Clause
"""Parameters: each declared once with its default and domain, given as text or a mapping, refused in one wording.

What takes parameters (a model, a policy, a cleaning rule, a predictor, a log that is generated) declares them as a
frozen dataclass whose fields are made by ``number``, ``whole``, ``choice`` or ``truth``. Their text form, which is the
same everywhere, is in ``swftools.parameters.as_text``.
"""

from __future__ import annotations

import math
import re
from collections import namedtuple
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, Self

from swftools.errors import ParameterError
from swftools.parameters.as_text import write_entry
from swftools.parameters.spelling import as_known, did_you_mean

LARGEST_SEED = 2**64 - 1


@dataclass(frozen=True)
class Domain:
    """The values that a parameter may have.

    Parameters
    ----------
    words : str
        What it is, in words that go behind "is not".
    admits : callable
        Whether a value belongs to it.
    choices : tuple of str
        The words to choose from, if it is one of some words.
    kind : type, optional
        What a compiled policy reads each value as: float, int (a choice by its position) or bool; None where it cannot.
    """

    words: str
    admits: Callable[[object], bool]
    choices: tuple[str, ...] = ()
    kind: type[float] | None = float


def number(
    default: Any = MISSING,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: float = -math.inf,
    unit: str = "",
    optional: bool = False,
) -> Any:
    """Declare a parameter that is a finite number.

    Parameters
    ----------
    default : float, optional
        Its value if none is given; without a default, a value must be given.
    least, most : float
        Bounds that belong to the domain.
    above : float
        Lower bound that is itself excluded.
    unit : str
        Unit, for error messages.
    optional : bool
        None is a value too.

    Returns
    -------
    dataclasses.Field
        For the body of a subclass of ``Parameters``.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Oven(Parameters):
    ...     NAME = "oven"
    ...     heat: float = number(180.0, above=0, most=300, unit="degrees")
    >>> Oven(heat=301)
    Traceback (most recent call last):
        ...
    swftools.errors.ParameterError: oven: heat=301 is not a number above 0, at most 300 (degrees)
    """
    words = "a number" + _range_in_words(least, most, above) + (f" ({unit})" if unit else "")

    def admits(value: object) -> bool:
        return is_number(value, least, most) and value > above  # type: ignore[operator]

    return _declared(default, Domain(words, admits), optional)


def whole(
    default: Any = MISSING, *, least: float = -math.inf, most: float = math.inf, unit: str = "", optional: bool = False
) -> Any:
    """Declare a parameter that is a whole number (2.0 is refused); bounds as in ``number``."""
    words = "an integer" + _range_in_words(least, most) + (f" ({unit})" if unit else "")
    return _declared(default, Domain(words, lambda value: is_whole(value, least, most), kind=int), optional)


def choice(*words: str, default: str | None = None) -> Any:
    """Declare a parameter that is one of several words; the first is the default unless you name another."""
    domain = Domain(f"one of {', '.join(words)}", lambda value: isinstance(value, str) and value in words, words, int)
    return _declared(words[0] if default is None else default, domain, optional=False)


def truth(default: bool) -> Any:
    """Declare a parameter that is true or false."""
    return _declared(default, Domain("true or false", lambda value: isinstance(value, bool), kind=bool), optional=False)


def text(default: Any = MISSING, *, words: str = "a text", admits: Callable[[str], bool] = bool) -> Any:
    """Declare a parameter that is a text, or none; ``admits`` says which texts, ``words`` the same in words."""
    domain = Domain(words, lambda value: isinstance(value, str) and admits(value), kind=None)
    return _declared(default, domain, optional=True)


def _declared(default: object, domain: Domain, optional: bool) -> Any:
    """Return the field of a parameter."""
    if optional:
        inner = domain
        domain = Domain(f"{inner.words}, or none", lambda value: value is None or inner.admits(value), kind=None)
    if default is not MISSING and not domain.admits(default):
        raise ParameterError(f"default {default!r} of a parameter is not {domain.words}")
    return field(default=default, metadata={"domain": domain})


@dataclass(frozen=True)
class Parameters:
    """Base of parameter classes: frozen dataclasses whose fields ``number``, ``whole``, ``choice`` and ``truth`` make.

    Each value is checked against its field's domain. A class with conditions between parameters, or with parameters of
    other kinds, checks these in ``__post_init__`` by ``_require``, behind ``super().__post_init__()``.

    ``NAME`` names what the parameters belong to; every error begins with it. If the class does not set it, the
    decorator that registers a policy or a rule does.
    """

    NAME: ClassVar[str] = "parameters"

    def __post_init__(self) -> None:
        for name, domain in self.domains().items():
            if domain.choices and isinstance(getattr(self, name), str):
                object.__setattr__(self, name, as_known(getattr(self, name), domain.choices))
            if getattr(self, name) == 0 and isinstance(getattr(self, name), float):
                object.__setattr__(self, name, 0.0)  # -0.0 is the same, in text and in random draws too
            self._require(name, domain.admits(getattr(self, name)), domain.words)

    def _require(self, name: str, condition: bool, domain: str) -> None:
        """Raise ParameterError unless a parameter is in its domain, which is given in words."""
        if not condition:
            raise ParameterError(f"{self.NAME}: {name}={getattr(self, name)!r} is not {domain}")

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the parameters in order."""
        return [each.name for each in fields(cls)]

    @classmethod
    def domains(cls) -> dict[str, Domain]:
        """Return the domain of each parameter that declares one, by name."""
        return {each.name: each.metadata["domain"] for each in fields(cls) if "domain" in each.metadata}

    @classmethod
    def named(cls, name: str) -> type[Self]:
        """Give the class a name unless it has one, and return it.

        Raises
        ------
        ParameterError
            It has another: one class for two policies, say, would name the wrong one in errors.
        """
        if "NAME" not in vars(cls):
            cls.NAME = name
        if name != cls.NAME:
            raise ParameterError(f"{cls.__name__} are parameters of {cls.NAME!r}; give {name!r} a class of its own")
        return cls

    @classmethod
    def from_mapping(cls, parameters: Mapping[str, Any]) -> Self:
        """Make parameters from a mapping, as a command line or a file gives them.

        Raises
        ------
        ParameterError
            A name is unknown or a value outside its domain.
        """
        refuse_unknown(cls.NAME, parameters, cls.names())
        return cls(**parameters)

    def to_mapping(self) -> dict[str, Any]:
        """Return every parameter by name, in types that JSON holds; ``from_mapping`` takes it back."""
        return {name: getattr(self, name) for name in self.names()}

    def values(self) -> Any:
        """Return the parameters as compiled policies read them by name: a named tuple of floats, ints and truth values.

        A word is the position of the choice. A class with parameters of other kinds returns a tuple of its own making:
        a text, say, encoded as numbers.
        """
        kinds = [(getattr(self, name), domain) for name, domain in self.domains().items()]
        return _values_type(type(self))(  # type: ignore[arg-type]
            *(domain.kind(domain.choices.index(value) if domain.choices else value) for value, domain in kinds)  # type: ignore[misc]
        )

    def to_text(self) -> str:
        """Return the name and every parameter in the form that ``read_entry`` takes back."""
        return write_entry(self.NAME, self.to_mapping())


@cache
def _values_type(kind: type[Parameters]) -> Any:
    """Return the named tuple of a class's values, which another process finds as the class's ``Values``."""
    made = namedtuple("Values", kind.names(), module=kind.__module__)  # type: ignore[misc]
    made.__qualname__ = f"{kind.__qualname__}.Values"
    kind.Values = made  # type: ignore[attr-defined]
    return made


def refuse_unknown(name: str, given: Iterable[Any], known: Collection[str]) -> None:
    """Raise ParameterError if a given name is not among the known parameters."""
    if unknown := sorted(str(each) for each in given if each not in known):
        there_are = f"there are: {', '.join(known)}" if known else "there are none"
        raise ParameterError(f"{name}: unknown parameters {unknown}; {there_are}{did_you_mean(unknown, known)}")


def is_whole(value: object, least: float = -math.inf, most: float = math.inf) -> bool:
    """Whether a value is an integer, not a bool, and within bounds."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def is_number(value: object, least: float = -math.inf, most: float = math.inf) -> bool:
    """Whether a value is a finite number, not a bool, and within bounds."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return -math.inf < value < math.inf and least <= value <= most


def _range_in_words(least: float, most: float, above: float = -math.inf) -> str:
    """Return the bounds of a domain in words, with a blank before them; nothing where there are none."""
    if above > -math.inf:
        return f" above {_bound(above)}" + (f", at most {_bound(most)}" if most < math.inf else "")
    if least > -math.inf:
        return f" from {_bound(least)} to {_bound(most)}" if most < math.inf else f" of {_bound(least)} or more"
    return f" of at most {_bound(most)}" if most < math.inf else ""


def _bound(value: float) -> str:
    """Return a bound as people write it: 2**31 - 1, 10,000, 1e-9, 0.5."""
    if isinstance(value, int):
        for number_of_ones, text in ((value, ""), (value + 1, " - 1")):
            if value > 10**6 and number_of_ones.bit_count() == 1:
                return f"2**{number_of_ones.bit_length() - 1}{text}"
        return f"{value:,}" if abs(value) >= 10**4 else str(value)
    return re.sub(r"e([+-])0*", lambda match: "e" + match[1].strip("+"), f"{value:g}")
