# SPDX-License-Identifier: BSD-3-Clause
"""What is registered under a name, and found by it: formats, policies, predictors alike."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from swftools.errors import ParameterError
from swftools.parameters.as_text import read_entry
from swftools.parameters.declared import did_you_mean

T = TypeVar("T")


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


class Names(Generic[T]):
    """Things by name.

    Parameters
    ----------
    one : str
        What each is, in words.
    """

    def __init__(self, one: str) -> None:
        self.one = one
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

    def find(self, name: str) -> T:
        """Return a thing by name; ``module:name`` imports the module that registers it first.

        Raises
        ------
        ParameterError
            There is none of that name, or no such module.
        """
        _, rest = self.module_of(name)
        if rest not in self.known:
            there_are = ", ".join(sorted(self.known))
            raise ParameterError(f"no {self.one} {rest!r}; there are: {there_are}{did_you_mean([rest], self.known)}")
        return self.known[rest]

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
        raise ParameterError(
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
        try:
            return import_own(module), rest
        except (ImportError, SyntaxError) as error:
            raise ParameterError(
                f"{self.one} {name!r}: module {module!r} cannot be imported: {error}; it is looked for where Python "
                f"looks (PYTHONPATH), and then in the current folder, {Path.cwd()}"
            ) from error

    def read(self, text: str) -> tuple[T, dict[str, Any]]:
        """Return a thing and the parameters behind its name.

        Raises
        ------
        ParameterError
            As ``find``, or the text has another form.
        """
        name, given = read_entry(text, self.known)
        return self.find(name), given
