# SPDX-License-Identifier: BSD-3-Clause
"""What a candidate is, in one text: changes of the machine, another policy, other options of the run.

``nodes.gpu.count+=8; predictor=exact``: parts between semicolons, each a change of the machine as ``--change`` takes it
everywhere, or an option of the run by its name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from swftools.errors import ParameterError
from swftools.parameters import did_you_mean
from swftools.parameters.run_option_table import RUN_OPTIONS

OPTIONS = ("policy", "processors", *(name for name, option in RUN_OPTIONS.items() if not option.is_repetition))
"""What a candidate may say beside changes of the machine: the policy, the size of a pool, options of the run."""

_OPTION = re.compile(r"([A-Za-z_-]+)\s*=\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class Candidate:
    """What a candidate changes.

    Parameters
    ----------
    text : str
        All of it, in one form.
    changes : tuple of str
        Of the machine.
    options : tuple of (str, str)
        Names of ``OPTIONS`` with their values.
    """

    text: str
    changes: tuple[str, ...]
    options: tuple[tuple[str, str], ...]


def read_candidate(text: str) -> Candidate:
    """Return what a text says of a candidate.

    Raises
    ------
    ParameterError
        It says nothing, or names an option that there is not, or one twice.

    Examples
    --------
    >>> found = read_candidate("nodes.gpu.count+=8; predictor=exact")
    >>> found.changes, found.options
    (('nodes.gpu.count+=8',), (('predictor', 'exact'),))
    """
    parts = [part.strip() for part in text.split(";") if part.strip()]
    if not parts:
        raise ParameterError(f"candidate {text!r} changes nothing; write a change, such as nodes.gpu.count+=8")
    changes: list[str] = []
    options: dict[str, str] = {}
    for part in parts:
        found = _OPTION.fullmatch(part)
        if found is None:
            changes.append(part)
            continue
        name, value = found[1].replace("-", "_"), found[2].strip()
        if name not in OPTIONS:
            near = did_you_mean([name], OPTIONS)
            raise ParameterError(
                f"candidate {text!r}: there is no option {found[1]!r}{near}; there are: {', '.join(OPTIONS)}, and "
                "changes of the machine, such as nodes.gpu.count+=8"
            )
        if name in options:
            raise ParameterError(f"candidate {text!r}: {name} stands there twice; leave one out")
        options[name] = value
    return Candidate("; ".join(parts), tuple(changes), tuple(options.items()))


def read_candidates(texts: list[str]) -> list[Candidate]:
    """Return several candidates.

    Raises
    ------
    ParameterError
        One is not readable, or stands there twice.
    """
    found = [read_candidate(text) for text in texts]
    for place, each in enumerate(found):
        if each in found[:place]:
            raise ParameterError(f"candidate {each.text!r} stands there twice; leave one out")
    return found
