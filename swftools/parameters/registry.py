# SPDX-License-Identifier: BSD-3-Clause
"""What is registered under a name, and found by it: formats, policies, predictors alike."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from swftools.errors import ParameterError, SwfToolsError
from swftools.parameters.as_text import read_entry
from swftools.parameters.declared import is_whole
from swftools.parameters.own_files import registered_here
from swftools.parameters.spelling import as_known, did_you_mean

T = TypeVar("T")
Source = TypeVar("Source", bound=Callable[..., Any])


def import_own(module: str) -> ModuleType:
    """Import a module of the user's, also one that stands in the current folder, as ``python -m`` does.

    The folder is looked at last, and only once somebody asks for a module by name: so no file that lies about there
    takes the place of an installed package. Python's own switch against it (``-P``, ``PYTHONSAFEPATH``) is heeded.

    Raises
    ------
    ImportError, SyntaxError
        There is none, or it cannot be read.
    """
    here = str(Path.cwd())
    if not sys.flags.safe_path and here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    return importlib.import_module(module)


class Registry(Generic[T]):
    """Things by name, however it is spelled: case does not matter, ``_`` and ``-`` are one (``spelling.as_known``).

    Parameters
    ----------
    one : str
        What each is, in words.
    decorators : tuple of str
        What registers things of a user's, by name: a message about an unknown name looks for them in the files of the
        current folder.

    Examples
    --------
    >>> tools: Registry[float] = Registry("tool")
    >>> @tools.decorator("saw", lambda function: function(2.0))
    ... def cut(width):
    ...     return width / 2
    >>> tools.find("Saw"), tools.read("saw:teeth=24"), tools.list()
    (1.0, (1.0, {'teeth': 24}), {'saw': 1.0})
    >>> tools.find("sew")
    Traceback (most recent call last):
        ...
    swftools.errors.ParameterError: no tool 'sew'; there are: saw; did you mean saw?
    """

    def __init__(self, one: str, decorators: tuple[str, ...] = ()) -> None:
        self.one = one
        self._decorators = decorators
        self.known: dict[str, T] = {}
        self._sources: dict[str, Callable[..., Any]] = {}

    def add(self, name: str, thing: T, source: Callable[..., Any]) -> None:
        """Register a thing that a function or class makes; again only what the same one makes.

        Raises
        ------
        ParameterError
            The name is taken, or cannot be one.
        """
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise ParameterError(f"{self.one} {name!r}: a name is of letters, digits and -._")
        other = self._sources.get(name)
        if other and (other.__module__, other.__qualname__) != (source.__module__, source.__qualname__):
            raise ParameterError(f"{self.one} {name!r} is registered already, by {other.__module__}")
        self.known[name], self._sources[name] = thing, source

    def decorator(self, name: str, make: Callable[[Source], T], *, version: int = 1) -> Callable[[Source], Source]:
        """Return what stands before a function or class, and registers what ``make`` makes of it.

        Raises
        ------
        ParameterError
            The version is not a whole number from 1 on. Of what is returned: as ``add``, and as ``make``.
        """
        if not is_whole(version, 1):
            raise ParameterError(f"{self.one} {name!r}: version={version!r} is not an integer of 1 or more")

        def register(source: Source) -> Source:
            self.add(name, make(source), source)
            return source

        return register

    def list(self) -> dict[str, T]:
        """Return all that is registered by name, in the order of registration."""
        return dict(self.known)

    def find(self, name: str) -> T:
        """Return a thing by name; ``module:name`` imports the module that registers it first.

        Raises
        ------
        ParameterError
            There is none of that name, or no such module.
        """
        return self.known[self.name_of(name)]

    def name_of(self, name: str) -> str:
        """Return the name under which a thing is registered that is meant by ``name``; errors are those of ``find``."""
        module, rest = self.module_of(name)
        known = as_known(rest, self.known)
        if known not in self.known:
            there_are = ", ".join(sorted(self.known))
            raise ParameterError(f"no {self.one} {rest!r}; there are: {there_are}{self._meant(module, rest)}")
        return known

    def _meant(self, module: ModuleType | None, name: str) -> str:
        """Return the end of a message about a name that is not known: what may be meant by it."""
        if module is None:
            own = registered_here(name, self._decorators) if self._decorators else []
        else:
            own = [
                f"{module.__name__}:{each}" for each, by in self._sources.items() if by.__module__ == module.__name__
            ]
        return f"; did you mean {', '.join(own)}?" if own else did_you_mean([name], self.known)

    def registered(self, name: str) -> T:
        """Return a thing that is registered already, by name or ``module:name``; nothing is imported.

        So is looked up what a file names: whoever passes a file on must not choose which code runs.

        Raises
        ------
        ParameterError
            None is registered under that name, or another module did.
        """
        module, _, rest = name.rpartition(":")
        if rest in self.known and module in ("", self._sources[rest].__module__):
            return self.known[rest]
        raise self.not_registered(name)

    def not_registered(self, name: str) -> ParameterError:
        """Return the error about a thing that a file names, and nobody has registered."""
        return ParameterError(
            f"no {self.one} {name!r} is registered here, and nothing is imported because a file names it; import the "
            f"module that registers it first, or pass {self.one}="
        )

    def module_of(self, name: str) -> tuple[ModuleType | None, str]:
        """Import the module of ``module:name``; return it, None without one, and the name.

        Raises
        ------
        ParameterError
            There is no such module, or it cannot be read.
        """
        module, colon, rest = name.rpartition(":")
        if not colon:
            return None, rest
        if module.endswith(".py"):  # to import that would run the file, and then fail
            own = registered_here(module, self._decorators)
            near = f"; did you mean {', '.join(own)}?" if own else ""
            raise ParameterError(f"{self.one} {name!r}: name the module without .py, as in {module[:-3]}:{rest}{near}")
        try:
            return import_own(module), rest
        except SwfToolsError:
            raise
        except Exception as error:  # a module of the user's is foreign code
            told = str(error) if isinstance(error, ImportError | SyntaxError) else f"{type(error).__name__}: {error}"
            raise ParameterError(
                f"{self.one} {name!r}: module {module!r} cannot be imported: {told}; it is looked for where Python "
                f"looks (PYTHONPATH), and then in the current folder, {Path.cwd()}"
            ) from error

    def read(self, text: str, beside: Mapping[str, Any] | None = None) -> tuple[T, dict[str, Any]]:
        """Return a thing and the parameters that are given, behind its name and beside it.

        Raises
        ------
        ParameterError
            As ``find``, the text has another form, or a parameter is given twice.
        """
        text_name, given = read_entry(text, self.known)
        name = self.name_of(text_name)
        if twice := sorted(given.keys() & (beside or {})):
            raise ParameterError(f"{name}: {', '.join(twice)} is given twice, in {text!r} and beside it")
        return self.known[name], {**given, **(beside or {})}
