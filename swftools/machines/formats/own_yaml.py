# SPDX-License-Identifier: BSD-3-Clause
"""Our own descriptions of machines, in YAML."""

from __future__ import annotations

import re

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.formats.registry import Found, machine_format
from swftools.parameters.strict_yaml import NotYamlError, read_yaml

_BEGINNING = re.compile(r"(?:\s|#[^\n]*\n|---)*(?:\{|[A-Za-z_\"']+\s*:(?:\s|$))")
_OF_OTHERS = re.compile(
    r'"(?:real_memory|slurm|meta|node_list|maximums|pbs_version|resources_available|clusters)"\s*:|\bnodes_per_rack\b',
    re.IGNORECASE,
)
_MOST_BYTES = 1 << 25
"""Of a file: a centre of 10,000 users has 1 MB, and some have more."""


def _recognise(text: str) -> Fit:
    if _OF_OTHERS.search(text):
        return Fit(fits=False, why="it has keys of another program")
    is_there = _BEGINNING.match(text) is not None
    return Fit(is_there, "it begins with a key" if is_there else "it does not begin with a key, as in nodes:")


@machine_format("yaml", "a description in YAML", _recognise)
def read_own_yaml(text: str, name: str) -> Found:
    """Return what a file of ours says.

    Raises
    ------
    ParameterError
        It is not YAML, or no mapping.
    """
    data = text.encode()
    try:
        content = read_yaml(data, _MOST_BYTES)
    except NotYamlError as error:
        raise ParameterError(f"{name}, {error}") from error
    if not isinstance(content, dict):
        raise ParameterError(f"{name}: it must be a mapping with the key nodes, see docs/machines.md")
    return Found(content, data)
