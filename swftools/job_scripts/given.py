# SPDX-License-Identifier: BSD-3-Clause
"""What is given to a batch system, with where it stands, so that an error can name it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from swftools.errors import JobScriptError
from swftools.output.shown_text import shown

COMMAND_LINE = "command line"


class Given(NamedTuple):
    """The value of an option, and where it stands: a file with its line, a variable, the command line."""

    value: str
    where: str

    def refused(self, problem: str, remedy: str) -> JobScriptError:
        """Return the error that says what is wrong with it."""
        return refused(self.where, problem, remedy)


Options = Mapping[str, Given]
"""Options by their long names, without the hyphens."""


def refused(where: str, problem: str, remedy: str) -> JobScriptError:
    """Return the error that says what is wrong at a place, and what to do."""
    return JobScriptError(shown(f"{where}: {problem}; {remedy}"))
